"""Random graphs of operators that move elements, through the structural passes: each alone, and all together.

In every third graph, sizes of the inputs have names only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx_models import ModelBuilder, run_pass, run_reference

from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

Array = NDArray[Any]

PASSES = (
    *("infer-shapes", "constant-fold", "fold-shape-ops", "eliminate-identity", "fold-splats", "merge-reshape"),
    *("merge-reshape-into-reduce", "merge-slice", "sink-cast", "sink-transpose", "gather-to-slice"),
    *("merge-slices-to-split", "eliminate-concat-split", "drop-unused-results", "onnx-cse", "merge-constants"),
    *("onnx-dce", "eliminate-expand"),
)


class Graph:
    """A random graph: every step adds a node on values that are there, whose shapes are followed with NumPy."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.builder = ModelBuilder(seed=seed)
        shape = tuple(int(size) for size in self.random.choice([1, 2, 3, 4], self.random.integers(2, 5)))
        names = [f"{size}?" if seed % 3 == 0 and self.random.random() < 0.6 else size for size in shape]
        self.shapes = {self.builder.input(name, *names): shape for name in ("x", "y")}  # pyright: ignore
        self.feeds: dict[str, Array] = {
            name: self.random.standard_normal(shape).astype(np.float32) for name in ("x", "y")
        }
        for _ in range(14):
            name = self.pick()
            step: Callable[[str, tuple[int, ...]], None] = self.random.choice(STEPS)  # pyright: ignore
            step(self, name, self.shapes[name])  # pyright: ignore
        names = list(self.shapes)
        outputs = {names[-1], *self.random.choice(names[2:] or names, 2)} - {"x", "y"}
        self.builder.output(*sorted(outputs))

    def pick(self) -> str:
        """A value, mostly one of the last."""
        names = list(self.shapes)
        return names[-1 - min(int(self.random.exponential(1.5)), len(names) - 1)]

    def add(self, op_type: str, *inputs: str, shape: tuple[int, ...], **attributes: Any) -> str:
        name = self.builder.node(op_type, *inputs, **attributes)
        self.shapes[name] = tuple(map(int, shape))
        return name

    def integers(self, values: Any) -> str:
        return self.builder.constant(values, np.int64)

    # Steps

    def transpose(self, x: str, shape: tuple[int, ...]) -> None:
        perm = [int(axis) for axis in self.random.permutation(len(shape))]
        self.add("Transpose", x, shape=tuple(shape[axis] for axis in perm), perm=perm)

    def unary(self, x: str, shape: tuple[int, ...]) -> None:
        self.add(str(self.random.choice(["Relu", "Neg", "Abs", "Identity"])), x, shape=shape)

    def binary(self, x: str, shape: tuple[int, ...]) -> None:
        others = [name for name, other in self.shapes.items() if other == shape]
        other = str(self.random.choice(others))
        if self.random.random() < 0.4:
            some = [size if self.random.random() < 0.5 else 1 for size in shape]
            other = self.builder.weights(*some[int(self.random.integers(0, len(some) + 1)) :])
            if self.random.random() < 0.3:
                other = self.add("Expand", other, self.integers(shape), shape=shape)
        pair = (x, other) if self.random.random() < 0.5 else (other, x)
        self.add(str(self.random.choice(["Add", "Sub", "Mul", "Max"])), *pair, shape=shape)

    def reshape(self, x: str, shape: tuple[int, ...]) -> None:
        sizes = [int(size) for size in self.random.permutation(shape)]
        split = int(self.random.integers(0, len(sizes) + 1))
        sizes = [int(np.prod(sizes[:split])), *sizes[split:]]
        words = list(sizes)
        if self.random.random() < 0.5:
            words[int(self.random.integers(len(words)))] = -1
        words = [
            0 if i < len(shape) and shape[i] == word and self.random.random() < 0.3 else word
            for i, word in enumerate(words)
        ]
        self.add("Reshape", x, self.integers(words), shape=tuple(sizes))

    def unsqueeze(self, x: str, shape: tuple[int, ...]) -> None:
        if len(shape) < 5:
            axis = int(self.random.integers(0, len(shape) + 1))
            self.add("Unsqueeze", x, self.integers([axis]), shape=(*shape[:axis], 1, *shape[axis:]))

    def squeeze(self, x: str, shape: tuple[int, ...]) -> None:
        axes = [axis for axis, size in enumerate(shape) if size == 1]
        if axes and len(shape) > 1:
            axis = int(self.random.choice(axes))
            self.add("Squeeze", x, self.integers([axis - len(shape)]), shape=(*shape[:axis], *shape[axis + 1 :]))

    def slice(self, x: str, shape: tuple[int, ...]) -> None:
        axis = int(self.random.integers(len(shape)))
        size = shape[axis]
        start, stop = sorted(int(each) for each in self.random.integers(0, size + 1, 2))
        step = int(self.random.choice([1, 1, 2]))
        cut = slice(start, stop, step)
        if self.random.random() < 0.2:
            cut = slice(size - 1, -size - 1, -1)
        count = len(range(*cut.indices(size)))
        if count:
            inputs = [self.integers([each]) for each in (cut.start, cut.stop, axis, cut.step)]
            self.add("Slice", x, *inputs, shape=(*shape[:axis], count, *shape[axis + 1 :]))

    def gather(self, x: str, shape: tuple[int, ...]) -> None:
        axis = int(self.random.integers(len(shape)))
        start = int(self.random.integers(shape[axis]))
        positions = list(range(start, shape[axis])) if self.random.random() < 0.7 else [start, 0]
        sizes = (*shape[:axis], len(positions), *shape[axis + 1 :])
        self.add("Gather", x, self.integers(positions), shape=sizes, axis=axis)

    def halves(self, x: str, shape: tuple[int, ...]) -> None:
        axes = [axis for axis, size in enumerate(shape) if size > 1]
        if axes:
            axis = int(self.random.choice(axes))
            for start, stop in ((0, 1), (1, shape[axis])):
                inputs = [self.integers([each]) for each in (start, stop, axis)]
                self.add("Slice", x, *inputs, shape=(*shape[:axis], stop - start, *shape[axis + 1 :]))

    def concat(self, x: str, shape: tuple[int, ...]) -> None:
        axis = int(self.random.integers(len(shape)))
        rest = shape[:axis] + shape[axis + 1 :]
        fitting = [n for n, s in self.shapes.items() if len(s) == len(shape) and s[:axis] + s[axis + 1 :] == rest]
        names = [str(name) for name in self.random.choice(fitting, int(self.random.integers(1, 3)))]
        names.insert(int(self.random.integers(0, len(names) + 1)), x)
        total = sum(self.shapes[name][axis] for name in names)
        if total < 20:
            self.add("Concat", *names, shape=(*shape[:axis], total, *shape[axis + 1 :]), axis=axis)

    def split(self, x: str, shape: tuple[int, ...]) -> None:
        axis = int(self.random.integers(len(shape)))
        sizes = [1] * shape[axis]
        name = self.builder.node("Split", x, self.integers(sizes), outputs=len(sizes), axis=axis)
        for index in range(len(sizes)):
            output = name if index == 0 else f"{name}_{index}"
            self.shapes[output] = (*shape[:axis], 1, *shape[axis + 1 :])

    def reduce(self, x: str, shape: tuple[int, ...]) -> None:
        axis = int(self.random.integers(len(shape)))
        keep = bool(self.random.integers(2)) or len(shape) == 1
        sizes = (*shape[:axis], *((1,) if keep else ()), *shape[axis + 1 :])
        y = self.add("ReduceMax", x, shape=sizes, axes=[axis], keepdims=int(keep))
        if not keep and self.random.random() < 0.5:
            self.add("Unsqueeze", y, self.integers([axis]), shape=(*shape[:axis], 1, *shape[axis + 1 :]))

    def cast(self, x: str, shape: tuple[int, ...]) -> None:
        wide = self.add("Cast", x, shape=shape, to=11)
        moved = self.builder.node("Transpose", wide)
        del self.shapes[wide]
        self.add("Cast", moved, shape=shape[::-1], to=1)

    def computed_reshape(self, x: str, shape: tuple[int, ...]) -> None:
        sizes = self.builder.node("Shape", x)
        first = self.builder.node("Gather", sizes, self.integers([0]), axis=0)
        target = self.builder.node("Concat", first, self.integers([-1]), axis=0)
        self.add("Reshape", x, target, shape=(shape[0], int(np.prod(shape[1:]))))

    def pad(self, x: str, shape: tuple[int, ...]) -> None:
        pads = [int(each) for each in self.random.integers(0, 2, 2 * len(shape))]
        sizes = tuple(size + pads[i] + pads[len(shape) + i] for i, size in enumerate(shape))
        if np.prod(sizes) < 500:
            self.add("Pad", x, self.integers(pads), shape=sizes)


STEPS = [
    *(Graph.transpose, Graph.transpose, Graph.unary, Graph.binary, Graph.binary, Graph.reshape, Graph.unsqueeze),
    *(Graph.squeeze, Graph.slice, Graph.gather, Graph.halves, Graph.concat, Graph.split, Graph.reduce, Graph.cast),
    *(Graph.computed_reshape, Graph.pad),
]


def check(seed: int) -> None:
    graph = Graph(seed)
    model, feeds = graph.builder.build(), graph.feeds
    want = run_reference(model, feeds)
    together = import_model(model)
    run_pass(together, "infer-shapes")
    alone = PASSES[seed % len(PASSES)]
    module = together.clone()
    run_pass(module, alone)
    compare(run_reference(export_model(module), feeds), want)
    transposes = [op.name for op in together.walk()].count("onnx.Transpose")
    order = list(np.random.default_rng(seed).permutation(PASSES)) if seed % 2 else list(PASSES)
    for name in order:
        run_pass(together, str(name))
    assert [op.name for op in together.walk()].count("onnx.Transpose") <= transposes
    compare(run_reference(export_model(together), feeds), want)


def compare(got: dict[str, Array], want: dict[str, Array]) -> None:
    assert list(got) == list(want)
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value, err_msg=name)


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_random_graphs(start: int) -> None:
    for seed in range(start, start + 10):
        check(seed)
