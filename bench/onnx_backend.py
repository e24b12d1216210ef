"""Every case of ``onnx.backend.test``: imported, read again from its text, exported and evaluated.

::

    python -m bench.onnx_backend                   # all cases, two processes; writes docs/onnx-support.md
    python -m bench.onnx_backend test_conv         # the cases whose names begin so, without writing

A case is a model with inputs and the outputs that it must give; the comparison is that of the onnx package's own test
runner. ``onnx.reference``, which the cases were made with, runs them too. A step that takes more than 60 s has failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import ModuleOp

from bench.onnx_backend_document import write_document
from ge.backend import GraphEngineRep
from ge.dialects.graph import ConstantOp, HostOp
from ge.dialects.graph.program import main_function
from ge.ir.parser import parse_module
from ge.ir.printer import GePrinter
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.tools.compilation import ASSIGN, FUSE, LOWER, OPTIMISE, run_stage
from ge.tools.compile_options import CompileOptions
from ge.tools.example import model_folder

SECONDS = 60
"""How long one step of a case may take."""

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "light")

Value: TypeAlias = Any
"""An array, a list, or None."""

Contents: TypeAlias = tuple[ModelProto, list[tuple[list[Value], list[Value]]]]
"""A model, and pairs of inputs and expected outputs."""


@dataclass(frozen=True)
class Case:
    """A model, and pairs of inputs and expected outputs."""

    name: str
    kind: str
    load: Callable[[], Contents]
    rtol: float
    atol: float


@dataclass
class Outcome:
    """What came of a case: for each step the reason why it failed, or an empty text."""

    name: str
    kind: str
    operators: list[str] = field(default_factory=list[str])
    """The operators of the model, ``domain::name`` outside ai.onnx."""
    steps: dict[str, str] = field(default_factory=dict[str, str])
    target: str = ""
    """Where the only node of the model runs: ``AI Core`` or ``host``; empty when there are several nodes."""


# Cases


@cache
def cases() -> list[Case]:
    """All cases, in the order of their kinds and names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = {kind: cast("list[Any]", load_model_tests(kind=kind)) for kind in KINDS[:-1]}
    found = [_case(test, kind) for kind, tests in loaded.items() for test in tests]
    found += [Case(path.stem, "light", _light_loader(path), 1e-3, 1e-7) for path in model_folder().glob("light_*.onnx")]
    return sorted(found, key=lambda case: (KINDS.index(case.kind), case.name))


def _case(test: Any, kind: str) -> Case:
    if test.model_dir is None:
        return Case(
            test.name, kind, lambda: (test.model, [_arrays(pair) for pair in test.data_sets]), test.rtol, test.atol
        )
    return Case(test.name, kind, lambda: _read_folder(Path(test.model_dir)), test.rtol, test.atol)


def _arrays(pair: Sequence[Sequence[Value]]) -> tuple[list[Value], list[Value]]:
    inputs, outputs = ([_array(value) for value in values] for values in pair)
    return inputs, outputs


def _array(value: Value) -> Value:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _read_folder(folder: Path) -> Contents:
    model = onnx.load(folder / "model.onnx")
    sets = sorted(folder.glob("test_data_set*"))
    return model, [
        (_read(path, "input", model.graph.input), _read(path, "output", model.graph.output)) for path in sets
    ]


def _read(folder: Path, prefix: str, infos: Sequence[onnx.ValueInfoProto]) -> list[Value]:
    """The values ``input_0.pb``, ``input_1.pb``, ... of a data set."""
    values: list[Value] = []
    for index in range(len(list(folder.glob(f"{prefix}_*.pb")))):
        data = (folder / f"{prefix}_{index}.pb").read_bytes()
        match infos[index].type.WhichOneof("value"):
            case "sequence_type":
                values.append(numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
            case "optional_type":
                values.append(numpy_helper.to_optional(onnx.OptionalProto.FromString(data)))
            case _:
                values.append(numpy_helper.to_array(onnx.TensorProto.FromString(data)))
    return values


def _light_loader(path: Path) -> Callable[[], Contents]:
    """A model of the onnx package with the input that its test runner makes, and the output that comes with it."""

    def load() -> Contents:
        model = onnx.load(path)
        infos = {value.name: value for value in model.graph.input}
        inputs = [Runner.generate_dummy_data(infos[name]) for name in input_names(model)]
        outputs = [path.with_name(f"{path.stem}_output_{i}.pb") for i in range(len(model.graph.output))]
        return model, [(inputs, [numpy_helper.to_array(onnx.load_tensor(str(file))) for file in outputs])]

    return load


def input_names(model: ModelProto) -> list[str]:
    """The inputs that must be given."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return [value.name for value in model.graph.input if value.name not in constants]


# Steps


def run_case(case: Case) -> Outcome:
    """Run every step of a case."""
    outcome = Outcome(case.name, case.kind)
    model, data_sets = case.load()
    outcome.operators = sorted(set(_operators(model.graph)))
    state: dict[str, Any] = {}

    def step(name: str, run: Callable[[], Any]) -> bool:
        outcome.steps[name] = ""
        try:
            with time_limit(SECONDS), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                state[name] = run()
        except Exception as error:
            outcome.steps[name] = _one_line(error)
        return name in state

    names = input_names(model)
    step("reference", lambda: check(lambda feeds: reference_outputs(model, feeds), names, data_sets, case))
    if not step("import", lambda: import_model(model)):
        outcome.steps.update(dict.fromkeys(("text", "export", "evaluate"), "it was not imported"))
        return outcome
    module = state["import"]
    step("text", lambda: read_again(module))
    step("export", lambda: check_export(state.get("text", module), model, names, data_sets, case.kind))
    rep = GraphEngineRep(state.get("text", module))
    step("evaluate", lambda: check(lambda feeds: list(rep.run(feeds)), names, data_sets, case))
    if len(model.graph.node) == 1:
        outcome.target = target_of(model, data_sets[0][0])
    return outcome


@contextmanager
def time_limit(seconds: int) -> Generator[None]:
    """Raise TimeoutError when the block takes longer; only in the main thread of a process."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it takes more than {seconds} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _one_line(error: Exception) -> str:
    """An error as a cell of a table."""
    words = " ".join((str(error) or type(error).__name__).split())
    return words if len(words) <= 160 else f"{words[:157]}..."


def _operators(graph: onnx.GraphProto) -> Iterator[str]:
    for node in graph.node:
        yield node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}::{node.op_type}"
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _operators(inner)


def read_again(module: ModuleOp) -> ModuleOp:
    """The module of the text of a module, which must have the same text."""
    text = _text(module)
    again = parse_module(text)
    assert _text(again) == text, "the text of the text differs"
    return again


def _text(module: ModuleOp) -> str:
    stream = StringIO()
    GePrinter(stream).print_op(module)
    return stream.getvalue()


Runs = Callable[[Mapping[str, Value]], Sequence[Value]]
Data = Sequence[tuple[list[Value], list[Value]]]


def check(run: Runs, names: Sequence[str], data_sets: Data, case: Case) -> None:
    """Compare outputs with those expected, as the onnx package does. Raises AssertionError."""
    for inputs, expected in data_sets:
        outputs = run(dict(zip(names, inputs, strict=False)))
        pairs = [pair for pair in zip(outputs, expected, strict=True) if not (pair[0] is None and pair[1] is None)]
        Runner.assert_similar_outputs([want for _, want in pairs], [got for got, _ in pairs], case.rtol, case.atol)


def reference_outputs(model: ModelProto, feeds: Mapping[str, Value]) -> Sequence[Value]:
    """What ``onnx.reference`` computes."""
    return cast(Any, ReferenceEvaluator(model)).run(None, dict(feeds))


def runtime_outputs(model: ModelProto, feeds: Mapping[str, Value]) -> Sequence[Value]:
    """What onnxruntime computes, without its own optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(feeds))


def check_export(module: ModuleOp, model: ModelProto, names: Sequence[str], data_sets: Data, kind: str) -> None:
    """The export is valid and computes, byte for byte, what the model computes, in the same runtime.

    The runtime is ``onnx.reference``, or onnxruntime where that is too slow or cannot run the model. Of a model that is
    random, types and shapes are compared.
    """
    exported = export_model(module)
    onnx.checker.check_model(exported)
    for inputs, _ in data_sets:
        feeds = dict(zip(names, inputs, strict=False))
        run = runtime_outputs if kind == "light" else reference_outputs
        try:
            want = run(model, feeds)
        except TimeoutError:
            raise
        except Exception:
            run = runtime_outputs
            want = run(model, feeds)
        got = run(exported, feeds)
        if not _identical(got, want):
            random = not _identical(run(model, feeds), want)
            assert random and _identical(got, want, contents=False), "the results of the export differ"


def _identical(a: Value, b: Value, contents: bool = True) -> bool:
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        pairs = list(zip(cast("list[Any]", a), cast("list[Any]", b), strict=False))
        return len(cast("list[Any]", a)) == len(cast("list[Any]", b)) and all(_identical(*p, contents) for p in pairs)
    if a is None or b is None:
        return a is b
    first, second = np.asarray(cast(Any, a)), np.asarray(b)
    if (first.shape, first.dtype) != (second.shape, second.dtype):
        return False
    if first.dtype.kind in "OUS":
        return not contents or first.tolist() == second.tolist()
    return not contents or first.tobytes() == second.tobytes()


def target_of(model: ModelProto, inputs: Sequence[Value]) -> str:
    """Where the only operator of a model runs: ``AI Core`` if it can, with inputs after the first constant or not."""
    options = CompileOptions(Path("case.onnx"))
    for variant in (model, _with_parameters(model, inputs)):
        try:
            with time_limit(SECONDS):
                module = import_model(variant)
                for stage in (OPTIMISE, LOWER, FUSE, ASSIGN):
                    run_stage(stage, module, options)
        except Exception:  # the steps of the case tell what is wrong with it
            continue
        ops = [op for op in main_function(module).body.block.ops if op.name.startswith("graph.")]
        computing = [op for op in ops if not isinstance(op, ConstantOp)]
        if computing and not any(isinstance(op, HostOp) for op in computing):
            return "AI Core"
    return "host"


def _with_parameters(model: ModelProto, inputs: Sequence[Value]) -> ModelProto:
    """The model with all tensors but the first as initializers, as weights and parameters are in real models."""
    variant = ModelProto()
    variant.CopyFrom(model)
    for name, value in list(zip(input_names(model), inputs, strict=False))[1:]:
        if isinstance(value, np.ndarray):
            variant.graph.initializer.append(numpy_helper.from_array(cast(Any, value), name))
    return variant


# The run


def run_number(number: int) -> Outcome:
    """Run the case of this number; it is in the memory of every process."""
    return run_case(cases()[number])


def run_all(numbers: Sequence[int], processes: int) -> list[Outcome]:
    """Run cases in some processes, and show how far it is."""
    start = time.perf_counter()
    outcomes: list[Outcome] = []
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for outcome in pool.imap_unordered(run_number, numbers):
            outcomes.append(outcome)
            if len(outcomes) % 100 == 0:
                print(
                    f"{len(outcomes)} of {len(numbers)}, {time.perf_counter() - start:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
    return sorted(outcomes, key=lambda outcome: (KINDS.index(outcome.kind), outcome.name))


def main() -> None:
    parser = argparse.ArgumentParser("python -m bench.onnx_backend", description="Run the backend tests of ONNX.")
    parser.add_argument("prefix", nargs="?", default="", help="only cases whose names begin so; nothing is written")
    parser.add_argument("--processes", type=int, default=2, help="how many processes (default 2)")
    options = parser.parse_args()
    numbers = [number for number, case in enumerate(cases()) if case.name.startswith(options.prefix)]
    outcomes = run_all(numbers, options.processes)
    for outcome in outcomes:
        for step, reason in outcome.steps.items():
            if reason and (options.prefix or step != "reference"):
                print(f"{outcome.name} {step}: {reason}")
    for step in ("import", "text", "export", "evaluate", "reference"):
        print(f"{step}: {sum(not outcome.steps[step] for outcome in outcomes)} of {len(outcomes)}")
    if not options.prefix:
        write_document(outcomes)


if __name__ == "__main__":
    main()
