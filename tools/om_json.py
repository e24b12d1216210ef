"""The graph of an OM file as JSON, in the form of ATC's ``--mode=1``.

It is the message ModelDef with its own field names: fields without a value are left out, a map is a list of
``{"key": ..., "value": ...}``, an enumeration has the name of its value, bytes that are UTF-8 text are text and others
are base64. All floating-point fields are float32: they have the shortest form, and what is no number is text.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message


def message_json(message: Message) -> dict[str, Any]:
    """A message as JSON values; entries of a map are in the order of their keys."""
    return {field.name: _field_json(field, value) for field, value in message.ListFields()}


def _field_json(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        of_value = field.message_type.fields_by_name["value"]
        entries = cast("Mapping[str, Any]", value)
        return [{"key": key, "value": _value_json(of_value, entries[key])} for key in sorted(entries)]
    if field.is_repeated:
        return [_value_json(field, each) for each in cast("Sequence[Any]", value)]
    return _value_json(field, value)


def _value_json(field: FieldDescriptor, value: Any) -> Any:
    if isinstance(value, Message):
        return message_json(value)
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, float):
        return float(str(np.float32(value))) if math.isfinite(value) else str(value)
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return value if named is None else named.name
    return value


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return base64.b64encode(data).decode()
