"""Lifetimes and offsets: placing buffers that live for a while into one linear memory.

The placement is greedy by size with best fit (the heuristic of Pisarchyk and Lee, "Efficient Memory Management for
Deep Neural Net Inference", 2020): largest first, each at the lowest gap between the buffers it overlaps in time.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A buffer of `size` bytes that is live from step `start` to step `end`, both included."""

    start: int
    end: int
    size: int

    def overlaps(self, other: "Interval") -> bool:
        """Tell whether both are live at some step."""
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True)
class Placement:
    """Byte offsets, one for each interval, and the memory they take (the highest end)."""

    offsets: tuple[int, ...]
    peak: int


def place(intervals: Sequence[Interval], alignment: int = 1) -> Placement:
    """Return offsets (multiples of `alignment`) such that buffers live at the same time never overlap."""
    offsets = [0] * len(intervals)
    placed: list[int] = []
    peak = 0
    for index in sorted(range(len(intervals)), key=lambda i: (-intervals[i].size, intervals[i].start)):
        interval = intervals[index]
        neighbours = sorted((offsets[j], intervals[j].size) for j in placed if intervals[j].overlaps(interval))
        offsets[index] = _best_gap(neighbours, interval.size, alignment)
        peak = max(peak, offsets[index] + interval.size)
        placed.append(index)
    return Placement(tuple(offsets), peak)


def lower_bound(intervals: Sequence[Interval]) -> int:
    """Return the largest number of bytes live at one step: no placement of this order can take less."""
    changes: dict[int, int] = {}
    for interval in intervals:
        changes[interval.start] = changes.get(interval.start, 0) + interval.size
        changes[interval.end + 1] = changes.get(interval.end + 1, 0) - interval.size
    live = peak = 0
    for step in sorted(changes):
        live += changes[step]
        peak = max(peak, live)
    return peak


def _best_gap(neighbours: list[tuple[int, int]], size: int, alignment: int) -> int:
    """Return the offset of the tightest gap of `size` bytes or more between `neighbours` (offset, size)."""
    cursor, best, best_waste = 0, -1, -1
    for offset, length in neighbours:
        waste = offset - cursor - size
        if waste >= 0 and (best < 0 or waste < best_waste):
            best, best_waste = cursor, waste
        cursor = max(cursor, _align(offset + length, alignment))
    return cursor if best < 0 else best


def _align(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment
