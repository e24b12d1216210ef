"""NumPy kernels of QuantizeLinear and DequantizeLinear (:mod:`ge.dialects.onnx.kernels`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.types import ranked
from ge.ir.constants import numpy_dtype

Array: TypeAlias = NDArray[Any]

_SMALL = tuple(map(np.dtype, (np.int8, np.uint8, np.int16, np.uint16)))
"""The integers of which float32 has the differences."""


def dequantize_linear(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """``(x - zero point) · scale`` in float32, of small integers: the difference is exact, the product rounded once.

    Blocks, other types and what does not fit together are left to the reference.
    """
    x, scale, zero = _three(inputs)
    shape = _shape_of_parts(op, x, scale, zero)
    if shape is None or x.dtype not in _SMALL or scale.dtype != np.float32 or op.attribute("output_dtype"):
        return None
    if zero is not None and zero.dtype != x.dtype:
        return None
    y = x.astype(np.float32)
    if zero is not None and zero.any():
        y -= zero.reshape(shape)
    y *= scale.reshape(shape)
    return y


def quantize_linear(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """``x / scale``, rounded to even, plus the zero point, within the range of integers of at most 16 bits.

    The reference does it in 32-bit integers, where 1e10 becomes the least one; other types are left to it.
    """
    x, scale, zero = _three(inputs)
    type = ranked(op.results[0])
    dtype = None if type is None else numpy_dtype(type.element_type)
    limits = None if dtype is None else integer_limits(dtype)
    if limits is None or limits.bits > 16 or op.attribute("precision") or x.dtype.kind != "f":
        return None
    parts = _spread(op, x, scale, zero)
    if parts is None:
        return None
    steps = np.rint(x / parts[0]).astype(np.float64)
    for offset in parts[1:]:
        steps += offset.astype(np.float64)
    return np.clip(steps, limits.min, limits.max).astype(dtype)


def _spread(op: OnnxOp, x: Array, scale: Array, zero: Array | None) -> list[Array] | None:
    """The scale, and the zero point if there is one, so that they broadcast to ``x``; None for what does not fit."""
    parts = [scale] if zero is None else [scale, zero]
    if block := op.attribute("block_size"):
        cut = tuple(map(slice, x.shape))
        fits = all(each.ndim == x.ndim for each in parts)
        return [np.repeat(each, block, op.attribute("axis"))[cut] for each in parts] if fits else None
    shape = _shape_of_parts(op, x, scale, zero)
    return None if shape is None else [each.reshape(shape) for each in parts]


def integer_limits(dtype: np.dtype[Any]) -> ml_dtypes.iinfo | None:
    """The range of a type of integers, those of 4 and 2 bits too; None for another type."""
    try:
        return ml_dtypes.iinfo(dtype)
    except ValueError:
        return None


def _three(inputs: Sequence[Any]) -> tuple[Array, Array, Array | None]:
    """The numbers, the scale, and the zero point, if there is one."""
    x, scale, *others = inputs
    return x, scale, others[0] if others else None


def _shape_of_parts(op: OnnxOp, x: Array, *parts: Array | None) -> list[int] | None:
    """How numbers for all of ``x``, or for each position of the axis, broadcast to it; None for what does not."""
    axis, given = op.attribute("axis"), [each for each in parts if each is not None]
    shape = [1] * x.ndim
    if op.attribute("block_size") or any(each.ndim > 1 for each in given):
        return None
    if all(each.size == 1 for each in given):
        return shape
    if not -x.ndim <= axis < x.ndim or any(each.size not in (1, x.shape[axis]) for each in given):
        return None
    shape[axis] = -1
    return shape
