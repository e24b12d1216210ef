"""Between which numbers the elements of a value lie, as far as constants, types and simple operators tell.

    Where(c, 0.0, -1e9)                 -1e9 .. 0
    (1.0 - Cast(m)) * -1e4, m: bool     -1e4 .. 0

Operators are those of `ge.maths.bounds`; of others nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness
from xdsl.ir import Attribute, SSAValue

from ge.dialects.onnx import OnnxOp, constant_value, ranked
from ge.ir.constants import numpy_dtype
from ge.maths.bounds import MOVING, NO_LIMITS, UNKNOWN, Bounds, known_bounds, result_bounds

_DEPTH = 12
"""How many operators a bound looks through; each may have several operands to look at."""

_ALL_OPERANDS = frozenset({"Concat", "Where"})
"""Of the moving operators, those that take elements from more than their first operand."""


def value_bounds(value: SSAValue, depth: int = _DEPTH, outside: Callable[[SSAValue], Bounds] | None = None) -> Bounds:
    """Bounds of the elements of a value; infinite where nothing is known.

    ``outside`` gives those of values that no operation gives: arguments of a region.
    """
    array = constant_value(value)
    if array is not None and array.size and array.dtype.kind in "bfiu":
        return known_bounds(float(array.min()), float(array.max()))
    type, op = ranked(value), value.owner
    element = None if type is None else type.element_type
    if isinstance(element, IntegerType):
        return _of_integers(cast("IntegerType[Any, Any]", element))
    if not isinstance(op, OnnxOp):
        return UNKNOWN if outside is None else outside(value)
    if not depth or op.domain or (value is not op.results[0] and op.op_type not in MOVING):
        return UNKNOWN
    operands = op.input_list()
    if op.op_type == "Where":
        operands = operands[1:]
    elif op.op_type == "Cast" or (op.op_type in MOVING and op.op_type not in _ALL_OPERANDS):
        operands = operands[:1]
    name = "Identity" if op.op_type == "Cast" else op.op_type
    if op.op_type == "Mul" and operands[0] is operands[1]:
        name = "Square"
    absent = dict(enumerate(NO_LIMITS, 1)) if op.op_type == "Clip" else {}
    bounds = result_bounds(
        name,
        [
            absent.get(index, UNKNOWN) if operand is None else value_bounds(operand, depth - 1, outside)
            for index, operand in enumerate(operands)
        ],
    )
    return _rounded(bounds, element) if op.op_type == "Cast" else bounds


def _rounded(bounds: Bounds, element: Attribute | None) -> Bounds:
    """Bounds in a type of floats: those beyond its range are infinite, -1e9 in float16."""
    if not isinstance(element, AnyFloat):
        return UNKNOWN
    with np.errstate(over="ignore"):
        least, most = (float(bound) for bound in np.array(bounds).astype(numpy_dtype(element)))
    return known_bounds(least, most)


def _of_integers(type: IntegerType[Any, Any]) -> Bounds:
    width = type.width.data
    if width == 1:
        return 0, 1
    unsigned = type.signedness.data is Signedness.UNSIGNED
    return (0, 2.0**width - 1) if unsigned else (-(2.0 ** (width - 1)), 2.0 ** (width - 1) - 1)
