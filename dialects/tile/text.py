"""Numbers and positions in the operations of the ``tile`` dialect, and how their text looks.

* A scalar is a float32 property, written without a type (``fill -65504``, ``muls %a, 0.044715``): the shortest decimal
  that reads back as the same float32.
* A position (an offset, a loop bound) is a number or an ``index`` value, written ``[0, %c1, -1]``; the operation holds
  an integer property in which ``DYNAMIC_INDEX`` stands for "the next operand". :func:`mixed` and :func:`split` convert.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, FloatAttr, IntegerType, f32, i64
from xdsl.dialects.utils.dynamic_index_list import get_dynamic_index_list, split_dynamic_index_list
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


def float_attr(value: float) -> FloatAttr:
    """The property that holds a float32 scalar."""
    return FloatAttr(value, f32)


def float_value(attr: FloatAttr) -> float:
    """The scalar that a property holds."""
    return attr.value.data


def shortest_decimal(value: float) -> str:
    """The shortest decimal that reads back as the float32 ``value``."""
    if value == int(value) and abs(value) < 1e7 and (value or math.copysign(1, value) > 0):
        return str(int(value))
    same = (text for digits in range(1, 10) if _as_float32(float(text := f"{value:.{digits}g}")) == _as_float32(value))
    mantissa, e, exponent = next(same).partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def _as_float32(value: float) -> bytes:
    return struct.pack("<f", value)


def verify_finite(attr: FloatAttr | None) -> None:
    """Refuse infinities and NaN: the device's float16 has none that a kernel may rely on."""
    if attr is not None and not math.isfinite(attr.value.data):
        raise VerifyException(f"scalar must be finite, got {attr.value.data}")


Integers: TypeAlias = DenseArrayBase[IntegerType]
"""An integer list property."""

Index: TypeAlias = int | SSAValue
"""A position: known now, or an ``index`` value."""


def mixed(static: Integers, dynamic: Sequence[SSAValue]) -> list[Index]:
    """The positions that an integer property and its operands hold together."""
    return get_dynamic_index_list(list(static.iter_values()), dynamic, DYNAMIC_INDEX)


def split(positions: Iterable[Index]) -> tuple[Integers, list[SSAValue]]:
    """The integer property and the operands that hold ``positions``; the inverse of :func:`mixed`."""
    static, dynamic = split_dynamic_index_list(list(positions), DYNAMIC_INDEX)
    return integers(static), dynamic


def integers(values: Iterable[int]) -> Integers:
    """An integer list property."""
    return DenseArrayBase.from_list(i64, list(values))


@irdl_custom_directive
class FloatLiteral(CustomDirective):
    """``custom<FloatLiteral>($value)``: a float32 property as a bare number."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.attribute.set(state, float_attr(float(parser.parse_number())))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(shortest_decimal(float_value(cast(FloatAttr, self.attribute.get(op)))))

    def is_present(self, op: IRDLOperation) -> bool:
        return self.attribute.get(op) is not None

    def is_anchorable(self) -> bool:
        return True

    def set_empty(self, state: ParsingState) -> None:
        """An absent scalar is an absent property."""


@irdl_custom_directive
class IntegerList(CustomDirective):
    """``custom<IntegerList>($sizes)``: an integer list property as ``[1, 4, 16]``."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.attribute.set(
            state, integers(parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer))
        )

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        values = cast(Integers, self.attribute.get(op)).iter_values()
        printer.print_string(f"[{', '.join(map(str, values))}]")
