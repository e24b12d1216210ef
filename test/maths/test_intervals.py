"""Lifetimes: when they overlap, and the memory that they need at the least."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.intervals import Interval, lower_bound

intervals = st.builds(
    lambda start, length, size: Interval(start, start + length, size),
    st.integers(0, 20),
    st.integers(0, 10),
    st.integers(1, 4096),
)


@settings(deadline=None)
@given(st.lists(intervals, max_size=10))
def test_lower_bound_is_the_fullest_step(buffers: list[Interval]) -> None:
    fullest = max((sum(b.size for b in buffers if b.start <= step <= b.end) for step in range(32)), default=0)
    assert lower_bound(buffers) == fullest


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(0, 30))
def test_overlap_means_a_common_step(a: int, b: int) -> None:
    first, second = Interval(a, a + 3, 1), Interval(b, b + 5, 1)
    common = set(range(first.start, first.end + 1)) & set(range(second.start, second.end + 1))
    assert first.overlaps(second) == second.overlaps(first) == bool(common)
