"""Pausing Python's cyclic garbage collector while many objects are made that all stay."""

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
