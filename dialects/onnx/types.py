"""Types of ONNX that are not tensors of numbers: strings, sequences, optionals, maps, and what is not known yet."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, BlockArgument, OpResult, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from ge.ir.attributes import remembered

ABSENT = NoneType()
"""The type of an optional result that the model does not ask for."""


@irdl_attr_definition
class StringType(ParametrizedAttribute, TypeAttribute):
    """``!onnx.string``: an element of a string tensor."""

    name = "onnx.string"


@irdl_attr_definition
class SequenceType(ParametrizedAttribute, TypeAttribute):
    """``!onnx.seq<tensor<?xf32>>``: a list of values of one type."""

    name = "onnx.seq"

    element_type: Attribute


@irdl_attr_definition
class OptionalType(ParametrizedAttribute, TypeAttribute):
    """``!onnx.optional<tensor<?xf32>>``: a value or nothing."""

    name = "onnx.optional"

    element_type: Attribute


@irdl_attr_definition
class MapType(ParametrizedAttribute, TypeAttribute):
    """``!onnx.map<i64, tensor<f32>>``: a table from integers or strings to values."""

    name = "onnx.map"

    key_type: Attribute
    value_type: Attribute


@irdl_attr_definition
class UnknownType(ParametrizedAttribute, TypeAttribute):
    """``!onnx.unknown``: no inference has given the value a type, as after an operator of another domain."""

    name = "onnx.unknown"


STRING = StringType()
UNKNOWN = UnknownType()

TYPES: list[type[Attribute]] = [StringType, SequenceType, OptionalType, MapType, UnknownType]


_VALUES = (OpResult, BlockArgument, SSAValue)
"""Of an instance of exactly one of the first two, Python sees at once that it is one; an abstract type takes longer."""


def ranked(value: SSAValue | Attribute) -> TensorType[Attribute] | None:
    """The tensor type of a value (or the type itself) when its rank is known, otherwise None."""
    type = value.type if isinstance(value, _VALUES) else value
    # a call of `cast` would take as long as the rest of what is asked all the time
    return type if isinstance(type, TensorType) else None  # pyright: ignore[reportUnknownVariableType]


def static_shape(value: SSAValue | Attribute) -> tuple[int, ...] | None:
    """The shape of a value when all its dimensions are numbers, otherwise None."""
    type = ranked(value)
    return None if type is None else _static_shape(type)


@remembered
def _static_shape(type: Attribute) -> tuple[int, ...] | None:
    shape = sizes(type)
    return None if DYNAMIC_INDEX in shape else shape


@remembered
def sizes(type: Attribute) -> tuple[int, ...]:
    """The dimensions of a tensor type of known rank, as its ``get_shape`` gives them anew each time."""
    return cast("TensorType[Attribute]", type).get_shape()


@lru_cache(4096)
def tensor_type(element: Attribute, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """A tensor type. Types are immutable and a model has few, so that equal ones are made, and checked, once."""
    return TensorType(element, shape)


@remembered
def type_code(type: Attribute) -> str:
    """A type as the operator table writes it, without shape: ``f32``, ``seq(string)``, ``map(i64 f32)``."""
    match type:
        case TensorType() | UnrankedTensorType():
            return type_code(type.element_type)
        case SequenceType():
            return f"seq({type_code(type.element_type)})"
        case OptionalType():
            return f"optional({type_code(type.element_type)})"
        case MapType():
            return f"map({type_code(type.key_type)} {type_code(type.value_type)})"
        case StringType():
            return "string"
        case _:
            return str(type)
