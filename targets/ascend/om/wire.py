"""The wire format of protobuf, both ways and exactly: bytes become a :class:`~ge.dialects.om.message.Message` and back.

The protobuf library reads a message and forgets how it was written: the order of fields, those of a number that it does
not know, entries of maps that come twice. Here all of that is kept. Bytes that have no such form, because they are no
message or are not written in the shortest way, are left as bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from ge.dialects.om.message import Fixed, Message, Number, Real, Value
from ge.ir.attributes import WeightsAttr

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""Wire types: how the value behind a tag is written."""

_INTEGERS = frozenset(
    {
        *(FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_UINT32),
        *(FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_BOOL, FieldDescriptor.TYPE_ENUM),
    }
)
"""Types of fields whose values are varints; those of zigzag and fixed integers do not occur in OM files."""

_MAX_DEPTH = 100
"""How deep messages lie in each other; the protobuf library refuses more."""

_LONG = 256
"""Bytes from which a value refers to the file instead of being written out."""

Schema: TypeAlias = "Descriptor | None"


MIN_FIELDS = 1 << 15
"""How many fields are taken apart in a file of any size: some 5 MB of Python objects."""
BYTES_PER_FIELD = 64
"""A larger file may have one more field for so many bytes: what is made of it stays in proportion to it."""


class _Inexact(Exception):
    """The bytes have no exact form as fields."""


class _TooMany(Exception):
    """There are more fields than memory is spent on."""


# ---------------------------------------------------------------- reading


def decode_message(data: memoryview, schema: Schema, max_fields: int = MIN_FIELDS) -> Message | None:
    """The fields in ``data``; None when they would not give the same bytes again, or are more than ``max_fields``."""
    try:
        return _Decoder(max_fields).message(data, schema, 0)
    except _TooMany:
        return None


class _Decoder:
    """Takes one message apart."""

    def __init__(self, max_fields: int) -> None:
        self.left = max_fields

    def message(self, data: memoryview, schema: Schema, depth: int) -> Message | None:
        """The fields in ``data``; None when they would not give the same bytes again. Raises _TooMany."""
        try:
            message = Message(tuple(self.fields(data, schema, depth)))
        except _Inexact:
            return None
        return message if memoryview(encode_message(message, schema)) == data else None

    def count(self, fields: int) -> None:
        """Account for some fields. Raises _TooMany."""
        self.left -= fields
        if self.left < 0:
            raise _TooMany

    def fields(self, data: memoryview, schema: Schema, depth: int) -> Iterator[tuple[str, Value]]:
        """The fields of a message, in order."""
        position = 0
        while position < data.nbytes:
            self.count(1)
            tag, position = _read_varint(data, position)
            number, wire = tag >> 3, tag & 7
            if not number:
                raise _Inexact
            field = None if schema is None else schema.fields_by_number.get(number)
            name = str(number) if field is None else field.name
            if wire == _VARINT:
                value, position = _read_varint(data, position)
                yield name, value - (1 << 64) if value >> 63 else value
                continue
            size = {_FIXED32: 4, _FIXED64: 8}.get(wire)
            if wire == _BYTES:
                size, position = _read_varint(data, position)
            if size is None or position + size > data.nbytes:
                raise _Inexact
            content = data[position : position + size]
            position += size
            yield name, self.bytes_value(content, field, depth) if wire == _BYTES else _fixed_value(content, field)

    def bytes_value(self, content: memoryview, field: FieldDescriptor | None, depth: int) -> Value:
        """What a run of bytes stands for: a message, a list of numbers, text, or nothing but bytes."""
        if field is not None and field.message_type is not None:
            message = self.message(content, field.message_type, depth + 1) if depth < _MAX_DEPTH else None
            return _plain(content, text=False) if message is None else message
        if field is not None and field.is_repeated and (field.type in _INTEGERS or _real_form(field)):
            self.count(content.nbytes // 8)
            numbers = _packed_numbers(content, field)
            return _plain(content, text=False) if numbers is None else numbers
        return _plain(content, text=True)


def _read_varint(data: memoryview, position: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= data.nbytes:
            raise _Inexact
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if not byte >> 7:
            return value, position
    raise _Inexact


def _fixed_value(content: memoryview, field: FieldDescriptor | None) -> Fixed | Real:
    form = _real_form(field)
    if form is not None and struct.calcsize(form) == content.nbytes:
        real = _real(content, form)
        if real is not None:
            return real
    return Fixed(content.nbytes, int.from_bytes(content, "little"))


def _real_form(field: FieldDescriptor | None) -> str | None:
    """How a field that holds real numbers stores one; None for other fields."""
    forms = {FieldDescriptor.TYPE_FLOAT: "<f", FieldDescriptor.TYPE_DOUBLE: "<d"}
    return None if field is None else forms.get(field.type)


def _real(content: memoryview, form: str) -> Real | None:
    """The shortest decimal number of these bits; None for infinities and NaN."""
    (value,) = struct.unpack(form, content)
    if not np.isfinite(value):
        return None
    return Real(float(str(np.float32(value))) if form == "<f" else value)


def _plain(content: memoryview, text: bool) -> Value:
    if content.nbytes > _LONG:
        return WeightsAttr.from_buffer(content)
    try:
        decoded = bytes(content).decode() if text else "\0"
    except UnicodeDecodeError:
        return bytes(content)
    return decoded if decoded.isprintable() else bytes(content)


def _packed_numbers(content: memoryview, field: FieldDescriptor) -> tuple[Number, ...] | None:
    """The numbers of a packed field; None when they would not give the same bytes again."""
    numbers: list[Number] = []
    position = 0
    form = _real_form(field)
    try:
        while position < content.nbytes:
            if form is None:
                value, position = _read_varint(content, position)
                numbers.append(value - (1 << 64) if value >> 63 else value)
                continue
            size = struct.calcsize(form)
            real = _real(content[position : position + size], form)
            if real is None:
                return None
            numbers.append(real)
            position += size
    except (_Inexact, struct.error):
        return None
    return tuple(numbers) if memoryview(_packed(numbers, form)) == content else None


# ---------------------------------------------------------------- writing


def encode_message(message: Message, schema: Schema) -> bytes:
    """The bytes of a message. Raises ValueError for a field that the schema does not have, or does not hold so."""
    data = bytearray()
    for name, value in message.fields:
        field = None if schema is None else schema.fields_by_name.get(name)
        if field is None and not name.isdecimal():
            raise ValueError(f"a message has no field '{name}'")
        wire, content = _encoded(value, field, name)
        data += _varint((int(name) if field is None else field.number) << 3 | wire)
        if wire == _BYTES:
            data += _varint(len(content))
        data += content
    return bytes(data)


def _encoded(value: Value, field: FieldDescriptor | None, name: str) -> tuple[int, bytes]:
    """Wire type and bytes of a value."""
    match value:
        case Fixed():
            return _FIXED32 if value.size == 4 else _FIXED64, value.bits.to_bytes(value.size, "little")
        case Real():
            form = _real_form(field)
            if form is None:
                raise ValueError(f"field '{name}' holds no real numbers")
            return _FIXED32 if form == "<f" else _FIXED64, struct.pack(form, value.value)
        case int():
            return _VARINT, _varint(value)
        case str():
            return _BYTES, value.encode()
        case bytes():
            return _BYTES, value
        case WeightsAttr():
            return _BYTES, bytes(value.buffer)
        case Message():
            return _BYTES, encode_message(value, None if field is None else field.message_type)
        case _:
            return _BYTES, _packed(value, _real_form(field))


def _packed(numbers: tuple[Number, ...] | list[Number], form: str | None) -> bytes:
    if form is None:
        if any(isinstance(number, Real) for number in numbers):
            raise ValueError("a list of real numbers is in a field that holds none")
        return b"".join(_varint(number) for number in numbers if isinstance(number, int))
    return b"".join(struct.pack(form, number.value if isinstance(number, Real) else number) for number in numbers)


def _varint(value: int) -> bytes:
    """A number in groups of seven bits, low ones first; negative ones as 64 bits."""
    rest = value & (1 << 64) - 1
    data = bytearray()
    while rest >> 7:
        data.append(rest & 0x7F | 0x80)
        rest >>= 7
    data.append(rest)
    return bytes(data)
