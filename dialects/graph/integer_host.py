"""Operations on 8-bit integers as ONNX operators, for the host; a part of `ge.dialects.graph.host`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import FloatAttr, TensorType, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.constants import constant_array, dtype_of
from ge.dialects.graph.integer import (
    DequantiseOp,
    IntegerAddOp,
    IntegerConv2DOp,
    IntegerMatmulOp,
    QuantiseOp,
    number_of,
)
from ge.dialects.onnx import constant_value
from ge.ir.constants import numpy_dtype
from ge.maths.group_merge import split_weights

if TYPE_CHECKING:
    from ge.dialects.graph.host import HostRegion


def _point(region: HostRegion, number: int, like: SSAValue) -> SSAValue:
    return region.constant(np.asarray(number, dtype_of(like)))


def _scale(region: HostRegion, scale: FloatAttr) -> SSAValue:
    return region.constant(np.asarray(number_of(scale), np.float32))


def _single(value: SSAValue) -> TensorType[Attribute]:
    return TensorType(f32, shape_of(value))


def _cast(region: HostRegion, x: SSAValue, type: TensorType[Attribute]) -> SSAValue:
    """A float value in another float type."""
    if tensor(x).element_type == type.element_type:
        return x
    code = 1 if type.element_type == f32 else 10
    return region.onnx("Cast", [x], type, {"to": code})


def _quantise(region: HostRegion, op: QuantiseOp) -> SSAValue:
    x = _cast(region, region.inside(op.x), _single(op.x))
    point = _point(region, op.zero_point.value.data, op.y)
    return region.onnx("QuantizeLinear", [x, _scale(region, op.scale), point], op.y.type)


def _dequantise(region: HostRegion, op: DequantiseOp) -> SSAValue:
    point = _point(region, op.zero_point.value.data, op.x)
    y = region.onnx("DequantizeLinear", [region.inside(op.x), _scale(region, op.scale), point], _single(op.y))
    return _cast(region, y, tensor(op.y))


def _add(region: HostRegion, op: IntegerAddOp) -> SSAValue:
    sides: list[SSAValue] = []
    for value, scale, point in zip(op.operands, (op.a_scale, op.b_scale), op.zero_points.get_values(), strict=False):
        inputs = [region.inside(value), _scale(region, scale), _point(region, point, value)]
        sides.append(region.onnx("DequantizeLinear", inputs, _single(op.y)))
    total = region.onnx("Add", sides, _single(op.y))
    point = _point(region, op.zero_points.get_values()[2], op.y)
    return region.onnx("QuantizeLinear", [total, _scale(region, op.scale), point], op.y.type)


def _conv2d(region: HostRegion, op: IntegerConv2DOp) -> SSAValue:
    """ConvInteger pads with the zero point of `x`, and takes it off: what that is of each sum goes into the bias."""
    w, padding = _constant(region, op.w), op.padding.value.data
    groups, merged = op.groups.value.data, op.group_merge.value.data
    bias = _constant(region, op.bias).astype(np.int64) + padding * w.sum(axis=(1, 2, 3), dtype=np.int64)
    attributes = {
        "strides": op.strides.get_values(),
        "pads": op.pads.get_values(),
        "dilations": op.dilations.get_values(),
        "group": groups,
    }
    point = region.constant(np.asarray(padding, numpy_dtype(op.x_element)))
    x = region.inside(op.x)
    if op.x_scale is not None:
        inputs = [_cast(region, x, _single(op.x)), _scale(region, op.x_scale), point]
        x = region.onnx("QuantizeLinear", inputs, TensorType(op.x_element, shape_of(op.x)))
    own = region.inside(op.w)
    if merged > 1:
        own = region.constant(split_weights(w, shape_of(op.x)[1], groups, merged))
    inputs = [x, own, point]
    sums = region.onnx("ConvInteger", inputs, TensorType(i32, shape_of(op.y)), attributes)
    return _scaled(region, op, sums, bias.astype(np.int32)[:, None, None], _constant(region, op.scale)[:, None, None])


def _matmul(region: HostRegion, op: IntegerMatmulOp) -> SSAValue:
    inputs = [region.inside(op.a), region.inside(op.b)]
    sums = region.onnx("MatMulInteger", inputs, TensorType(i32, shape_of(op.y)))
    return _scaled(region, op, sums, _constant(region, op.bias), _constant(region, op.scale))


def _scaled(
    region: HostRegion, op: IntegerConv2DOp | IntegerMatmulOp, sums: SSAValue, bias: Any, scale: Any
) -> SSAValue:
    from ge.dialects.graph.host import unary_equivalent  # which has the table of which this is a part

    type = _single(op.y)
    sums = region.onnx("Add", [sums, region.constant(bias)], sums.type)
    y = region.onnx("Mul", [region.onnx("Cast", [sums], type, {"to": 1}), region.constant(scale)], type)
    if op.activation is not None:
        y = unary_equivalent(region, y, op.activation)
    if dtype_of(op.y).kind == "f":
        return _cast(region, y, tensor(op.y))
    one, point = region.constant(np.asarray(1.0, np.float32)), _point(region, op.zero_point.value.data, op.y)
    return region.onnx("QuantizeLinear", [y, one, point], op.y.type)


def _constant(region: HostRegion, value: SSAValue) -> Any:
    """The elements of a constant, of this level or already of ONNX."""
    array = constant_array(value)
    if array is None:
        array = constant_value(region.inside(value))
    assert array is not None, "weights, bias and scales of an operation on integers are constant"
    return array


INTEGER_EQUIVALENTS: dict[type[Operation], Callable[[Any, Any], SSAValue]] = {
    QuantiseOp: _quantise,
    DequantiseOp: _dequantise,
    IntegerAddOp: _add,
    IntegerConv2DOp: _conv2d,
    IntegerMatmulOp: _matmul,
}
"""The equivalent of each operation."""
