"""One thread for matrix products while a model runs.

The products of a kernel are small (a few million operations). NumPy's OpenBLAS divides even those among threads, which
gains little on an idle machine and costs a hundredfold on a busy one, where each product waits for all threads to be
scheduled. And how it divides large ones, as the host has them, depends on what else runs: with one thread, runs at the
same time give the bits of a run alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

_NAMES = tuple(
    (f"{prefix}_get_num_threads{suffix}", f"{prefix}_set_num_threads{suffix}")
    for prefix in ("scipy_openblas", "openblas")
    for suffix in ("64_", "_64", "")
)
"""What the builds of OpenBLAS that NumPy ships call these functions."""


@cache
def _thread_functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Functions that tell and set the threads of NumPy's OpenBLAS, or None where NumPy brings another library."""
    package = Path(np.__file__).parent
    for file in (*package.parent.glob("numpy.libs/*openblas*"), *package.glob(".dylibs/*openblas*")):
        try:
            library = ctypes.CDLL(str(file))  # the one that is loaded already
        except OSError:
            continue
        for getter, setter in _NAMES:
            if hasattr(library, getter) and hasattr(library, setter):
                return getattr(library, getter), getattr(library, setter)
    return None


class _Limit:
    """The number of threads is one of the process: it is set by the first that enters and restored by the last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before = 1

    def enter(self, get_threads: Callable[[], int], set_threads: Callable[[int], None]) -> None:
        with self._lock:
            if not self._inside:
                self._before = get_threads()
                set_threads(1)
            self._inside += 1

    def leave(self, set_threads: Callable[[int], None]) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                set_threads(self._before)


_LIMIT = _Limit()


@contextmanager
def one_thread() -> Generator[None, None, None]:
    """Within this context matrix products use one thread, whichever threads of Python are in it."""
    functions = _thread_functions()
    if functions is None:
        yield
        return
    get_threads, set_threads = functions
    _LIMIT.enter(get_threads, set_threads)
    try:
        yield
    finally:
        _LIMIT.leave(set_threads)
