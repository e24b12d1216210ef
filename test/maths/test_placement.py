"""Placement of buffers by lifetime: never two live buffers at one byte, and close to the least memory possible."""

from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.exact_placement import EFFORT, FIRST_EFFORT, MAX_BUFFERS, solve
from ge.maths.intervals import Interval, lower_bound
from ge.maths.placement import PLANNERS, Lifetimes, Placement, StreamLifetimes, place, search

intervals = st.builds(
    lambda start, length, size: Interval(start, start + length, size),
    st.integers(0, 20),
    st.integers(0, 10),
    st.integers(1, 4096),
)

each_planner = pytest.mark.parametrize("planner", PLANNERS)


@each_planner
@settings(deadline=None, max_examples=40)
@given(buffers=st.lists(intervals, max_size=12), alignment=st.sampled_from([1, 32, 512]))
def test_buffers_live_at_one_step_do_not_overlap(planner: str, buffers: list[Interval], alignment: int) -> None:
    offsets = PLANNERS[planner](Lifetimes(buffers), alignment).offsets
    for i, a in enumerate(buffers):
        for j, b in enumerate(buffers[:i]):
            if a.overlaps(b):
                assert offsets[i] + a.size <= offsets[j] or offsets[j] + b.size <= offsets[i]


@each_planner
@settings(deadline=None, max_examples=40)
@given(buffers=st.lists(intervals, max_size=12), alignment=st.sampled_from([1, 32, 512]))
def test_offsets_are_aligned_and_peak_is_the_highest_end(planner: str, buffers: list[Interval], alignment: int) -> None:
    placement = PLANNERS[planner](Lifetimes(buffers), alignment)
    assert all(offset >= 0 and offset % alignment == 0 for offset in placement.offsets)
    ends = [offset + buffer.size for offset, buffer in zip(placement.offsets, buffers, strict=True)]
    assert placement.peak == max(ends, default=0)


@each_planner
@settings(deadline=None, max_examples=40)
@given(buffers=st.lists(intervals, max_size=12))
def test_peak_lies_between_the_bound_and_the_sum(planner: str, buffers: list[Interval]) -> None:
    peak = PLANNERS[planner](Lifetimes(buffers), 1).peak
    assert lower_bound(buffers) <= peak <= sum(buffer.size for buffer in buffers)


@each_planner
def test_buffers_that_follow_each_other_share_memory(planner: str) -> None:
    buffers = [Interval(0, 1, 100), Interval(2, 3, 100), Interval(4, 5, 60)]
    assert PLANNERS[planner](Lifetimes(buffers), 1) == Placement((0, 0, 0), 100)


def test_no_buffers_take_no_memory() -> None:
    assert place([]) == Placement((), 0)


def test_a_buffer_takes_the_tightest_gap() -> None:
    """When the buffers of 100 and 40 bytes have ended, 25 bytes go between those of 90 and 30, not to the start."""
    early = [Interval(0, 3, 100), Interval(0, 3, 40)]
    long_lived = [Interval(0, 9, 90), Interval(0, 9, 30)]
    placement = place([*early, *long_lived, Interval(5, 6, 25)])
    assert placement == Placement((0, 190, 100, 230, 190), 260)


def test_a_search_is_repeatable_and_finds_what_greedy_placement_misses() -> None:
    random = Random(3)
    buffers = [Interval(i // 2, i // 2 + random.randint(1, 5), random.randint(1, 50) * 512) for i in range(60)]
    greedy, found = place(buffers, 512), search(Lifetimes(buffers), 512)
    assert found == search(Lifetimes(buffers), 512)
    assert lower_bound(buffers) <= found.peak < greedy.peak


@each_planner
def test_buffers_of_two_streams_share_memory_only_when_an_event_orders_them(planner: str) -> None:
    """Two tasks of stream 0 make and read a buffer, then two of stream 1; with an event, those wait for the first."""
    buffers = [Interval(0, 1, 100), Interval(2, 3, 100)]
    used = [(2, 0), (0, 2)]
    apart = StreamLifetimes(buffers, [(0, 0), (0, 0)], used)
    waiting = StreamLifetimes(buffers, [(0, 0), (2, 0)], used)
    too_early = StreamLifetimes(buffers, [(0, 0), (1, 0)], used)
    assert [PLANNERS[planner](each, 1).peak for each in (apart, waiting, too_early)] == [200, 100, 200]


@settings(deadline=None, max_examples=40)
@given(st.lists(intervals, min_size=1, max_size=8))
def test_in_one_stream_the_steps_are_the_order(buffers: list[Interval]) -> None:
    lifetimes = Lifetimes(buffers)
    streams = StreamLifetimes(buffers, [(each.start,) for each in buffers], [(each.end + 1,) for each in buffers])
    others = np.arange(len(buffers), dtype=np.int64)
    for index in range(len(buffers)):
        assert (lifetimes.meets(index, others) == streams.meets(index, others)).all()


def test_a_chain_is_placed_at_both_ends() -> None:
    """Buffers that only meet the next one lie at the bottom and below the ceiling by turns: no byte is lost."""
    random = Random(5)
    chain = [Interval(i, i + 1, 512 * random.randint(1, 900)) for i in range(200)]
    assert place(chain, 512).peak > lower_bound(chain)
    assert search(Lifetimes(chain), 512).peak == lower_bound(chain)


def test_a_search_packs_what_fits_exactly() -> None:
    """Rectangles of time and bytes that fill a larger one."""
    buffers = [Interval(0, 5, 300), Interval(0, 2, 700), Interval(3, 8, 400), Interval(3, 5, 300)]
    buffers += [Interval(6, 11, 300), Interval(6, 8, 300), Interval(9, 11, 700), Interval(12, 12, 1000)]
    assert search(Lifetimes(buffers)).peak == lower_bound(buffers) == 1000


def test_many_buffers_that_are_all_small() -> None:
    """None of them is large beside the bound, so the local search has nothing to begin with."""
    random = Random(7)
    buffers = [Interval(i, i + 100, 512 * random.randint(5, 6)) for i in range(300)]
    assert lower_bound(buffers) <= search(Lifetimes(buffers), 512, effort=100_000).peak <= 1.1 * lower_bound(buffers)


def test_the_solver_finds_what_the_search_misses_and_always_the_same() -> None:
    """And what it found it finds again."""
    random = Random(41)
    best = 0
    for _ in range(3):
        buffers = [Interval(i // 2, i // 2 + random.randint(1, 12), random.randint(1, 50) * 512) for i in range(60)]
        searched, solved = search(Lifetimes(buffers), 512), PLANNERS["solver"](Lifetimes(buffers), 512)
        assert lower_bound(buffers) <= solved.peak <= searched.peak
        assert solved == solve(Lifetimes(buffers), 512, EFFORT + 1e-6)  # another question, which is solved anew
        best += solved.peak < searched.peak
    assert best


@settings(deadline=None, max_examples=30)
@given(st.lists(intervals, min_size=1, max_size=5))
def test_no_order_of_placing_is_better_than_the_solver(buffers: list[Interval]) -> None:
    """For few buffers all orders, each at the lowest place that is free: one of them is the best placement."""

    def peak(order: tuple[int, ...]) -> int:
        placed: list[tuple[int, int]] = []
        for index in order:
            around = [(start, buffers[i]) for i, start in placed if buffers[i].overlaps(buffers[index])]
            ends = [0, *(start + each.size for start, each in around)]
            size = buffers[index].size
            fits = [p for p in ends if all(p + size <= start or start + each.size <= p for start, each in around)]
            placed.append((index, min(fits)))
        return max(start + buffers[i].size for i, start in placed)

    best = min(map(peak, permutations(range(len(buffers)))))
    assert PLANNERS["solver"](Lifetimes(buffers), 1).peak == best


def test_what_the_solver_spends_is_limited() -> None:
    """Without effort there is the placement that it begins with; too many buffers are left to the search."""
    random = Random(3)
    buffers = [Interval(i // 2, i // 2 + random.randint(1, 5), random.randint(1, 50) * 512) for i in range(60)]
    assert solve(Lifetimes(buffers), 512, 0).peak == search(Lifetimes(buffers), 512, FIRST_EFFORT).peak
    many = [Interval(i, i + 1, 512) for i in range(MAX_BUFFERS + 1)]
    assert solve(Lifetimes(many), 512).peak == 1024
