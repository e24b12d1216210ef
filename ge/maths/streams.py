"""Streams: which tasks may run at the same time, which events order them, and how long it takes.

A *stream* is a queue whose tasks run one after the other; tasks of different streams run when they can. An *event* lets
a task wait for a task of another stream. The model of what may overlap: a task occupies a number of cores (none: it is
work of the host processor, one more resource) for its cycles, and tasks overlap while there are enough cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A piece of work: how long it takes, the cores it occupies, and the earlier tasks whose results it needs."""

    cycles: int
    cores: int
    needs: tuple[int, ...] = ()

    @property
    def on_host(self) -> bool:
        """Whether it runs on the host processor."""
        return self.cores == 0


@dataclass(frozen=True)
class Schedule:
    """Tasks in streams: the stream of each task, and events as pairs (task that records, task that waits)."""

    streams: tuple[int, ...]
    events: tuple[tuple[int, int], ...]
    """No event follows from the others and the order inside the streams."""
    dependencies: int
    """The pairs of tasks in different streams of which one needs the other: the events before they were reduced."""

    @property
    def stream_count(self) -> int:
        """The number of streams."""
        return max(self.streams, default=-1) + 1


def single_stream(tasks: Sequence[Task]) -> Schedule:
    """All tasks in one stream, in the order given."""
    return Schedule((0,) * len(tasks), (), 0)


def assign_streams(tasks: Sequence[Task], cores: int, most: int = 8) -> Schedule:
    """Streams for tasks in a legal order: one stream when nothing is won by more.

    A task follows in the stream of the task it needs that ends last, if nothing came behind that one yet; otherwise it
    takes a stream whose last task is certain to be done, or a new one while there are fewer than ``most``.
    """
    split = with_events(tasks, _chains(tasks, most))
    alone = single_stream(tasks)
    return split if makespan(tasks, split, cores) < makespan(tasks, alone, cores) else alone


def _chains(tasks: Sequence[Task], most: int) -> list[int]:
    ends: list[int] = []
    before: list[set[int]] = []
    last: list[int] = []
    streams: list[int] = []
    for index, task in enumerate(tasks):
        ends.append(max((ends[need] for need in task.needs), default=0) + task.cycles)
        before.append({*task.needs}.union(*(before[need] for need in task.needs)))
        candidates = [stream for stream, tail in enumerate(last) if tail in task.needs]
        candidates = candidates or [stream for stream, tail in enumerate(last) if tail in before[index]]
        if candidates:
            stream = max(candidates, key=lambda stream: ends[last[stream]])
        elif len(last) < most:
            stream = len(last)
            last.append(index)
        else:
            stream = min(range(most), key=lambda stream: ends[last[stream]])
        last[stream] = index
        streams.append(stream)
    return streams


def with_events(tasks: Sequence[Task], streams: Sequence[int]) -> Schedule:
    """The events that tasks in these streams need: those of the transitive reduction of all orders."""
    needed = {(need, index) for index, task in enumerate(tasks) for need in task.needs}
    across = sum(streams[need] != streams[index] for need, index in needed)
    in_stream = {b: a for a, b in _stream_order(streams)}
    before: list[int] = []
    events: list[tuple[int, int]] = []
    for index, task in enumerate(tasks):
        done = 0
        follows = in_stream.get(index)
        if follows is not None:
            done = before[follows] | 1 << follows
        for need in sorted(set(task.needs), reverse=True):  # what comes last has most behind it
            if not done >> need & 1:
                events.append((need, index))
                done |= before[need] | 1 << need
        before.append(done)
    return Schedule(tuple(streams), tuple(events), across)


def _stream_order(streams: Sequence[int]) -> list[tuple[int, int]]:
    """Each task with the next one of its stream."""
    last: dict[int, int] = {}
    pairs: list[tuple[int, int]] = []
    for index, stream in enumerate(streams):
        if stream in last:
            pairs.append((last[stream], index))
        last[stream] = index
    return pairs


def predecessors(schedule: Schedule) -> list[int]:
    """For each task a bit mask of the tasks that are certainly done when it starts."""
    before: list[int] = [0] * len(schedule.streams)
    waits: list[list[int]] = [[] for _ in before]
    for a, b in (*schedule.events, *_stream_order(schedule.streams)):
        waits[b].append(a)
    for index, earlier in enumerate(waits):
        for each in earlier:
            before[index] |= before[each] | 1 << each
    return before


def start_times(tasks: Sequence[Task], schedule: Schedule, cores: int) -> list[int]:
    """When each task starts, in cycles: as soon as its stream, its events, and cores left by earlier tasks allow."""
    waits: list[list[int]] = [[] for _ in tasks]
    for a, b in (*schedule.events, *_stream_order(schedule.streams)):
        waits[b].append(a)
    starts: list[int] = []
    for index, task in enumerate(tasks):
        earliest = max((starts[a] + tasks[a].cycles for a in waits[index]), default=0)
        ends = (start + other.cycles for start, other in zip(starts, tasks, strict=False))
        moments = sorted({earliest, *(end for end in ends if end > earliest)})
        starts.append(next(moment for moment in moments if _fits(tasks, starts, task, moment, cores)))
    return starts


def _fits(tasks: Sequence[Task], starts: Sequence[int], task: Task, moment: int, cores: int) -> bool:
    """Whether a task may run from a moment on, beside the tasks that have been placed before."""
    running = [
        (start, other)
        for start, other in zip(starts, tasks, strict=False)
        if start < moment + task.cycles and start + other.cycles > moment and other.on_host == task.on_host
    ]
    if task.on_host:
        return not running
    points = [moment, *(start for start, _ in running if start > moment)]
    return all(
        sum(other.cores for start, other in running if start <= point < start + other.cycles) + task.cores <= cores
        for point in points
    )


def makespan(tasks: Sequence[Task], schedule: Schedule, cores: int) -> int:
    """The cycles from the start of the first task to the end of the last."""
    starts = start_times(tasks, schedule, cores)
    return max((start + task.cycles for start, task in zip(starts, tasks, strict=True)), default=0)
