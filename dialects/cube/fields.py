"""Fields: the parts that an instruction is declared from.

An instruction lists its fields once (`FIELDS`); text, verification, encoding and execution all read that list. A field
knows its text, which immediate values it takes, and the type of the SSA value that may stand in its place.

| field     | immediate                         | SSA value                | at run time             |
|-----------|-----------------------------------|--------------------------|-------------------------|
| `Address` | byte offset into a buffer operand | offset: `index`          | byte address (int)      |
| `Integer` | whole number in a range           | `index`                  | int                     |
| `Flag`    | true, false                       | `i1`                     | int, 0 or 1             |
| `Float`   | float32                           | `f32`                    | float                   |
| `Enum`    | one of a list of names            | none                     | str                     |
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import Enum as PyEnum
from enum import auto
from typing import Any, TypeAlias

from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, StringAttr, f32, i1, i64
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.spaces import BLOCK, Space

Immediate: TypeAlias = int | float | str
"""The value of a field that is written in the instruction."""


def float32(value: float) -> float:
    """`value` rounded to float32; beyond its range, the infinity of its sign."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


class AccessKind(PyEnum):
    """What an instruction does with the bytes at an address."""

    READ = auto()
    WRITE = auto()
    UPDATE = auto()
    """Reads and writes them."""


READ, WRITE, UPDATE = AccessKind.READ, AccessKind.WRITE, AccessKind.UPDATE


@dataclass(frozen=True)
class Field:
    """One field of an instruction. `default`, where there is one, is left out of the text."""

    name: str

    @property
    def default(self) -> Immediate | None:
        """The value that the text leaves out, or None."""
        return None

    @property
    def operand_type(self) -> Attribute | None:
        """The type of an SSA value in place of the immediate, or None where the field takes immediates only."""
        return None

    def attribute(self, value: Immediate) -> Attribute:
        """The attribute that stores an immediate. Raises VerifyException when the field cannot take `value`."""
        self.check(value)
        return self.store(value)

    def store(self, value: Any) -> Attribute:
        """The attribute that stores an immediate which passed `check`."""
        raise NotImplementedError

    def immediate(self, attribute: Attribute) -> Immediate:
        """The value that an attribute stores. Raises VerifyException when it is of another kind."""
        raise NotImplementedError

    def parse_immediate(self, parser: Parser) -> Immediate:
        """Parse the text of an immediate."""
        raise NotImplementedError

    def format(self, value: Immediate) -> str:
        """The text of an immediate."""
        return str(value)

    def check(self, value: Immediate) -> None:
        """Raise VerifyException when `value` is not allowed."""
        raise NotImplementedError

    def wrong(self, value: object, expected: str) -> VerifyException:
        """The error that `value` is not what was `expected`."""
        return VerifyException(f"field '{self.name}' is {value}, expected {expected}")


class WholeNumber(Field):
    """A field that stores a whole number of 64 bits."""

    @property
    def operand_type(self) -> Attribute:
        return IndexType()

    def store(self, value: int) -> Attribute:
        return IntegerAttr(value - (1 << 64) if value >= 1 << 63 else value, i64)

    def immediate(self, attribute: Attribute) -> int:
        if not isinstance(attribute, IntegerAttr):
            raise self.wrong(attribute, "an integer attribute")
        value = attribute.value.data
        return value + (1 << 64) if value < 0 else value

    def parse_immediate(self, parser: Parser) -> int:
        return parser.parse_integer(allow_boolean=False)


@dataclass(frozen=True)
class Integer(WholeNumber):
    """A whole number from `min` (not below 0) to `max`, a multiple of `multiple`."""

    min: int
    max: int
    initial: int | None = None
    multiple: int = 1

    @property
    def default(self) -> int | None:
        return self.initial

    def check(self, value: Immediate) -> None:
        if not isinstance(value, int) or not self.min <= value <= self.max:
            raise self.wrong(value, f"{self.min} to {self.max}")
        if value % self.multiple:
            raise self.wrong(value, f"a multiple of {self.multiple}")


@dataclass(frozen=True)
class Address(WholeNumber):
    """A place in memory: a buffer in one of `spaces` and a byte offset into it, a multiple of `align`.

    The buffer is always an SSA value; what this class calls immediate is the offset.
    """

    spaces: tuple[Space, ...]
    access: AccessKind
    align: int = BLOCK

    def check(self, value: Immediate) -> None:
        if not isinstance(value, int) or not 0 <= value < 1 << 48:
            raise self.wrong(value, "a byte offset from 0 to 2^48 - 1")
        if value % self.align:
            raise self.wrong(value, f"a byte offset that is a multiple of {self.align}")


@dataclass(frozen=True)
class Flag(Field):
    """Yes or no."""

    initial: bool | None = None

    @property
    def default(self) -> int | None:
        return None if self.initial is None else int(self.initial)

    @property
    def operand_type(self) -> Attribute:
        return i1

    def store(self, value: int) -> Attribute:
        return IntegerAttr(int(value), i1)

    def immediate(self, attribute: Attribute) -> int:
        if not isinstance(attribute, IntegerAttr):
            raise self.wrong(attribute, "a boolean attribute")
        return attribute.value.data & 1

    def parse_immediate(self, parser: Parser) -> int:
        return parser.parse_integer(allow_boolean=True)

    def format(self, value: Immediate) -> str:
        return "true" if value else "false"

    def check(self, value: Immediate) -> None:
        if value not in (0, 1):
            raise self.wrong(value, "true or false")


@dataclass(frozen=True)
class Float(Field):
    """A float32. Text: a decimal with a point, or `inf`, `-inf`, `nan`."""

    @property
    def operand_type(self) -> Attribute:
        return f32

    def store(self, value: float) -> Attribute:
        return FloatAttr(float32(value), f32)

    def immediate(self, attribute: Attribute) -> float:
        if not isinstance(attribute, FloatAttr):
            raise self.wrong(attribute, "a float attribute")
        return attribute.value.data

    def parse_immediate(self, parser: Parser) -> float:
        negative = parser.parse_optional_punctuation("-") is not None
        if parser.parse_optional_keyword("nan"):
            return math.nan
        value = math.inf if parser.parse_optional_keyword("inf") else float(parser.parse_number())
        return -value if negative else value

    def format(self, value: Immediate) -> str:
        if isinstance(value, str) or not math.isfinite(value):
            return str(value)
        # The fewest digits that give the same float32; nine always do.
        text = next(t for digits in range(1, 10) if float32(float(t := f"{value:.{digits}g}")) == value or digits == 9)
        if "." in text:
            return text
        mantissa, exponent, power = text.partition("e")
        return f"{mantissa}.0{exponent}{power}"

    def check(self, value: Immediate) -> None:
        if isinstance(value, str):
            raise self.wrong(value, "a number")


@dataclass(frozen=True)
class Enum(Field):
    """One of `names`."""

    names: tuple[str, ...]
    initial: str | None = None

    @property
    def default(self) -> str | None:
        return self.initial

    def store(self, value: str) -> Attribute:
        return StringAttr(str(value))

    def immediate(self, attribute: Attribute) -> str:
        if not isinstance(attribute, StringAttr):
            raise self.wrong(attribute, "a string attribute")
        return attribute.data

    def parse_immediate(self, parser: Parser) -> str:
        return parser.parse_identifier()

    def check(self, value: Immediate) -> None:
        if value not in self.names:
            raise self.wrong(value, "one of " + ", ".join(self.names))
