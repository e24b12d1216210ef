"""`graph.softmax` on the last axis to a tile kernel, in float32 inside.

A row must be summed along itself, and the vector unit is good at the opposite: adding rows. There are three kernels:

1. *Many rows at once*, in FRACTAL_NZ (`fractal_rows`): a transpose gives each row a column, so that maximum and sum run
   over the first axis.
2. *Sixteen rows at once*, for rows of a plain tensor up to a few hundred elements: the same.
3. *One row at a time*, for longer rows: the row is L/16 x 16, maximum and sum end with a reduction over the 16 lanes.

Elements beyond the end of a row are the lowest float16. What they add to the sum of exponentials is taken off again: it
is not 0 in a row of nothing but the lowest numbers, which masks make. Rows of a plain tensor that do not fill their
last block are stored by one core, in order: each store rounds up into the next row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import SSAValue

from ge.dialects.graph import ConstantOp, SoftmaxOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant
from ge.dialects.tile.types import tile_type
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.fractal_rows import FractalRows
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
    if layout_of(op.x.type) == "FRACTAL_NZ":
        return _fractal(op, target)
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
    fill = None if length == padded and rows % together == 0 else LOWEST
    with b.deal(tiles, stages) as number:
        offsets, sizes = (b.times(number, together), 0), (together, padded)
        x = b.load(b.inputs[0], offsets, sizes, fill)
        y = b.transpose(_columns(b, b.cast(b.transpose(x), f32), op)) if together > 1 else _one_row(b, x, op)
        b.store(y, b.outputs[0], offsets, sizes)
    return _outlined(b, op)


def _fractal(op: SoftmaxOp, target: Target) -> Outlined:
    """The kernel of a tensor in FRACTAL_NZ."""
    length = shape_of(op.x)[-1]
    room = target.ub // LANE_BYTES
    rows = FractalRows.of(op.x, room, target)
    if rows is None:
        raise no_kernel(op, f"16 rows of {length} elements do not fit into the unified buffer")
    limits = [_limits(rows.blocks, length)] if length % C0 else []
    arguments = [memory_type(op.x, rows.shape), *(memory_type(each.y) for each in limits)]
    b = KernelBuilder("softmax", arguments, [memory_type(op.y, rows.shape)], rows.cores)
    limit = b.load(b.inputs[1], [0], [rows.blocks * C0], shape=(rows.blocks, 1, C0)) if limits else None
    with rows.places(b, target.stages if 2 * rows.elements <= room else 1) as place:
        x = rows.load(b, b.inputs[0], place)
        x = x if limit is None else b.binary("min", x, limit)
        rows.store(b, rows.tile(b, _columns(b, rows.columns(b, x), op)), b.outputs[0], place)
    return _outlined(b, op, limits)


def _limits(blocks: int, length: int) -> ConstantOp:
    """What the elements of the blocks of a row are at most: anything up to its end, the lowest number beyond."""
    return constant(np.where(np.arange(blocks * C0) < length, -LOWEST, LOWEST).astype(np.float16))


def _outlined(b: KernelBuilder, op: SoftmaxOp, constants: Sequence[ConstantOp] = ()) -> Outlined:
    name = "SoftmaxV2" if op.log is None else "LogSoftmaxV2"
    return Outlined(b.kernel, [op.x, *(each.y for each in constants)], name, attributes(axes=[-1]), constants)


def _columns(b: KernelBuilder, columns: SSAValue, op: SoftmaxOp) -> SSAValue:
    """Softmax along the first axis, as float16."""
    largest = b.reduce("max", columns, 0)
    difference = b.binary("sub", columns, largest)
    power = b.unary("exp", difference)
    total = _total(b, b.reduce("sum", power, 0), largest, op)
    return b.cast(_finish(b, difference, power, total, op), f16)


def _one_row(b: KernelBuilder, x: SSAValue, op: SoftmaxOp) -> SSAValue:
    """Softmax of 1 x L."""
    length = tile_type(x).sizes[1]
    blocks = b.cast(b.reshape(x, (length // C0, C0)), f32)
    largest = b.reduce("max", b.reduce("max", blocks, 0), 1)
    difference = b.binary("sub", blocks, largest)
    power = b.unary("exp", difference)
    total = _total(b, b.reduce("sum", b.reduce("sum", power, 0), 1), largest, op)
    return b.reshape(b.cast(_finish(b, difference, power, total, op), f16), (1, length))


def _total(b: KernelBuilder, total: SSAValue, largest: SSAValue, op: SoftmaxOp) -> SSAValue:
    """The sum of exponentials without those of what is beyond the end of rows."""
    beyond = -shape_of(op.x)[-1] % C0
    if not beyond:
        return total
    each = b.unary("exp", b.scalar("adds", b.unary("neg", largest), LOWEST))
    return b.binary("sub", total, b.scalar("muls", each, beyond))


def _finish(b: KernelBuilder, difference: SSAValue, power: SSAValue, total: SSAValue, op: SoftmaxOp) -> SSAValue:
    """Divide by the sum, or subtract its logarithm."""
    return b.binary("div", power, total) if op.log is None else b.binary("sub", difference, b.unary("ln", total))
