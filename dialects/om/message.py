"""Protobuf messages as text, field by field in the order of the bytes: ``#om.message<...>``.

For OM files whose content this project does not write itself. The attribute knows no schema: a field has the name that
the schema gives it, or its number where there is none. A value is written as

* an integer: ``3``; a list of numbers in one field: ``[1, 1]``;
* a real number: ``0.5``, or by its bits where that says less than they: ``fixed 4 0x7FC00001`` (4 bytes);
* text: ``"conv1"``; what is no text: ``hex "00FF"``, or ``#ge.weights<...>`` where it is long;
* a message: ``<...>``.

A repeated field is written as often as it is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ge.ir.attributes import WeightsAttr


class Real(NamedTuple):
    """A floating-point number: the shortest decimal one that has its bits."""

    value: float


class Fixed(NamedTuple):
    """A number of 4 or 8 bytes, by its bits."""

    size: int
    bits: int


@dataclass(frozen=True)
class Message:
    """A message: names (or numbers, as text) and values of its fields, in order."""

    fields: tuple[tuple[str, Value], ...]


Number: TypeAlias = "int | Real"
Value: TypeAlias = "Number | Fixed | str | bytes | WeightsAttr | tuple[Number, ...] | Message"


@irdl_attr_definition
class MessageAttr(Data[Message]):
    """A message; see the module."""

    name = "om.message"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Message:
        return _parse_message(parser)

    def print_parameter(self, printer: Printer) -> None:
        _print_message(printer, self.data)


# ---------------------------------------------------------------- printing

_ON_ONE_LINE = 8
"""How many values of a message are written on one line."""


def _print_message(printer: Printer, message: Message) -> None:
    """Fields on one line; each on its own when they are many, counted with what is in them."""
    nested = _count(message) > _ON_ONE_LINE
    with printer.in_angle_brackets(), printer.indented():
        for position, (name, value) in enumerate(message.fields):
            if position:
                printer.print_string("," if nested else ", ")
            if nested:
                printer.print_string("\n")
            printer.print_string(f"{name} = ")
            _print_value(printer, value)


def _count(message: Message) -> int:
    return sum(_count(value) if isinstance(value, Message) else 1 for _, value in message.fields)


def _print_value(printer: Printer, value: Value) -> None:
    match value:
        case Message():
            _print_message(printer, value)
        case Fixed():
            printer.print_string(f"fixed {value.size} {value.bits:#x}")
        case int() | Real():
            printer.print_string(_number(value))
        case str():
            printer.print_string_literal(value)
        case bytes():
            printer.print_string(f'hex "{value.hex().upper()}"')
        case WeightsAttr():
            printer.print_attribute(value)
        case _:
            printer.print_string(f"[{', '.join(map(_number, value))}]")


def _number(value: Number) -> str:
    """A number as the parser reads it: a real one has a point."""
    if isinstance(value, int):
        return str(value)
    mantissa, e, exponent = repr(value.value).partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{e}{exponent}"


# ---------------------------------------------------------------- parsing


def _parse_message(parser: AttrParser) -> Message:
    return Message(tuple(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_field(parser))))


def _parse_field(parser: AttrParser) -> tuple[str, Value]:
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    name = parser.parse_identifier() if number is None else str(number)
    parser.parse_punctuation("=")
    return name, _parse_value(parser)


def _parse_value(parser: AttrParser) -> Value:
    if parser.parse_optional_keyword("fixed") is not None:
        size = parser.parse_integer(allow_boolean=False, allow_negative=False)
        bits = parser.parse_integer(allow_boolean=False, allow_negative=False)
        if size not in (4, 8) or bits >> 8 * size:
            parser.raise_error(f"expected 4 or 8 bytes, got {bits:#x} in {size}")
        return Fixed(size, bits)
    if parser.parse_optional_keyword("hex") is not None:
        return _parse_hexadecimal(parser)
    if (text := parser.parse_optional_str_literal()) is not None:
        return text
    if (number := parser.parse_optional_number()) is not None:
        return _checked(parser, number)
    if (
        numbers := parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_number)
    ) is not None:
        return tuple(_checked(parser, number) for number in numbers)
    weights = parser.parse_optional_attribute()
    if weights is None:
        return _parse_message(parser)
    if not isinstance(weights, WeightsAttr):
        parser.raise_error("expected a number, text, a message, or #ge.weights<...>")
    return weights


def _parse_hexadecimal(parser: AttrParser) -> bytes:
    text = parser.parse_str_literal()
    try:
        return bytes.fromhex(text)
    except ValueError:
        parser.raise_error("expected two hexadecimal digits per byte")


def _checked(parser: AttrParser, number: float) -> Number:
    if isinstance(number, float):
        return Real(number)
    if not -(1 << 63) <= number < 1 << 63:
        parser.raise_error(f"{number} has more than 64 bits")
    return number
