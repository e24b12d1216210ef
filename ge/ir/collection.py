"""Holding back Python's cyclic garbage collector where many objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Generator[None]:
    """Collect no cycles inside the `with` block.

    Building or writing a module makes hundreds of thousands of objects and hardly any garbage, and the collector would
    visit them again and again: a quarter of the time of an import. Not for passes, which leave operations that are
    erased, each a cycle with its results, and the weights that these hold.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_OBJECTS = 10_000
"""How many more objects there are before the collector looks at them; Python's own number is 700."""


@contextmanager
def collection_rare() -> Generator[None]:
    """Collect cycles less often inside the `with` block: for passes, which make much that stays and some garbage."""
    first, *others = gc.get_threshold()
    gc.set_threshold(first and max(first, _OBJECTS), *others)
    try:
        yield
    finally:
        gc.set_threshold(first, *others)


def set_aside() -> None:
    """Let the collector look no more at what there is now: for commands, which have it to their end anyway."""
    gc.freeze()


def take_back() -> None:
    """Let the collector look at everything again."""
    gc.unfreeze()
