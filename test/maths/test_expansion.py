"""The size of a program whose calls are expanded."""

from __future__ import annotations

import pytest

from ge.maths.expansion import expanded_size


def test_calls_count_as_often_as_they_occur() -> None:
    sizes = {"main": 3, "f": 2, "g": 5}
    assert expanded_size("main", sizes, {"main": ["f", "f", "g", "unknown"], "f": ["g"]}) == 3 + 2 * (2 + 5) + 5
    assert expanded_size("g", sizes, {}) == 5


def test_doubling_is_counted_and_not_done() -> None:
    calls = {number: [number + 1, number + 1] for number in range(2000)}
    assert expanded_size(0, dict.fromkeys(range(2001), 1), calls) == 2**2001 - 1


@pytest.mark.parametrize("calls", [{"a": ["a"]}, {"a": ["b"], "b": ["c", "b"]}, {"a": ["b"], "b": ["a"]}])
def test_circles_are_refused(calls: dict[str, list[str]]) -> None:
    with pytest.raises(ValueError, match="calls itself"):
        expanded_size("a", dict.fromkeys("abc", 1), calls)
