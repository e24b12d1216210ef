"""Quantisations, and convolutions and matrix products of quantised values.

A product of `DequantizeLinear(x)` and of weights that are a constant behind `DequantizeLinear` is one of integers:

    (x - zero point) · w, scaled by scale of x · scale of w      a sum of int32, exact, and one float32 for each channel

What the zero point adds is the same for all positions, `-zero point · Σw`, and goes into the bias; padding is the zero
point. The result is a float: that it is quantised again is fused later (`fuse-requantise`).

Left as products of floats: activations or weights that are scaled along another axis than that of the outputs, or in
blocks; weights that are not int8, or whose zero point is not 0; a bias that is computed; sums that int32 may not hold;
what has no kernel (`ge.dialects.graph.capabilities`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import i8
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import DequantiseOp, IntegerConv2DOp, IntegerMatmulOp, QuantiseOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.capabilities import COMPUTE_TYPES, obstacle
from ge.dialects.graph.integer import number_of
from ge.dialects.onnx import OnnxOp
from ge.ir.attributes import EIGHT_BITS
from ge.ir.constants import Array, numpy_dtype
from ge.ir.rewriting import erase_if_unused
from ge.lowering.onnx_to_graph.rules import Emitter, Results, Rules, is_feature, is_static, known, result_element
from ge.lowering.onnx_to_graph.windows import as_plane, from_plane, window_of
from ge.maths.group_merge import merge_count, merge_weights

LARGEST_SUM = 2**31 - 1
"""The largest sum of products, with bias, that int32 holds."""


@dataclass(frozen=True)
class Weights:
    """A constant of int8 without zero point, and its scales: one, or one for each output."""

    values: Array
    scale: Array


@dataclass(frozen=True)
class Quantised:
    """A value of 8 bits, and what it stands for."""

    value: SSAValue
    scale: float
    point: int


Bias: TypeAlias = Callable[[Array], "Array | None"]
"""The bias in units of products that have these scales, as int64; None when it is not known."""


@dataclass(frozen=True)
class Product:
    """What a product of integers takes beside its left operand."""

    w: Array
    bias: Array
    scale: Array
    padding: int


def is_weights(op: Operation) -> bool:
    """Whether an operation scales constants: it is translated with its readers, which may want them as they are."""
    return isinstance(op, OnnxOp) and op.op_type == "DequantizeLinear" and known(op.operands[0]) is not None


def erase_unread(block: Block) -> None:
    """Erase the dequantisations that products of integers have made useless."""
    for op in list(block.ops):
        if isinstance(op, DequantiseOp):
            erase_if_unused(op)


def integer_product(op: OnnxOp, emit: Emitter) -> Results:
    """A convolution or matrix product of integers with a float result; None where it is none, or has no kernel."""
    translate = _PRODUCTS.get(op.op_type) if not op.domain else None
    return None if translate is None else translate(op, emit)


def _conv(op: OnnxOp, emit: Emitter) -> Results:
    x, bias = quantised_value(op.operands[0]), op.operand("B")
    return convolution(op, emit, x, _weights(op.operands[1], axis=0), lambda scale: _bias(bias, scale))


def quantised_value(value: SSAValue) -> Quantised | None:
    """What a float value is the dequantisation of."""
    op = value.owner
    return Quantised(op.x, number_of(op.scale), op.zero_point.value.data) if isinstance(op, DequantiseOp) else None


def convolution(
    op: OnnxOp, emit: Emitter, x: Quantised | None, weights: Weights | None, bias: Bias, result: Quantised | None = None
) -> Results:
    """A convolution of integers, with a float result or (`result` says how it is scaled) one of 8 bits."""
    if x is None or weights is None or weights.values.ndim not in (3, 4):
        return None
    window = window_of(op, x.value, list(weights.values.shape[2:]))
    product = _product(op, x, weights, (1, *range(2, weights.values.ndim)), bias, result)
    if window is None or product is None:
        return None
    groups = op.attribute("group")
    w = product.w if product.w.ndim == 4 else product.w[:, :, None]
    merge = merge_count(shape_of(x.value)[1], len(w), groups, lanes=32)
    new = IntegerConv2DOp(
        as_plane(emit, x.value),
        emit.constant(merge_weights(w, groups, merge)),
        emit.constant(product.bias),
        emit.constant(product.scale),
        result_element(op),
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        groups=groups,
        group_merge=merge,
        padding=product.padding,
        zero_point=0 if result is None else result.point,
    )
    y = with_kernel(emit, new)
    return None if y is None else from_plane(emit, y, x.value)


def _matmul(op: OnnxOp, emit: Emitter) -> Results:
    a, weights = quantised_value(op.operands[0]), _weights(op.operands[1], axis=1)
    return matrix_product(op, emit, a, weights, lambda scale: _bias(None, scale))


def _gemm(op: OnnxOp, emit: Emitter) -> Results:
    if op.attribute("transA") or op.attribute("alpha") != 1.0 or op.attribute("beta") != 1.0:
        return None
    transposed = bool(op.attribute("transB"))
    weights = _weights(op.operands[1], axis=0 if transposed else 1)
    if weights is not None and transposed and weights.values.ndim == 2:
        weights = Weights(np.ascontiguousarray(weights.values.T), weights.scale)
    bias = op.operand("C")
    return matrix_product(op, emit, quantised_value(op.operands[0]), weights, lambda scale: _bias(bias, scale))


def matrix_product(
    op: OnnxOp, emit: Emitter, a: Quantised | None, weights: Weights | None, bias: Bias, result: Quantised | None = None
) -> Results:
    """A product of matrices of integers, as `convolution`."""
    if a is None or weights is None or weights.values.ndim != 2 or len(shape_of(a.value)) < 2:
        return None
    product = _product(op, a, weights, (0,), bias, result)
    if product is None:
        return None
    w, added, scale = (emit.constant(array) for array in (product.w, product.bias, product.scale))
    element, point = result_element(op), 0 if result is None else result.point
    return with_kernel(emit, IntegerMatmulOp(a.value, w, added, scale, element, zero_point=point))


def with_kernel(emit: Emitter, op: Operation) -> SSAValue | None:
    """The result of an operation that is emitted, if it has a kernel."""
    y = emit.add(op)
    return None if obstacle(op) is not None else y


_PRODUCTS: Mapping[str, Callable[[OnnxOp, Emitter], Results]] = {"Conv": _conv, "MatMul": _matmul, "Gemm": _gemm}


def _product(
    op: OnnxOp, x: Quantised, weights: Weights, summed: tuple[int, ...], bias: Bias, result: Quantised | None
) -> Product | None:
    """The parts of a product; the axes `summed` of the weights are those over which it sums."""
    if not is_feature(op.results[0]) and not is_static(op.results[0]):
        return None
    w = weights.values
    outputs = w.sum(axis=summed, dtype=np.int64).size
    scale = np.broadcast_to(np.float32(x.scale) * weights.scale, (outputs,)).astype(np.float32)
    added = bias(scale)
    if result is not None:
        scale = (scale / np.float32(result.scale)).astype(np.float32)
    if added is None or not (scale > 0).all() or not np.isfinite(scale).all():
        return None
    added = added - x.point * w.sum(axis=summed, dtype=np.int64)
    largest = np.iinfo(numpy_dtype(tensor(x.value).element_type))
    reach = np.abs(w.astype(np.int64)).sum(axis=summed) * max(-int(largest.min), int(largest.max)) + np.abs(added)
    if reach.max() > LARGEST_SUM:
        return None
    return Product(w, added.astype(np.int32), scale, x.point)


def _bias(value: SSAValue | None, scale: Array) -> Array | None:
    """A constant bias in units of the products, rounded; zeros when there is none, None when it is anything else."""
    if value is None:
        return np.zeros(scale.shape, np.int64)
    array = _dequantised(value) if isinstance(value.owner, OnnxOp) and is_weights(value.owner) else known(value)
    if array is None or array.size not in (1, scale.size) or (array.size > 1 and array.shape[-1] != array.size):
        return None  # one for each row is none for each output
    units = np.rint(np.broadcast_to(array.reshape(-1), scale.shape).astype(np.float64) / scale)
    return units.astype(np.int64) if (np.abs(units) <= LARGEST_SUM).all() else None


def _weights(value: SSAValue, axis: int) -> Weights | None:
    """Weights that are scaled as a whole, or along `axis`."""
    op = value.owner
    if not isinstance(op, OnnxOp) or not is_weights(op) or op.attribute("block_size", 0):
        return None
    own = op.attribute("axis", 1) % max(len(shape_of(op.operands[0])), 1)
    scale = known(op.operands[1])
    if scale is not None and scale.size > 1 and own != axis:
        return None
    return weights_of(op.operands[0], op.operands[1], op.operand("x_zero_point"), axis)


def weights_of(value: SSAValue, scales: SSAValue, points: SSAValue | None, axis: int) -> Weights | None:
    """Constant weights of int8 without zero point that are scaled as a whole, or along `axis`."""
    x, scale, point = known(value), known(scales), known(points)
    if x is None or scale is None or tensor(value).element_type != i8:
        return None
    if points is not None and (point is None or point.any()):
        return None
    if scale.size > 1 and not (scale.ndim == 1 and axis < x.ndim and scale.size == x.shape[axis]):
        return None
    return Weights(x, scale.reshape(-1).astype(np.float32))


def _dequantised(value: SSAValue) -> Array | None:
    """The numbers of a constant that is scaled, as a whole or along an axis."""
    op = cast(OnnxOp, value.owner)
    x, scale = known(op.operands[0]), known(op.operands[1])
    point = known(op.operand("x_zero_point"))
    if x is None or scale is None or op.attribute("block_size", 0) or x.dtype.kind not in "iu":
        return None  # floats of 8 bits, and integers of 4 and 2, are left to the host
    if op.operand("x_zero_point") is not None and point is None:
        return None
    sides: list[Any] = [scale, np.zeros_like(scale) if point is None else point]
    if scale.size > 1:
        shape = [1] * x.ndim
        shape[op.attribute("axis", 1)] = -1
        sides = [side.reshape(shape) for side in sides]
    centred = x.astype(np.int64) - sides[1].astype(np.int64)
    return centred.astype(np.float32) * sides[0].astype(np.float32)


# Quantisations


def quantize_linear(op: OnnxOp, emit: Emitter) -> Results:
    """QuantizeLinear of all of a tensor to 8 bits."""
    x, found = op.operands[0], _scale_and_point(op, "y_scale", "y_zero_point")
    target = result_element(op)
    if not is_feature(x) or found is None or target not in EIGHT_BITS or not shape_of(x) or op.attribute("precision"):
        return None
    return with_kernel(emit, QuantiseOp(x, target, *found))


def dequantize_linear(op: OnnxOp, emit: Emitter) -> Results:
    """DequantizeLinear: beforehand of a constant; of all of a tensor of 8 bits."""
    x, target = op.operands[0], result_element(op)
    if is_weights(op) and target in COMPUTE_TYPES:
        array = _dequantised(op.results[0])
        return None if array is None else emit.constant(array.astype(numpy_dtype(target)))
    found = _scale_and_point(op, "x_scale", "x_zero_point")
    if found is None or target not in COMPUTE_TYPES or not is_static(x) or not shape_of(x):
        return None
    if tensor(x).element_type not in EIGHT_BITS:
        return None
    return with_kernel(emit, DequantiseOp(x, target, *found))


def _scale_and_point(op: OnnxOp, scale_name: str, point_name: str) -> tuple[float, int] | None:
    """The scale, of float32, and zero point of a whole tensor, if they are constant."""
    if op.attribute("block_size", 0):
        return None
    return scale_and_point(op.operand(scale_name), op.operand(point_name))


def scale_and_point(scales: SSAValue | None, points: SSAValue | None) -> tuple[float, int] | None:
    """The same of a scale and a zero point, which may be left out."""
    scale, point = known(scales), known(points)
    if scale is None or scale.size != 1 or scale.dtype != np.float32:
        return None
    if points is not None and (point is None or point.size != 1):
        return None
    number = float(np.float32(scale.reshape(-1)[0]))
    zero = 0 if point is None else int(point.reshape(-1)[0])
    return (number, zero) if 0 < number < float("inf") else None


RULES: Rules = {"QuantizeLinear": quantize_linear, "DequantizeLinear": dequantize_linear}
