"""`graph.softmax` on the last axis of a plain tensor to a tile kernel, in float32 inside.

A row must be summed along itself, and the vector unit is good at the opposite: adding rows. There are two kernels:

1. *Sixteen rows at once*, for rows up to a few hundred elements: a transpose turns 16 rows into L x 16, with one row in
   each lane, so that maximum and sum run over the first axis and broadcast back as one block.
2. *One row at a time*, for longer rows: the row is L/16 x 16, maximum and sum end with a reduction over the 16 lanes.

Elements beyond the end of a row read as the lowest float16, whose exponential is 0. Rows that do not fill their last
block are stored by one core, in order: each store rounds up into the next row.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import SSAValue

from ge.dialects.graph import SoftmaxOp
from ge.dialects.graph.base import shape_of
from ge.dialects.tile.types import tile_type
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel
from ge.maths.layouts import C0, ceil_div, round_up

LOWEST = -65504.0
"""The lowest finite float16."""

LANE_BYTES = 3 * 4 + 3 * 2
"""What one element takes at most: float32 for operand, difference and exponential, float16 around both transposes."""


def lower_softmax(op: SoftmaxOp, target: Target) -> Outlined:
    """The kernel of a softmax."""
    shape = shape_of(op.x)
    if op.axis.value.data % len(shape) != len(shape) - 1:
        raise no_kernel(op, "the axis is not the last")
    length, rows = shape[-1], math.prod(shape[:-1])
    room = target.ub // LANE_BYTES
    if length > room:
        raise no_kernel(op, f"a row of {length} elements does not fit into the unified buffer")
    padded = round_up(length, C0)
    together = C0 if rows > 1 and padded * C0 <= room else 1
    ragged = length % C0 != 0 and rows > 1
    tiles = ceil_div(rows, together)
    b = KernelBuilder(
        "softmax",
        [memory_type(op.x, (rows, length))],
        [memory_type(op.y, (rows, length))],
        1 if ragged else min(tiles, target.cores),
    )
    stages = target.stages if 2 * together * padded <= room else 1
    is_log = op.log is not None
    fill = None if length == padded and rows % together == 0 else LOWEST
    with b.deal(tiles, stages) as number:
        offsets, sizes = (b.times(number, together), 0), (together, padded)
        x = b.load(b.inputs[0], offsets, sizes, fill)
        y = _sixteen_rows(b, x, is_log) if together > 1 else _one_row(b, x, is_log)
        b.store(y, b.outputs[0], offsets, sizes)
    return Outlined(b.kernel, [op.x], "LogSoftmaxV2" if is_log else "SoftmaxV2", attributes(axes=[-1]))


def _sixteen_rows(b: KernelBuilder, x: SSAValue, is_log: bool) -> SSAValue:
    """Softmax of 16 x L, with one row in each lane."""
    columns = b.cast(b.transpose(x), f32)
    largest = b.reduce("max", columns, 0)
    difference = b.binary("sub", columns, largest)
    power = b.unary("exp", difference)
    total = b.reduce("sum", power, 0)
    return b.transpose(b.cast(_finish(b, difference, power, total, is_log), f16))


def _one_row(b: KernelBuilder, x: SSAValue, is_log: bool) -> SSAValue:
    """Softmax of 1 x L."""
    length = tile_type(x).sizes[1]
    blocks = b.cast(b.reshape(x, (length // C0, C0)), f32)
    largest = b.reduce("max", b.reduce("max", blocks, 0), 1)
    difference = b.binary("sub", blocks, largest)
    power = b.unary("exp", difference)
    total = b.reduce("sum", b.reduce("sum", power, 0), 1)
    return b.reshape(b.cast(_finish(b, difference, power, total, is_log), f16), (1, length))


def _finish(b: KernelBuilder, difference: SSAValue, power: SSAValue, total: SSAValue, is_log: bool) -> SSAValue:
    """Divide by the sum, or subtract its logarithm."""
    return b.binary("sub", difference, b.unary("ln", total)) if is_log else b.binary("div", power, total)
