"""Numbers as the AI Core rounds them, to float16 and to integers: round to nearest even, saturating.

The cores of the 910/310P generations run with CTRL bit 48 clear: a finite result, or an infinity, beyond the largest
float16 becomes that largest value with its sign; NaN stays NaN. Every evaluator and the simulator convert through
`to_float16`, so that all levels agree bit for bit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOAT16_MAX = 65504.0
"""The largest finite float16."""

FLOAT16_TOLERANCE = 2.0**-10
"""Twice the rounding of a normal number, relative to it."""

_ROUNDS_TO_INFINITY = 65520.0
"""The smallest magnitude that IEEE round-to-nearest turns into an infinite float16."""


def to_float16(values: NDArray[np.floating]) -> NDArray[np.float16]:
    """Return `values` rounded to float16, saturating at ±65504; a float16 array without infinities comes back as is."""
    if values.dtype == np.float16:
        values = values.astype(np.float32) if np.isinf(values).any() else values
    if values.dtype == np.float16:
        return values  # pyright: ignore[reportReturnType]
    return np.clip(values, -FLOAT16_MAX, FLOAT16_MAX).astype(np.float16)


def to_integers(values: NDArray[np.floating], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return `values` rounded to integers of `dtype`: half to even, then saturated; NaN becomes 0."""
    limits = np.iinfo(dtype)
    rounded = np.rint(values.astype(np.float64))
    return np.clip(
        np.nan_to_num(rounded, nan=0.0, posinf=limits.max, neginf=limits.min), limits.min, limits.max
    ).astype(dtype)


def round_to_type(values: NDArray[np.floating], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return computed `values` in the element type that a constant had before."""
    return to_float16(values) if dtype == np.float16 else values.astype(dtype)


def fits_type(values: NDArray[np.floating], dtype: np.dtype[Any]) -> bool:
    """Whether computed `values` stay what they are in the element type that a constant had before.

    In float16, none may be further from itself than twice the rounding of the largest: it would be too large, or all
    of them too small.
    """
    if dtype != np.float16 or not values.size or _FLOAT16_KEEPS <= largest_size(values) <= FLOAT16_MAX:
        return True
    exact = values.astype(np.float64)
    return bool((np.abs(to_float16(exact) - exact) <= FLOAT16_TOLERANCE * np.abs(exact).max()).all())


_FLOAT16_KEEPS = 2.0**-25 / FLOAT16_TOLERANCE
"""Beside a number as large as this, what float16 loses of small ones, up to half of 2^-24, is within the tolerance."""


def largest_size(values: NDArray[np.floating]) -> float:
    """The largest magnitude, 0 of no values, NaN where one is NaN. Weights may be large: they are not copied."""
    return float(np.maximum(values.max(initial=0), -values.min(initial=0)))


def count_saturated(values: NDArray[np.floating]) -> int:
    """Return how many of `values` (before conversion) `to_float16` changes by saturation."""
    return int(np.count_nonzero(np.abs(values) >= _ROUNDS_TO_INFINITY))
