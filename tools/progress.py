"""How far a compilation is, on standard error: drawn by rich on a terminal, a line for each stage otherwise."""

from __future__ import annotations

import logging
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class Progress(ABC):
    """Told of every stage when it begins and when it ends."""

    def __init__(self, stages: int) -> None:
        self.stages = stages
        """How many there will be."""
        self.done: list[tuple[str, float]] = []
        """Name and seconds of those that have ended."""

    @abstractmethod
    def begin(self, name: str) -> None:
        """A stage begins."""

    def end(self, name: str, seconds: float) -> None:
        """A stage has ended."""
        self.done.append((name, seconds))

    @property
    def seconds(self) -> float:
        """What all stages took that have ended."""
        return sum(seconds for _, seconds in self.done)

    def share(self, seconds: float) -> float:
        """Which part of the time so far that is."""
        return seconds / self.seconds if self.seconds else 0.0


class Silent(Progress):
    """Shows nothing."""

    def begin(self, name: str) -> None:
        pass


class Lines(Progress):
    """A line for each stage that has ended: its number, name, seconds, and share of the time so far."""

    def begin(self, name: str) -> None:
        pass

    def end(self, name: str, seconds: float) -> None:
        super().end(name, seconds)
        number = f"{len(self.done):>{len(str(self.stages))}}/{self.stages}"
        print(f"[{number}] {name:<16} {seconds:8.2f} s {self.share(seconds):4.0%}", file=sys.stderr)


class Drawn(Progress):
    """A table that is drawn anew four times a second, with the stage at work at its end."""

    _BAR_WIDTH = 20

    def __init__(self, stages: int) -> None:
        super().__init__(stages)
        self._current: tuple[str, float] | None = None

    def begin(self, name: str) -> None:
        self._current = (name, time.perf_counter())

    def end(self, name: str, seconds: float) -> None:
        super().end(name, seconds)
        self._current = None

    def __rich__(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table.grid(padding=(0, 1))
        rows = list(self.done)
        if self._current is not None:
            name, start = self._current
            rows.append((f"{name} ...", time.perf_counter() - start))
        total = sum(seconds for _, seconds in rows) or 1.0
        for number, (name, seconds) in enumerate(rows, 1):
            bar = ProgressBar(total, seconds, width=self._BAR_WIDTH)
            table.add_row(f"{number}/{self.stages}", name, f"{seconds:.2f} s", bar, f"{seconds / total:.0%}")
        return table


@contextmanager
def show_progress(stages: int, *, quiet: bool = False) -> Generator[Progress]:
    """A display of this many stages while the block runs; messages of a log and drawings do not go together."""
    if quiet:
        yield Silent(stages)
    elif not sys.stderr.isatty() or logging.getLogger().hasHandlers():
        yield Lines(stages)
    else:
        from rich.console import Console
        from rich.live import Live

        drawn = Drawn(stages)
        with Live(drawn, console=Console(stderr=True), transient=True):
            yield drawn
