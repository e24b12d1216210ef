"""One optimiser on one model, in this process: ``python -m bench.optimiser.tools TOOL MODEL OUTPUT --repeat=N``.

Prints a JSON object: seconds of each repetition from the file to the written file, peak memory, and what was written.
Importing the tool is timed apart. All tools get the model as it is, without shapes of inputs, and check nothing by
running the model. onnxruntime's offline optimisation at its level "extended" is for information: it makes operators of
its own, which other runtimes do not have.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

Optimise: TypeAlias = "Callable[[Path, Path], None]"
"""Optimises the model in one file, and writes it to another."""


@dataclass(frozen=True)
class Measurement:
    """What one tool did with one model."""

    seconds: list[float]
    """From file to file, of every repetition."""
    import_seconds: float
    peak_megabytes: float
    operators: dict[str, int]
    """How often each operator is in the written model; see :func:`count_operators`."""
    opset: int


def onnxsim() -> Optimise:
    onnx, tool = import_module("onnx"), import_module("onnxsim")

    def optimise(source: Path, target: Path) -> None:
        model, _ = tool.simplify(onnx.load(source))
        onnx.save(model, target)

    return optimise


def onnxslim() -> Optimise:
    onnx, tool = import_module("onnx"), import_module("onnxslim")

    def optimise(source: Path, target: Path) -> None:
        onnx.save(tool.slim(str(source)), target)

    return optimise


def onnxruntime() -> Optimise:
    tool = import_module("onnxruntime")

    def optimise(source: Path, target: Path) -> None:
        options = tool.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = tool.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(target)
        tool.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])

    return optimise


def ours(level: int) -> Optimise:
    from ge.ir.registry import context, registry
    from ge.ir.verifier import verify_module
    from ge.passes.pipelines import onnx_pipeline
    from ge.targets.onnx.exporter import save_model
    from ge.targets.onnx.importer import import_model
    from ge.tools.pipeline import PassRunner, parse_pipeline

    def optimise(source: Path, target: Path) -> None:
        module = import_model(source)
        passes = parse_pipeline(onnx_pipeline(level, "model"), registry())
        PassRunner(verify_module, str, verify_each=False, verify_first=False).run(context(), module, passes)
        save_model(module, target)

    return optimise


ENOUGH_SECONDS = 10.0
"""A tool that has taken as long is not run again."""

TOOLS: dict[str, Callable[[], Optimise]] = {
    "ge -O3": partial(ours, 3),
    "ge -O2": partial(ours, 2),
    "onnxsim": onnxsim,
    "onnxslim": onnxslim,
    "onnxruntime": onnxruntime,
}


def count_operators(model: Any) -> Counter[str]:
    """How often each operator is in a model, in graphs inside nodes and in functions too.

    ``Constant`` nodes are not counted, for no tool: they compute nothing, and whether a constant is a node or an
    initializer is a matter of form.
    """
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    names = (f"{node.domain}::{node.op_type}" if node.domain else node.op_type for node in _with_inner(nodes))
    return Counter(name for name in names if name != "Constant")


def _with_inner(nodes: Iterable[Any]) -> Iterator[Any]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _with_inner(graph.node)


def measure(tool: str, source: Path, target: Path, repeat: int) -> Measurement:
    """Run a tool ``repeat`` times, or fewer when that takes longer than :data:`ENOUGH_SECONDS`."""
    start = time.perf_counter()
    optimise = TOOLS[tool]()
    import_seconds = time.perf_counter() - start
    seconds: list[float] = []
    while len(seconds) < repeat and sum(seconds) < ENOUGH_SECONDS:
        start = time.perf_counter()
        optimise(source, target)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    model = import_module("onnx").load(target, load_external_data=False)
    opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
    return Measurement(seconds, import_seconds, peak, dict(count_operators(model)), opset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    measured = measure(arguments.tool, arguments.source, arguments.target, arguments.repeat)
    print("\n" + json.dumps(asdict(measured)))


if __name__ == "__main__":
    main()
