"""What a viewer shows of an operator: the attributes of a launch in the forms that an OM file has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f32,
    i64,
)
from xdsl.ir import Attribute

from ge.dialects.om.program import is_operator_attribute


def operator_attributes(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The attributes by name, sorted: integers in 64 bits, floats in 32; what has no such form is left out."""
    converted = {name: _converted(attributes[name]) for name in sorted(attributes)}
    return {name: attr for name, attr in converted.items() if attr is not None}


def _converted(attr: Attribute) -> Attribute | None:
    if is_operator_attribute(attr):
        return attr
    match attr:
        case IntegerAttr():
            return IntegerAttr(attr.value.data, i64)
        case FloatAttr():
            return FloatAttr(attr.value.data, f32)
        case DenseArrayBase() if isinstance(attr.elt_type, IntegerType):
            return DenseArrayBase.from_list(i64, list(cast("DenseArrayBase[IntegerType]", attr).iter_values()))
        case ArrayAttr():
            return _converted_array(list(attr))
        case _:
            return None


def _converted_array(items: list[Attribute]) -> Attribute | None:
    """A list of numbers of one kind as ``array<...>``."""
    integers = [item.value.data for item in items if isinstance(item, IntegerAttr)]
    floats = [item.value.data for item in items if isinstance(item, FloatAttr)]
    if len(integers) == len(items):
        return DenseArrayBase.from_list(i64, integers)
    if len(floats) == len(items):
        return DenseArrayBase.from_list(f32, floats)
    return None
