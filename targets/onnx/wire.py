"""Taking the large tensors out of a serialised model without decoding or copying them.

An ``.onnx`` file is one protobuf message. Its tensors are contiguous byte ranges of it, so a scan over the wire format
(tag, length, payload) finds where each lies. :func:`split` returns the *skeleton*, the same message without those
ranges, small and quick to decode, and the ranges. In the skeleton a removed range is an external tensor whose location
is ``#<index>``. :func:`split_message` does the same to a message in memory, and :func:`join` puts the tensors back in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from google.protobuf.message import Message

PIECE_MARK = "#"
"""First character of the location of a removed tensor; no file name of a model starts with it."""

_CHILDREN: Mapping[str, Mapping[int, str]] = {
    "ModelProto": {7: "GraphProto", 25: "FunctionProto"},
    "GraphProto": {1: "NodeProto", 5: "TensorProto"},
    "FunctionProto": {7: "NodeProto"},
    "NodeProto": {5: "AttributeProto"},
    "AttributeProto": {5: "TensorProto", 6: "GraphProto", 10: "TensorProto", 11: "GraphProto"},
}
"""Field numbers (onnx.proto) through which tensors are reached, and the message that each holds."""

_TENSOR_BYTES = frozenset({4, 9, 10})
"""Fields of TensorProto that hold elements as they lie in memory: float_data, raw_data, double_data (all packed)."""

_EXTERNAL_DATA_TAG = 13 << 3 | 2
_DATA_LOCATION_EXTERNAL = bytes([14 << 3, 1])

_VARINT, _FIXED64, _LENGTH_DELIMITED, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}


class Piece(NamedTuple):
    """A tensor that was taken out: where its bytes lie, and the field of TensorProto that they were in."""

    offset: int
    length: int
    field: int


class WireError(ValueError):
    """The bytes are not a protobuf message: a length or a tag is impossible. ``position`` is where, in bytes."""

    def __init__(self, position: int) -> None:
        super().__init__(f"malformed at byte {position}")
        self.position = position


def split(data: memoryview, min_bytes: int) -> tuple[bytes, list[Piece]]:
    """The skeleton of a serialised ModelProto, and the place of each tensor of more than ``min_bytes``."""
    pieces: list[Piece] = []
    chunks = _without_tensors(data, 0, len(data), "ModelProto", min_bytes, pieces)
    return b"".join(chunks), pieces


def _without_tensors(
    data: memoryview, start: int, end: int, message: str, min_bytes: int, pieces: list[Piece]
) -> list[bytes | memoryview]:
    """The bytes of one message in chunks, large tensor payloads replaced.

    What replaces them is at the end of the message, since it must prevail over what the message says of its place.
    """
    children = _CHILDREN.get(message, {})
    chunks: list[bytes | memoryview] = []
    places: list[bytes] = []
    copied = start
    for field, field_start, payload, position in _fields(data, start, end):
        length = position - payload
        if length <= min_bytes:
            continue
        if message == "TensorProto" and field in _TENSOR_BYTES:
            chunks.append(data[copied:field_start])
            places.append(_external(len(pieces)))
            pieces.append(Piece(payload, length, field))
        elif field in children:
            inner = _without_tensors(data, payload, position, children[field], min_bytes, pieces)
            size = sum(len(chunk) for chunk in inner)
            tag = field << 3 | _LENGTH_DELIMITED
            chunks += [data[copied:field_start], _encode(tag), _encode(size), *inner]
        else:
            continue
        copied = position
    return [*chunks, data[copied:end], *places]


def fields(data: memoryview, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number, begin and end of each field of a message that has a length. Raises WireError."""
    return ((field, payload, position) for field, _, payload, position in _fields(data, start, end))


def _fields(data: memoryview, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Number, begin of the tag, and begin and end of the content of each field that has a length."""
    position = start
    while position < end:
        field_start = position
        tag, position = _varint(data, position, end)
        if tag & 7 != _LENGTH_DELIMITED:
            position = _skip(data, tag & 7, position, end)
            continue
        length, position = _varint(data, position, end)
        payload, position = position, position + length
        if position > end:
            raise WireError(field_start)
        yield tag >> 3, field_start, payload, position


def _varint(data: memoryview, position: int, end: int) -> tuple[int, int]:
    """A base-128 integer and the position after it."""
    value = shift = 0
    start = position
    while position < end and shift < 70:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise WireError(start)


def _skip(data: memoryview, wire_type: int, position: int, end: int) -> int:
    """The position after a field that has no length."""
    if wire_type == _VARINT:
        return _varint(data, position, end)[1]
    if wire_type not in _FIXED_SIZES or position + _FIXED_SIZES[wire_type] > end:
        raise WireError(position)
    return position + _FIXED_SIZES[wire_type]


def _encode(value: int) -> bytes:
    """An integer in base 128."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _external(index: int) -> bytes:
    """The fields of TensorProto that say: the data are at location ``#index``."""
    key, value = b"location", f"{PIECE_MARK}{index}".encode()
    entry = bytes([1 << 3 | 2, len(key)]) + key + bytes([2 << 3 | 2, len(value)]) + value
    return bytes([_EXTERNAL_DATA_TAG, len(entry)]) + entry + _DATA_LOCATION_EXTERNAL


# Back again

_EXTERNAL_MARK = b"\x0a\x08location\x12"
"""How every removed tensor begins: messages without these bytes have none inside."""

_RAW_DATA_TAG = bytes([9 << 3 | _LENGTH_DELIMITED])


def piece_tensor(index: int) -> bytes:
    """The fields of a TensorProto whose raw data are the piece ``index``."""
    return _external(index)


def join(skeleton: bytes, pieces: Sequence[memoryview]) -> list[bytes | memoryview]:
    """The chunks of the ModelProto ``skeleton`` with the raw data of its removed tensors, which are not copied."""
    return _with_tensors(memoryview(skeleton), skeleton, 0, len(skeleton), "ModelProto", pieces)


def _with_tensors(
    view: memoryview, data: bytes, start: int, end: int, message: str, pieces: Sequence[memoryview]
) -> list[bytes | memoryview]:
    """The bytes of one message in chunks, with the tensors in it; ``view`` is of ``data``."""
    children = _CHILDREN.get(message, {})
    chunks: list[bytes | memoryview] = []
    position = copied = start
    while position < end:
        field_start = position
        tag, position = _varint(view, position, end)
        if tag & 7 != _LENGTH_DELIMITED:
            position = _skip(view, tag & 7, position, end)
            continue
        length, position = _varint(view, position, end)
        payload, position = position, position + length
        if data.find(_EXTERNAL_MARK, payload, position) < 0:
            continue
        field = tag >> 3
        if message == "TensorProto" and tag == _EXTERNAL_DATA_TAG:
            piece = _piece_of(data[payload:position], pieces)
            if piece is None:
                continue
            chunks += [view[copied:field_start], _RAW_DATA_TAG, _encode(len(piece)), piece]
            position += len(_DATA_LOCATION_EXTERNAL)
        elif field in children:
            inner = _with_tensors(view, data, payload, position, children[field], pieces)
            chunks += [view[copied:field_start], _encode(tag), _encode(sum(map(len, inner))), *inner]
        else:
            continue
        copied = position
    chunks.append(view[copied:end])
    return chunks


def _piece_of(entry: bytes, pieces: Sequence[memoryview]) -> memoryview | None:
    """The piece that an entry of external data stands for; None for a file."""
    location = entry[len(_EXTERNAL_MARK) + 1 :]
    return pieces[int(location[1:])] if location.startswith(PIECE_MARK.encode()) else None


def split_message(source: Message, target: Message, min_bytes: int, pieces: list[bytes]) -> None:
    """Copy a message to an empty one, but for raw data of more than ``min_bytes``, which goes to ``pieces``."""
    children = _CHILDREN.get(source.DESCRIPTOR.name, {})
    place: bytes | None = None
    for field, value in source.ListFields():
        part: Any = getattr(target, field.name)
        if field.number in children:
            for inner in value if field.is_repeated else (value,):
                split_message(inner, part.add() if field.is_repeated else part, min_bytes, pieces)
        elif field.is_repeated:
            part.extend(value)
        elif field.type == field.TYPE_MESSAGE:
            part.CopyFrom(value)
        elif field.name == "raw_data" and len(value) > min_bytes:
            place = _external(len(pieces))
            pieces.append(value)
        else:
            setattr(target, field.name, value)
    if place is not None:  # last, since it must prevail over what the message says of its place
        target.MergeFromString(place)
