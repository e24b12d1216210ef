"""What a run took: cycles of the simulated cores, transfers, saturated results, time on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ge.maths.streams import Machine, Schedule, Task, makespan
from ge.targets.ascend.soc import Soc


@dataclass(frozen=True)
class TaskRun:
    """What one task took. Work of the host has no cycles."""

    operator: str
    kind: str
    kernel: str
    on_host: bool
    blocks: int
    stream: int = 0
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
    """What one run of a model took. Cycles are an estimate from the chip's description."""

    tasks: tuple[TaskRun, ...]
    """The tasks in the order of the model."""
    seconds: float
    """Wall time on this machine, with inputs and outputs."""
    soc: Soc = field(repr=False)
    schedule: Schedule = field(repr=False)
    """The streams and events of the model."""

    @property
    def cycles(self) -> int:
        """Cycles of all kernels, as if each had the chip for itself."""
        return sum(task.cycles for task in self.tasks)

    @cached_property
    def device_cycles(self) -> int:
        """Cycles from the start of the first task to the end of the last, by the model of :mod:`ge.maths.streams`.

        Streams run side by side. The start of each kernel is counted, work of the host is not.
        """
        tasks = [
            Task(0, 0) if run.on_host else Task(run.cycles, run.blocks, start=self.soc.launch_cycles)
            for run in self.tasks
        ]
        return makespan(tasks, self.schedule, Machine(self.soc.cores, self.soc.event_cycles))

    @property
    def device_seconds(self) -> float:
        """The time that :attr:`device_cycles` take on the chip."""
        return self.soc.seconds(self.device_cycles)

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
