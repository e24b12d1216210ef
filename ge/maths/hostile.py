"""Numbers on which wrong rewrites show: zeros, negative, tiny and large ones, all of them mixed, and NaN."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

KINDS = ("normal", "zeros", "negative", "tiny", "large", "mixed")
"""The kinds of numbers, the most ordinary ones first."""

SPECIAL = "special"
"""A kind besides those: NaN among ordinary numbers, integers at both ends of their type, where sums wrap around."""

LARGE, TINY = 1e4, 1e-12
LARGE_HALF, TINY_HALF = 60.0, 1e-2
"""Standard deviations, so that the square of a number is a number of the type, too; of the 16-bit types in the second
line."""


def hostile(shape: Sequence[int], dtype: np.dtype[Any], kind: str, random: np.random.Generator) -> NDArray[Any]:
    """Numbers of one of the :data:`KINDS`, or :data:`SPECIAL`; booleans are random whatever the kind."""
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(np.bool_)
    if kind == "mixed":
        parts = np.stack([hostile(shape, dtype, each, random) for each in KINDS[:-1]])
        return np.take_along_axis(parts, random.integers(0, len(parts), (1, *shape)), 0)[0]
    if kind == "zeros":
        return np.zeros(shape, dtype)
    found = _integers(shape, dtype, kind, random) if dtype.kind in "iu" else _floats(shape, dtype, kind, random)
    return np.asarray(-np.abs(found) if kind == "negative" else found).astype(dtype)


def _integers(shape: Sequence[int], dtype: np.dtype[Any], kind: str, random: np.random.Generator) -> NDArray[Any]:
    if kind == SPECIAL:
        ends = np.iinfo(dtype)
        return random.choice(np.array([ends.min, ends.max, ends.max - 1, 0, 1], dtype), shape)
    limit = min(2**40, np.iinfo(dtype).max) if kind == "large" else 3
    return random.integers(-limit if dtype.kind == "i" else 0, limit, shape, endpoint=True)


def _floats(shape: Sequence[int], dtype: np.dtype[Any], kind: str, random: np.random.Generator) -> NDArray[Any]:
    if kind == SPECIAL:
        return np.where(random.integers(0, 3, shape) == 0, np.nan, random.standard_normal(shape))
    half = dtype.itemsize == 2
    scale = {"large": LARGE_HALF if half else LARGE, "tiny": TINY_HALF if half else TINY}.get(kind, 1.0)
    return random.standard_normal(shape) * scale


def largest_finite(values: Iterable[Any]) -> float:
    """The largest finite number in arrays of floating-point numbers; other values are left out."""
    arrays = [cast("NDArray[Any]", value) for value in values if isinstance(value, np.ndarray)]
    finite = [array[np.isfinite(array)] for array in arrays if array.dtype.kind == "f"]
    return max((float(np.abs(array).max(initial=0.0)) for array in finite), default=0.0)
