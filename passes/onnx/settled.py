"""Whether every runtime computes the same for given constants: where they differ, the operation is left to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx import OnnxOp, ranked
from ge.dialects.onnx.linear_quantisation import integer_limits
from ge.ir.constants import numpy_dtype

Array: TypeAlias = NDArray[Any]
Question: TypeAlias = Callable[[OnnxOp, Sequence[Array]], bool]

_EXACT_INTEGERS = 2.0**53
"""Up to which integers are exact in float64, by way of which runtimes add them."""


def is_settled(op: OnnxOp, inputs: Sequence[Any]) -> bool:
    """Whether the result of an operation on these inputs does not depend on who computes it.

    It does where the standard leaves it open: integers divided by zero or beyond their range, floats cast to integers
    that do not hold them, sums and powers of integers that overflow, logarithms and averages that are rounded to
    integers, reductions of nothing, the order of NaN, bounds that are absent, and zeros times infinities.
    """
    question = None if op.domain else _QUESTIONS.get(op.op_type)
    if question is None:
        return True
    arrays = [cast(Array, each) for each in inputs if isinstance(each, np.ndarray)]
    with np.errstate(all="ignore"):
        return question(op, arrays)


def _divides(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    dividend, divisor = inputs[0], inputs[1]
    if dividend.dtype.kind not in "iu":
        return True
    lowest = np.iinfo(dividend.dtype).min
    overflows = dividend.dtype.kind == "i" and bool(((divisor == -1) & (dividend == lowest)).any())
    return not overflows and bool((divisor != 0).all())


def _shifts(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    return bool((inputs[1] < 8 * inputs[1].dtype.itemsize).all())


def _casts(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    """Small integers of 4 and 2 bits are rounded to, or cut off."""
    type, values = ranked(op.results[0]), inputs[0]
    target = None if type is None else numpy_dtype(type.element_type)
    limits = None if target is None else integer_limits(target)
    if target is None or limits is None or values.dtype.kind not in "fV":
        return True
    numbers = values.astype(np.float64)
    whole = np.trunc(numbers)
    is_exact = target.kind in "iu" or bool((whole == numbers).all())
    return is_exact and bool(((whole >= limits.min) & (whole < float(limits.max) + 1)).all())


def _has_no_nan(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    return not any(each.dtype.kind in "fV" and bool(np.isnan(each.astype(np.float64)).any()) for each in inputs)


def _is_finite(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    return all(each.dtype.kind not in "fV" or bool(np.isfinite(each.astype(np.float64)).all()) for each in inputs)


def _clips(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    """A bound that is absent is infinite, or the largest number."""
    return _has_no_nan(op, inputs[1:]) and (len(inputs) == 3 or _is_finite(op, inputs[:1]))


def _sorts(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    return bool(inputs[0].size) and _has_no_nan(op, inputs)


def _scatters(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    return op.attribute("reduction") not in ("max", "min") or _has_no_nan(op, inputs)


def _resizes(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    return op.attribute("mode") == "nearest" or (inputs[0].dtype.kind == "f" and _is_finite(op, inputs))


def _powers(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    base, exponent = inputs
    return base.dtype.kind not in "iu" or bool((np.abs(np.power(base * 1.0, exponent)) < _EXACT_INTEGERS).all())


def _reduces(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    values = inputs[0]
    if not values.size:
        return False
    is_logarithm = op.op_type in ("ReduceLogSum", "ReduceLogSumExp")
    if values.dtype.kind not in "iu":
        return _is_finite(op, inputs) if is_logarithm else _has_no_nan(op, inputs)
    if is_logarithm:
        return False
    sizes = np.abs(values.astype(np.float64))
    total = float((sizes**2 if op.op_type in ("ReduceL2", "ReduceSumSquare") else sizes).sum())
    if op.op_type == "ReduceProd":
        total = float(np.prod(np.maximum(sizes, 1)))
    return total < min(_EXACT_INTEGERS, float(np.iinfo(values.dtype).max))


def _is_float(op: OnnxOp, inputs: Sequence[Array]) -> bool:
    return inputs[0].dtype.kind == "f" and inputs[0].dtype.itemsize <= 4


_QUESTIONS: Mapping[str, Question] = {
    **dict.fromkeys(("ArgMax", "ArgMin", "Hardmax", "QuantizeLinear", "Sign", "TopK"), _has_no_nan),
    **dict.fromkeys(("DynamicQuantizeLinear", "MaxPool", "PRelu", "Range"), _is_finite),
    **dict.fromkeys(("ScatterElements", "ScatterND"), _scatters),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"), _reduces),
    **dict.fromkeys(("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"), _reduces),
    **dict.fromkeys(("Div", "Mod"), _divides),
    "BitShift": _shifts,
    "Cast": _casts,
    "CastLike": _casts,
    "Clip": _clips,
    "Pow": _powers,
    "Resize": _resizes,
    "Shrink": _is_float,
    "Unique": _sorts,
}
"""The operators of ai.onnx whose result is not always settled."""
