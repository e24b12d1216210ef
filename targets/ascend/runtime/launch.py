"""Running kernels on the simulated chip, one after the other."""

from __future__ import annotations

import time
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ge.targets.ascend.runtime.statistics import TaskRun
from ge.targets.ascend.simulator import KernelResult, launch
from ge.targets.ascend.soc import Soc

Window = tuple[int, int]
"""Byte offset and size of a kernel argument in device memory."""


class L2Cache:
    """Which arguments are still in the cache that all cores share: the last ones used, as far as they fit.

    A whole argument is in it or not. That is coarse, but enough to tell whether a feature map comes from the kernel
    just before or from memory.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: OrderedDict[Window, None] = OrderedDict()
        self._by_place: list[Window] = []
        """The same windows, none of which meets another one, in the order of memory."""
        self._bytes = 0

    def holds(self, window: Window) -> bool:
        """Whether all of a window is in the cache."""
        return window in self._held

    def use(self, window: Window) -> None:
        """A window has been read or written: it is the newest, the oldest ones leave."""
        for other in self._meeting(window):
            del self._held[other]
            self._forget(other)
        if window not in self._held:
            self._held[window] = None
            insort(self._by_place, window)
            self._bytes += window[1]
        while self._bytes > self._size:
            oldest, _ = self._held.popitem(last=False)
            self._forget(oldest)

    def _meeting(self, window: Window) -> list[Window]:
        """The windows that share bytes with one."""
        start, end = window[0], sum(window)
        first = bisect_left(self._by_place, (start, 0))
        while first and sum(self._by_place[first - 1]) > start:
            first -= 1
        last = bisect_left(self._by_place, (end, 0), first)
        return [each for each in self._by_place[first:last] if sum(each) > start]

    def _forget(self, window: Window) -> None:
        del self._by_place[bisect_left(self._by_place, window)]
        self._bytes -= window[1]


class Device:
    """A simulated chip with its memory; with ``profile`` the cycles of kernels are counted."""

    def __init__(self, soc: Soc, memory: NDArray[np.uint8], *, strict: bool = False, profile: bool = True) -> None:
        self.soc = soc
        self.memory = memory
        self._strict = strict
        self._profile = profile
        self._cache = L2Cache(soc.l2_bytes)

    def launch(self, binary: bytes, windows: Sequence[Window], task: TaskRun) -> TaskRun:
        """Run an encoded kernel on its arguments, which it changes in memory; `task` completed by what it took."""
        start = time.perf_counter()
        warm = [self._cache.holds(window) for window in windows]
        options: dict[str, Any] = {"strict": self._strict, "count_cycles": self._profile}
        result = launch(binary, self.memory, windows, self.soc, name=task.kernel, warm=warm, **options)
        for window in windows:
            self._cache.use(window)
        return completed(task, result, time.perf_counter() - start)


def completed(task: TaskRun, result: KernelResult, seconds: float) -> TaskRun:
    """What a kernel took, added to what is known of its task."""
    changes: dict[str, Any] = {"seconds": seconds, "cycles": result.cycles, "pipe_cycles": result.busy}
    return replace(task, gm_bytes=result.gm_read + result.gm_written, saturated=result.saturated, **changes)
