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

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import SSAValue

from ge.dialects.graph import LayerNormOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.fusing import Around
from ge.dialects.tile.types import tile_type
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, no_kernel
from ge.lowering.graph_to_tile.row_space import RowSpace
from ge.lowering.graph_to_tile.rows import RowKernel
from ge.maths.layouts import C0


def lower_layer_norm(op: LayerNormOp, target: Target, around: Around | None = None) -> Outlined:
    """The kernel of a normalisation of rows, with the steps of a fusion `around` it."""
    kernel = RowKernel("layer_norm", around or Around.alone(op), [op.scale, op.bias], target)
    b, rows, length = kernel.b, kernel.rows, shape_of(op.x)[-1]
    if rows.together == 1 and length % C0:
        raise no_kernel(op, f"a row of {length} elements does not fit into the unified buffer")
    scale, bias = (_vector(b, rows, vector) for vector in kernel.vectors)
    with kernel.tiles(beyond=0.0) as tile:
        normal = _one_row(b, tile.x, op) if rows.together == 1 else _several_rows(b, rows, tile.x, op)
        tile.y = b.reshape(_scaled(b, normal, scale, bias), tile_type(tile.x).sizes)
    meaning = attributes(epsilon=op.epsilon.value.data, normalized_shape=(length,))
    return Outlined(b.kernel, kernel.inputs, "LayerNormV4", meaning)


def _vector(b: KernelBuilder, rows: RowSpace, source: SSAValue) -> SSAValue:
    """Scale or bias: a row, in the shape of the one that is alone where rows are one at a time."""
    vector = rows.load_vector(b, source, beyond=0.0)
    if rows.together == 1:
        vector = b.reshape(vector, (tile_type(vector).element_count // C0, C0))
    return b.cast(vector, f32)


def _scaled(b: KernelBuilder, normal: SSAValue, scale: SSAValue, bias: SSAValue) -> SSAValue:
    """The normalised rows times the scale plus the bias, as float16."""
    return b.cast(b.binary("add", b.binary("mul", b.cast(normal, f32), scale), bias), f16)


def _normalised(b: KernelBuilder, columns: SSAValue, length: int, op: LayerNormOp) -> SSAValue:
    """Float32 columns less their mean, divided by their deviation."""
    centred = b.binary("sub", columns, b.scalar("muls", b.reduce("sum", columns, 0), 1 / length))
    variance = b.scalar("muls", b.reduce("sum", b.binary("mul", centred, centred), 0), 1 / length)
    return b.binary("div", centred, _deviation(b, variance, op))


def _several_rows(b: KernelBuilder, rows: RowSpace, x: SSAValue, op: LayerNormOp) -> SSAValue:
    """The normalised rows of a tile, summed with one row in each lane; what is beyond the end of rows is zero."""
    columns, length = rows.columns(b, x), shape_of(op.x)[-1]
    padded, together = tile_type(columns).sizes
    normal = b.cast(_normalised(b, b.slice(columns, (0, 0), (length, together)), length, op), f16)
    parts = [normal] if padded == length else [normal, b.constant(0, (padded - length, together), f16)]
    return rows.tile(b, b.concat(parts))


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
