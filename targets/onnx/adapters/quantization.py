"""QuantizeLinear and DequantizeLinear: scales per axis and per block, types of scales and results.

Where an older version lacks a form, its definition is written with arithmetic: (x - zero point) * scale, and
saturate(round(x / scale) + zero point).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from ge.targets.onnx.adapters.builder import FLOAT8, Builder
from ge.targets.onnx.adapters.registry import down
from ge.targets.onnx.adapters.values import Node, RefusalError

_T = TensorProto

_RANGES: Mapping[int, tuple[int, int]] = {
    _T.INT8: (-128, 127),
    _T.UINT8: (0, 255),
    _T.INT16: (-32768, 32767),
    _T.UINT16: (0, 65535),
    _T.INT4: (-8, 7),
    _T.UINT4: (0, 15),
    _T.INT2: (-2, 1),
    _T.UINT2: (0, 3),
}

_QUANTIZED_AT_19 = frozenset({_T.INT8, _T.UINT8, *FLOAT8})


# DequantizeLinear


@down("DequantizeLinear", 23, 21)
def scale_in_output_type(node: Node, new: Builder) -> None:
    """Before opset 23 the result has the type of the scale, which is also that of the product."""
    element = node.attribute("output_dtype")
    if element:
        inputs = [*node.proto.input]
        inputs[1] = new.cast(inputs[1], element)
        new.replace(inputs, without=["output_dtype"])


@down("DequantizeLinear", 21, 19)
def dequantize_blocks(node: Node, new: Builder) -> None:
    """Opset 21 brought blocks, and 16-bit and 4-bit integers."""
    if node.attribute("block_size") or node.element("x") not in {*_QUANTIZED_AT_19, _T.INT32}:
        _dequantize(node, new)


@down("DequantizeLinear", 13, 10)
def dequantize_axis(node: Node, new: Builder) -> None:
    """Before opset 13 there is one scale."""
    if node.rank("x_scale"):
        _dequantize(node, new)
    elif node.has("axis"):
        new.replace(without=["axis"])


def _dequantize(node: Node, new: Builder) -> None:
    scale = _along_axis(node, new, node.input("x_scale"), "x", "x_scale")
    element = node.known_element("x_scale")
    value = new.cast(node.input("x"), _T.FLOAT)
    if zero := node.input("x_zero_point"):
        value = new.add("Sub", [value, new.cast(_along_axis(node, new, zero, "x", "x_scale"), _T.FLOAT)])
    if element != _T.FLOAT:
        value = new.cast(value, element)
    new.add("Mul", [value, scale], node.outputs)


# QuantizeLinear


@down("QuantizeLinear", 23, 21)
def divide_in_one_type(node: Node, new: Builder) -> None:
    """Since opset 23 ``precision``, or the type of the scale, is that of the division; before, all types are alike."""
    x, scale = node.known_element("x"), node.known_element("y_scale")
    element = node.attribute("precision") or scale
    if element == x == scale:
        if node.has("precision"):
            new.replace(without=["precision"])
        return
    inputs = [*node.proto.input]
    inputs[:2] = [inputs[0] if x == element else new.cast(inputs[0], element), inputs[1]]
    inputs[1] = inputs[1] if scale == element else new.cast(inputs[1], element)
    new.replace(inputs, without=["precision"])


@down("QuantizeLinear", 21, 19)
def quantize_blocks(node: Node, new: Builder) -> None:
    """Opset 21 brought blocks, 16-bit and 4-bit integers, and the type of the result without a zero point."""
    element = _result(node)
    if node.attribute("block_size") or element not in _QUANTIZED_AT_19:
        _quantize(node, new)
        return
    inputs = [*node.proto.input]
    if not node.input("y_zero_point") and element != _T.UINT8:
        inputs = [*inputs[:2], new.constant(np.zeros(node.sizes("y_scale")), element)]
    if inputs != list(node.proto.input) or node.has("output_dtype") or node.has("block_size"):
        new.replace(inputs, without=["output_dtype", "block_size"])


@down("QuantizeLinear", 19, 13)
def quantize_floats(node: Node, new: Builder) -> None:
    """Opset 19 brought scales other than float, and ``saturate``, which only says something of float8."""
    x, scale = node.element("x"), node.element("y_scale")
    if _result(node) in FLOAT8:
        return
    inputs = [*node.proto.input]
    if x not in (_T.FLOAT, _T.INT32):
        inputs[0] = new.cast(inputs[0], _T.FLOAT)
    if scale != _T.FLOAT:
        inputs[1] = new.cast(inputs[1], _T.FLOAT)
    if inputs != list(node.proto.input) or node.has("saturate"):
        new.replace(inputs, without=["saturate"])


@down("QuantizeLinear", 13, 10)
def quantize_axis(node: Node, new: Builder) -> None:
    """Before opset 13 there is one scale."""
    if node.rank("y_scale"):
        _quantize(node, new)
    elif node.has("axis"):
        new.replace(without=["axis"])


def _result(node: Node) -> int:
    """The element type that a QuantizeLinear gives."""
    if node.input("y_zero_point"):
        return node.known_element("y_zero_point")
    return (node.attribute("output_dtype") if "output_dtype" in node.schema.attributes else 0) or _T.UINT8


def _quantize(node: Node, new: Builder) -> None:
    element, scale_element = _result(node), node.known_element("y_scale")
    if element not in _RANGES and element not in FLOAT8:
        raise RefusalError(f"there is no {_T.DataType.Name(element).lower()} at opset {new.opset}")
    x = node.input("x")
    if node.known_element("x") != scale_element:
        x = new.cast(x, scale_element)
    value = new.add("Div", [x, _along_axis(node, new, node.input("y_scale"), "x", "y_scale")])
    if element in FLOAT8:
        saturate = node.attribute("saturate")
        new.add("Cast", [value], node.outputs, to=element, saturate=saturate)
        return
    value = new.cast(new.add("Round", [value]), _T.FLOAT)
    if zero := node.input("y_zero_point"):
        value = new.add("Add", [value, new.cast(_along_axis(node, new, zero, "x", "y_scale"), _T.FLOAT)])
    least, most = (new.constant(bound, _T.FLOAT) for bound in _RANGES[element])
    new.cast(new.add("Clip", [value, least, most]), element, node.outputs)


# Both


def _along_axis(node: Node, new: Builder, value: str, data: str, scale: str) -> str:
    """A scale or zero point in a shape that broadcasts to the data: one for all, per index of an axis, or per block."""
    scale_rank = node.rank(scale)
    if scale_rank == 0:
        return value
    rank = node.rank(data)
    axis = node.attribute("axis") % max(1, rank)
    block = node.attribute("block_size") if "block_size" in node.schema.attributes else 0
    if block:
        (size,) = node.sizes(data, [axis])
        return new.add("Gather", [value, new.constant(np.arange(size) // block)], axis=axis)
    if scale_rank != 1:
        raise RefusalError(f"its input '{scale}' has {scale_rank} dimensions")
    trailing = rank - 1 - axis
    return new.unsqueeze(value, list(range(1, 1 + trailing))) if trailing else value
