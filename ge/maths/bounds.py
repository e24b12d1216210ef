"""Between which numbers the elements of a result lie, given that of the operands: interval arithmetic by operator.

    result_bounds("Add", [(0.0, 1.0), (2.0, 5.0)])      # (2.0, 6.0)
    result_bounds("Max", [UNKNOWN, (1e-12, 1e-12)])     # (1e-12, inf)

Operators have the names that ONNX gives them; `Square` is a product of a value and itself. Rounding is not counted, and
neither is NaN: who asks must not rely on the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Bounds: TypeAlias = tuple[float, float]
"""The least and the greatest number that an element may be, both included."""

UNKNOWN: Bounds = (-math.inf, math.inf)


NO_LIMITS: tuple[Bounds, Bounds] = ((-math.inf, -math.inf), (math.inf, math.inf))
"""The least and the greatest value of a `Clip` that has none."""


def known_bounds(least: float, most: float) -> Bounds:
    """Bounds, unless an operation on infinite ones has made NaN of them."""
    return UNKNOWN if math.isnan(least) or math.isnan(most) else (least, most)


def result_bounds(op_type: str, operands: Sequence[Bounds]) -> Bounds:
    """Bounds of the result of an operator; infinite ones for operators of which nothing is known here.

    Operands that only say where elements go (indices, shapes, the condition of `Where`) are left out.
    """
    rule = _RULES.get(op_type)
    return UNKNOWN if rule is None or not operands else rule(operands)


def _union(parts: Sequence[Bounds]) -> Bounds:
    return min(least for least, _ in parts), max(most for _, most in parts)


def _product(parts: Sequence[Bounds]) -> Bounds:
    (a, b), (c, d) = parts
    corners = (a * c, a * d, b * c, b * d)
    return UNKNOWN if any(map(math.isnan, corners)) else (min(corners), max(corners))


def _clip(parts: Sequence[Bounds]) -> Bounds:
    value, low, high = (*parts, *NO_LIMITS[len(parts) - 1 :])
    return min(max(value[0], low[0]), high[0]), min(max(value[1], low[1]), high[1])


def _power(parts: Sequence[Bounds]) -> Bounds:
    low, high = parts[1]
    return (0.0, math.inf) if low == high and low % 2 == 0 else UNKNOWN


def _root(parts: Sequence[Bounds]) -> Bounds:
    return math.sqrt(max(parts[0][0], 0.0)), math.sqrt(max(parts[0][1], 0.0))


def _size(parts: Sequence[Bounds]) -> Bounds:
    least, most = parts[0]
    return max(0.0, least, -most), max(abs(least), abs(most))


def _sum(parts: Sequence[Bounds]) -> Bounds:
    """Of some elements, at least none: they may be so many that only the sign is known."""
    return (0.0 if parts[0][0] >= 0 else -math.inf), (0.0 if parts[0][1] <= 0 else math.inf)


MOVING = frozenset(
    (
        *("Concat", "Expand", "Flatten", "Gather", "Identity", "MaxPool", "ReduceMax", "ReduceMean", "ReduceMin"),
        *("Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where"),
    )
)
"""Operators whose elements are some of those of the operands, or lie between them."""

_NOT_NEGATIVE = ("Exp", "ReduceL1", "ReduceL2", "ReduceSumSquare", "Softplus", "Square")

_RULES: Mapping[str, Callable[[Sequence[Bounds]], Bounds]] = {
    **dict.fromkeys(MOVING, _union),
    **dict.fromkeys(_NOT_NEGATIVE, lambda parts: (0.0, math.inf)),
    **dict.fromkeys(("HardSigmoid", "Sigmoid", "Softmax"), lambda parts: (0.0, 1.0)),
    "Abs": _size,
    "Add": lambda parts: known_bounds(parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]),
    "Clip": _clip,
    "Max": lambda parts: (max(least for least, _ in parts), max(most for _, most in parts)),
    "Min": lambda parts: (min(least for least, _ in parts), min(most for _, most in parts)),
    "Mul": _product,
    "Neg": lambda parts: (-parts[0][1], -parts[0][0]),
    "Pow": _power,
    "ReduceSum": _sum,
    "Relu": lambda parts: (max(parts[0][0], 0.0), max(parts[0][1], 0.0)),
    "Sqrt": _root,
    "Sub": lambda parts: known_bounds(parts[0][0] - parts[1][1], parts[0][1] - parts[1][0]),
}
