"""What the text of a rule file says, as objects; every one knows its place.

Patterns, conditions and replacements share one kind of expression; :mod:`ge.rules.checker` says what may stand where.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ge.ir.errors import GeError


@dataclass(frozen=True)
class Place:
    """A position in a rule file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def error(self, code: str, what: str, remedy: str | None = None) -> GeError:
        """An error at this place."""
        return GeError(code, what, str(self), remedy=remedy)


@dataclass(frozen=True)
class Number:
    """``3``, ``0.5``, ``1e-6``."""

    value: int | float
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Text:
    """``"tanh"``."""

    value: str
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Name:
    """A value, a constant, a captured attribute, or one of the names that every rule knows (``f32``, ``pi``)."""

    name: str
    at: Place = field(compare=False)


@dataclass(frozen=True)
class AttributeOf:
    """``conv.strides``: an attribute of the operation that gives the value ``conv``."""

    owner: str
    name: str
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Listing:
    """``[1, n, 3]``."""

    items: tuple[Expression, ...]
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Binary:
    """``a + b``, ``a == b``, ``a and b``, ``a in b``; ``sign`` is the operator."""

    sign: str
    left: Expression
    right: Expression
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Unary:
    """``-a``, ``not a``."""

    sign: str
    operand: Expression
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Choice:
    """``a if condition else b``."""

    condition: Expression
    then: Expression
    otherwise: Expression
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Index:
    """``a[i]``; with a :class:`Slice`, ``a[1:]``."""

    array: Expression
    index: Expression
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Slice:
    """``1:`` in an index."""

    start: Expression | None
    stop: Expression | None
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Function:
    """``sqrt(c)``, ``rank(x)``: a function of :mod:`ge.rules.functions`."""

    name: str
    arguments: tuple[Expression, ...]
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Optional:
    """``b?`` in a pattern: an input that may be absent."""

    name: str
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Variadic:
    """``xs...`` in a pattern: the remaining inputs."""

    name: str
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Operation:
    """``Conv(x, w, b?, group = 1, strides = s)``; in a replacement also ``Conv(x, w, **conv)``."""

    domain: str
    op_type: str
    inputs: tuple[Expression, ...]
    attributes: tuple[tuple[str, Expression], ...]
    others: bool
    """``...``: attributes that are not named may have any value."""
    copied: tuple[Name, ...]
    """The operations whose attributes are copied."""
    at: Place = field(compare=False)


@dataclass(frozen=True)
class Alternatives:
    """``Pow(x, 2) | Mul(x, x)``."""

    choices: tuple[Expression, ...]
    at: Place = field(compare=False)


Expression: TypeAlias = (
    Number
    | Text
    | Name
    | AttributeOf
    | Listing
    | Binary
    | Unary
    | Choice
    | Index
    | Slice
    | Function
    | Optional
    | Variadic
    | Operation
    | Alternatives
)


@dataclass(frozen=True)
class Statement:
    """``y = Mul(x, c)``; several targets are the results of one operation."""

    targets: tuple[Name, ...]
    value: Expression
    at: Place = field(compare=False)


@dataclass(frozen=True)
class RuleText:
    """One rule as it is written."""

    name: str
    description: str
    match: tuple[Statement, ...]
    where: tuple[Expression, ...]
    rewrite: tuple[Statement, ...]
    sample: tuple[Statement, ...]
    at: Place = field(compare=False)


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside another one."""
    match expression:
        case Listing():
            return expression.items
        case Binary():
            return (expression.left, expression.right)
        case Unary():
            return (expression.operand,)
        case Choice():
            return (expression.condition, expression.then, expression.otherwise)
        case Index():
            return (expression.array, expression.index)
        case Slice():
            return tuple(part for part in (expression.start, expression.stop) if part is not None)
        case Function():
            return expression.arguments
        case Operation():
            return (*expression.inputs, *(value for _, value in expression.attributes))
        case Alternatives():
            return expression.choices
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """An expression and all inside it."""
    yield expression
    for child in children(expression):
        yield from walk(child)
