"""One model: compiled, run on the simulated chip, and compared with onnxruntime; and what moves its numbers.

    python -m bench.compiled.measure MODEL [--precision_mode=MODE] [--keep=LINE ...]

Every output is judged as ``ge-run --compare`` does. Where one misses the limits, the same inputs go through what may be
the reason:

| run | what it is |
|---|---|
| ``float32`` | the graph before precision is assigned (stage 04), evaluated with NumPy: what rewrites alone do |
| ``ideal`` | the graph after that (stage 05): every value rounded once to its type, as no kernel can do better |
| ``itself`` | the model in onnxruntime, once with inputs rounded to float16, and once without its optimisations |

Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from bench.compiled.detections import detections
from bench.models import SHAPES, feeds
from ge.ir.errors import GeError
from ge.targets.ascend.om.writer import model_bytes
from ge.tools.agreement import Agreement, compare
from ge.tools.compilation import ASSIGN, FUSE, Stage, compile_model
from ge.tools.compile_options import CompileOptions
from ge.tools.execute import OmExecutable, executable
from ge.tools.reference import run_onnx

ENOUGH_SECONDS = 60
"""Further inputs are left out of a model whose runs have taken this long."""

Values = Mapping[str, Any]

DRAWS: Mapping[str, Callable[[Any, str], Values]] = {
    "normal": lambda session, name: feeds(session, name, 0),
    "pixels": lambda session, name: _in_unit_range(feeds(session, name, 1)),
    "normal again": lambda session, name: feeds(session, name, 2),
}
"""The inputs of each run: normally distributed floats, or floats from 0 to 1, as pixels are; integers within range."""


def _in_unit_range(values: Values) -> Values:
    """Normally distributed floats as floats from 0 to 1, which is six standard deviations."""
    return _with_floats(values, lambda array: np.clip(array / 6 + 0.5, 0, 1))


def _with_floats(values: Values, change: Callable[[Any], Any]) -> Values:
    """Inputs of which the floats are changed; their types stay."""
    return {
        name: change(value).astype(value.dtype) if value.dtype.kind == "f" else value for name, value in values.items()
    }


def measure(path: Path, precision_mode: str = "force_fp16", keep: Sequence[str] = ()) -> dict[str, Any]:
    """Compile a model, run it on all inputs, and find what moves the outputs that miss the limits."""
    stages: dict[str, ModuleOp] = {}

    def observe(stage: Stage, module: ModuleOp) -> None:
        if stage in (FUSE, ASSIGN):
            stages[stage.name] = module.clone()

    with TemporaryDirectory() as folder:
        file = Path(folder, "keep.cfg")
        file.write_text("\n".join(keep))
        options = CompileOptions(
            path,
            input_shapes=SHAPES.get(path.stem, {}),
            precision_mode=precision_mode,
            keep_file=str(file) if keep else None,
        )
        compilation = compile_model(options, observe_stage=observe)
    program = OmExecutable(model_bytes(compilation.module), strict=False, profile=False)
    reasons = {"float32": executable(stages[FUSE.name]), "ideal": executable(stages[ASSIGN.name])}
    half = reasons["ideal"].half
    session, start = _session(path), time.perf_counter()
    runs: list[dict[str, Any]] = []
    for draw, make in DRAWS.items():
        if time.perf_counter() - start > ENOUGH_SECONDS:
            break
        inputs = make(session, path.stem)
        _, expected = run_onnx(str(path), inputs)

        def judged(outputs: Values, expected: Values = expected) -> list[dict[str, Any]]:
            return [_facts(each, expected[each.name]) for each in compare(outputs, expected, half=half)]

        outputs = program.run(_of(program.inputs, inputs))
        run: dict[str, Any] = {"draw": draw, "outputs": judged(outputs)}
        if not all(each["passed"] for each in run["outputs"]):
            run |= {name: judged(reason.run(_of(reason.inputs, inputs))) for name, reason in reasons.items()}
            run["itself"] = [judged(outputs) for outputs in itself(path, inputs)]
            run["detections"] = detections(outputs, expected)
        runs.append(run)
    facts = {"launches": compilation.program.launches, "host": compilation.program.host_operators, "half": half}
    return {**facts, "seconds": time.perf_counter() - start, "compile_seconds": compilation.seconds, "runs": runs}


def _of(infos: Sequence[Any], inputs: Values) -> Values:
    """The inputs that a program has: it may not need all of those of the model."""
    return {info.name: inputs[info.name] for info in infos}


def itself(path: Path, inputs: Values) -> list[Values]:
    """What a model gives after a rounding of its inputs, and without the optimisations of onnxruntime."""
    rounded = _with_floats(inputs, lambda array: array.astype(np.float16))
    plain = _session(path, optimised=False)
    names = [output.name for output in plain.get_outputs()]
    return [run_onnx(str(path), rounded)[1], dict(zip(names, plain.run(names, dict(inputs)), strict=True))]


def _session(path: Path, optimised: bool = True) -> Any:
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _facts(agreement: Agreement, expected: Any) -> dict[str, Any]:
    """How an output agrees, in plain types, and what kind of values it has."""
    kind = expected.dtype.kind if isinstance(expected, np.ndarray) else "O"
    name = {"f": "float", "i": "integer", "u": "integer", "b": "integer"}.get(kind, "other")
    return {**asdict(agreement), "relative": agreement.relative, "kind": name, "worst": ()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one model and print the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--precision_mode", default="force_fp16")
    parser.add_argument("--keep", action="append", default=[], help="a line of the file of --keep_dtype")
    options = parser.parse_args(arguments)
    try:
        result = measure(options.model, options.precision_mode, options.keep)
    except GeError as error:
        result = {"error": f"{error.code} {error.what}"}
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
