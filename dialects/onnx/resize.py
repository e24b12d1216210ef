"""The Resize operator with NumPy: one matrix, or one list of indices, per axis that changes.

Along one axis, element ``i`` of the result lies at a place ``x`` of the input, which the coordinate mode gives; its
value is the nearest element, or the sum of the neighbours of ``x`` with weights that depend on their distance.
Coordinates are float32, as in the runtimes, so that ties fall on the same side. With corners aligned, the length of the
result is the integer that it has, as the text of the standard and the runtimes say; the reference implementation takes
the product with the scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.base import OnnxOp

Floats: TypeAlias = NDArray[np.float32]


def _half_pixel(i: Floats, scale: np.float32, size: int, result: int) -> Floats:
    return (i + np.float32(0.5)) / scale - np.float32(0.5)


def _half_pixel_symmetric(i: Floats, scale: np.float32, size: int, result: int) -> Floats:
    centre = np.float32(size / 2)
    return centre * (1 - np.float32(result) / (scale * np.float32(size))) + _half_pixel(i, scale, size, result)


def _pytorch_half_pixel(i: Floats, scale: np.float32, size: int, result: int) -> Floats:
    return _half_pixel(i, scale, size, result) if result > 1 else np.zeros_like(i)


def _align_corners(i: Floats, scale: np.float32, size: int, result: int) -> Floats:
    return i * np.float32(size - 1) / np.float32(result - 1) if result > 1 else np.zeros_like(i)


def _asymmetric(i: Floats, scale: np.float32, size: int, result: int) -> Floats:
    return i / scale


_PLACES: Mapping[str, Callable[[Floats, np.float32, int, int], Floats]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "align_corners": _align_corners,
    "asymmetric": _asymmetric,
}
"""The place in the input of each element of the result, per coordinate mode."""

_NEAREST: Mapping[str, Callable[[Floats], Floats]] = {
    "round_prefer_floor": lambda x: np.ceil(x - np.float32(0.5)),
    "round_prefer_ceil": lambda x: np.floor(x + np.float32(0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}


def resize(op: OnnxOp, inputs: Sequence[Any]) -> Any:
    """The resized input; None (the reference does it) when it is cropped, antialiased or keeps its aspect ratio."""
    mode, places = op.attribute("mode"), op.attribute("coordinate_transformation_mode")
    if places not in _PLACES or op.attribute("antialias") or op.attribute("keep_aspect_ratio_policy") != "stretch":
        return None
    x = inputs[0]
    _, scales, sizes = [*inputs[1:], None, None, None][:3]
    axes = [axis % x.ndim for axis in op.attribute("axes") or range(x.ndim)]
    y = x if mode == "nearest" else x.astype(np.promote_types(x.dtype, np.float32))
    for position, axis in enumerate(axes):
        size = x.shape[axis]
        if scales is not None and scales.size:
            scale = np.float32(scales[position])
            result = int(np.floor(scale * np.float32(size)))
        else:
            result = int(cast(Any, sizes)[position])
            scale = np.float32(result / size)
        if result == size and scale == 1:
            continue
        place = _PLACES[places](np.arange(result, dtype=np.float32), scale, size, result)
        y = _along(op, y, axis, place, size)
    if x.dtype.kind in "iu" and mode != "nearest":
        y = np.rint(y).clip(np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    return np.ascontiguousarray(y).astype(x.dtype, copy=False)


def _along(op: OnnxOp, y: Any, axis: int, place: Floats, size: int) -> Any:
    """Resize one axis of ``size`` elements, given the place in it of each element of the result."""
    match op.attribute("mode"):
        case "nearest":
            index = _NEAREST[op.attribute("nearest_mode")](place).clip(0, size - 1).astype(np.int64)
            return y.take(index, axis)
        case "linear":
            weights = _linear(place, size)
        case _:
            weights = _cubic(place, size, op.attribute("cubic_coeff_a"), bool(op.attribute("exclude_outside")))
    return np.moveaxis(np.tensordot(weights.astype(y.dtype), y, (1, axis)), 0, axis)


def _linear(place: Floats, size: int) -> Floats:
    """The weight of each input element (columns) in each element of the result (rows)."""
    place = place.clip(0, size - 1)
    first = np.floor(place).astype(np.int64)
    rest = place - first
    weights = np.zeros((len(place), size), np.float32)
    rows = np.arange(len(place))
    np.add.at(weights, (rows, first), 1 - rest)
    np.add.at(weights, (rows, np.minimum(first + 1, size - 1)), rest)
    return weights


def _cubic(place: Floats, size: int, a: float, exclude_outside: bool) -> Floats:
    """As :func:`_linear`, with the four neighbours weighted by the cubic convolution kernel of parameter ``a``."""
    first = np.floor(place).astype(np.int64)
    weights = np.zeros((len(place), size), np.float32)
    rows = np.arange(len(place))
    for neighbour in range(-1, 3):
        index = first + neighbour
        weight = _cubic_weight(np.abs(place - index), np.float32(a))
        if exclude_outside:
            weight = np.where((index >= 0) & (index < size), weight, np.float32(0))
        np.add.at(weights, (rows, index.clip(0, size - 1)), weight)
    return weights / weights.sum(1, keepdims=True) if exclude_outside else weights


def _cubic_weight(distance: Floats, a: np.float32) -> Floats:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, np.float32(0))).astype(np.float32)
