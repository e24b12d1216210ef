"""Running cases in forked processes, many in each, with a limit of CPU time and of memory for every one."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bench.fuzz.verdict import CRASH, HANG, STOPPED, OverBudget, judge, signature

CPU_SECONDS = 10.0
"""CPU time of a case. Wall time would depend on what else the machine does."""

MEMORY_BYTES = 512 << 20
"""Memory that a case may add to what the process has; files here are far below 128 MB, a fourth of this."""

RUN_SECONDS = 2.0
"""CPU time for running a program, which may loop for as long as it says: that is no fault of ours."""

_WALL_SECONDS = 90.0
"""When a case that says nothing is killed: it waits for something, or is in code that no signal interrupts."""


@dataclass(frozen=True)
class Result:
    """How a case ended."""

    number: int
    verdict: str
    stage: str = ""
    """How far it came."""
    code: str = ""
    """The error code of a message."""
    message: str = ""
    signature: str = ""
    seconds: float = 0.0
    peak_bytes: int = 0
    """The most memory that the process had until the end of the case."""


class Progress:
    """Where a case is, for the report."""

    def __init__(self) -> None:
        self.stage = ""
        self.may_stop = False
        """Whether it is no failure when the time is over."""

    def at(self, stage: str, seconds: float | None = None) -> None:
        """A stage begins, perhaps one with a time limit of its own, which may run out."""
        self.stage = stage
        if seconds is not None:
            self.may_stop = True
            signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)


Run = Callable[[int, Progress], str]
"""Runs the case of a number; the verdict when no exception is raised."""


def run_case(run: Run, number: int, *, show: bool = False) -> Result:
    """Run one case in this process, with limits."""
    progress = Progress()
    start = time.process_time()
    try:
        with_limits = _limited(run)
        verdict = with_limits(number, progress)
        return Result(number, verdict, progress.stage, seconds=time.process_time() - start)
    except (Exception, OverBudget) as error:
        if show:
            traceback.print_exc()
        stopped = progress.may_stop and isinstance(error, OverBudget)
        return Result(
            number,
            STOPPED if stopped else judge(error),
            progress.stage,
            getattr(error, "code", ""),
            _text(error),
            signature(error),
            time.process_time() - start,
        )


def _text(error: BaseException) -> str:
    text = f"{type(error).__name__}: {getattr(error, 'what', error)}"
    return text[:600]


def _limited(run: Run) -> Run:
    """The same with limits, which end with it."""

    def limited(number: int, progress: Progress) -> str:
        old_handler = signal.signal(signal.SIGPROF, _over_budget)
        old_limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_memory_in_use() + MEMORY_BYTES, old_limits[1]))
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS, 1.0)  # again, where the first is swallowed in a callback
        try:
            return run(number, progress)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            resource.setrlimit(resource.RLIMIT_AS, old_limits)
            signal.signal(signal.SIGPROF, old_handler)

    return limited


def _over_budget(_signal: int, _frame: Any) -> None:
    raise OverBudget("more CPU time than a case may take")


def _memory_in_use() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def run_cases(run: Run, numbers: Sequence[int], batch: int = 100) -> Iterator[Result]:
    """Run cases in forked processes and yield their results in order."""
    remaining = list(numbers)
    while remaining:
        done = 0
        for result in _run_batch(run, remaining[:batch]):
            done += 1
            yield result
        remaining = remaining[done:]


def _run_batch(run: Run, numbers: Sequence[int]) -> Iterator[Result]:
    """Run cases in one forked process; the last result is that of the case that ended it, if one did."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _work(run, numbers, writer)
    os.close(writer)
    done = 0
    killed = False
    buffer = b""
    while True:
        ready, _, _ = select.select([reader], [], [], _WALL_SECONDS)
        data = os.read(reader, 1 << 16) if ready else b""
        if not ready:
            os.kill(child, signal.SIGKILL)
            killed = True
        if not data:
            break
        *lines, buffer = (buffer + data).split(b"\n")
        for line in lines:
            done += 1
            yield Result(**json.loads(line))
    os.close(reader)
    _, status = os.waitpid(child, 0)
    if done < len(numbers):
        how = os.waitstatus_to_exitcode(status)
        yield Result(
            numbers[done],
            HANG if killed else CRASH,
            message="no answer" if killed else f"exit status {how}",
            signature=f"process ended with {how}",
        )


def _work(run: Run, numbers: Sequence[int], writer: int) -> None:
    """What the forked process does; it does not return."""
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        for number in numbers:
            result = run_case(run, number)
            result = replace(result, peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
            os.write(writer, json.dumps(asdict(result)).encode() + b"\n")
    finally:
        os._exit(0)
