"""Placing buffers into one linear memory: planners from a quick heuristic to a search.

The problem is dynamic storage allocation: buffers that are live at the same moment may not share a byte, and the
highest byte used is to be as low as possible. It is NP-hard; :func:`ge.maths.intervals.lower_bound` says how low it can
get at best, so that a planner knows when it is done.

| planner | how it places |
|---|---|
| `best-fit` | in the order in which they are made, each into the tightest gap, as an allocator at run time would |
| `greedy-by-size` | the largest first, each into the tightest gap between those it meets |
| `search` | several orders of placing, and then what moving a buffer at the top to the front improves |

All of them are deterministic. A placement of n buffers looks at n² pairs, in NumPy. `greedy-by-size` is the heuristic
of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ge.maths.intervals import Interval, lower_bound
from ge.maths.streams import Clock

Indices = NDArray[np.int64]


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


def search(buffers: Buffers, alignment: int = 1, effort: int = 100_000_000) -> Placement:
    """The best of several orders, then what moving buffers in the best order gains.

    Stops at the lower bound, where nothing can be gained, or when the tries have taken ``effort``: a number and not a
    time, so that every machine finds the same placement; 100 million are about a second.
    """
    count = len(buffers.sizes)
    if count == 0:
        return Placement((), 0)
    length = buffers.ends - buffers.starts + 1
    orders = [
        _order(-buffers.sizes, buffers.starts),
        _order(-buffers.sizes * length, buffers.starts),
        _order(-length, -buffers.sizes),
        _order(buffers.starts, -buffers.sizes),
        _order(-buffers.ends, -buffers.sizes),
    ]
    tries = max(min(effort // (count * (count + 1500)), 20 * count), 4)
    order, best = orders[0], place_in_order(buffers, orders[0], alignment)
    for other in orders[1:tries]:
        if best.peak <= buffers.least:
            return best
        placement = place_in_order(buffers, other, alignment)
        if placement.peak < best.peak:
            order, best = other, placement
    random = Random(0)
    for _ in range(tries):
        if best.peak <= buffers.least:
            break
        changed = _promote(buffers, order, best, random)
        placement = place_in_order(buffers, changed, alignment)
        if placement.peak <= best.peak:  # sideways steps lead out of plateaus
            order, best = changed, placement
    return best


PLANNERS: dict[str, Callable[[Buffers, int], Placement]] = {
    "best-fit": best_fit,
    "greedy-by-size": greedy_by_size,
    "search": search,
}
"""The planners, by name."""


def _order(*keys: Indices) -> Indices:
    """Indices in ascending order of the first key, then of the second; ties keep their order."""
    return np.lexsort(keys[::-1]).astype(np.int64)


def _promote(buffers: Buffers, order: Indices, placement: Placement, random: Random) -> Indices:
    """An order in which a buffer at the top of memory, or one that lies below it, is placed earlier than before."""
    ends = np.array(placement.offsets) + buffers.sizes
    top = [int(index) for index in np.flatnonzero(ends == placement.peak)]
    chosen = random.choice(top)
    if random.random() < 0.5:
        below = np.flatnonzero(buffers.meets(chosen, np.arange(len(order), dtype=np.int64)))
        chosen = int(below[random.randrange(len(below))])
    position = int(np.flatnonzero(order == chosen)[0])
    target = random.randrange(position + 1)
    return np.concatenate([order[:target], [chosen], order[target:position], order[position + 1 :]])


def place_in_order(buffers: Buffers, order: Indices, alignment: int = 1) -> Placement:
    """Place one buffer after the other, each into the tightest gap between those placed before that it meets."""
    offsets = np.zeros(len(order), np.int64)
    placed = np.zeros(len(order), np.int64)  # by offset, so that gaps are found in one walk
    peak = 0
    for count, index in enumerate(order):
        around = placed[:count]
        around = around[buffers.meets(int(index), around)]
        size = int(buffers.sizes[index])
        offset = _tightest_gap(offsets[around], buffers.sizes[around], size, alignment)
        position = int(np.searchsorted(offsets[placed[:count]], offset))
        placed[position + 1 : count + 1] = placed[position:count]
        placed[position] = index
        offsets[index] = offset
        peak = max(peak, offset + size)
    return Placement(tuple(offsets.tolist()), peak)


def _tightest_gap(offsets: Indices, sizes: Indices, size: int, alignment: int) -> int:
    """Where ``size`` bytes fill a gap between buffers (sorted by offset) best; behind all where there is none."""
    if not len(offsets):
        return 0
    behind = np.maximum.accumulate(offsets + sizes)
    begins = np.concatenate([[0], -(-behind // alignment) * alignment])
    waste = offsets - begins[:-1] - size
    fitting = np.flatnonzero(waste >= 0)
    return int(begins[fitting[np.argmin(waste[fitting])]] if len(fitting) else begins[-1])
