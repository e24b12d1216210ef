"""Sizes from what is written of them, and from other sizes: both with names looked up by the caller.

    parse("2*batch + 1")                                # 2*batch + 1
    substitute(parse("2*batch + 1"), {"batch": 4}.get)  # 9

A name that the caller does not know stays a symbol.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from ge.maths.symbols import (
    Atom,
    Call,
    Expression,
    Size,
    Symbol,
    maximum,
    minimum,
    product,
    quotient,
    remainder,
    symbol,
)


def parse(text: str, named: Callable[[str], Size] = symbol) -> Size:
    """The size that a text writes, with names looked up by ``named``; a text of another form is a name as a whole."""
    if text.isidentifier() and text.isascii():  # what most texts are
        return named(text)
    try:
        if re.search(r"\w-\w", text):  # a name such as batch-size
            return named(text)
        return _evaluated(ast.parse(text.strip(), mode="eval").body, named)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return named(text)


_OPERATORS: Mapping[type[ast.operator], Callable[[Size, Size], Size]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: quotient,
    ast.Mod: remainder,
}


def _evaluated(node: ast.expr, named: Callable[[str], Size]) -> Size:
    match node:
        case ast.Name(name):
            return named(name)
        case ast.Constant(int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(ast.USub(), operand):
            return -_evaluated(operand, named)
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            return _OPERATORS[type(operator)](_evaluated(left, named), _evaluated(right, named))
        case ast.Call(ast.Name("min" | "max" as name), [left, right], []):
            function = minimum if name == "min" else maximum
            return function(_evaluated(left, named), _evaluated(right, named))
        case _:
            raise ValueError("not a size")


def substitute(size: Size, named: Callable[[str], Size | None]) -> Size:
    """A size with symbols replaced by what ``named`` gives for their names; None leaves one as it is."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for monomial, factor in size.terms.items():
        total = total + product(_substituted(atom, named) for atom in monomial) * factor
    return total


def _substituted(atom: Atom, named: Callable[[str], Size | None]) -> Size:
    if isinstance(atom, Symbol):
        found = named(atom.name)
        return Expression({(atom,): 1}) if found is None else found
    left, right = substitute(atom.left, named), substitute(atom.right, named)
    if atom.function in "//%":
        if right == 0:
            return Expression({(Call(atom.function, left, right),): 1})
        return quotient(left, right) if atom.function == "//" else remainder(left, right)
    return minimum(left, right) if atom.function == "min" else maximum(left, right)
