"""Lifetimes: when buffers are live, and how much memory they take at the least."""

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
