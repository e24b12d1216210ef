"""`graph.reduce` to a tile kernel. Sums are taken in float32 and rounded once, at the end; maxima stay float16.

Memory is [outer, length, inner] (`ge.dialects.graph.reduction_kernels`), whatever the storage format. The vector unit
is good at combining rows one with another, so each kernel brings what is combined into different rows:

1. *Between*: runs of `inner` elements, as they lie. Tiles are parts of runs, or several short ones.
2. *Sixteen rows* (inner = 1): a transpose gives each of them a lane.
3. *One row* (outer = inner = 1): it is seen as rows of 16; the 16 lanes are combined at the end.
4. *Rows of fractals*: as many rows of FRACTAL_NZ as there is room for, with a transpose (`fractal_rows`); their results
   follow each other in plain format.

What is too long for a tile comes in parts, which are combined one after the other. Results that do not fill their last
block are stored by one core, in order, where others follow: each store rounds up into the next run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute, SSAValue

from ge.dialects.graph import ReduceKind, ReduceOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.reduction_kernels import reduced_runs
from ge.dialects.tile.text import Index
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.fractal_rows import FractalRows
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel
from ge.lowering.graph_to_tile.spaces import SMALLEST_RUN
from ge.maths.floats import FLOAT16_MAX
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly

LANE_BYTES = 2 * 2 + 3 * 4
"""What one element takes at most: float16 around a transpose; float32 for element, square and sums of halves."""

FEWEST_ROWS = 16
"""Rows of a tile for which runs are cut: bursts stay long, and few tiles are combined."""

_OPERATORS = {
    ReduceKind.SUM: "ReduceSumD",
    ReduceKind.MEAN: "ReduceMeanD",
    ReduceKind.MAX: "ReduceMaxD",
    ReduceKind.MIN: "ReduceMinD",
    ReduceKind.SUM_SQUARE: "SquareSumV1",
}
"""Operators of Ascend IR."""


def lower_reduce(op: ReduceOp, target: Target) -> Outlined:
    """The kernel of a reduction."""
    format = layout_of(op.x.type)
    runs = reduced_runs(op, format)
    if runs is not None:
        kernel = _kernel(op, runs, target)
    elif format == "FRACTAL_NZ" and op.axes.get_values() == (len(shape_of(op.x)) - 1,):
        kernel = _rows_of_fractals(op, target)
    else:
        raise no_kernel(op, "its elements do not follow each other in memory")
    axes = "axis" if op.kind.data is ReduceKind.SUM_SQUARE else "axes"
    shown = attributes(**{axes: op.axes.get_values()}, keep_dims=True)
    return Outlined(kernel.kernel, [op.x], _OPERATORS[op.kind.data], shown)


def _kernel(op: ReduceOp, runs: tuple[int, int, int], target: Target) -> KernelBuilder:
    outer, length, inner = runs
    if inner > 1:
        return _between(op, runs, target)
    return _sixteen_rows(op, outer, length, target) if outer > 1 else _one_row(op, length, target)


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

    @property
    def partial_type(self) -> Attribute:
        """The element type of what is combined."""
        return f16 if self.is_choice else f32

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

    def in_parts(
        self,
        b: KernelBuilder,
        length: int,
        part: int,
        shape: Sequence[int],
        combined: Callable[[Index], SSAValue],
        stages: int,
    ) -> SSAValue:
        """What `combined` gives, tiles of `shape`, for parts from 0, `part`, ... below `length` on, as one tile."""
        start = [b.constant(-FLOAT16_MAX if self.is_choice else 0.0, shape, self.partial_type)] if part < length else []
        with b.loop(0, ceil_div(length, part), 1, start, stages) as turn:
            y = combined(b.times(turn.counter, part))
            turn.results = [b.binary("max" if self.is_choice else "add", turn.carried[0], y) if start else y]
        return turn.results[0]


def _room(target: Target) -> int:
    """The most elements of a tile."""
    return target.ub // target.stages // LANE_BYTES


def _between(op: ReduceOp, runs: tuple[int, int, int], target: Target) -> KernelBuilder:
    """Runs of `inner` elements, combined one with another."""
    outer, length, inner = runs
    combination, blocks, room = Combination.of(op), ceil_div(inner, C0), _room(target) // C0
    ragged = inner % C0 != 0 and outer > 1
    share = 1 if ragged else ceil_div(target.cores, outer)
    columns = deal_evenly(blocks, room // min(length, FEWEST_ROWS), share, ceil_div(SMALLEST_RUN, length))
    part = deal_evenly(length, room // columns.size, 1).size
    whole = part == length and columns.parts == 1 and not ragged
    together = deal_evenly(outer, room // (length * blocks), target.cores).size if whole else 1
    size = columns.size * C0
    tiles = (ceil_div(outer, together), columns.parts)
    b = KernelBuilder(
        f"reduce_{op.kind.data}",
        [memory_type(op.x, runs)],
        [memory_type(op.y, (outer, inner))],
        1 if ragged else min(target.cores, math.prod(tiles)),
    )
    inside = outer % together == 0 and length % part == 0 and inner % size == 0
    with b.deal(math.prod(tiles), target.stages) as number:
        run, column = b.split(number, *tiles)
        run, column = b.times(run, together), b.times(b.minus(columns.parts - 1, column) if ragged else column, size)

        def combined(start: Index) -> SSAValue:
            fill = None if inside else combination.fill
            x = b.load(b.inputs[0], (run, start, column), (together, part, size), fill)
            return combination.reduce(b, combination.prepare(b, x), 1)

        y = combination.in_parts(b, length, part, (together, 1, size), combined, target.stages)
        y = b.reshape(combination.finish(b, y), (together, size))
        b.store(y, b.outputs[0], (run, column), (together, size))
    return b


def _sixteen_rows(op: ReduceOp, rows: int, length: int, target: Target) -> KernelBuilder:
    """Rows of a plain tensor, each of which has a lane; their 16 results are a block."""
    combination = Combination.of(op)
    part = C0 * deal_evenly(ceil_div(length, C0), _room(target) // C0 // C0, 1).size
    tiles = ceil_div(rows, C0)
    b = KernelBuilder(
        f"reduce_{op.kind.data}",
        [memory_type(op.x, (rows, length))],
        [memory_type(op.y, (rows,))],
        min(target.cores, tiles),
    )
    fill = None if rows % C0 == 0 and length % part == 0 else combination.fill
    with b.deal(tiles, target.stages) as number:
        row = b.times(number, C0)

        def combined(start: Index) -> SSAValue:
            x = b.transpose(b.load(b.inputs[0], (row, start), (C0, part), fill))
            return combination.reduce(b, combination.prepare(b, x), 0)

        y = combination.in_parts(b, length, part, (1, C0), combined, target.stages)
        b.store(combination.finish(b, y), b.outputs[0], (row,), (C0,))
    return b


def _one_row(op: ReduceOp, length: int, target: Target) -> KernelBuilder:
    """All elements of a plain tensor."""
    combination = Combination.of(op)
    part = C0 * deal_evenly(ceil_div(length, C0), _room(target) // C0, 1).size
    b = KernelBuilder(f"reduce_{op.kind.data}", [memory_type(op.x, (length,))], [memory_type(op.y, (1,))], 1)
    fill = None if length % part == 0 else combination.fill

    def combined(start: Index) -> SSAValue:
        x = b.load(b.inputs[0], (start,), (part,), fill, shape=(part // C0, C0))
        return combination.reduce(b, combination.prepare(b, x), 0)

    y = combination.in_parts(b, length, part, (1, C0), combined, target.stages)
    b.store(combination.finish(b, combination.reduce(b, y, 1)), b.outputs[0], (0,), (1,))
    return b


def _rows_of_fractals(op: ReduceOp, target: Target) -> KernelBuilder:
    """Rows of FRACTAL_NZ that fill their blocks; the results are a plain tensor."""
    combination = Combination.of(op)
    room = target.ub // LANE_BYTES
    rows = FractalRows(op.x, room, target)
    if rows.elements > room:
        raise no_kernel(op, f"16 rows of {shape_of(op.x)[-1]} elements do not fit into the unified buffer")
    b = KernelBuilder(
        f"reduce_{op.kind.data}",
        [memory_type(op.x, rows.shape(op.x, "same"))],
        [memory_type(op.y, (rows.images, rows.rows))],
        1 if rows.rows % C0 and rows.images > 1 else rows.cores,
    )
    with rows.places(b, target.stages if 2 * rows.elements <= room else 1) as place:
        columns = combination.prepare(b, rows.columns(b, rows.load_rows(b, b.inputs[0], place)))
        y = combination.finish(b, combination.reduce(b, columns, 0))
        b.store(y, b.outputs[0], place, (1, rows.together))
    return b
