"""Placing buffers into one linear memory: planners from a quick heuristic to a search.

The problem is dynamic storage allocation: buffers that are live at the same moment may not share a byte, and the
highest byte used is to be as low as possible. It is NP-hard; :func:`ge.maths.intervals.lower_bound` says how low it can
get at best, so that a planner knows when it is done.

| planner | how it places |
|---|---|
| `best-fit` | in the order in which they are made, each into the tightest gap, as an allocator at run time would |
| `greedy-by-size` | the largest first, each into the tightest gap between those it meets |
| `search` | several orders of placing, each into either end of gaps, and then what a local search improves |
| `solver` | constraint programming, with the package ortools (:mod:`ge.maths.exact_placement`) |

All of them are deterministic. A placement of n buffers looks at n² pairs, in NumPy. `greedy-by-size` is the heuristic
of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ge.maths.intervals import Interval, lower_bound
from ge.maths.local_search import LocalSearch
from ge.maths.streams import Clock

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Placement:
    """Byte offsets, one for each buffer, and the memory they take (the highest end)."""

    offsets: tuple[int, ...]
    peak: int


class Buffers(Protocol):
    """Buffers to place: their sizes in bytes, and which of them may not share memory."""

    sizes: Indices
    starts: Indices
    """The step at which each one is made."""
    ends: Indices
    """The step at which each one is read for the last time."""
    least: int
    """No placement takes fewer bytes."""

    def meets(self, index: int, others: Indices) -> NDArray[np.bool_]:
        """For each of ``others``, whether it may share no memory with the buffer ``index``."""
        ...


class Lifetimes:
    """Buffers that may share memory when they are not live at a common step."""

    def __init__(self, intervals: Sequence[Interval]) -> None:
        self.sizes = np.array([each.size for each in intervals], np.int64)
        self.starts = np.array([each.start for each in intervals], np.int64)
        self.ends = np.array([each.end for each in intervals], np.int64)
        self.least = lower_bound(intervals)

    def meets(self, index: int, others: Indices) -> NDArray[np.bool_]:
        return (self.starts[others] <= self.ends[index]) & (self.ends[others] >= self.starts[index])


KEPT_ROWS = 8192
"""Up to how many buffers a search keeps in mind which of them meet; that is a byte for each pair."""


class StreamLifetimes(Lifetimes):
    """Buffers of work in several streams, where steps are no order: what counts is what is certain to be done.

    A buffer comes after another one when all uses of that are certain to be done when it is made. ``made`` has for each
    buffer the clock of the task that makes it (:mod:`ge.maths.streams`), ``used`` for each stream the number of tasks
    up to the last one that uses it. The intervals are those of one possible order.
    """

    def __init__(self, intervals: Sequence[Interval], made: Sequence[Clock], used: Sequence[Clock]) -> None:
        super().__init__(intervals)
        self.made = np.array(made, np.int64)
        self.used = np.array(used, np.int64)
        self._rows: dict[int, NDArray[np.bool_]] = {}

    def meets(self, index: int, others: Indices) -> NDArray[np.bool_]:
        if len(self.sizes) > KEPT_ROWS:
            return self._meets(index, others)
        if index not in self._rows:
            self._rows[index] = self._meets(index, np.arange(len(self.sizes), dtype=np.int64))
        return self._rows[index][others]

    def _meets(self, index: int, others: Indices) -> NDArray[np.bool_]:
        before = (self.used[others] <= self.made[index]).all(axis=1)
        after = (self.used[index] <= self.made[others]).all(axis=1)
        return super().meets(index, others) | ~(before | after)


def place(intervals: Sequence[Interval], alignment: int = 1) -> Placement:
    """Offsets (multiples of ``alignment``) by `greedy-by-size`, such that buffers live at one time never overlap."""
    return greedy_by_size(Lifetimes(intervals), alignment)


def greedy_by_size(buffers: Buffers, alignment: int = 1) -> Placement:
    """The largest first, then the earliest."""
    return place_in_order(buffers, _order(-buffers.sizes, buffers.starts), alignment)


def best_fit(buffers: Buffers, alignment: int = 1) -> Placement:
    """The earliest first, then the largest."""
    return place_in_order(buffers, _order(buffers.starts, -buffers.sizes), alignment)


def search(buffers: Buffers, alignment: int = 1, effort: int = 10_000_000) -> Placement:
    """The best of several orders of placing, then what a local search gains (:mod:`ge.maths.local_search`).

    Stops within a thousandth of the lower bound, or when the local search has taken ``effort``: a number and not a
    time, so that every machine finds the same placement; 7 million are about a second. It looks at the large buffers
    first, which are few, and places the others around them; then at all. For more than a few thousand buffers there
    are only the orders.
    """
    count = len(buffers.sizes)
    if count == 0:
        return Placement((), 0)
    ceiling = -(-buffers.least // alignment) * alignment
    enough = ceiling + ceiling // 1000
    best = Placement((), 0)
    for order, at_top in _starts(buffers):
        placement = place_in_order(buffers, order, alignment, ceiling, at_top)
        if not best.offsets or placement.peak < best.peak:
            best = placement
        if best.peak <= enough:
            return best
    if count > 4000:
        return best
    large = np.flatnonzero(buffers.sizes * 64 >= buffers.least)
    best = min(best, _searched(buffers, large, alignment, ceiling, effort * 3 // 4), key=lambda each: each.peak)
    if best.peak <= enough or len(large) == count:
        return best
    return min(best, _searched(buffers, np.arange(count), alignment, ceiling, effort // 4), key=lambda each: each.peak)


def _starts(buffers: Buffers) -> Iterator[tuple[Indices, Flags]]:
    """Orders of placing, and which buffers go to the top of their gaps: none, or every second one in order of time."""
    length = buffers.ends - buffers.starts + 1
    in_time = _order(buffers.starts, -buffers.sizes)
    turns = np.zeros(len(in_time), np.bool_)
    turns[in_time[1::2]] = True
    orders = [
        _order(-buffers.sizes, buffers.starts),
        _order(-buffers.sizes * length, buffers.starts),
        _order(-length, -buffers.sizes),
        in_time,
    ]
    for order in orders:
        yield order, np.zeros_like(turns)
        yield order, turns


def _searched(buffers: Buffers, chosen: Indices, alignment: int, ceiling: int, effort: int) -> Placement:
    """What a local search finds for some buffers, and the others around them, the largest first."""
    searching = LocalSearch(buffers, chosen, alignment, ceiling)
    starts = [
        searching.start(np.searchsorted(chosen, order[np.isin(order, chosen)]).tolist(), at_top[chosen].tolist())
        for order, at_top in _starts(buffers)
    ]
    found = searching.best(starts, ceiling + ceiling // 1000, effort)
    at_top = np.zeros(len(buffers.sizes), np.bool_)
    at_top[chosen] = found.at_top
    others = _order(-buffers.sizes, buffers.starts)
    order = np.concatenate([chosen[found.order], others[~np.isin(others, chosen)]])
    return place_in_order(buffers, order, alignment, ceiling, at_top)


def solver(buffers: Buffers, alignment: int = 1) -> Placement:
    """What OR-tools finds, whose package is loaded when it is asked for. Raises ImportError where it is not there."""
    from ge.maths.exact_placement import solve

    return solve(buffers, alignment)


PLANNERS: dict[str, Callable[[Buffers, int], Placement]] = {
    "best-fit": best_fit,
    "greedy-by-size": greedy_by_size,
    "search": search,
    "solver": solver,
}
"""The planners, by name."""


def _order(*keys: Indices) -> Indices:
    """Indices in ascending order of the first key, then of the second; ties keep their order."""
    return np.lexsort(keys[::-1]).astype(np.int64)


def place_in_order(
    buffers: Buffers, order: Indices, alignment: int = 1, ceiling: int = 0, at_top: Flags | None = None
) -> Placement:
    """Place one buffer after the other, each into the tightest gap between those placed before that it meets.

    What fits into none goes above all. Buffers for which ``at_top`` holds go to the upper end of their gap, and those
    above all up to the ``ceiling``.
    """
    offsets = np.zeros(len(order), np.int64)
    placed = np.zeros(len(order), np.int64)  # by offset, so that gaps are found in one walk
    peak = 0
    for count, index in enumerate(order):
        around = placed[:count]
        around = around[buffers.meets(int(index), around)]
        size = int(buffers.sizes[index])
        low, high = _tightest_gap(offsets[around], buffers.sizes[around], size, alignment, ceiling)
        offset = high if at_top is not None and at_top[index] else low
        position = int(np.searchsorted(offsets[placed[:count]], offset))
        placed[position + 1 : count + 1] = placed[position:count]
        placed[position] = index
        offsets[index] = offset
        peak = max(peak, offset + size)
    return Placement(tuple(offsets.tolist()), peak)


def _tightest_gap(offsets: Indices, sizes: Indices, size: int, alignment: int, ceiling: int) -> tuple[int, int]:
    """The lowest and the highest place of ``size`` bytes in the gap that they fill best between buffers.

    The buffers are sorted by offset. Where nothing fits, there is the gap above them all, up to the ceiling or, for
    what does not fit below that, without end.
    """
    behind = np.maximum.accumulate(offsets + sizes)
    begins = np.concatenate([[0], -(-behind // alignment) * alignment])
    tops = (np.concatenate([offsets, [ceiling]]) - size) // alignment * alignment
    room = tops - begins
    fitting = np.flatnonzero(room[:-1] >= 0)
    gap = fitting[np.argmin(room[fitting])] if len(fitting) else -1
    return int(begins[gap]), int(max(tops[gap], begins[gap]))
