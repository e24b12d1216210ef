"""When outputs agree with a reference, and when they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16, float8_e4m3fn

from ge.tools.agreement import Agreement, Tolerance, compare

B = np.linspace(-1, 1, 201, dtype=np.float32).reshape(1, 201)


def one(value: Any, expected: Any, half: bool = True) -> Agreement:
    (agreement,) = compare({"y": value}, {"y": expected}, half=half)
    return agreement


def test_equal_outputs_agree_and_say_so() -> None:
    agreement = one(B, B)
    assert agreement.passed and agreement.same_top1
    assert (agreement.max_error, agreement.cosine, agreement.max_ulp) == (0, pytest.approx(1), 0)
    assert str(agreement).startswith("y: agrees: cosine 1.0000000, max error 0 ")


@pytest.mark.parametrize(
    ("error", "half", "passed"),
    [(3.9e-3, True, True), (4.1e-3, True, False), (9e-6, False, True), (3e-5, False, False)],
)
def test_the_largest_error_is_measured_against_the_largest_value(error: float, half: bool, passed: bool) -> None:
    value = B.copy()
    value[0, 100] += error
    agreement = one(value, B, half)
    assert agreement.passed is passed
    assert agreement.relative == pytest.approx(error, rel=1e-3)
    assert ("DIFFERS" in str(agreement)) is not passed


def test_another_top_class_is_a_difference() -> None:
    expected = np.array([[1.0, 0.9999, 0.2]], np.float32)
    agreement = one(expected[:, [1, 0, 2]], expected)
    assert agreement.same_top1 is False and not agreement.passed
    assert "top-1 other" in str(agreement)
    assert one(expected[:, [1, 0, 2]].reshape(3), expected.reshape(3)).same_top1 is None


def test_a_direction_that_differs_is_a_difference() -> None:
    expected = np.full((1, 1000), 1e-4, np.float32)
    expected[0, 0] = 1
    value = expected.copy()
    value[0, 1:] = 1e-3
    assert one(value, expected).max_error < 4e-3
    assert not one(value, expected).passed


def test_steps_of_float16_are_counted_across_zero() -> None:
    tiny = np.float16(6e-8)
    assert one(np.array([tiny]), np.array([-tiny])).max_ulp == 2
    assert one(np.array([1.0]), np.array([1 + 2**-10])).max_ulp == 1


@pytest.mark.parametrize(
    ("value", "expected", "passed"),
    [
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([True]), np.array([True]), True),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), True),
        (np.array([1.0, np.inf]), np.array([1.0, 2.0]), False),
        (np.zeros(3), np.zeros(3), True),
        (np.zeros((2, 3)), np.zeros((3, 2)), False),
        (np.zeros(0), np.zeros(0), True),
        (np.array([np.nan, 1]).astype(float8_e4m3fn), np.array([np.nan, 1]).astype(float8_e4m3fn), True),
        (np.array([2]).astype(bfloat16), np.array([1]).astype(bfloat16), False),
        ([np.zeros(2), np.ones(1)], [np.zeros(2), np.ones(1)], True),
        ([np.zeros(2), np.ones(1)], [np.zeros(2), np.zeros(1)], False),
        ([np.zeros(2)], [np.zeros(2), np.zeros(1)], False),
    ],
)
def test_integers_special_values_and_sequences(value: Any, expected: Any, passed: bool) -> None:
    assert one(value, expected).passed is passed


def test_outputs_are_found_by_name_or_by_place() -> None:
    assert all(each.passed for each in compare({"b": B, "a": B * 2}, {"a": B * 2, "b": B}, half=True))
    assert all(each.passed for each in compare({"y0": B, "y1": B * 2}, {"a": B, "b": B * 2}, half=True))
    missing = compare({"a": B}, {"a": B, "b": B}, half=True)
    assert [each.passed for each in missing] == [True, False] and "missing" in str(missing[1])


def test_a_tolerance_of_the_user_replaces_the_rule() -> None:
    expected = np.array([0.0, 1.0, 100.0], np.float32)
    value = expected + np.array([0.0, 0.9e-3, 0.09], np.float32)
    for tolerance, passed in [(Tolerance(1e-3), True), (Tolerance(8e-4), False), (Tolerance(0, 0.1), True)]:
        (agreement,) = compare({"y": value}, {"y": expected}, half=False, tolerance=tolerance)
        assert agreement.passed is passed
    near_zero = compare({"y": value + np.float32(1e-6)}, {"y": expected}, half=False, tolerance=Tolerance(1e-3))
    assert not near_zero[0].passed  # an element of zero has no relative difference


def test_the_worst_elements_of_a_difference_are_listed() -> None:
    value = B.copy()
    value[0, [3, 50, 7]] += [0.5, 0.25, 1.0]
    agreement = one(value, B)
    assert [worst.index for worst in agreement.worst] == [(0, 7), (0, 3), (0, 50)]
    assert str(agreement.worst[0]) == f"[0, 7] is {value[0, 7]:.7g}, the reference has {B[0, 7]:.7g}"
    assert len(one(B + 1, B).worst) == 10 and not one(B, B).worst
    assert agreement.relative_l2 == pytest.approx(float(np.linalg.norm(value - B) / np.linalg.norm(B)))
    special = one(np.array([1.0, np.nan, 2.0]), np.array([1.0, 2.0, 2.5]))
    assert [worst.index for worst in special.worst] == [(1,), (2,)]
