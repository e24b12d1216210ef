"""The ``ge`` dialect: the two attributes that every level shares.

* ``#ge.layout<NC1HWC0>`` is the encoding of a tensor type: the storage format of the tensor in device memory. The
  type's shape stays the origin shape. A tensor type without it is ``ND``: plain row-major.
* ``#ge.weights<...>`` is a large constant whose bytes stay where they are (see :mod:`ge.ir.weights` for its text).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, cast, get_args

from typing_extensions import Buffer
from xdsl.dialects.builtin import IntegerType, NoneAttr, Signedness, StringAttr, TensorType, i8
from xdsl.ir import Attribute, Data, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge.ir.weights import Origin, Weights, WeightsMode, WeightsReader, WeightsWriter, view_of

T = TypeVar("T")
AttributeT = TypeVar("AttributeT", bound=Attribute)


def unchecked(kind: type[AttributeT], **parameters: object) -> AttributeT:
    """An attribute of parameters that are right by construction, by name; ``data`` is that of a `Data` attribute.

    xDSL checks the parameters of every attribute that is made, which takes four times as long as making it.
    """
    attribute = kind.__new__(kind)
    vars(attribute).update(parameters)
    return attribute


def remembered(function: Callable[[Attribute], T]) -> Callable[[Attribute], T]:
    """Decorator: keep what a function gives for an attribute with the attribute, since attributes do not change.

    A table by attributes would hash them, with all that is in them, at every question.
    """
    key = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def answer(attribute: Attribute) -> T:
        memory = vars(attribute)
        if key not in memory:
            memory[key] = function(attribute)
        return memory[key]

    return answer


StorageFormat: TypeAlias = Literal["ND", "NCHW", "NHWC", "NC1HWC0", "FRACTAL_Z", "FRACTAL_NZ"]
"""How a tensor lies in device memory; docs/levels.md gives the storage shape of each."""

STORAGE_FORMATS: tuple[str, ...] = get_args(StorageFormat)


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute):
    """``#ge.layout<NC1HWC0>``: the storage format of a tensor type."""

    name = "ge.layout"

    format: StringAttr

    def __init__(self, format: str) -> None:
        super().__init__(StringAttr(format))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (StringAttr(parser.parse_identifier()),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.format.data)

    def verify(self) -> None:
        if self.format.data not in STORAGE_FORMATS:
            raise VerifyException(f"unknown storage format '{self.format.data}', want {', '.join(STORAGE_FORMATS)}")


def layout_of(type: Attribute) -> str:
    """The storage format of a tensor type: what its encoding says, ``ND`` when it says nothing."""
    encoding = cast(TensorType[Attribute], type).encoding if isinstance(type, TensorType) else None
    return encoding.format.data if isinstance(encoding, LayoutAttr) else "ND"


ui8 = IntegerType(8, Signedness.UNSIGNED)

EIGHT_BITS = (i8, ui8)
"""Element types of quantised values."""


def block_lanes(type: TensorType[Attribute]) -> int:
    """Elements of one block of a tensor in a blocked format: as `ge.maths.layouts.lanes_of`, without NumPy."""
    return 32 if type.element_type in EIGHT_BITS else 16


def with_layout(type: TensorType[Attribute], format: str) -> TensorType[Attribute]:
    """``type`` with another storage format; ``ND`` is written as no encoding at all."""
    return TensorType(type.element_type, type.shape, NoneAttr() if format == "ND" else LayoutAttr(format))


@irdl_attr_definition
class WeightsAttr(Data[Weights]):
    """``#ge.weights<...>``: the bytes of a large constant, little-endian, one byte per sub-byte element.

    The type of the constant is that of the operation's result. Two are equal when their bytes are.
    """

    name = "ge.weights"

    @staticmethod
    def from_buffer(buffer: Buffer, file: str | Path | None = None, offset: int | None = None) -> WeightsAttr:
        """Weights over any contiguous buffer, without copying.

        ``file`` and ``offset`` (in bytes) say where the same bytes lie on disk, so that text can refer to them there.
        """
        view = view_of(buffer)
        origin = Origin(Path(file).resolve(), offset) if file is not None and offset is not None else None
        return unchecked(WeightsAttr, data=Weights(view, view.nbytes, origin))

    @property
    def buffer(self) -> memoryview:
        """The bytes, read-only and not copied; raises GE3008 when the text left them out."""
        return self.data.buffer

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.data.nbytes

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes in hexadecimal."""
        return self.data.digest

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Weights:
        with parser.in_angle_brackets():
            if parser.parse_optional_keyword("elided") is not None:
                return Weights(None, _next_integer(parser), digest=_next_string(parser))
            start = parser.pos
            text = parser.parse_str_literal()
            if parser.parse_optional_punctuation(",") is None:
                return _from_hexadecimal(parser, text, start)
            offset = parser.parse_integer(allow_boolean=False, allow_negative=False)
            nbytes, digest = _next_integer(parser), _next_string(parser)
        reader: WeightsReader = getattr(parser, "weights_reader", None) or WeightsReader()
        return reader.read(text, offset, nbytes, digest, where=position_of(parser, start))

    def print_parameter(self, printer: Printer) -> None:
        writer: WeightsWriter = getattr(printer, "weights_writer", None) or WeightsWriter(WeightsMode.ELIDED)
        weights = self.data
        with printer.in_angle_brackets():
            if weights.is_elided or writer.mode is WeightsMode.ELIDED:
                printer.print_string(f'elided, {weights.nbytes}, "{weights.digest}"')
            elif (place := writer.place(weights)) is None:
                printer.print_string(f'"0x{weights.buffer.hex().upper()}"')
            else:
                printer.print_string_literal(place[0])
                printer.print_string(f', {place[1]}, {weights.nbytes}, "{weights.digest}"')


def _next_integer(parser: AttrParser) -> int:
    parser.parse_punctuation(",")
    return parser.parse_integer(allow_boolean=False, allow_negative=False)


def _next_string(parser: AttrParser) -> str:
    parser.parse_punctuation(",")
    return parser.parse_str_literal()


def _from_hexadecimal(parser: AttrParser, text: str, start: int) -> Weights:
    """Weights from ``0x`` and two digits per byte, in memory order."""
    try:
        if not text.startswith("0x"):
            raise ValueError
        data = bytes.fromhex(text[2:])
    except ValueError:
        parser.raise_error("expected 0x and two hexadecimal digits per byte", start, parser.pos)
    return Weights(view_of(data), len(data))


def position_of(parser: AttrParser, offset: int) -> str:
    """The position ``file:line:column`` of a character offset in the text being parsed."""
    source = parser.lexer.input
    line = source.content.count("\n", 0, offset) + 1
    column = offset - source.content.rfind("\n", 0, offset)
    return f"{source.name}:{line}:{column}"


Ge = Dialect("ge", [], [LayoutAttr, WeightsAttr])
