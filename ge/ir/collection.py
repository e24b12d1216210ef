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
            _grow_old()
            gc.enable()


def _grow_old() -> None:
    """Count what there is now among the old objects, which the collector hardly ever visits.

    Otherwise it would begin with a visit of all that was made in the meantime. For nothing that is set aside, since
    only all objects together can be taken back.
    """
    if not _aside:
        gc.freeze()
        gc.unfreeze()


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


_aside = False
"""Whether objects are set aside."""


def set_aside() -> None:
    """Let the collector look no more at what there is now: for commands, which have it to their end anyway."""
    global _aside
    _aside = True
    gc.freeze()


def take_back() -> None:
    """Let the collector look at everything again."""
    global _aside
    _aside = False
    gc.unfreeze()
