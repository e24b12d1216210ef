"""Constants as NumPy arrays, both ways and without copying, and the element types of arrays.

A constant in IR is an attribute without a type of its own meaning: ``dense<...>`` when small, ``#ge.weights<...>`` when
large. :func:`array_of` reads either, :func:`constant_attr` chooses between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from ge.ir.attributes import WeightsAttr, block_lanes, layout_of, remembered, unchecked
from ge.ir.errors import GeError
from ge.maths.layouts import storage_shape

Array: TypeAlias = NDArray[Any]

MAX_DENSE_BYTES = 256
"""Constants up to this many bytes are written in the text itself (``dense<...>``): a shape, a scalar, a small table."""

_FLOAT_TYPES: Mapping[Attribute, np.dtype[Any]] = {
    builtin.f16: np.dtype(np.float16),
    builtin.f32: np.dtype(np.float32),
    builtin.f64: np.dtype(np.float64),
    builtin.bf16: np.dtype(ml_dtypes.bfloat16),
    builtin.f8E4M3FN: np.dtype(ml_dtypes.float8_e4m3fn),
    builtin.f8E4M3FNUZ: np.dtype(ml_dtypes.float8_e4m3fnuz),
    builtin.f8E4M3B11FNUZ: np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    builtin.f8E4M3: np.dtype(ml_dtypes.float8_e4m3),
    builtin.f8E3M4: np.dtype(ml_dtypes.float8_e3m4),
    builtin.f8E5M2: np.dtype(ml_dtypes.float8_e5m2),
    builtin.f8E5M2FNUZ: np.dtype(ml_dtypes.float8_e5m2fnuz),
    builtin.f8E8M0FNU: np.dtype(ml_dtypes.float8_e8m0fnu),
    builtin.f6E2M3FN: np.dtype(ml_dtypes.float6_e2m3fn),
    builtin.f6E3M2FN: np.dtype(ml_dtypes.float6_e3m2fn),
    builtin.f4E2M1FN: np.dtype(ml_dtypes.float4_e2m1fn),
    ComplexType(builtin.f32): np.dtype(np.complex64),
    ComplexType(builtin.f64): np.dtype(np.complex128),
}

_SIGNED: Mapping[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    2: np.dtype(ml_dtypes.int2),
    4: np.dtype(ml_dtypes.int4),
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}

_UNSIGNED: Mapping[int, np.dtype[Any]] = {
    2: np.dtype(ml_dtypes.uint2),
    4: np.dtype(ml_dtypes.uint4),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}


def numpy_dtype(element_type: Attribute) -> np.dtype[Any]:
    """The NumPy type of an element type: ``i1`` is bool, signless integers are signed, ``index`` is int64.

    Raises GE3009 for an element type that ONNX has no tensors of.
    """
    match element_type:
        case IntegerType():
            table = _UNSIGNED if element_type.signedness.data is Signedness.UNSIGNED else _SIGNED
            dtype = table.get(element_type.width.data)
        case IndexType():
            dtype = np.dtype(np.int64)
        case _:
            dtype = _FLOAT_TYPES.get(element_type)
    if dtype is None:
        raise GeError("GE3009", f"element type {element_type} has no array form")
    return dtype


@cache
def element_type(dtype: np.dtype[Any]) -> Attribute:
    """The element type of a NumPy type; the inverse of :func:`numpy_dtype` (int64 is ``i64``). Raises GE3009."""
    for attribute, candidate in _FLOAT_TYPES.items():
        if candidate == dtype:
            return attribute
    for width, candidate in _SIGNED.items():
        if candidate == dtype:
            return IntegerType(width)
    for width, candidate in _UNSIGNED.items():
        if candidate == dtype:
            return IntegerType(width, Signedness.UNSIGNED)
    raise GeError("GE3009", f"NumPy type {dtype} has no element type")


def tensor_type_of(value: SSAValue | Attribute) -> TensorType[Attribute]:
    """The ranked tensor type of a value (or the type itself). Raises GE3002 for any other type."""
    type = value.type if isinstance(value, SSAValue) else value
    if not isinstance(type, TensorType):
        raise GeError("GE3002", f"expected a ranked tensor type, got {type}")
    return cast(TensorType[Attribute], type)


def static_shape(value: SSAValue | Attribute) -> tuple[int, ...]:
    """The origin shape of a tensor value or type. Raises GE3011 when a dimension is not a number."""
    shape = tensor_type_of(value).get_shape()
    if DYNAMIC_INDEX in shape:
        type = value.type if isinstance(value, SSAValue) else value
        raise GeError("GE3011", f"tensor type {type} has a dimension that is not a number")
    return shape


def array_of(attr: Attribute, type: Attribute | None = None) -> Array:
    """The elements of a constant, as a read-only array over the attribute's own bytes (``i1`` of ``dense`` is copied).

    ``type`` is the tensor type of the constant: needed for weights, which carry none; ``dense`` has its own.
    The shape is the type's storage shape: the origin shape unless the type has a storage format. Raises GE3010 when the
    bytes do not fill the type.
    """
    match attr:
        case DenseIntOrFPElementsAttr():
            type, data = attr.type if type is None else type, attr.data.data
        case WeightsAttr():
            data = attr.buffer
        case _:
            raise GeError("GE3010", f"attribute {attr.name} is not a constant")
    if type is None:
        raise GeError("GE3010", "weights need a type to become an array")
    shape, dtype, size = _storage_of(type)
    if len(data) != size:
        raise GeError("GE3010", f"a constant of {len(data)} bytes does not fill {type}")
    if dtype == np.bool_ and isinstance(attr, DenseIntOrFPElementsAttr):
        flags = np.frombuffer(data, np.uint8) != 0
        flags.flags.writeable = False
        return flags.reshape(shape)
    return np.frombuffer(data, dtype).reshape(shape)


def bytes_of(attr: Attribute, type: Attribute | None = None) -> NDArray[np.uint8]:
    """The bytes of a constant as they lie in memory: those of :func:`array_of`, without copying."""
    return array_of(attr, type).reshape(-1).view(np.uint8)


@remembered
def _storage_of(type: Attribute) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """The storage shape, NumPy type and number of bytes of constants of a type."""
    shape = storage_shape(layout_of(type), static_shape(type), block_lanes(tensor_type_of(type)))
    dtype = numpy_dtype(tensor_type_of(type).element_type)
    return shape, dtype, math.prod(shape) * dtype.itemsize


def constant_attr(array: Array, type: TensorType[Attribute] | None = None) -> Attribute:
    """The attribute of a constant: ``dense`` up to :data:`MAX_DENSE_BYTES`, otherwise weights over the array's memory.

    ``type`` defaults to the array's shape and element type; the array has the storage shape of the type. Raises GE3010
    when it does not. The array must not change afterwards.
    """
    array = np.ascontiguousarray(array).reshape(array.shape)
    if type is None:
        type = TensorType(element_type(array.dtype), array.shape)
    shape, dtype, _ = _storage_of(type)
    if array.shape != shape or array.dtype != dtype:
        raise GeError("GE3010", f"an array of {array.dtype} {list(array.shape)} does not fill {type}")
    if array.nbytes > MAX_DENSE_BYTES or shape != type.get_shape():
        return WeightsAttr.from_buffer(array.reshape(-1).view(np.uint8).data)
    return dense_attr(type, _dense_bytes(array))


def dense_attr(type: TensorType[Attribute], data: bytes) -> Attribute:
    """``dense`` of a static type: bytes that fill it, little-endian, as xDSL packs them."""
    return unchecked(_DENSE, type=type, data=unchecked(BytesAttr, data=data))


_DENSE = cast("type[Attribute]", DenseIntOrFPElementsAttr)
"""The class, whose parameter says nothing at run time."""


def _dense_bytes(array: Array) -> bytes:
    """The bytes of ``dense``, which holds integers below one byte sign-extended (true is 0xFF)."""
    if array.dtype == np.bool_:
        return (array.astype(np.uint8) * np.uint8(255)).tobytes()
    if array.dtype in (_SIGNED[2], _SIGNED[4]):
        return array.astype(np.int8).tobytes()
    return array.tobytes()
