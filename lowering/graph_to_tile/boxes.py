"""`graph.slice`, and `graph.concat` along any axis of plain tensors, to tile kernels that copy boxes of whole blocks.

Along its axis a tensor is outer x n x inner. What one kernel copies of it is a box outer x size x inner, from one start
along n to another; a concatenation copies one box for each operand. Tiles divide a box evenly, so that none of them
reaches into what lies next to it.
"""

from __future__ import annotations

import math
from itertools import accumulate

from xdsl.ir import SSAValue

from ge.dialects.graph import ConcatOp, SliceOp
from ge.dialects.graph.base import shape_of
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel
from ge.maths.layouts import C0
from ge.maths.tiling import divisors

ELEMENT_BYTES = 2
"""Bytes of a float16."""

SMALLEST_TILE = 1024
"""Elements below which a box is not shared among more cores: 2 KiB, less than a transfer moves during its latency."""


def along(value: SSAValue, axis: int) -> tuple[int, int, int]:
    """A tensor as outer x n x inner."""
    shape = shape_of(value)
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def lower_slice(op: SliceOp, target: Target) -> Outlined:
    """The kernel of a slice."""
    axis, start, size = op.axis.value.data, op.start.value.data, op.size.value.data
    _check_blocks(op, op.x, axis)
    source, result = along(op.x, axis), along(op.y, axis)
    b = KernelBuilder("slice", [memory_type(op.x, source)], [memory_type(op.y, result)], target.cores)
    _copy_box(b, b.inputs[0], (start, 0), result, target)
    starts = [start if i == axis else 0 for i in range(len(shape_of(op.x)))]
    return Outlined(b.kernel, [op.x], "SliceD", attributes(offsets=starts, size=(*shape_of(op.y)[:axis], size)))


def lower_concat_of_rows(op: ConcatOp, target: Target) -> Outlined:
    """The kernel of a concatenation of plain tensors."""
    axis = op.axis.value.data % len(shape_of(op.y))
    _check_blocks(op, op.y, axis)
    boxes = [along(x, axis) for x in op.xs]
    arguments = [memory_type(x, box) for x, box in zip(op.xs, boxes, strict=True)]
    b = KernelBuilder("concat", arguments, [memory_type(op.y, along(op.y, axis))], target.cores)
    ends = list(accumulate(n for _, n, _ in boxes))
    for source, box, end in zip(b.inputs, boxes, ends, strict=True):
        _copy_box(b, source, (0, end - box[1]), box, target)
    return Outlined(b.kernel, list(op.xs), "ConcatD", attributes(concat_dim=axis, N=len(op.xs)))


def _check_blocks(op: SliceOp | ConcatOp, value: SSAValue, axis: int) -> None:
    """Raise GE4010 unless what lies after an axis is whole blocks."""
    if along(value, axis)[2] % C0:
        raise no_kernel(op, f"what lies after axis {axis} does not fill blocks")


def _copy_box(
    b: KernelBuilder, source: SSAValue, starts: tuple[int, int], box: tuple[int, int, int], target: Target
) -> None:
    """Copy a box from one start along the middle dimension of the source to another one of the result."""
    outer, size, inner = box
    room = target.ub // target.stages // ELEMENT_BYTES
    most = max(C0, min(room, max(SMALLEST_TILE, math.prod(box) // target.cores)))
    columns = next(part for part in divisors(inner) if part % C0 == 0 and (part <= most or part == C0))
    middle = next(part for part in divisors(size) if part * columns <= most or part == 1)
    steps = (next(part for part in divisors(outer) if part * middle * columns <= most or part == 1), middle, columns)
    tiles = [total // step for total, step in zip(box, steps, strict=True)]
    with b.loop(b.core, math.prod(tiles), b.kernel.block_count, stages=target.stages) as turn:
        row, place, column = (
            b.times(part, step) for part, step in zip(b.split(turn.counter, *tiles), steps, strict=True)
        )
        x = b.load(source, (row, b.plus(place, starts[0]), column), steps)
        b.store(x, b.outputs[0], (row, b.plus(place, starts[1]), column), steps)
