"""Operators that take and give quantised values: QLinearConv, QLinearMatMul, and those of com.microsoft.

They are the operations on 8-bit integers as they are, with the same limits as products between DequantizeLinear and
QuantizeLinear (`ge.lowering.onnx_to_graph.quantised`); what is beyond them runs on the host, and so does QGemm.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge.dialects.graph import DequantiseOp, IntegerAddOp, PoolKind, QuantiseOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.onnx import OnnxOp
from ge.ir.attributes import EIGHT_BITS
from ge.ir.constants import Array
from ge.lowering.onnx_to_graph.pooling import pool_all
from ge.lowering.onnx_to_graph.quantised import (
    Bias,
    Quantised,
    convolution,
    matrix_product,
    scale_and_point,
    weights_of,
    with_kernel,
)
from ge.lowering.onnx_to_graph.rules import Emitter, Results, Rules, is_static, known


def _quantised(value: SSAValue, scale: SSAValue, point: SSAValue | None) -> Quantised | None:
    """A value of 8 bits with its scale and zero point, if those are constant."""
    found = scale_and_point(scale, point)
    if found is None or not is_static(value) or tensor(value).element_type not in EIGHT_BITS or not shape_of(value):
        return None
    return Quantised(value, *found)


def _units(value: SSAValue | None) -> Bias:
    """A bias that is in units of the products."""

    def bias(scale: Array) -> Array | None:
        if value is None:
            return np.zeros(scale.shape, np.int64)
        array = known(value)
        fits = array is not None and (array.size == 1 or array.shape[-1:] == scale.shape == (array.size,))
        return np.broadcast_to(array.reshape(-1), scale.shape).astype(np.int64) if fits and array is not None else None

    return bias


def qlinear_conv(op: OnnxOp, emit: Emitter) -> Results:
    """QLinearConv: x, its scale and zero point, w, its own, those of y, and a bias of int32."""
    x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point, *bias = op.operands
    result = _quantised(op.results[0], y_scale, y_point)
    weights = weights_of(w, w_scale, w_point, axis=0)
    if result is None:
        return None
    return convolution(op, emit, _quantised(x, x_scale, x_point), weights, _units(*bias or [None]), result)


def qlinear_matmul(op: OnnxOp, emit: Emitter) -> Results:
    """QLinearMatMul: a, its scale and zero point, b, its own, and those of y."""
    a, a_scale, a_point, b, b_scale, b_point, y_scale, y_point = op.operands
    result = _quantised(op.results[0], y_scale, y_point)
    weights = weights_of(b, b_scale, b_point, axis=1)
    if result is None:
        return None
    return matrix_product(op, emit, _quantised(a, a_scale, a_point), weights, _units(None), result)


def qlinear_add(op: OnnxOp, emit: Emitter) -> Results:
    """QLinearAdd of tensors of one shape: a, its scale and zero point, b, its own, and those of the sum."""
    a, a_scale, a_point, b, b_scale, b_point, scale, *point = op.input_list()
    sides = [_given(a, a_scale, a_point), _given(b, b_scale, b_point), _given(a, scale, *point)]
    if a is None or b is None or None in sides or not is_static(b) or shape_of(a) != shape_of(b):
        return None
    left, right, total = (side for side in sides if side is not None)
    scales, points = (left.scale, right.scale, total.scale), (left.point, right.point, total.point)
    return with_kernel(emit, IntegerAddOp(a, b, tensor(a).element_type, scales, points))


def qlinear_global_average_pool(op: OnnxOp, emit: Emitter) -> Results:
    """QLinearGlobalAveragePool of [N, C, ...]: x, its scale and zero point, those of the mean, taken in float16."""
    x, x_scale, x_point, scale, *point = op.input_list()
    source, result = _given(x, x_scale, x_point), _given(x, scale, *point)
    if x is None or source is None or result is None or op.attribute("channels_last", 0) or len(shape_of(x)) < 3:
        return None
    numbers = with_kernel(emit, DequantiseOp(x, f32, source.scale, source.point))
    if numbers is None:
        return None
    n, c, *spatial = shape_of(x)
    mean = emit.reshape(pool_all(emit, PoolKind.AVERAGE, numbers), (n, c, *(1 for _ in spatial)))
    return with_kernel(emit, QuantiseOp(mean, tensor(x).element_type, result.scale, result.point))


def _given(value: SSAValue | None, scale: SSAValue | None, point: SSAValue | None = None) -> Quantised | None:
    return None if value is None or scale is None else _quantised(value, scale, point)


MICROSOFT_RULES: Rules = {
    "QLinearAdd": qlinear_add,
    "QLinearGlobalAveragePool": qlinear_global_average_pool,
}
"""Rules for the operators of com.microsoft."""

RULES: Rules = {"QLinearConv": qlinear_conv, "QLinearMatMul": qlinear_matmul}
