"""The memory of the simulated device: one copy of the weights, whatever the number of runs in progress."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ge.dialects.om.values import ALIGNMENT
from ge.ir.errors import GeError
from ge.maths.layouts import round_up
from ge.targets.ascend.soc import Soc


class DeviceMemory:
    """Where a model lies on the device: its weights, and behind them the values of one run.

    The weights are written once, to a file that is only in memory. Every run in progress maps that file: pages that it
    does not write are the same ones for all, and what it writes are pages of its own. So runs share the weights and
    nothing else, even if a kernel wrote into them.
    """

    def __init__(self, weights: memoryview, memory_size: int, soc: Soc) -> None:
        """Raises GE6009 when the device, or this machine, has not enough memory."""
        self.weight_size = round_up(weights.nbytes, ALIGNMENT)
        self.size = self.weight_size + memory_size
        """Bytes of weights, values, inputs and outputs."""
        if self.size > soc.memory_bytes:
            what = f"the model needs {self.size} bytes of device memory, {soc.name} has {soc.memory_bytes}"
            raise GeError("GE6009", what)
        try:
            self._file = _file_in_memory()
            self._file.write(weights)
            self._file.truncate(max(self.size, 1))
            self._file.flush()
        except (OSError, ValueError) as error:
            raise self._too_little() from error

    def view(self) -> NDArray[np.uint8]:
        """The memory as one run sees it: weights, then zeros. Raises GE6009."""
        try:
            mapped = mmap.mmap(self._file.fileno(), max(self.size, 1), access=mmap.ACCESS_COPY)
        except (OSError, ValueError) as error:
            raise self._too_little() from error
        return np.frombuffer(mapped, np.uint8, self.size)

    def _too_little(self) -> GeError:
        return GeError("GE6009", f"the model needs {self.size} bytes of device memory")


def _file_in_memory() -> BinaryIO:
    """An empty file without a name; where the system has none in memory, a temporary one on disk."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("device"), "w+b")
    return tempfile.TemporaryFile()
