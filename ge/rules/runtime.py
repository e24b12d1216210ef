"""What compiled rules call to look at operations, and to read and round constants; see also :mod:`ge.rules.build`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from ge.dialects.onnx import Custom, OnnxOp, constant_value
from ge.ir.constants import numpy_dtype
from ge.rules.functions import ELEMENT_TYPES, FLOATS, INTEGERS, PRECISION, Array, Data, dtype

NOT_COMPUTABLE = (ValueError, TypeError, IndexError, ArithmeticError)
"""What conditions and arithmetic raise when they have no value: the rule does not apply."""

# Matching


def padded(op: OnnxOp, count: int) -> list[SSAValue | None] | None:
    """The inputs of an operation, filled up with None to ``count``; None when it has more."""
    values = op.input_list()
    return None if len(values) > count else [*values, *[None] * (count - len(values))]


def has_absent(op: OnnxOp) -> bool:
    """Whether an input in front of a present one is absent."""
    return "absent" in op.properties


def used(value: SSAValue, times: int) -> bool:
    """Whether a value is used exactly so often."""
    return value.uses.get_length() == times


def only_results(op: OnnxOp, named: Sequence[int]) -> bool:
    """Whether no result but those at the positions ``named`` is used."""
    return all(position in named or not result.uses for position, result in enumerate(op.results))


def at_defaults(op: OnnxOp, defaults: Mapping[str, Attribute | None]) -> bool:
    """Whether every attribute that a pattern does not name has the default of the standard."""
    return all(value == defaults[name] for name, value in op.attributes.items() if "." not in name and name in defaults)


def has_only(op: OnnxOp, named: frozenset[str]) -> bool:
    """Whether an operation of another domain has no attribute but those named."""
    return all("." in name or name in named for name in op.attributes)


def is_custom(op: object, domain: str, op_type: str) -> bool:
    """Whether an owner is an operation of another domain."""
    return isinstance(op, Custom) and op.op_type == op_type and op.domain == domain


def attribute(op: OnnxOp, name: str) -> Data:
    """An attribute as data: lists are arrays; None when it is not given and has no default."""
    value = op.attribute(name)
    if not isinstance(value, list):
        return value
    items = cast("list[Any]", value)
    return items if items and isinstance(items[0], str) else np.array(items)


def data(value: SSAValue | None) -> Data:
    """The elements of a constant as arithmetic takes them: float64, int64, uint64 or bool. None when it is absent."""
    if value is None:
        return None
    array = constant_value(value)
    if array is None or array.dtype.kind in "OUSc":
        raise ValueError("not a constant of numbers")
    kind = array.dtype.kind
    if kind == "b" or (kind == "u" and array.dtype.itemsize == 8):
        return array
    return array.astype(np.int64 if kind in "iu" else np.float64)


def precision(*values: SSAValue | None) -> float:
    """How far constants may be from the numbers that they stand for: that of the least precise type."""
    return max((PRECISION.get(dtype(value), 0.0) for value in values if value is not None), default=0.0)


def is_number(value: SSAValue, number: Data) -> bool:
    """Whether a value is a constant of one element, equal to a number as far as its type can tell.

    A number that the type has, such as 2, is no other one: x to the power of 2.001 is not the square of x.
    """
    array = constant_value(value)
    if array is None or array.size != 1:
        return False
    found, wanted = array.item(), number if isinstance(number, int | float) else np.asarray(number).item()
    if found == wanted:
        return True
    return abs(found - wanted) <= precision(value) * abs(wanted) and array.dtype.type(wanted).item() != wanted


def truth(condition: Data) -> bool:
    """Whether a condition holds for all elements."""
    return bool(np.all(condition))


# Rounding


def rounded(data: Data, code: str) -> Array:
    """Data in an element type, rounded once. Raises ValueError when that loses more than bits.

    What is finite must stay finite, what is not zero must not become zero or lose digits below the smallest normal
    number, and integers must come from integers (they wrap around as in the model).
    """
    array, element = np.asarray(data), _DTYPES.get(code)
    if element is None:
        raise ValueError(f"there are no constants of the type {code}")
    if code not in FLOATS:
        if code in INTEGERS and array.dtype.kind == "f":
            if not (np.isfinite(array) & (array == np.rint(array))).all():
                raise ValueError("not an integer")
            array = array.astype(np.int64)
        return array.astype(element)
    result = array.astype(element)
    if not (_one_fits if array.size == 1 else _all_fit)(array, result, _SMALLEST[code]):
        raise ValueError("the constant is out of range of its type")
    return result


def _one_fits(given: Array, kept: Array, smallest: float) -> bool:
    """The same as :func:`_all_fit`, of one number."""
    before, after = given.item(), float(kept.item())
    return math.isfinite(before) == math.isfinite(after) and (abs(after) >= smallest or before == 0)


def _all_fit(given: Array, kept: Array, smallest: float) -> bool:
    """Whether a type keeps what is finite finite, and what is not zero at least as large as its smallest normal number.

    What is not kept so is rare, so that the numbers before are hardly ever looked at.
    """
    finite = np.isfinite(kept)
    if not finite.all() and (finite != np.isfinite(given)).any():
        return False
    small = np.abs(kept) < kept.dtype.type(smallest)
    return not (small.any() and (given[small] != 0).any())


_DTYPES = {code: numpy_dtype(type) for code, type in ELEMENT_TYPES.items()}
_SMALLEST = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
"""The smallest normal number of each type."""
