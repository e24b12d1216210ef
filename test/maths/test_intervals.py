"""Placement of buffers by lifetime: never two live buffers at one byte, and close to the least memory possible."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.intervals import Interval, Placement, lower_bound, place

intervals = st.builds(
    lambda start, length, size: Interval(start, start + length, size),
    st.integers(0, 20),
    st.integers(0, 10),
    st.integers(1, 4096),
)


@settings(deadline=None)
@given(st.lists(intervals, max_size=12), st.sampled_from([1, 32, 512]))
def test_buffers_live_at_one_step_do_not_overlap(buffers: list[Interval], alignment: int) -> None:
    offsets = place(buffers, alignment).offsets
    for i, a in enumerate(buffers):
        for j, b in enumerate(buffers[:i]):
            if a.overlaps(b):
                assert offsets[i] + a.size <= offsets[j] or offsets[j] + b.size <= offsets[i]


@settings(deadline=None)
@given(st.lists(intervals, max_size=12), st.sampled_from([1, 32, 512]))
def test_offsets_are_aligned_and_peak_is_the_highest_end(buffers: list[Interval], alignment: int) -> None:
    placement = place(buffers, alignment)
    assert all(offset >= 0 and offset % alignment == 0 for offset in placement.offsets)
    ends = [offset + buffer.size for offset, buffer in zip(placement.offsets, buffers, strict=True)]
    assert placement.peak == max(ends, default=0)


@settings(deadline=None)
@given(st.lists(intervals, max_size=12))
def test_peak_lies_between_the_bound_and_the_sum(buffers: list[Interval]) -> None:
    assert lower_bound(buffers) <= place(buffers).peak <= sum(buffer.size for buffer in buffers)


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


def test_no_buffers_take_no_memory() -> None:
    assert place([]) == Placement((), 0)


def test_buffers_that_follow_each_other_share_memory() -> None:
    placement = place([Interval(0, 1, 100), Interval(2, 3, 100), Interval(4, 5, 60)])
    assert placement == Placement((0, 0, 0), 100)


def test_a_buffer_takes_the_tightest_gap() -> None:
    """When the buffers of 100 and 40 bytes have ended, 25 bytes go between those of 90 and 30, not to the start."""
    early = [Interval(0, 3, 100), Interval(0, 3, 40)]
    long_lived = [Interval(0, 9, 90), Interval(0, 9, 30)]
    placement = place([*early, *long_lived, Interval(5, 6, 25)])
    assert placement == Placement((0, 190, 100, 230, 190), 260)
