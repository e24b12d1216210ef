"""Arithmetic on single elements of contents: numbers, expressions, and what is not known.

Integers wrap nowhere: a result that does not fit its type is not known. Floats are rounded to their type after every
operation. A size that becomes a float keeps its expression: sizes are below 2**24, so that float32 has them exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ge.dialects.onnx.shapes.values import Element, float32
from ge.maths.symbols import Expression, Size, bounds, differ, exact_quotient, maximum, minimum, quotient, remainder

_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "ui8": 8, "ui16": 16, "ui32": 32, "ui64": 64}


_LARGEST = 1e300
"""The largest float that is followed."""


def fitted(value: Element, element: str) -> Element:
    """A result as its element type has it; None when the type cannot hold it."""
    if value is None or isinstance(value, Expression):
        return value if element in _BITS or element in ("f32", "f64") else None
    if element in _BITS:
        low = 0 if element[0] == "u" else -(2 ** (_BITS[element] - 1))
        return value if isinstance(value, int) and low <= value < low + 2 ** _BITS[element] else None
    if element == "i1":
        return int(value != 0)
    if element in ("f32", "f64") and abs(value) < _LARGEST:
        return float32(value) if element == "f32" else float(value)
    return None


def converted(value: Element, element: str) -> Element:
    """An element cast to another type."""
    if isinstance(value, Expression):
        if element == "i1":
            return 1 if differ(value, 0) else None
        return fitted(value, element)
    if isinstance(value, float) and element in _BITS:
        return fitted(math.trunc(value), element) if math.isfinite(value) else None
    return None if value is None else fitted(value, element)


Known: TypeAlias = "int | float | Expression"


def _mixed(a: Known, b: Known) -> bool:
    """Whether an expression meets a float that is no integer."""
    return any(isinstance(value, float) and not value.is_integer() for value in (a, b)) and any(
        isinstance(value, Expression) for value in (a, b)
    )


def _pair(a: Known, b: Known) -> tuple[Known, Known]:
    """Two operands, a whole float as an integer beside an expression."""
    if isinstance(a, Expression) and isinstance(b, float):
        return a, int(b)
    if isinstance(b, Expression) and isinstance(a, float):
        return int(a), b
    return a, b


def _either(
    sizes: Callable[[Size, Size], Element], floats: Callable[[float, float], Element]
) -> Callable[[Known, Known], Element]:
    """A function of two sizes, or of two numbers of which one is a float."""

    def apply(a: Known, b: Known) -> Element:
        if not isinstance(a, float) and not isinstance(b, float):
            return sizes(a, b)
        return None if isinstance(a, Expression) or isinstance(b, Expression) else floats(a, b)

    return apply


def _divide(a: Size, b: Size) -> Element:
    """Integers are divided towards zero."""
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    exact = exact_quotient(a, b)
    if exact is not None:
        return exact
    return quotient(a, b) if _at_least(a, 0) and _at_least(b, 1) else None


def _at_least(value: Size, least: int) -> bool:
    low, _ = bounds(value)
    return low is not None and low >= least


def _divide_floats(a: Known, b: Known) -> Element:
    """Of an expression only what is an integer again can be told."""
    if isinstance(a, Expression) or isinstance(b, Expression):
        return None if isinstance(a, float) or isinstance(b, float) else exact_quotient(a, b)
    return a / b if b else None


def _modulo(a: Size, b: Size) -> Element:
    return None if b == 0 else remainder(a, b)


def _power(a: Known, b: Known) -> Element:
    if isinstance(b, Expression) or not 0 <= b <= _HIGHEST_POWER or b != int(b):
        return None
    result: Element = 1
    for _ in range(int(b)):
        result = None if result is None else _BINARY["Mul"](result, a)
    return result


_HIGHEST_POWER = 8


def _equal(a: Size, b: Size) -> Element:
    return 1 if a == b else 0 if differ(a, b) else None


def _less(a: Size, b: Size) -> Element:
    low, high = bounds(a - b)
    return 1 if high is not None and high < 0 else 0 if low is not None and low >= 0 else None


_LESS = _either(_less, lambda a, b: int(a < b))


def _not(a: Element) -> Element:
    return None if a is None else int(not a)


_BINARY: Mapping[str, Callable[[Known, Known], Element]] = {
    "Add": _either(lambda a, b: a + b, lambda a, b: a + b),
    "Div": _either(_divide, lambda a, b: None),
    "Equal": _either(_equal, lambda a, b: int(a == b)),
    "Greater": lambda a, b: _LESS(b, a),
    "GreaterOrEqual": lambda a, b: _not(_LESS(a, b)),
    "Less": _LESS,
    "LessOrEqual": lambda a, b: _not(_LESS(b, a)),
    "Max": _either(maximum, max),
    "Min": _either(minimum, min),
    "Mod": _either(_modulo, lambda a, b: None),
    "Mul": _either(lambda a, b: a * b, lambda a, b: a * b),
    "Pow": _power,
    "Sub": _either(lambda a, b: a - b, lambda a, b: a - b),
    "Sum": _either(lambda a, b: a + b, lambda a, b: a + b),
}


def binary(op_type: str, a: Element, b: Element, element: str = "i64") -> Element:
    """The result of an operation on two elements of a type, before it is fitted; None when it is not known."""
    if op_type in _LOGICAL:
        return _LOGICAL[op_type](a, b)
    if a is None or b is None:
        return 0 if op_type == "Mul" and any(isinstance(known, int) and known == 0 for known in (a, b)) else None
    if _mixed(a, b):
        return None
    if op_type == "Div" and element[0] == "f":
        return _divide_floats(*_pair(a, b))
    return _BINARY[op_type](*_pair(a, b))


_LOGICAL: Mapping[str, Callable[[Element, Element], Element]] = {
    "And": lambda a, b: 0 if 0 in (a, b) else None if None in (a, b) else 1,
    "Or": lambda a, b: 1 if 1 in (a, b) else None if None in (a, b) else 0,
    "Xor": lambda a, b: None if a is None or b is None else int(a != b),
}

BINARY = frozenset({*_BINARY, *_LOGICAL})
"""The operators that :func:`binary` knows."""


def unary(op_type: str, a: Element) -> Element:
    """The result of an operation on one element; None when it is not known."""
    if a is None:
        return None
    match op_type:
        case "Neg":
            return -a
        case "Abs":
            return abs(a) if isinstance(a, int | float) else a if _at_least(a, 0) else None
        case "Not":
            return _not(a)
        case "Floor" | "Ceil" | "Round" if isinstance(a, float):
            rounded = {"Floor": math.floor, "Ceil": math.ceil, "Round": round}[op_type]
            return float(rounded(a)) if math.isfinite(a) else a
        case "Floor" | "Ceil" | "Round":
            return a
        case "Sqrt" if isinstance(a, int | float) and a >= 0:
            return math.sqrt(a)
        case "Sign" if isinstance(a, int):
            return (a > 0) - (a < 0)
        case _:
            return None


UNARY = frozenset({"Abs", "Ceil", "Floor", "Neg", "Not", "Round", "Sign", "Sqrt"})
"""The operators that :func:`unary` knows."""
