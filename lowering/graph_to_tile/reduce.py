"""`graph.reduce` to a tile kernel. Sums are taken in float32 and rounded once, at the end; maxima stay float16.

Memory is [outer, length, inner] (`ge.dialects.graph.reduction_kernels`), whatever the storage format. The vector unit
is good at combining rows one with another, so each kernel brings what is combined into different rows:

1. *Between*: runs of `inner` elements, as they lie. Tiles are parts of runs, or several short ones.
2. *Sixteen rows* (inner = 1): a transpose gives each of them a lane.
3. *One row* (outer = inner = 1): it is seen as rows of 16; the 16 lanes are combined at the end.
4. *Rows of fractals*: as many rows of FRACTAL_NZ as there is room for, with a transpose (`fractal_rows`); their results
   follow each other in plain format.

What is too long for a tile comes in parts, which are combined one after the other. The steps of a fusion are done on
the elements of a part before they are combined, and on the results before they are stored. Results that do not fill
their last block are stored by one core, in order, where others follow: each store rounds up into the next run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import SSAValue

from ge.dialects.graph import ReduceKind, ReduceOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.fusing import Around
from ge.dialects.graph.fusion_limits import reduce_room
from ge.dialects.graph.reduction_kernels import ReduceTiles
from ge.dialects.tile.text import Index
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.fractal_rows import FractalRows
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, no_kernel
from ge.lowering.graph_to_tile.spaces import HARMLESS, SMALLEST_RUN
from ge.lowering.graph_to_tile.stepped import SteppedKernel
from ge.maths.floats import FLOAT16_MAX
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly

_OPERATORS = {
    ReduceKind.SUM: "ReduceSumD",
    ReduceKind.MEAN: "ReduceMeanD",
    ReduceKind.MAX: "ReduceMaxD",
    ReduceKind.MIN: "ReduceMinD",
    ReduceKind.SUM_SQUARE: "SquareSumV1",
}
"""Operators of Ascend IR."""


def lower_reduce(op: ReduceOp, target: Target, around: Around | None = None) -> Outlined:
    """The kernel of a reduction, with the steps of a fusion `around` it."""
    tiles = ReduceTiles.of(op, target.ub)
    if tiles is None:
        raise no_kernel(op, "its elements do not follow each other in memory")
    around = around or Around.alone(op)
    room = reduce_room(around, tiles, target.ub)
    if tiles.smallest > room:
        raise no_kernel(op, f"16 rows of {tiles.length} elements do not fit into the unified buffer")
    if tiles.fractal:
        kernel = _rows_of_fractals(op, around, room, target)
    else:
        doubled = 2 * tiles.smallest <= room
        kernel = _kernel(op, around, tiles, room // 2 if doubled else room, target, target.stages if doubled else 1)
    axes = "axis" if op.kind.data is ReduceKind.SUM_SQUARE else "axes"
    shown = attributes(**{axes: op.axes.get_values()}, keep_dims=True)
    return Outlined(kernel.b.kernel, kernel.operands, _OPERATORS[op.kind.data], shown)


def _kernel(op: ReduceOp, around: Around, tiles: ReduceTiles, room: int, target: Target, stages: int) -> ReduceKernel:
    """The kernel of what is not rows of fractals, with tiles of at most `room` elements."""
    if tiles.inner > 1:
        return _between(op, around, tiles, room, target.cores, stages)
    return (_sixteen_rows if tiles.outer > 1 else _one_row)(op, around, tiles, target.cores, stages)


@dataclass(frozen=True)
class Combination:
    """How the elements of a reduction are combined on tiles."""

    kind: ReduceKind
    count: int
    """Elements that become one."""

    @classmethod
    def of(cls, op: ReduceOp) -> Combination:
        """That of an operation."""
        return cls(op.kind.data, math.prod(shape_of(op.x)[axis] for axis in op.axes.get_values()))

    @property
    def is_choice(self) -> bool:
        """Whether the result is one of the elements, which float16 holds."""
        return self.kind in (ReduceKind.MAX, ReduceKind.MIN)

    @property
    def fill(self) -> float:
        """What an element is that changes no result."""
        return {ReduceKind.MAX: -FLOAT16_MAX, ReduceKind.MIN: FLOAT16_MAX}.get(self.kind, 0.0)

    def prepare(self, b: KernelBuilder, x: SSAValue) -> SSAValue:
        """The elements as they are combined: a minimum is a maximum of negative numbers."""
        match self.kind:
            case ReduceKind.MAX:
                return x
            case ReduceKind.MIN:
                return b.unary("neg", x)
            case ReduceKind.SUM_SQUARE:
                x = b.cast(x, f32)
                return b.binary("mul", x, x)
            case _:
                return b.cast(x, f32)

    def reduce(self, b: KernelBuilder, x: SSAValue, axis: int) -> SSAValue:
        """Prepared elements combined along an axis of a tile, which stays with size 1."""
        return b.reduce("max" if self.is_choice else "sum", x, axis)

    def start(self, b: KernelBuilder, shape: Sequence[int]) -> SSAValue:
        """A tile that changes nothing that is combined with it."""
        return b.constant(-FLOAT16_MAX, shape, f16) if self.is_choice else b.constant(0.0, shape, f32)

    def combine(self, b: KernelBuilder, y: SSAValue, z: SSAValue) -> SSAValue:
        """Two tiles of combined elements as one."""
        return b.binary("max" if self.is_choice else "add", y, z)

    def finish(self, b: KernelBuilder, y: SSAValue) -> SSAValue:
        """The float16 result of what is combined."""
        match self.kind:
            case ReduceKind.MIN:
                y = b.unary("neg", y)
            case ReduceKind.MEAN:
                y = b.scalar("muls", y, 1 / self.count)
            case _:
                pass
        return b.cast(y, f16)


class ReduceKernel(SteppedKernel):
    """The kernel of a reduction, with the steps of a fusion around it."""

    def __init__(
        self, op: ReduceOp, around: Around, shape: Sequence[int], result: Sequence[int], cores: int, stages: int
    ) -> None:
        """`shape` and `result` are how the kernel sees what is combined, and what it becomes."""
        super().__init__(f"reduce_{op.kind.data}", around, lambda operand: shape, result, cores)
        self.combination, self.stages = Combination.of(op), stages

    def fill(self, inside: bool) -> float | None:
        """What is beyond the operand reads as, unless all is `inside`: it changes no result, or has its own lanes."""
        return None if inside else HARMLESS if self.around.before else self.combination.fill

    def reduced(self, x: SSAValue, axis: int) -> SSAValue:
        """Elements combined along an axis, which stays with size 1."""
        return self.combination.reduce(self.b, self.combination.prepare(self.b, x), axis)

    def in_parts(self, length: int, part: int, shape: Sequence[int], reduced: Callable[[Index], SSAValue]) -> SSAValue:
        """What `reduced` gives, tiles of a `shape`, for parts from 0, `part`, ... below `length` on, as one tile."""
        b, combination = self.b, self.combination
        start = [combination.start(b, shape)] if part < length else []
        with b.loop(0, ceil_div(length, part), 1, start, self.stages) as turn:
            y = reduced(b.times(turn.counter, part))
            turn.results = [combination.combine(b, turn.carried[0], y) if start else y]
        return turn.results[0]

    def finish(self, y: SSAValue, offsets: Sequence[Index], sizes: Sequence[int], inside: bool) -> None:
        """Write the results of a tile of combined elements."""
        self.store(self.combination.finish(self.b, y), offsets, sizes, inside)


def _between(op: ReduceOp, around: Around, tiles: ReduceTiles, room: int, most_cores: int, stages: int) -> ReduceKernel:
    """Runs of `inner` elements, combined one with another."""
    outer, length, inner, part = tiles.outer, tiles.length, tiles.inner, tiles.part
    blocks = ceil_div(inner, C0)
    ragged = inner % C0 != 0 and outer > 1
    share = 1 if ragged else ceil_div(most_cores, outer)
    columns = deal_evenly(blocks, room // (C0 * part), share, ceil_div(SMALLEST_RUN, length))
    size = columns.size * C0
    whole = part == length and columns.parts == 1 and not ragged
    together = deal_evenly(outer, room // (length * size), most_cores).size if whole else 1
    parts = (ceil_div(outer, together), columns.parts)
    cores = 1 if ragged else min(most_cores, math.prod(parts))
    kernel = ReduceKernel(op, around, (outer, length, inner), (outer, inner), cores, stages)
    b = kernel.b
    even = outer % together == 0 and inner % size == 0
    with b.deal(math.prod(parts), stages) as number:
        run, column = b.split(number, *parts)
        run, column = b.times(run, together), b.times(b.minus(columns.parts - 1, column) if ragged else column, size)

        def reduced(start: Index) -> SSAValue:
            place, sizes, fill = (
                (run, start, column),
                (together, part, size),
                kernel.fill(even and length % part == 0),
            )
            return kernel.reduced(kernel.elements(lambda source: b.load(source, place, sizes, fill), 3), 1)

        y = b.reshape(kernel.in_parts(length, part, (together, 1, size), reduced), (together, size))
        kernel.finish(y, (run, column), (together, size), even)
    return kernel


def _sixteen_rows(op: ReduceOp, around: Around, tiles: ReduceTiles, most_cores: int, stages: int) -> ReduceKernel:
    """Rows of a plain tensor, each of which has a lane; their 16 results are a block."""
    rows, length, part = tiles.outer, tiles.length, tiles.part
    parts = ceil_div(rows, C0)
    kernel = ReduceKernel(op, around, (rows, length), (rows,), min(most_cores, parts), stages)
    b, even = kernel.b, rows % C0 == 0
    with b.deal(parts, stages) as number:
        row = b.times(number, C0)

        def reduced(start: Index) -> SSAValue:
            place, sizes, fill = (row, start), (C0, part), kernel.fill(even and length % part == 0)
            return kernel.reduced(b.transpose(kernel.elements(lambda x: b.load(x, place, sizes, fill), 2)), 0)

        kernel.finish(kernel.in_parts(length, part, (1, C0), reduced), (row,), (C0,), even)
    return kernel


def _one_row(op: ReduceOp, around: Around, tiles: ReduceTiles, most_cores: int, stages: int) -> ReduceKernel:
    """All elements of a plain tensor, on one core."""
    length, part = tiles.length, tiles.part
    kernel = ReduceKernel(op, around, (length,), (1,), min(most_cores, 1), stages)
    b, shape = kernel.b, (part // C0, C0)

    def reduced(start: Index) -> SSAValue:
        fill = kernel.fill(length % part == 0)
        return kernel.reduced(kernel.elements(lambda x: b.load(x, (start,), (part,), fill, shape=shape), 2), 0)

    y = kernel.in_parts(length, part, (1, C0), reduced)
    kernel.finish(kernel.combination.reduce(b, y, 1), (0,), (1,), inside=True)
    return kernel


def _rows_of_fractals(op: ReduceOp, around: Around, room: int, target: Target) -> ReduceKernel:
    """Rows of FRACTAL_NZ that fill their blocks; the results are a plain tensor."""
    rows = FractalRows(op.x, room, target)
    cores = 1 if rows.rows % C0 and rows.images > 1 else rows.cores
    stages = target.stages if 2 * rows.elements <= room else 1
    kernel = ReduceKernel(op, around, rows.shape(op.x, "same"), (rows.images, rows.rows), cores, stages)
    b = kernel.b
    with rows.places(b, stages) as place:
        x = kernel.elements(lambda source: rows.load_rows(b, source, place), 3)
        columns = kernel.combination.prepare(b, rows.columns(b, x))
        y = kernel.combination.reduce(b, columns, 0)
        kernel.finish(y, place, (1, rows.together), rows.rows % rows.together == 0)
    return kernel
