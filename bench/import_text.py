"""Importing and printing a model of 400 nodes and 100 MB, beside what the onnx package needs for as much.

    python -m bench.import_text [--megabytes 100] [--nodes 400] [--rounds 3]

Seconds on the clock, the best of some rounds, all in one run. The aim for import and text together is below 2 s.

* import: the file as a module, with inferred types; its weights are mapped, not read.
* text: the module as text, which refers to the weights in the file by their digests.
* text, inline: the module as text that has all weights in it, as that of the onnx package does.
* onnx.load: the file as a message in memory.
* serialize: the message as bytes again.
* onnx.printer: the message as text, with all its weights.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ge.ir.printer import print_module, write_module
from ge.targets.onnx.importer import import_model

AIM = 2.0
"""Seconds that import and text may take together."""


def make_model(path: Path, nodes: int, nbytes: int) -> None:
    """A chain of matrix products and activations, with random weights."""
    size = int((nbytes / (nodes // 2) / 4) ** 0.5)
    random = np.random.default_rng(0)
    graph_nodes = []
    tensors = []
    for index in range(nodes // 2):
        weights = random.standard_normal((size, size), np.float32)
        tensors.append(numpy_helper.from_array(weights, f"layers.{index}.weight"))
        names = [f"x{index}", f"layers.{index}.weight"]
        graph_nodes.append(helper.make_node("MatMul", names, [f"y{index}"], f"/layers.{index}/MatMul"))
        graph_nodes.append(helper.make_node("Relu", [f"y{index}"], [f"x{index + 1}"], f"/layers.{index}/Relu"))
    ends = [
        helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, ["n", size if i == 0 else None])
        for i in (0, nodes // 2)
    ]
    graph = helper.make_graph(graph_nodes, "chain", ends[:1], ends[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def best(rounds: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest time of some rounds in seconds, and what the last gave."""
    times: list[float] = []
    result = None
    for _ in range(rounds):
        result = None  # what the last round made is given back before the next
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        make_model(path, options.nodes, int(options.megabytes * 1e6))
        print(f"{options.nodes} nodes, {path.stat().st_size / 1e6:.1f} MB")
        seconds: dict[str, float] = {}
        seconds["import"], module = best(options.rounds, lambda: import_model(path))
        # The digests of weights are kept by the module: each round prints a module of its own.
        modules = [import_model(path) for _ in range(options.rounds)]
        seconds["text"], _ = best(options.rounds, lambda: write_module(modules.pop(), path.with_suffix(".mlir")))
        seconds["text, inline"], _ = best(options.rounds, lambda: print_module(module))
        seconds["onnx.load"], model = best(options.rounds, lambda: onnx.load(path))
        seconds["serialize"], _ = best(options.rounds, model.SerializeToString)
        seconds["onnx.printer"], _ = best(1, lambda: onnx.printer.to_text(model))
    for step, time_taken in seconds.items():
        print(f"{step:14}{time_taken:8.3f} s")
    ours = seconds["import"] + seconds["text"]
    print(f"import and text: {ours:.3f} s, the aim is {AIM} s")
    for name, last in (("load and serialize", "serialize"), ("load and printer", "onnx.printer")):
        theirs = seconds["onnx.load"] + seconds[last]
        print(f"{name} of onnx: {theirs:.3f} s; ratio of ours to that {ours / theirs:.2f}")
    inline = seconds["import"] + seconds["text, inline"]
    theirs = seconds["onnx.load"] + seconds["onnx.printer"]
    print(f"with all weights in the text: {inline:.3f} s; ratio {inline / theirs:.2f}")
    return int(ours > AIM)


if __name__ == "__main__":
    sys.exit(main())
