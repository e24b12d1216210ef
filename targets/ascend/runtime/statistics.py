"""What a run took: cycles of the simulated cores, transfers, saturated results, time on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ge.targets.ascend.soc import Soc


@dataclass(frozen=True)
class TaskRun:
    """What one task took. Work of the host has no cycles."""

    operator: str
    kind: str
    kernel: str
    on_host: bool
    blocks: int
    seconds: float = 0.0
    """Wall time on this machine."""
    cycles: int = 0
    """Of the slowest core."""
    pipe_cycles: Mapping[str, int] = field(default_factory=dict[str, int])
    """How long each pipe of the slowest core was busy."""
    gm_bytes: int = 0
    """Read from and written to device memory."""
    saturated: int = 0
    """float16 results that were clipped to ±65504."""


@dataclass(frozen=True)
class RunStatistics:
    """What one run of a model took. Cycles are an estimate from the chip's description, one task after the other."""

    tasks: tuple[TaskRun, ...]
    seconds: float
    """Wall time on this machine, with inputs and outputs."""
    soc: Soc = field(repr=False)

    @property
    def cycles(self) -> int:
        """Cycles of all kernels."""
        return sum(task.cycles for task in self.tasks)

    @property
    def device_seconds(self) -> float:
        """Time on the chip: the cycles of all kernels, and the start of each. Work of the host is not counted."""
        launches = sum(not task.on_host for task in self.tasks)
        return self.soc.seconds(self.cycles + launches * self.soc.launch_cycles)

    @property
    def pipe_cycles(self) -> dict[str, int]:
        """How long each pipe was busy, in all kernels."""
        total: Counter[str] = Counter()
        for task in self.tasks:
            total.update(task.pipe_cycles)
        return dict(sorted(total.items()))

    @property
    def gm_bytes(self) -> int:
        """Bytes that kernels read from and wrote to device memory."""
        return sum(task.gm_bytes for task in self.tasks)

    @property
    def saturated(self) -> int:
        """float16 results that were clipped to ±65504."""
        return sum(task.saturated for task in self.tasks)
