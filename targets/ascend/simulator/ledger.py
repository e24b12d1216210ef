"""Who touched which bytes last: the memory of the race detector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ge.dialects.cube.instruction import Access


def region(array: NDArray[Any], access: Access, granule: int) -> NDArray[Any]:
    """The entries of a ledger that an access touches, as a view; an entry stands for `granule` bytes.

    Bursts that do not begin and end at entries widen to those that do; bursts closer than an entry count as one run.
    """
    first = access.start // granule
    if access.bursts == 1 or access.stride < granule or access.stride % granule or access.stride < access.length:
        last = max(access.end, access.start + access.length)
        return array[first : -(-last // granule)]
    entries = -(-(access.start + access.length) // granule) - first
    step = access.stride // granule * array.itemsize
    shape = (access.bursts, entries)
    return np.ndarray(shape, array.dtype, array, first * array.itemsize, (step, array.itemsize))


class Ledger:
    """For each pipe, its last instruction that read, and that wrote, each entry of one memory, in one core."""

    def __init__(self, size: int, granule: int) -> None:
        self.entries = -(-size // granule)
        self.granule = granule
        self.last: dict[tuple[bool, int], NDArray[np.int32]] = {}
        """By (whether it wrote, pipe): the order of the instruction in its pipe, counted from 1."""

    def conflicts(self, access: Access, clock: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Earlier accesses that `access` conflicts with and `clock` does not cover: pipe, and order in it."""
        for (wrote, pipe), last in self.last.items():
            if wrote or access.write:
                touched = region(last, access, self.granule)
                order = int(touched.max(initial=0))
                while order > clock[pipe]:
                    yield pipe, order
                    order = int(touched.max(initial=0, where=touched < order))

    def record(self, access: Access, pipe: int, order: int) -> None:
        """Note the access of the instruction that is number `order` of its pipe."""
        key = (access.write, pipe)
        if key not in self.last:
            self.last[key] = np.zeros(self.entries, np.int32)
        region(self.last[key], access, self.granule)[...] = order


_NOBODY, _SEVERAL = 0, -1


class CoreLedger:
    """For each byte of global memory, the core that wrote it and the core that read it, in one launch."""

    def __init__(self, size: int) -> None:
        self.writer = np.zeros(size, np.int16)
        """The core, counted from 1; 0 is nobody."""
        self.reader = np.zeros(size, np.int16)

    def conflict(self, access: Access, core: int) -> str | None:
        """The core, in words, whose access conflicts with this one."""
        for ledger in (self.writer, self.reader) if access.write else (self.writer,):
            touched = region(ledger, access, 1)
            others = touched[(touched != _NOBODY) & (touched != core + 1)]
            if others.size:
                return "more than one core" if others.min() == _SEVERAL else f"core {int(others.max()) - 1}"
        return None

    def record(self, access: Access, core: int) -> None:
        """Note the access of a core."""
        if access.write:
            region(self.writer, access, 1)[...] = core + 1
            return
        readers = region(self.reader, access, 1)
        readers[(readers != _NOBODY) & (readers != core + 1)] = _SEVERAL
        readers[readers == _NOBODY] = core + 1
