"""Attributes of ONNX operators: from and to Python values, and their short text.

In IR an attribute is a plain builtin attribute; which one follows from its kind in the operator table:

| kind | IR | text after a known operator |
|---|---|---|
| int | ``IntegerAttr`` i64 | ``group = 1`` |
| float | ``FloatAttr`` f32 | ``epsilon = 1.0e-05`` |
| string | ``StringAttr`` | ``mode = "nearest"`` |
| ints, floats | ``DenseArrayBase`` of i64, f32 | ``pads = [1, 1, 1, 1]`` |
| strings | ``ArrayAttr`` of ``StringAttr`` | ``keys = ["a", "b"]`` |
| tensor, sparse_tensor | a literal in a ``TensorAttr`` | ``value = #onnx.tensor<dense<...> : tensor<...>>`` |
| type | the type | ``type = tensor<2xf32>`` |

A string that is not UTF-8 is a ``BytesAttr``. A *literal* is what a constant holds: ``dense`` or weights, a list of
strings, or a :class:`SparseAttr`. What only functions and operators outside the table have is in
:mod:`ge.dialects.onnx.rare_attributes`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx.rare_attributes import TypeProtoAttr
from ge.dialects.onnx.schema import AttributeKind
from ge.dialects.onnx.types import STRING, tensor_type
from ge.ir.attributes import WeightsAttr, block_lanes, layout_of
from ge.ir.errors import GeError


def print_literal(printer: Printer, literal: Attribute, type: Attribute) -> None:
    """Print a constant with its type: ``dense<1> : tensor<i64>``; ``dense`` prints its type itself."""
    printer.print_attribute(literal)
    if not isinstance(literal, DenseIntOrFPElementsAttr):
        printer.print_string(" : ")
        printer.print_attribute(type)


def parse_literal(parser: AttrParser) -> tuple[Attribute, Attribute]:
    """The constant and the type that :func:`print_literal` wrote."""
    literal = parser.parse_attribute()
    if isinstance(literal, DenseIntOrFPElementsAttr):
        dense = cast("DenseIntOrFPElementsAttr[Any]", literal)
        return dense, cast(Attribute, dense.type)
    parser.parse_punctuation(":")
    return literal, parser.parse_type()


@irdl_attr_definition
class TensorAttr(ParametrizedAttribute):
    """``#onnx.tensor<dense<1.0> : tensor<1xf32>>``: a tensor as attribute of an operator; see :func:`literal_array`.

    The notes are what the model says beside: ``#onnx.tensor<dense<1.0> : tensor<1xf32>, {name = "one"}>``.
    """

    name = "onnx.tensor"

    literal: Attribute
    type: Attribute
    notes: DictionaryAttr

    def __init__(self, literal: Attribute, type: Attribute, notes: DictionaryAttr | None = None) -> None:
        super().__init__(literal, type, notes or DictionaryAttr({}))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            literal, type = parse_literal(parser)
            notes = parser.parse_attribute() if parser.parse_optional_punctuation(",") else DictionaryAttr({})
            return literal, type, notes

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_literal(printer, self.literal, self.type)
            if self.notes.data:
                printer.print_string(", ")
                printer.print_attribute(self.notes)

    def verify(self) -> None:
        check_literal(self.literal, self.type)


@irdl_attr_definition
class SparseAttr(ParametrizedAttribute):
    """``#onnx.sparse<dense<1.0> : tensor<1xf32>, dense<7> : tensor<1xi64>>``: a literal that is zero elsewhere.

    Values, and where they are: positions in the flattened tensor, or rows of one index per dimension.
    """

    name = "onnx.sparse"

    values: Attribute
    values_type: Attribute
    indices: Attribute
    indices_type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            values = parse_literal(parser)
            parser.parse_punctuation(",")
            return (*values, *parse_literal(parser))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_literal(printer, self.values, self.values_type)
            printer.print_string(", ")
            print_literal(printer, self.indices, self.indices_type)

    def positions(self, shape: Sequence[int]) -> Any:
        """The positions of the elements in the flattened tensor. Raises ValueError when they do not fit ``shape``."""
        import numpy as np

        indices = literal_array(self.indices, self.indices_type)
        flat = indices if indices.ndim == 1 else np.ravel_multi_index(tuple(indices.T), tuple(shape))
        size = math.prod(shape)
        values = cast("TensorType[Attribute]", self.values_type).get_shape()
        if indices.dtype.kind != "i" or flat.shape != tuple(values):
            raise ValueError(f"{math.prod(values)} values with indices {self.indices_type}")
        if min(shape, default=0) < 0:
            raise ValueError(f"shape {list(shape)}")
        if flat.size and not 0 <= flat.min() <= flat.max() < size:
            raise ValueError(f"indices from {flat.min()} to {flat.max()} in a tensor of {size} elements")
        return flat

    def array(self, shape: Sequence[int]) -> Any:
        """The tensor with its zeros. Raises GE3010 when it is too large, ValueError when indices do not fit."""
        import numpy as np

        values = literal_array(self.values, self.values_type)
        if math.prod(shape) * values.dtype.itemsize > MAX_SPARSE_BYTES:
            what = f"a sparse tensor of shape {list(shape)} has more than {MAX_SPARSE_BYTES} bytes when written out"
            raise GeError("GE3010", what)
        dense = np.zeros(shape, values.dtype)
        dense.reshape(-1)[self.positions(shape)] = values
        return dense


MAX_SPARSE_BYTES = 1 << 28
"""Bytes that a sparse tensor may take when it is written out: a few numbers in a file can ask for any amount."""


def string_attr(text: str | bytes) -> StringAttr | BytesAttr:
    """A string of a model: text, unless its bytes are not UTF-8."""
    if isinstance(text, str):
        return StringAttr(text)
    try:
        return StringAttr(text.decode())
    except UnicodeDecodeError:
        return BytesAttr(text)


def string_attrs(items: Iterable[str | bytes]) -> ArrayAttr[StringAttr | BytesAttr]:
    """A list of strings; equal ones are one attribute, of which there may be millions in a list."""
    items = list(items)
    known = {item: string_attr(item) for item in set(items)}
    return ArrayAttr(known[item] for item in items)


def check_literal(literal: Attribute, type: Attribute) -> None:
    """Raise VerifyException when a literal does not hold exactly the elements of a tensor type."""
    if not isinstance(type, TensorType):
        raise VerifyException(f"a constant has a ranked tensor type, not {type}")
    tensor = cast("TensorType[Attribute]", type)
    shape = tensor.get_shape()
    match literal:
        case SparseAttr():
            _check_sparse(literal, shape)
        case DenseIntOrFPElementsAttr():
            if literal.type != type:
                raise VerifyException(f"a constant of type {type} holds elements of {literal.type}")
        case ArrayAttr():
            _check_strings(literal, tensor)
        case WeightsAttr():
            _check_weights(literal, tensor)
        case _:
            raise VerifyException(f"{literal.name} holds no elements")


def _check_sparse(literal: SparseAttr, shape: Sequence[int]) -> None:
    try:
        literal.positions(shape)
    except (AttributeError, GeError, IndexError, TypeError, ValueError) as error:
        raise VerifyException(f"sparse constant: {error.what if isinstance(error, GeError) else error}") from error


def _check_strings(literal: ArrayAttr[Attribute], type: TensorType[Attribute]) -> None:
    items, shape = literal.data, type.get_shape()
    if type.element_type != STRING:
        raise VerifyException(f"a list is a constant of strings, not of {type.element_type}")
    if (other := next((item for item in items if not isinstance(item, StringAttr | BytesAttr)), None)) is not None:
        raise VerifyException(f"a list of strings has {other} in it")
    if min(shape, default=0) < 0 or math.prod(shape) != len(items):
        raise VerifyException(f"{len(items)} strings do not fill {type}")


def _check_weights(literal: WeightsAttr, type: TensorType[Attribute]) -> None:
    from ge.ir.constants import numpy_dtype  # loads NumPy
    from ge.maths.layouts import storage_shape

    try:
        stored = storage_shape(layout_of(type), type.get_shape(), block_lanes(type))
        size = math.prod(stored) * numpy_dtype(type.element_type).itemsize
    except (GeError, ValueError) as error:
        raise VerifyException(str(error.what if isinstance(error, GeError) else error)) from error
    if size != literal.nbytes:
        raise VerifyException(f"{literal.nbytes} bytes of weights do not fill {type}")


def literal_array(literal: Attribute, type: Attribute) -> Any:
    """A constant as a NumPy array, which is not copied unless it is sparse; strings are an object array of ``str``."""
    from ge.ir.constants import array_of

    if isinstance(literal, SparseAttr):
        return literal.array(cast("TensorType[Attribute]", type).get_shape())
    if not isinstance(literal, ArrayAttr):
        return array_of(literal, type)
    import numpy as np

    items = cast("ArrayAttr[StringAttr]", literal).data
    strings = np.empty(len(items), dtype=object)
    strings[:] = [item.data for item in items]
    return strings.reshape(cast("TensorType[Attribute]", type).get_shape())


def literal_of(array: Any) -> tuple[Attribute, TensorType[Attribute]]:
    """The constant and type of a NumPy array, without copying large ones; the inverse of :func:`literal_array`."""
    import numpy as np

    from ge.ir.constants import constant_attr, element_type

    if array.dtype.kind in "OUS":
        items = [item if isinstance(item, bytes) else str(item) for item in array.reshape(-1).tolist()]
        return string_attrs(items), TensorType(STRING, array.shape)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    type = tensor_type(element_type(np.dtype(array.dtype)), array.shape)
    return constant_attr(array, type), type


def to_attribute(kind: AttributeKind, value: Any) -> Attribute:
    """A Python value as an attribute of a kind."""
    return _TO_ATTRIBUTE[kind](value)


@lru_cache(1024)
def _int_attr(value: int) -> Attribute:
    return IntegerAttr(value, i64)


@lru_cache(1024)
def _ints_attr(values: tuple[int, ...]) -> Attribute:
    """A list of integers; models repeat those of strides, pads, axes, ..."""
    return DenseArrayBase.from_list(i64, values)


def _tensor_attr(value: Any) -> Attribute:
    return value if isinstance(value, TensorAttr) else TensorAttr(*literal_of(value))


_TO_ATTRIBUTE: Mapping[AttributeKind, Callable[[Any], Attribute]] = {
    "int": lambda value: _int_attr(int(value)),
    "float": lambda value: FloatAttr(value, f32),
    "string": string_attr,
    "ints": lambda values: _ints_attr(tuple(map(int, values))),
    "floats": lambda values: DenseArrayBase.from_list(f32, [float(value) for value in values]),
    "strings": lambda values: string_attrs(values),
    "tensor": _tensor_attr,
    "sparse_tensor": _tensor_attr,
    "type": lambda value: value,
}


_TO_PYTHON: Mapping[type[Attribute], Callable[[Any], Any]] = {
    IntegerAttr: lambda attribute: attribute.value.data,
    FloatAttr: lambda attribute: attribute.value.data,
    StringAttr: lambda attribute: attribute.data,
    BytesAttr: lambda attribute: attribute.data,
    DenseArrayBase: lambda attribute: list(attribute.get_values()),
    ArrayAttr: lambda attribute: [to_python(item) for item in attribute.data],
    TensorAttr: lambda attribute: literal_array(attribute.literal, attribute.type),
    TypeProtoAttr: lambda attribute: attribute.type,
}


def to_python(attribute: Attribute) -> Any:
    """An attribute as int, float, str, bytes, list, NumPy array or type; the inverse of :func:`to_attribute`."""
    convert = _TO_PYTHON.get(type(attribute))
    return attribute if convert is None else convert(attribute)


def has_kind(attribute: Attribute, kind: AttributeKind) -> bool:
    """Whether an attribute is of the class that its kind asks for."""
    match attribute:
        case IntegerAttr():
            return kind == "int" and attribute.type == i64
        case FloatAttr():
            return kind == "float" and attribute.type == f32
        case StringAttr() | BytesAttr():
            return kind == "string"
        case DenseArrayBase():
            return kind == ("ints" if attribute.elt_type == i64 else "floats" if attribute.elt_type == f32 else "")
        case ArrayAttr():
            return kind == "strings" and all(isinstance(item, StringAttr | BytesAttr) for item in attribute.data)
        case TensorAttr():
            return kind == ("sparse_tensor" if isinstance(attribute.literal, SparseAttr) else "tensor")
        case _:
            return kind == "type" and isinstance(attribute, TypeAttribute | TypeProtoAttr)


def print_attribute(printer: Printer, attribute: Attribute, kind: AttributeKind | None) -> None:
    """Print an attribute of a known kind shortly, any other in full."""
    if kind is None or not has_kind(attribute, kind):
        printer.print_attribute(attribute)
        return
    match kind:
        case "int":
            printer.print_string(str(to_python(attribute)))
        case "float":
            printer.print_string(float_text(to_python(attribute)))
        case "ints":
            printer.print_string(f"[{', '.join(map(str, to_python(attribute)))}]")
        case "floats":
            printer.print_string(f"[{', '.join(map(float_text, to_python(attribute)))}]")
        case _:
            printer.print_attribute(attribute)


def parse_attribute(parser: AttrParser, kind: AttributeKind | None) -> Attribute:
    """The attribute that :func:`print_attribute` wrote."""
    match kind:
        case "int":
            return to_attribute(kind, parser.parse_integer(allow_boolean=False))
        case "float":
            return to_attribute(kind, _parse_float(parser))
        case "ints":
            integer = lambda: parser.parse_integer(allow_boolean=False)  # noqa: E731
            return to_attribute(kind, parser.parse_comma_separated_list(parser.Delimiter.SQUARE, integer))
        case "floats":
            number = lambda: _parse_float(parser)  # noqa: E731
            return to_attribute(kind, parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number))
        case _:
            return parser.parse_attribute()


def _parse_float(parser: AttrParser) -> float:
    """A decimal number, or the bits of a float32 in hexadecimal."""
    value = parser.parse_optional_float()
    return float(parser.parse_number()) if value is None else value


def float_text(value: float) -> str:
    """The shortest decimal that reads back as the same float32; its bits in hexadecimal when it is not finite."""
    packed = _float32_bytes(value)
    if value - value != 0:
        return f"0x{packed[::-1].hex().upper()}"
    candidates = (f"{value:.{digits}g}" for digits in range(1, 10))
    text = next(candidate for candidate in candidates if _float32_bytes(float(candidate)) == packed)
    mantissa, exponent_mark, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{exponent_mark}{exponent}"


def _float32_bytes(value: float) -> bytes:
    """The bytes of a float32; of infinity, when the number is too large for one."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))
