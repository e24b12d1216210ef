"""The partition MODEL_INOUT_INFO: inputs and outputs of a model, for a caller who does not read its graph.

It is a sequence of blocks of type, length and value; the types 0 and 1 are the lists of inputs and outputs. A list is a
count, then for each tensor a head of 32 bytes {bytes, format, element type, length of the name, of the dimensions, of
the dimensions again, of the ranges of dynamic shapes}, the name, the dimensions twice and the ranges. Lengths are in
bytes, dimensions 64 bits wide, everything is little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute

from ge.dialects.om.values import value_bytes
from ge.ir.errors import GeError
from ge.targets.ascend.om.messages import MEMORY_NUMBERS, UNDEFINED_TYPE

_BLOCK = struct.Struct("<II")
_TENSOR = struct.Struct("<QiiIIII")
_INPUTS, _OUTPUTS = 0, 1

FORMATS = {"NCHW": 0, "ND": 2}
"""Numbers of the formats that inputs and outputs have."""


@dataclass(frozen=True)
class TensorInfo:
    """An input or output. ``format`` and ``element`` are in-memory numbers of the run time, not those of ModelDef."""

    name: str
    size: int
    """In bytes; 0 when it is not known."""
    format: int
    element: int
    shape: tuple[int, ...]
    ranges: tuple[int, ...] = ()


@dataclass(frozen=True)
class InOutInfo:
    """What the partition says. Blocks of other types (of dynamic shapes) are left out."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]


def tensor_info(name: str, type: Attribute) -> TensorInfo:
    """An input or output of a type. Sequences and the like have no shape."""
    size = value_bytes(type) or 0
    if not isinstance(type, TensorType):
        return TensorInfo(name, 0, FORMATS["ND"], UNDEFINED_TYPE, ())
    tensor = cast("TensorType[Attribute]", type)
    shape = tuple(-1 if size == DYNAMIC_INDEX else size for size in tensor.get_shape())
    format = FORMATS["NCHW" if len(shape) == 4 else "ND"]
    return TensorInfo(name, size, format, MEMORY_NUMBERS.get(tensor.element_type, UNDEFINED_TYPE), shape)


def pack_inout_info(info: InOutInfo) -> bytes:
    """The bytes of the partition; a list without entries is left out."""
    return b"".join(_block(kind, each) for kind, each in ((_INPUTS, info.inputs), (_OUTPUTS, info.outputs)) if each)


def _block(kind: int, tensors: Sequence[TensorInfo]) -> bytes:
    value = struct.pack("<I", len(tensors))
    for tensor in tensors:
        name, dims, ranges = tensor.name.encode(), _int64s(tensor.shape), _int64s(tensor.ranges)
        lengths = (len(name), len(dims), len(dims), len(ranges))
        value += _TENSOR.pack(tensor.size, tensor.format, tensor.element, *lengths) + name + dims + dims + ranges
    return _BLOCK.pack(kind, len(value)) + value


def _int64s(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def read_inout_info(data: memoryview, where: str) -> InOutInfo:
    """Read the partition. Raises GE5006 when it breaks off or its lengths contradict each other."""
    found: dict[int, tuple[TensorInfo, ...]] = {}
    position = 0
    try:
        while position < data.nbytes:
            kind, length = _BLOCK.unpack_from(data, position)
            value = data[position + _BLOCK.size : position + _BLOCK.size + length]
            if value.nbytes != length:
                raise ValueError("it ends inside a block")
            if kind in (_INPUTS, _OUTPUTS):
                found[kind] = tuple(_tensors(value))
            position += _BLOCK.size + length
    except (struct.error, ValueError) as error:
        raise GeError("GE5006", f"partition MODEL_INOUT_INFO is not what it should be: {error}", where) from error
    return InOutInfo(found.get(_INPUTS, ()), found.get(_OUTPUTS, ()))


def _tensors(value: memoryview) -> Iterator[TensorInfo]:
    (count,) = struct.unpack_from("<I", value)
    position = 4
    for _ in range(count):
        size, format, element, *lengths = _TENSOR.unpack_from(value, position)
        position += _TENSOR.size
        parts: list[bytes] = []
        for length in lengths:
            parts.append(bytes(value[position : position + length]))
            position += length
        if position > value.nbytes or any(length % 8 for length in lengths[1:]):
            raise ValueError("the lengths of a tensor do not fit")
        name, dims, _, ranges = parts
        yield TensorInfo(name.decode(), size, format, element, _read_int64s(dims), _read_int64s(ranges))
    if position != value.nbytes:
        raise ValueError("there is something behind the tensors")


def _read_int64s(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 8}q", data)
