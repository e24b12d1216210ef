"""How much work something is, counted in calls of functions: unlike time, that is the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_of(action: Callable[[], object]) -> int:
    """How many functions an action calls."""
    count = 0

    def on_event(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(on_event)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def growth(work: Callable[[int], int], size: int = 64) -> float:
    """By how much work grows when the size doubles, without what is done once: 2 is linear, 4 is quadratic."""
    one, two, four = work(size), work(2 * size), work(4 * size)
    return (four - two) / (two - one)
