"""The table of types that hold each value of another one is true, and says nothing of types that do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ge.dialects.onnx.shapes.types import ELEMENT_TYPES
from ge.ir.constants import numpy_dtype
from ge.passes.onnx.sink_cast import holds

TYPES = ["i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "f16", "bf16", "f32", "f64"]


def values(code: str) -> NDArray[np.generic]:
    """All values of a small type; of others the ends, all powers of two and their neighbours, and random bits."""
    dtype = numpy_dtype(ELEMENT_TYPES[code])
    if dtype == np.bool_:
        return np.array([False, True])
    bits = np.dtype(f"u{dtype.itemsize}")
    if dtype.itemsize <= 2:
        return np.arange(2 ** (8 * dtype.itemsize)).astype(bits).view(dtype)
    count = 8 * dtype.itemsize
    powers = np.array(
        [(1 << power) + offset & (1 << count) - 1 for power in range(count) for offset in (-1, 0, 1)], bits
    )
    return np.concatenate([powers, np.random.default_rng(0).integers(0, 1 << count - 1, 1000, bits)]).view(dtype)


@pytest.mark.parametrize("narrow", TYPES)
def test_exactly_the_types_that_hold_all_values(narrow: str) -> None:
    array = values(narrow)
    for wide in TYPES:
        with np.errstate(all="ignore"):
            back = array.astype(numpy_dtype(ELEMENT_TYPES[wide])).astype(array.dtype)
            kept = bool(np.all((back == array) | ((array != array) & (back != back))))
        assert kept == holds(wide, narrow) or (kept and not holds(wide, narrow) and _by_chance(wide, narrow)), wide


def _by_chance(wide: str, narrow: str) -> bool:
    """Conversions that can be undone, but do not keep the number: negative integers in unsigned types, and back."""
    integers = {"i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"}
    return {wide, narrow} <= integers
