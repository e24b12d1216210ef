"""`graph.layer_norm` to a tile kernel, in float32 inside. Rows are summed in one of three ways.

1. *Many rows at once*, in FRACTAL_NZ (`fractal_rows`), where they fill their blocks: a transpose gives each row a
   column. Mean and variance are sums over the first axis; a second transpose brings the normalised rows back, where
   scale and bias are rows, too.
2. *Sixteen rows at once*, for those of a plain tensor: the same.
3. *One row at a time*, for longer rows of whole blocks: the row is L/16 x 16.

Rows of a plain tensor that do not fill their last block are stored by one core, in order: each store rounds up into the
next row.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import SSAValue

from ge.dialects.graph import LayerNormOp
from ge.dialects.graph.base import shape_of
from ge.dialects.tile.types import tile_type
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.fractal_rows import FractalRows
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel
from ge.maths.layouts import C0, ceil_div, round_up

LANE_BYTES = 3 * 4 + 3 * 2
"""What one element takes at most: float32 for operand, difference and square, float16 around both transposes."""

VECTOR_BYTES = 2 * 4
"""What scale and bias take for one element of a row."""


def lower_layer_norm(op: LayerNormOp, target: Target) -> Outlined:
    """The kernel of a normalisation of rows."""
    if layout_of(op.x.type) == "FRACTAL_NZ":
        return _fractal(op, target)
    shape = shape_of(op.x)
    length, rows = shape[-1], math.prod(shape[:-1])
    padded = round_up(length, C0)
    room = (target.ub - VECTOR_BYTES * padded) // LANE_BYTES
    together = C0 if rows > 1 and padded * C0 <= room else 1
    if padded > room or (together == 1 and padded > length):
        raise no_kernel(op, f"a row of {length} elements does not fit into the unified buffer")
    ragged = length % C0 != 0 and rows > 1
    tiles = ceil_div(rows, together)
    vectors = [memory_type(vector) for vector in (op.scale, op.bias)]
    b = KernelBuilder(
        "layer_norm",
        [memory_type(op.x, (rows, length)), *vectors],
        [memory_type(op.y, (rows, length))],
        1 if ragged else min(tiles, target.cores),
    )
    x, scale, bias = b.inputs
    vector_shape = (1, padded) if together > 1 else (padded // C0, C0)
    fill = None if length == padded else 0.0
    scale, bias = (b.cast(b.load(v, [0], [padded], fill, shape=vector_shape), f32) for v in (scale, bias))
    stages = target.stages if 2 * together * padded <= room else 1
    fill = None if length == padded and rows % together == 0 else 0.0
    with b.deal(tiles, stages) as number:
        offsets, sizes = (b.times(number, together), 0), (together, padded)
        row = b.load(x, offsets, sizes, fill)
        normal = _sixteen_rows(b, row, length, op) if together > 1 else _one_row(b, row, op)
        b.store(b.reshape(_scaled(b, normal, scale, bias), sizes), b.outputs[0], offsets, sizes)
    return _outlined(b, op)


def _fractal(op: LayerNormOp, target: Target) -> Outlined:
    """The kernel of a tensor in FRACTAL_NZ."""
    length = shape_of(op.x)[-1]
    room = (target.ub - VECTOR_BYTES * length) // LANE_BYTES
    rows = FractalRows.of(op.x, room, target)
    if rows is None:
        raise no_kernel(op, f"16 rows of {length} elements do not fit into the unified buffer")
    arguments = [memory_type(op.x, rows.shape), memory_type(op.scale), memory_type(op.bias)]
    b = KernelBuilder("layer_norm", arguments, [memory_type(op.y, rows.shape)], rows.cores)
    x, *vectors = b.inputs
    scale, bias = (b.load(vector, [0], [length], shape=(rows.blocks, 1, C0)) for vector in vectors)
    with rows.places(b, target.stages if 2 * rows.elements <= room else 1) as place:
        normal = b.cast(_normalised(b, rows.columns(b, rows.load(b, x, place)), length, op), f16)
        rows.store(b, _scaled(b, rows.tile(b, normal), scale, bias), b.outputs[0], place)
    return _outlined(b, op)


def _outlined(b: KernelBuilder, op: LayerNormOp) -> Outlined:
    meaning = attributes(epsilon=op.epsilon.value.data, normalized_shape=(shape_of(op.x)[-1],))
    return Outlined(b.kernel, [op.x, op.scale, op.bias], "LayerNormV4", meaning)


def _scaled(b: KernelBuilder, normal: SSAValue, scale: SSAValue, bias: SSAValue) -> SSAValue:
    """The normalised rows times the scale plus the bias, as float16."""
    return b.cast(b.binary("add", b.binary("mul", b.cast(normal, f32), scale), bias), f16)


def _normalised(b: KernelBuilder, columns: SSAValue, length: int, op: LayerNormOp) -> SSAValue:
    """Float32 columns less their mean, divided by their deviation."""
    centred = b.binary("sub", columns, b.scalar("muls", b.reduce("sum", columns, 0), 1 / length))
    variance = b.scalar("muls", b.reduce("sum", b.binary("mul", centred, centred), 0), 1 / length)
    return b.binary("div", centred, _deviation(b, variance, op))


def _sixteen_rows(b: KernelBuilder, x: SSAValue, length: int, op: LayerNormOp) -> SSAValue:
    """The normalised rows of 16 x L, summed with one row in each lane; what is beyond the end of rows is zero."""
    padded = tile_type(x).sizes[1]
    columns = b.cast(b.slice(b.transpose(x), (0, 0), (length, C0)), f32)
    normal = b.cast(_normalised(b, columns, length, op), f16)
    parts = [normal] if padded == length else [normal, b.constant(0, (padded - length, C0), f16)]
    return b.transpose(b.concat(parts))


def _one_row(b: KernelBuilder, x: SSAValue, op: LayerNormOp) -> SSAValue:
    """The normalised row of 1 x L, as blocks."""
    length = tile_type(x).sizes[1]
    blocks = b.cast(b.reshape(x, (length // C0, C0)), f32)
    mean = b.scalar("muls", b.reduce("sum", b.reduce("sum", blocks, 0), 1), 1 / length)
    centred = b.binary("sub", blocks, mean)
    total = b.reduce("sum", b.reduce("sum", b.binary("mul", centred, centred), 0), 1)
    return b.binary("div", centred, _deviation(b, b.scalar("muls", total, 1 / length), op))


def _deviation(b: KernelBuilder, variance: SSAValue, op: LayerNormOp) -> SSAValue:
    """√(variance + epsilon)."""
    return b.unary("sqrt", b.scalar("adds", variance, op.epsilon.value.data))
