"""How much memory a piece of work needs at most, beyond what the process has: Linux counts it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"
"""What to write to the latter: the peak begins again at what is in use."""


MEMORY_FACTOR = 4
"""How many times its size a file may take in memory while it is read, shown, turned into text and written."""
MEMORY_FLOOR = 8 << 20
"""What any file may take. Objects of Python are larger than the few bytes that they come from, and a process touches
pages of libraries: undamaged seed files of 3 to 56 kB take up to 3.5 MB, the same work a second time up to 2 MB."""


class TooMuchMemory(Exception):
    """A case needed more memory than its file explains."""


@contextmanager
def memory_limit(limit: int) -> Generator[None]:
    """Raise TooMuchMemory when what is done inside, also in vain, needs more than ``limit`` bytes at one time.

    Elsewhere than on Linux nothing is measured.
    """
    before = start_of_peak()
    try:
        yield
    finally:
        needed = peak() - before
        if needed > limit:
            raise TooMuchMemory(f"{needed >> 10} KiB where {limit >> 10} KiB are allowed")


def within(limit: int, work: Callable[[], T]) -> T:
    """What work gives that may need ``limit`` bytes. Raises TooMuchMemory when it needs more twice.

    The first time a process does something, it touches pages of libraries, which are no memory of the work.
    """
    try:
        with memory_limit(limit):
            return work()
    except TooMuchMemory:
        pass
    with memory_limit(limit):
        return work()


def start_of_peak() -> int:
    """Give free memory back and forget the peak until now; the bytes in use."""
    if not sys.platform.startswith("linux"):
        return 0
    ctypes.CDLL(None).malloc_trim(0)
    _CLEAR.write_text(_RESET_PEAK)
    return _bytes("VmRSS")


def peak() -> int:
    """The most bytes in use since then."""
    return _bytes("VmHWM") if sys.platform.startswith("linux") else 0


def _bytes(field: str) -> int:
    (line,) = [line for line in _STATUS.read_text().splitlines() if line.startswith(f"{field}:")]
    return int(line.split()[1]) << 10
