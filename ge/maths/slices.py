"""Which positions of an axis a slice takes, as the operator `Slice` of ONNX counts them."""

from __future__ import annotations


def positions(start: int, end: int, step: int, size: int) -> range:
    """The positions from ``start`` on and before ``end``, each ``step`` behind the last, of an axis of ``size``.

    Negative ones count from the end; then both are moved into the axis. Other than in Python, a slice that goes
    backwards from before the axis begins at its first position: of 3, from -5 it takes 0, where Python takes nothing.
    """
    if size == 0:
        return range(0)
    first, last = (place + size if place < 0 else place for place in (start, end))
    if step > 0:
        return range(min(max(first, 0), size), min(max(last, 0), size), step)
    return range(min(max(first, 0), size - 1), min(max(last, -1), size - 1), step)


def python_slice(taken: range) -> slice:
    """The slice of Python that takes positions of an axis: the end before the first position has no number there."""
    return slice(taken.start, None if taken.stop < 0 else taken.stop, taken.step)
