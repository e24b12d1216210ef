"""What the operations on 8-bit integers compute, as NumPy functions; see `ge.dialects.graph.integer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ge.dialects.graph import numerics
from ge.dialects.graph.constants import dtype_of
from ge.dialects.graph.integer import (
    DequantiseOp,
    IntegerAddOp,
    IntegerConv2DOp,
    IntegerMatmulOp,
    QuantiseOp,
    number_of,
)
from ge.ir.constants import Array, numpy_dtype
from ge.maths.floats import round_to_type, to_integers


def scaled(op: IntegerConv2DOp | IntegerMatmulOp, sums: Array, scale: Array) -> Array:
    """The result for exact sums: scaled in float32, and rounded once."""
    y = sums.astype(np.int32).astype(np.float32) * scale
    if op.activation is not None:
        y = numerics.unary(y, op.activation)
    return requantised(y, op.zero_point.value.data, dtype_of(op.y))


def requantised(y: Array, zero_point: int, dtype: np.dtype[Any]) -> Array:
    """Numbers in units of the scale as integers of `dtype`, NaN as the zero point; in a float type as numbers."""
    if dtype.kind == "f":
        return round_to_type(y, dtype)
    return to_integers(to_integers(y, np.dtype(np.int32)).astype(np.float64) + zero_point, dtype)


def _conv2d(op: IntegerConv2DOp, x: Array, w: Array, bias: Array, scale: Array) -> Array:
    if op.x_scale is not None:
        dtype = numpy_dtype(op.x_element)
        x = requantised(x.astype(np.float32) / np.float32(number_of(op.x_scale)), op.padding.value.data, dtype)
    top, left, bottom, right = op.pads.get_values()
    around = ((0, 0), (0, 0), (top, bottom), (left, right))
    padded = np.pad(x.astype(np.float64), around, constant_values=op.padding.value.data)
    sums = numerics.conv2d(
        padded,
        w.astype(np.float64),
        op.strides.get_values(),
        (0, 0, 0, 0),
        op.dilations.get_values(),
        op.groups.value.data,
        op.group_merge.value.data,
    )
    return scaled(op, sums + bias[:, None, None], scale[:, None, None])


def _matmul(op: IntegerMatmulOp, a: Array, b: Array, bias: Array, scale: Array) -> Array:
    return scaled(op, np.matmul(a.astype(np.float64), b.astype(np.float64)) + bias, scale)


def _quantise(op: QuantiseOp, x: Array) -> Array:
    return requantised(x.astype(np.float32) / np.float32(number_of(op.scale)), op.zero_point.value.data, dtype_of(op.y))


def _dequantise(op: DequantiseOp, x: Array) -> Array:
    numbers = (x.astype(np.float32) - op.zero_point.value.data) * np.float32(number_of(op.scale))
    return round_to_type(numbers, dtype_of(op.y))


def _add(op: IntegerAddOp, a: Array, b: Array) -> Array:
    a_point, b_point, point = op.zero_points.get_values()
    total = (a.astype(np.float32) - a_point) * np.float32(number_of(op.a_scale))
    total = total + (b.astype(np.float32) - b_point) * np.float32(number_of(op.b_scale))
    return requantised(total / np.float32(number_of(op.scale)), point, dtype_of(op.y))


INTEGER_MEANINGS: Mapping[type[Operation], Callable[[Any, Sequence[Array]], Array]] = {
    IntegerConv2DOp: lambda op, xs: _conv2d(op, *xs),
    IntegerMatmulOp: lambda op, xs: _matmul(op, *xs),
    QuantiseOp: lambda op, xs: _quantise(op, xs[0]),
    DequantiseOp: lambda op, xs: _dequantise(op, xs[0]),
    IntegerAddOp: lambda op, xs: _add(op, xs[0], xs[1]),
}
"""The meaning of each operation, on arrays of its operands' types; the result has the type of the operation's."""
