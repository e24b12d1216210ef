"""Conditions and arithmetic of a rule as Python source, for :mod:`ge.rules.compiler`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ge.rules.functions import CONSTANTS, FUNCTIONS
from ge.rules.samples import DRAWS
from ge.rules.syntax import (
    AttributeOf,
    Binary,
    Choice,
    Expression,
    Function,
    Index,
    Listing,
    Name,
    Number,
    Slice,
    Text,
    Unary,
    walk,
)

_BOOLEAN_SIGNS = frozenset({"and", "or", "in", "not"})

_CANNOT_FAIL = frozenset(
    {"constant", "given", "is_output", "single_use", "dtype", "is_float", "is_integer", "static", "same_type"}
)
"""Functions that have a value for every input."""


@dataclass(frozen=True)
class Names:
    """How the names of a rule are written in Python."""

    values: Mapping[str, str]
    """Values of the pattern, and new ones."""
    data: Mapping[str, str]
    """Captured attributes, elements of constants, and what the part `sample` has drawn."""
    operations: Mapping[str, str]
    """The operation that gives a value of the pattern."""


def source(expression: Expression, names: Names) -> str:
    """The Python source of an expression."""
    match expression:
        case Number(value) | Text(value):
            return repr(value)
        case Name(name):
            return names.data[name] if name in names.data else _constant(name)
        case AttributeOf(owner, name):
            return f"attribute({names.operations[owner]}, {name!r})"
        case Listing(items):
            return f"listed([{', '.join(source(item, names) for item in items)}])"
        case Binary():
            return _binary(expression, names)
        case Unary("not", operand):
            return f"(not {condition(operand, names)})"
        case Unary(sign, operand):
            return f"({sign}{source(operand, names)})"
        case Choice(test, then, otherwise):
            return f"({source(then, names)} if {condition(test, names)} else {source(otherwise, names)})"
        case Index(Function("shape", (Name(name),)), index):
            return f"shape_part({names.values[name]}, {_index(index, names)})"
        case Index(array, index):
            return f"{source(array, names)}[{_index(index, names)}]"
        case Function():
            return _function(expression, names)
        case _:
            raise AssertionError(f"{type(expression).__name__} has no value: the checker has let it pass")


def condition(expression: Expression, names: Names) -> str:
    """The Python source of whether an expression holds, for all its elements."""
    text = source(expression, names)
    match expression:
        case Binary(sign) | Unary(sign) if sign in _BOOLEAN_SIGNS:
            return text
        case Function(name) if name in FUNCTIONS and "bool" in str(FUNCTIONS[name].call.__annotations__["return"]):
            return text
        case _:
            return f"truth({text})"


def can_fail(expression: Expression, constants: Collection[str] = ()) -> bool:
    """Whether computing an expression may raise: anything but questions about values, such as elements of constants."""
    return not all(
        isinstance(each, Text)
        or (isinstance(each, Name) and each.name not in constants)
        or (isinstance(each, Function) and each.name in _CANNOT_FAIL)
        or (isinstance(each, Binary | Unary) and each.sign in ("and", "or", "not", "==", "!="))
        for each in walk(expression)
    )


def _constant(name: str) -> str:
    value = CONSTANTS[name]
    return "inf" if name == "inf" else repr(value)


def _index(index: Expression, names: Names) -> str:
    if not isinstance(index, Slice):
        return source(index, names)
    start, stop = ("None" if part is None else source(part, names) for part in (index.start, index.stop))
    return f"slice({start}, {stop})"


def _binary(expression: Binary, names: Names) -> str:
    sign, left, right = expression.sign, expression.left, expression.right
    if sign in ("and", "or"):
        return f"({condition(left, names)} {sign} {condition(right, names)})"
    a = source(left, names)
    if sign == "in":
        items = right.items if isinstance(right, Listing) else None
        return f"member({a}, {source(right, names) if items is None else _tuple(items, names)})"
    b = source(right, names)
    if sign in ("==", "!="):
        return f"{'equal' if sign == '==' else 'unequal'}({a}, {b})"
    return f"({a} {sign} {b})"


def _tuple(items: tuple[Expression, ...], names: Names) -> str:
    return f"({''.join(f'{source(item, names)}, ' for item in items)})"


def _function(call: Function, names: Names) -> str:
    if call.name in DRAWS:
        arguments = ["random", *(source(each, names) for each in call.arguments)]
        return f"draw_{call.name}({', '.join(arguments)})"
    function = FUNCTIONS[call.name]
    arguments: list[str] = []
    for position, each in enumerate(call.arguments):
        kind = function.kinds[min(position, len(function.kinds) - 1)]
        arguments.append(names.values[each.name] if kind == "value" and isinstance(each, Name) else source(each, names))
    if call.name == "close" and len(arguments) == 2:
        constants = {each.name for each in walk(call) if isinstance(each, Name) and each.name in names.values}
        if constants:
            arguments.append(f"precision({', '.join(names.values[name] for name in sorted(constants))})")
    return f"fn_{call.name}({', '.join(arguments)})"
