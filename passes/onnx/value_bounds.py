"""Between which numbers the elements of a value lie, as far as constants, types and simple operators tell.

    Where(c, 0.0, -1e9)                 -1e9 .. 0
    (1.0 - Cast(m)) * -1e4, m: bool     -1e4 .. 0

Rounding is not counted, and neither is NaN: who asks must not rely on the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import SSAValue

from ge.dialects.onnx import OnnxOp, constant_value, ranked

Bounds: TypeAlias = tuple[float, float]
"""The least and the greatest number that an element may be, both included."""

UNKNOWN: Bounds = (-math.inf, math.inf)

_DEPTH = 12
"""How many operators a bound looks through; each may have several operands to look at."""

_MOVING = {"Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
"""Operators whose elements are those of the first operand."""


def value_bounds(value: SSAValue, depth: int = _DEPTH) -> Bounds:
    """Bounds of the elements of a value; infinite where nothing is known."""
    array = constant_value(value)
    if array is not None and array.size and array.dtype.kind in "bfiu":
        return _known(float(array.min()), float(array.max()))
    type, op = ranked(value), value.owner
    element = None if type is None else type.element_type
    if isinstance(element, IntegerType):
        return _of_integers(cast("IntegerType[Any, Any]", element))
    if not depth or not isinstance(op, OnnxOp) or op.domain or value is not op.results[0]:
        return UNKNOWN
    operands = op.operands[1:] if op.op_type == "Where" else op.operands
    if op.op_type in _MOVING or op.op_type == "Cast":
        operands = operands[:1]
    rule = _RULES.get(op.op_type)
    return UNKNOWN if rule is None else rule([value_bounds(operand, depth - 1) for operand in operands])


def _known(least: float, most: float) -> Bounds:
    """Bounds, unless an operation on infinite ones has made NaN of them."""
    return UNKNOWN if math.isnan(least) or math.isnan(most) else (least, most)


def _of_integers(type: IntegerType[Any, Any]) -> Bounds:
    width = type.width.data
    if width == 1:
        return 0, 1
    unsigned = type.signedness.data is Signedness.UNSIGNED
    return (0, 2.0**width - 1) if unsigned else (-(2.0 ** (width - 1)), 2.0 ** (width - 1) - 1)


def _union(parts: Sequence[Bounds]) -> Bounds:
    return min(least for least, _ in parts), max(most for _, most in parts)


def _product(parts: Sequence[Bounds]) -> Bounds:
    (a, b), (c, d) = parts
    corners = (a * c, a * d, b * c, b * d)
    return UNKNOWN if any(map(math.isnan, corners)) else (min(corners), max(corners))


_RULES: Mapping[str, Callable[[Sequence[Bounds]], Bounds]] = {
    **dict.fromkeys(("Cast", "Concat", "Where", *_MOVING), _union),
    "Add": lambda parts: _known(parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]),
    "Sub": lambda parts: _known(parts[0][0] - parts[1][1], parts[0][1] - parts[1][0]),
    "Mul": _product,
    "Neg": lambda parts: (-parts[0][1], -parts[0][0]),
    "Max": lambda parts: (max(least for least, _ in parts), max(most for _, most in parts)),
    "Min": lambda parts: (min(least for least, _ in parts), min(most for _, most in parts)),
}
"""Bounds of the result, by operator, from those of the operands that its elements come from."""
