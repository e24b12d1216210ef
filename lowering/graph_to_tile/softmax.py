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

import numpy as np
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import SSAValue

from ge.dialects.graph import ConstantOp, SoftmaxOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant
from ge.dialects.graph.fusing import Around
from ge.dialects.graph.fusion_limits import row_tiles
from ge.dialects.graph.row_tiles import RowTiles
from ge.dialects.tile.types import tile_type
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, no_kernel
from ge.lowering.graph_to_tile.rows import RowKernel
from ge.maths.layouts import C0

LOWEST = -65504.0
"""The lowest finite float16."""


def lower_softmax(op: SoftmaxOp, target: Target, around: Around | None = None) -> Outlined:
    """The kernel of a softmax, with the steps of a fusion `around` it."""
    shape = shape_of(op.x)
    if op.axis.value.data % len(shape) != len(shape) - 1:
        raise no_kernel(op, "the axis is not the last")
    around = around or Around.alone(op)
    limits = [_limits(row_tiles(around))] if _needs_limits(around) else []
    kernel = RowKernel("softmax", around, [each.y for each in limits], target)
    b, rows = kernel.b, kernel.rows
    limit = [rows.load_vector(b, vector) for vector in kernel.vectors]
    with kernel.tiles(beyond=0.0 if limit else LOWEST) as tile:
        x = b.binary("min", tile.x, *limit) if limit else tile.x
        one = rows.together == 1
        tile.y = _one_row(b, x, op) if one else rows.tile(b, _columns(b, rows.columns(b, x), op))
    meaning = attributes(axes=[-1])
    return Outlined(b.kernel, kernel.inputs, softmax_operator(op), meaning, limits)


def softmax_operator(op: SoftmaxOp) -> str:
    """The operator of Ascend IR."""
    return "SoftmaxV2" if op.log is None else "LogSoftmaxV2"


def _needs_limits(around: Around) -> bool:
    """Whether something lies beyond the end of rows: pad lanes, or what steps have computed there."""
    rows = row_tiles(around)
    return rows.is_ragged and (rows.fractal or bool(around.before))


def _limits(rows: RowTiles) -> ConstantOp:
    """What the elements of a row are at most: anything up to its end, the lowest number beyond."""
    return constant(np.where(np.arange(rows.padded) < rows.length, -LOWEST, LOWEST).astype(np.float16))


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
