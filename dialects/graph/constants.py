"""Constants of the graph level as NumPy arrays in origin shape, whatever storage format they lie in."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ge.dialects.graph.base import tensor
from ge.dialects.graph.program import ConstantOp
from ge.ir.attributes import WeightsAttr, block_lanes, layout_of, with_layout
from ge.ir.constants import Array, array_of, constant_attr, element_type, numpy_dtype
from ge.maths.layouts import pack, storage_shape, unpack


def constant(array: Array, format: str = "ND") -> ConstantOp:
    """A constant with the elements and the type of `array` (origin shape), stored in `format`."""
    type = with_layout(TensorType(element_type(array.dtype), array.shape), format)
    if format == "ND":
        return ConstantOp(constant_attr(array, type), type)
    stored = np.ascontiguousarray(pack(array, format))
    return ConstantOp(WeightsAttr.from_buffer(stored.reshape(-1).view(np.uint8).data), type)


def constant_array(value: SSAValue) -> Array | None:
    """The elements, in origin shape and read-only, of a value that is a constant; None for any other value."""
    op = value.owner
    if not isinstance(op, ConstantOp):
        return None
    type = tensor(value)
    return unpack(array_of(op.value, stored_type(type)), layout_of(type), type.get_shape())


def stored_type(type: TensorType[Attribute]) -> TensorType[Attribute]:
    """The type of the bytes behind a tensor: its element type with its storage shape."""
    return TensorType(type.element_type, storage_shape(layout_of(type), type.get_shape(), block_lanes(type)))


def dtype_of(value: SSAValue) -> np.dtype[Any]:
    """The NumPy type of the elements of a tensor."""
    return numpy_dtype(tensor(value).element_type)
