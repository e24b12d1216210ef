"""`graph.slice`, and `graph.concat` along any axis, to tile kernels that copy boxes of whole blocks.

Along its axis the storage of a tensor is outer x n x inner. What one kernel copies of it is a box outer x size x inner,
from one start along n to another; a concatenation copies one box for each operand. Tiles divide a box evenly, so that
none of them reaches into what lies next to it. Where a position along the axis is not whole blocks, n counts blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from xdsl.ir import SSAValue

from ge.dialects.graph import ConcatOp, SliceOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.fusing import Around
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes
from ge.lowering.graph_to_tile.stepped import SteppedKernel, moved_room
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import divisors

ELEMENT_BYTES = 2
"""Bytes of a float16."""

SMALLEST_TILE = 1024
"""Elements below which a box is not shared among more cores: 2 KiB, less than a transfer moves during its latency."""


@dataclass(frozen=True)
class Line:
    """The storage of a tensor along one of its axes."""

    outer: int
    inner: int
    elements: int
    """Elements of one position of the axis that follow each other."""
    in_blocks: bool
    """Whether places along the axis are counted in blocks, not in positions."""

    @classmethod
    def of(cls, value: SSAValue, axis: int) -> Line:
        """The line of a tensor in plain format or FRACTAL_NZ."""
        shape = shape_of(value)
        outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
        if layout_of(value.type) != "FRACTAL_NZ":
            return cls(outer, C0, inner, True) if inner % C0 else cls(outer, inner, 1, False)
        if axis == len(shape) - 1:
            rows = shape[len(shape) - 2]
            return cls(outer // rows, rows * C0, 1, True)
        blocks = ceil_div(shape[len(shape) - 1], C0)
        if axis == len(shape) - 2:
            return cls(outer * blocks, C0, 1, False)
        return cls(outer, math.prod(shape[axis + 1 : -1]) * blocks * C0, 1, False)

    def place(self, position: int) -> int:
        """Where a position along the axis is; positions within a block count as its end."""
        return ceil_div(position * self.elements, C0) if self.in_blocks else position

    def box(self, size: int) -> tuple[int, int, int]:
        """The storage of a tensor of `size` positions."""
        return self.outer, self.place(size), self.inner


def lower_slice(op: SliceOp, target: Target, around: Around | None = None) -> Outlined:
    """The kernel of a slice, with the steps of a fusion `around` it."""
    axis, start, size = op.axis.value.data, op.start.value.data, op.size.value.data
    line = Line.of(op.x, axis)
    source, result = line.box(shape_of(op.x)[axis]), line.box(size)
    kernel = SteppedKernel("slice", around or Around.alone(op), lambda operand: source, result, target.cores)
    _copy_box(kernel, kernel.elements, (line.place(start), 0), result, target)
    starts = [start if i == axis else 0 for i in range(len(shape_of(op.x)))]
    return Outlined(
        kernel.b.kernel, kernel.operands, "SliceD", attributes(offsets=starts, size=(*shape_of(op.y)[:axis], size))
    )


def lower_concat_of_rows(op: ConcatOp, target: Target, around: Around | None = None) -> Outlined:
    """The kernel of a concatenation, with the steps of a fusion after it."""
    axis = op.axis.value.data % len(shape_of(op.y))
    line = Line.of(op.y, axis)
    sizes = [shape_of(x)[axis] for x in op.xs]

    def box(operand: SSAValue) -> tuple[int, int, int]:
        return line.box(shape_of(operand)[axis])

    kernel = SteppedKernel("concat", around or Around.alone(op), box, box(op.y), target.cores)
    for x, size, end in zip(op.xs, sizes, accumulate(sizes), strict=True):
        source = kernel.sources[x]
        _copy_box(kernel, lambda load, rank, source=source: load(source), (0, line.place(end - size)), box(x), target)
    return Outlined(kernel.b.kernel, kernel.operands, "ConcatD", attributes(concat_dim=axis, N=len(op.xs)))


Elements: TypeAlias = Callable[[Callable[[SSAValue], SSAValue], int], SSAValue]
"""The tile of what is moved: from the load of a part of a tensor, and the rank of tiles."""


def _copy_box(
    kernel: SteppedKernel, elements: Elements, starts: tuple[int, int], box: tuple[int, int, int], target: Target
) -> None:
    """Copy a box from one start along the middle dimension of the source to another one of the result."""
    b, (outer, size, inner) = kernel.b, box
    room = moved_room(kernel.around, target, ELEMENT_BYTES)
    most = max(C0, min(room, max(SMALLEST_TILE, math.prod(box) // target.cores)))
    columns = next(part for part in divisors(inner) if part % C0 == 0 and (part <= most or part == C0))
    middle = next(part for part in divisors(size) if part * columns <= most or part == 1)
    steps = (next(part for part in divisors(outer) if part * middle * columns <= most or part == 1), middle, columns)
    tiles = [total // step for total, step in zip(box, steps, strict=True)]
    with b.loop(b.core, math.prod(tiles), b.kernel.block_count, stages=target.stages) as turn:
        row, place, column = (
            b.times(part, step) for part, step in zip(b.split(turn.counter, *tiles), steps, strict=True)
        )
        start = (row, b.plus(place, starts[0]), column)
        x = elements(lambda source: b.load(source, start, steps), len(steps))
        kernel.store(x, (row, b.plus(place, starts[1]), column), steps, inside=True)
