"""float16 as the AI Core rounds it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge.maths.floats import FLOAT16_MAX, FLOAT16_TOLERANCE, count_saturated, fits_type, to_float16


@given(st.floats(width=32, allow_nan=False))
def test_rounds_to_nearest_even_and_saturates(value: float) -> None:
    got = float(to_float16(np.array([value], np.float32))[0])
    with np.errstate(over="ignore"):
        ieee = float(np.float32(value).astype(np.float16))
    assert got == (ieee if np.isfinite(ieee) else np.copysign(FLOAT16_MAX, value))
    assert np.signbit(got) == np.signbit(value)


@given(st.floats(width=64, allow_nan=False, allow_infinity=False))
def test_double_precision_is_rounded_once(value: float) -> None:
    got = float(to_float16(np.array([value]))[0])
    assert abs(got) <= FLOAT16_MAX
    if abs(value) <= FLOAT16_MAX:
        assert got == float(np.float64(value).astype(np.float16))


def test_nan_stays_nan() -> None:
    assert np.isnan(to_float16(np.array([np.nan, 1.0], np.float32))).tolist() == [True, False]


def test_every_float16_stays_itself_and_infinities_saturate() -> None:
    every = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)
    got = to_float16(every)
    finite = np.isfinite(every)
    np.testing.assert_array_equal(got[finite].view(np.uint16), every[finite].view(np.uint16))
    assert np.isnan(got[np.isnan(every)]).all()
    assert got[np.isinf(every)].tolist() == [FLOAT16_MAX, -FLOAT16_MAX]


def test_a_finite_float16_array_is_not_copied() -> None:
    array = np.ones(4, np.float16)
    assert to_float16(array) is array


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=20))
def test_count_of_saturated_values(values: list[float]) -> None:
    array = np.array(values, np.float32)
    with np.errstate(over="ignore"):
        overflows = int(np.isinf(array.astype(np.float16)).sum())
    assert count_saturated(array) == overflows


@pytest.mark.parametrize("size", [2.0**-15, 2.0**-15.01, 1.0, 65504.0, 65519.0, 1e5, np.inf, np.nan])
@pytest.mark.parametrize("others", [(), (1e-8,), (3.0, 2.0**-14.5)])
def test_what_fits_float16_is_no_further_away_than_twice_the_rounding_of_the_largest(
    size: float, others: tuple[float, ...]
) -> None:
    values = np.array([size, *others], np.float32)
    exact = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        wanted = bool((np.abs(to_float16(exact) - exact) <= FLOAT16_TOLERANCE * np.abs(exact).max()).all())
        assert fits_type(values, np.dtype(np.float16)) is wanted
        assert fits_type(-values, np.dtype(np.float16)) is wanted
    assert fits_type(values, np.dtype(np.float32))
