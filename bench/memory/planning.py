"""How long planning takes, on graphs of 1 000 and 20 000 values of several shapes.

Sizes are drawn from those of feature maps (512 bytes to 784 KiB), with a fixed seed. Seconds are of the processor: they
do not depend on what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from ge.maths.intervals import Interval, lower_bound
from ge.maths.order_search import search_order
from ge.maths.ordering import Work, lifetimes
from ge.maths.placement import Buffers, Lifetimes, Placement, best_fit, greedy_by_size, search

COUNTS = {1_000: 2.0, 20_000: 20.0}
"""Numbers of values, and the seconds in which they are to be planned."""

SIZES = tuple(512 * each for each in (1, 2, 3, 7, 16, 49, 98, 196, 392, 784, 1568))


class Graph:
    """A graph that grows: every operation makes one value, which has its number."""

    def __init__(self) -> None:
        self.work: list[Work] = []

    def add(self, *reads: int) -> int:
        """Add an operation that reads some values; the value that it makes."""
        number = len(self.work)
        self.work.append(Work(reads, (number,)))
        return number


def chain(count: int, random: Random) -> Graph:
    """One operation after the other."""
    graph = Graph()
    value = graph.add()
    while len(graph.work) < count:
        value = graph.add(value)
    return graph


def wide(count: int, random: Random) -> Graph:
    """Branches of 30 operations from one source, side by side, which all come together in the end."""
    graph = Graph()
    source = graph.add()
    ends = [source] * max(count // 30, 2)
    while len(graph.work) < count - 1:
        branch = len(graph.work) % len(ends)
        ends[branch] = graph.add(ends[branch])
    graph.add(*dict.fromkeys(ends))
    return graph


def residual(count: int, random: Random) -> Graph:
    """Blocks of three operations around which their input is led, and added."""
    graph = Graph()
    value = graph.add()
    while len(graph.work) < count:
        value = graph.add(graph.add(graph.add(graph.add(value))), value)
    return graph


def transformer(count: int, random: Random, heads: int = 12) -> Graph:
    """Layers of attention, in which each head is on its own, and of two products."""
    graph = Graph()
    value = graph.add()
    while len(graph.work) < count:
        normed = graph.add(value)
        query, key, values = graph.add(normed), graph.add(normed), graph.add(normed)
        results: list[int] = []
        for _ in range(heads):
            scores = graph.add(graph.add(query), graph.add(key))
            results.append(graph.add(graph.add(scores), graph.add(values)))
        value = graph.add(graph.add(graph.add(*results)), value)
        value = graph.add(graph.add(graph.add(graph.add(value))), value)
    return graph


def scattered(count: int, random: Random) -> Graph:
    """Operations that read one to three values, mostly from not long before: lifetimes at random."""
    graph = Graph()
    graph.add()
    while len(graph.work) < count:
        number = len(graph.work)
        back = (1 + int(random.expovariate(1 / 20)) for _ in range(random.randint(1, 3)))
        graph.add(*sorted({max(number - each, 0) for each in back}))
    return graph


SHAPES: Mapping[str, Callable[[int, Random], Graph]] = {
    "chain": chain,
    "wide": wide,
    "residual": residual,
    "transformer": transformer,
    "random lifetimes": scattered,
}


@dataclass(frozen=True)
class Level:
    """What one level of ``--memory_optimize`` (or one planner) took, and found."""

    seconds: float
    ratio: float
    """The peak by the most bytes live at one moment, in the order of this level."""


@dataclass(frozen=True)
class Planned:
    """A graph that was planned."""

    shape: str
    count: int
    levels: Mapping[str, Level]

    @property
    def is_in_time(self) -> bool:
        """Whether every level took no longer than it may."""
        return all(level.seconds < COUNTS[self.count] for level in self.levels.values())


def planned(shape: str, count: int) -> Planned:
    """Plan a graph of ``count`` values with every level: `high` orders it, too."""
    random = Random(0)
    work = SHAPES[shape](count, random).work[:count]
    sizes = [random.choice(SIZES) for _ in work]
    given = range(len(work))

    def level(place: Callable[[Buffers, int], Placement], *, ordered: bool) -> Level:
        start = time.process_time()
        order = search_order(work, sizes) if ordered else given
        intervals: list[Interval] = lifetimes(work, sizes, order)
        peak = place(Lifetimes(intervals), 512).peak
        return Level(time.process_time() - start, peak / lower_bound(intervals))

    found = {
        "low": level(greedy_by_size, ordered=False),
        "high": level(search, ordered=True),
        "best-fit": level(best_fit, ordered=False),
    }
    return Planned(shape, count, found)


def all_planned() -> Iterator[Planned]:
    """Every shape in every size."""
    for count in COUNTS:
        for shape in SHAPES:
            yield planned(shape, count)
