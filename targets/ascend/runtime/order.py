"""In which order the tasks of a model run."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from threading import Lock

from ge.maths.streams import Step, interleaving


class TaskOrder:
    """Streams take turns: in the order of the file, or with a seed in another of the possible orders each time."""

    def __init__(self, steps: Sequence[Step], seed: int | None = None) -> None:
        self._steps = steps
        self._random = None if seed is None else Random(seed)
        tasks = [index for index, step in enumerate(steps) if step.is_task]
        self._numbers = {index: number for number, index in enumerate(tasks)}
        self._fixed = self._draw()
        self._lock = Lock()

    def next(self) -> Sequence[int]:
        """The tasks of the next run, by number."""
        if self._random is None:
            return self._fixed
        with self._lock:
            return self._draw()

    def _draw(self) -> Sequence[int]:
        return [self._numbers[index] for index in interleaving(self._steps, self._random) if index in self._numbers]
