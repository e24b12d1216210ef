"""Between types and constants of the IR and what shape rules know of values."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
    Signedness,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute

from ge.dialects.onnx.attributes import TensorAttr, to_python
from ge.dialects.onnx.schema import expand_type_set
from ge.dialects.onnx.shapes.values import (
    UNKNOWN_VALUE,
    Element,
    MapOf,
    OptionalOf,
    SequenceOf,
    Tensor,
    Value,
    may_be_followed,
)
from ge.dialects.onnx.types import STRING, UNKNOWN, MapType, OptionalType, SequenceType, tensor_type, type_code
from ge.ir.attributes import WeightsAttr, remembered

# Types


@remembered
def value_of_type(type: Attribute) -> Value:
    """What a type says of its values."""
    match type:
        case TensorType():
            shape = tuple(None if size == DYNAMIC_INDEX else size for size in type.get_shape())
            return Tensor(type_code(type.element_type), shape)
        case UnrankedTensorType():
            return Tensor(type_code(type.element_type))
        case SequenceType():
            return SequenceOf(value_of_type(type.element_type))
        case OptionalType():
            return OptionalOf(value_of_type(type.element_type))
        case MapType():
            return MapOf(type_code(type.key_type), value_of_type(type.value_type))
        case _:
            return UNKNOWN_VALUE


def type_of_value(value: Value) -> Attribute:
    """The type that says of a value what types can say; ``!onnx.unknown`` without an element type."""
    match value:
        case Tensor() if value.element in ELEMENT_TYPES:
            element = ELEMENT_TYPES[value.element or ""]
            if value.shape is None:
                return UnrankedTensorType(element)
            return tensor_type(element, tuple(size if isinstance(size, int) else DYNAMIC_INDEX for size in value.shape))
        case SequenceOf() if (element := type_of_value(value.element)) != UNKNOWN:
            return SequenceType(element)
        case OptionalOf() if (element := type_of_value(value.element)) != UNKNOWN:
            return OptionalType(element)
        case MapOf() if value.key in ELEMENT_TYPES:
            return MapType(ELEMENT_TYPES[value.key], type_of_value(value.value))
        case _:
            return UNKNOWN


def _element_types() -> Mapping[str, Attribute]:
    """The element types of the operator table by the names that it has for them."""
    types: dict[str, Attribute] = {"string": STRING}
    for name in expand_type_set("int uint float float8 float6 float4 scale8 int4 int2 bool"):
        if name.startswith("ui"):
            types[name] = IntegerType(int(name[2:]), Signedness.UNSIGNED)
        else:
            types[name] = IntegerType(int(name[1:])) if name[0] == "i" else getattr(builtin, name)
    for name in ("f32", "f64"):
        types[f"complex<{name}>"] = ComplexType(cast(Any, types[name]))
    return types


ELEMENT_TYPES: Mapping[str, Attribute] = _element_types()


# Constants


def value_of_constant(literal: Attribute, type: Attribute) -> Value:
    """A constant: its type, and its contents when they are few integers (or very few floats). Weights are not read."""
    value = value_of_type(type)
    if not isinstance(value, Tensor) or value.shape is None:
        return value
    count = 1
    for size in value.shape:
        count *= size if isinstance(size, int) else 0
    return Tensor(value.element, value.shape, _contents(literal, value.element or "", count))


_FORMATS: Mapping[str, str] = {
    name: letter
    for names, letters in (("i8 i16 i32 i64", "bhiq"), ("ui8 ui16 ui32 ui64", "BHIQ"), ("i1 f16 f32 f64", "?efd"))
    for name, letter in zip(names.split(), letters, strict=True)
}
"""The element types whose contents are read, in the notation of ``struct``."""


def _contents(literal: Attribute, element: str, count: int) -> tuple[Element, ...] | None:
    format = _FORMATS.get(element)
    if format is None or not may_be_followed(element, count):
        return None
    match literal:
        case DenseIntOrFPElementsAttr():
            data: bytes | memoryview = literal.data.data
        case WeightsAttr():
            data = literal.buffer
        case _:
            return None
    if len(data) != count * struct.calcsize(format):
        return None
    numbers: Sequence[Any] = struct.unpack(f"<{count}{format}", data)
    if element == "i1":
        return tuple(int(number) for number in numbers)
    return tuple(None if number != number else number for number in numbers)  # NaN has no order for rules to use


_TYPES = (TensorType, UnrankedTensorType, SequenceType, OptionalType, MapType)


def attribute_value(attribute: Attribute) -> Any:
    """An attribute as shape rules read it: a Python value, tensors and types as what is known of a value."""
    if isinstance(attribute, TensorAttr):
        return value_of_constant(attribute.literal, attribute.type)
    value = to_python(attribute)
    return value_of_type(cast(Attribute, value)) if isinstance(value, _TYPES) else value
