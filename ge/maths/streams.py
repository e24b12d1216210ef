"""Streams: which tasks may run at the same time, which events order them, and how long it takes.

A *stream* is a queue whose tasks run one after the other; tasks of different streams run when they can. An *event* lets
a task wait for a task of another stream.

The model of what may overlap: a task waits for its *start* to pass, which holds its stream but no core, and then
occupies a number of cores for its cycles. Tasks overlap while there are enough cores; each core has its own share of
the bandwidth of memory, so that tasks on different cores do not slow each other down. A task without cores is work of
the host processor, one more resource.

What is certain to be done when a task runs is kept as a *clock*: for each stream, how many of its tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

Clock = tuple[int, ...]

MAX_STREAMS = 1 << 6
MAX_EVENTS = 1 << 16
"""How many streams and events a program may have: more than it ever needs, so that a number beyond is an error."""


@dataclass(frozen=True)
class Task:
    """A piece of work: how long it takes, the cores it occupies, and the earlier tasks whose results it needs."""

    cycles: int
    cores: int
    needs: tuple[int, ...] = ()
    start: int = 0
    """Cycles from when it may run to when it occupies its cores."""

    @property
    def on_host(self) -> bool:
        """Whether it runs on the host processor."""
        return self.cores == 0


@dataclass(frozen=True)
class Machine:
    """What tasks run on."""

    cores: int
    event_cycles: int = 0
    """Cycles from the end of a task to when one of another stream, which waits for it, may run."""


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


# ---------------------------------------------------------------- choosing streams


def stream_choices(tasks: Sequence[Task], machine: Machine, most: int = 8) -> list[Schedule]:
    """Schedules of tasks in a legal order, for each number of streams up to ``most``; what takes the least time first.

    The last is one stream: what takes longer is left out, and of schedules that take equally long the one of more
    streams. A task follows in the stream of the task it needs that ends last, if nothing came behind that one yet;
    otherwise it takes a stream whose last task is certain to be done, or a new one while there are fewer than allowed.
    """
    found: dict[int, Schedule] = {}
    for allowed in range(1, most + 1):
        schedule = with_events(tasks, _chains(tasks, allowed)) if allowed > 1 else single_stream(tasks)
        found.setdefault(makespan(tasks, schedule, machine), schedule)
        if schedule.stream_count < allowed:
            break
    alone = makespan(tasks, single_stream(tasks), machine)
    return [found[time] for time in sorted(found) if time <= alone]


def assign_streams(tasks: Sequence[Task], machine: Machine, most: int = 8) -> Schedule:
    """The first of :func:`stream_choices`: as many streams as take the least time."""
    return stream_choices(tasks, machine, most)[0]


def _chains(tasks: Sequence[Task], most: int) -> list[int]:
    ends: list[int] = []
    before: list[int] = []  # for each task a bit mask of those that it needs, also by way of others
    last: list[int] = []
    streams: list[int] = []
    for index, task in enumerate(tasks):
        ends.append(max((ends[need] for need in task.needs), default=0) + task.start + task.cycles)
        done = 0
        for need in task.needs:
            done |= before[need] | 1 << need
        before.append(done)
        candidates = [stream for stream, tail in enumerate(last) if tail in task.needs]
        candidates = candidates or [stream for stream, tail in enumerate(last) if done >> tail & 1]
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
    across = sum(streams[need] != streams[index] for index, task in enumerate(tasks) for need in {*task.needs})
    positions = _positions(streams)
    width = max(streams, default=-1) + 1
    ends = [[0] * width for _ in range(width)]  # for each stream, the clock at the end of its last task so far
    after: list[list[int]] = []
    events: list[tuple[int, int]] = []
    for index, task in enumerate(tasks):
        clock = ends[streams[index]].copy()
        for need in sorted({*task.needs}, reverse=True):  # what comes last has most behind it
            if clock[streams[need]] <= positions[need]:
                events.append((need, index))
                clock[:] = map(max, clock, after[need])
        clock[streams[index]] = positions[index] + 1
        after.append(clock)
        ends[streams[index]] = clock
    return Schedule(tuple(streams), tuple(events), across)


def _positions(streams: Sequence[int]) -> list[int]:
    """For each task, how many come before it in its stream."""
    counts = [0] * (max(streams, default=-1) + 1)
    positions: list[int] = []
    for stream in streams:
        positions.append(counts[stream])
        counts[stream] += 1
    return positions


# ---------------------------------------------------------------- time


def start_times(tasks: Sequence[Task], schedule: Schedule, machine: Machine) -> list[int]:
    """When each task begins to occupy its cores, in cycles.

    Whenever cores are free, the first task in the list that may run and fits begins; nothing is interrupted.
    """
    sources: list[list[int]] = [[] for _ in tasks]
    for source, target in schedule.events:
        sources[target].append(source)
    queues = [[i for i, s in enumerate(schedule.streams) if s == stream] for stream in range(schedule.stream_count)]
    heads = [0] * len(queues)
    idle_since = [0] * len(queues)
    starts, ends = [-1] * len(tasks), [-1] * len(tasks)
    running: list[int] = []
    now = 0
    while any(head < len(queue) for head, queue in zip(heads, queues, strict=True)):
        running = [index for index in running if ends[index] > now]
        ready: dict[int, int] = {}
        for stream, (head, queue) in enumerate(zip(heads, queues, strict=True)):
            if head < len(queue) and all(ends[source] >= 0 for source in sources[queue[head]]):
                told = max((ends[source] + machine.event_cycles for source in sources[queue[head]]), default=0)
                ready[queue[head]] = max(idle_since[stream], told) + tasks[queue[head]].start
        able = [index for index, since in ready.items() if since <= now and _fits(tasks, running, index, machine)]
        if not able:
            now = min(moment for moment in (*ready.values(), *(ends[each] for each in running)) if moment > now)
            continue
        begun = min(able)
        starts[begun], ends[begun] = now, now + tasks[begun].cycles
        heads[schedule.streams[begun]] += 1
        idle_since[schedule.streams[begun]] = ends[begun]
        running.append(begun)
    return starts


def _fits(tasks: Sequence[Task], running: Sequence[int], index: int, machine: Machine) -> bool:
    """Whether a task finds what it runs on free."""
    if tasks[index].on_host:
        return not any(tasks[each].on_host for each in running)
    taken = sum(min(tasks[each].cores, machine.cores) for each in running)
    return taken + min(tasks[index].cores, machine.cores) <= machine.cores


def makespan(tasks: Sequence[Task], schedule: Schedule, machine: Machine) -> int:
    """The cycles from the start of the first task to the end of the last."""
    starts = start_times(tasks, schedule, machine)
    return max((start + task.cycles for start, task in zip(starts, tasks, strict=True)), default=0)


# ---------------------------------------------------------------- streams at work


@dataclass(frozen=True)
class Step:
    """What a stream does: a task, or the record of an event, or the wait for one."""

    stream: int
    records: int | None = None
    waits: int | None = None

    @property
    def is_task(self) -> bool:
        """Whether it is work."""
        return self.records is None and self.waits is None


class DeadlockError(ValueError):
    """No stream can go on. ``blocked`` are the steps that wait for events that nobody records any more."""

    def __init__(self, blocked: Sequence[int]) -> None:
        super().__init__(f"steps {', '.join(map(str, sorted(blocked)))} wait for each other")
        self.blocked = tuple(sorted(blocked))


class EventError(ValueError):
    """An event makes no sense at a step."""

    def __init__(self, what: str, step: int) -> None:
        super().__init__(what)
        self.step = step


def check_events(steps: Sequence[Step], in_order: bool = False) -> None:
    """Raise :class:`EventError` unless each event is recorded once and waited for once; ``in_order``: after that."""
    recorded = {step.records: index for index, step in enumerate(steps) if step.records is not None}
    waited: set[int] = set()
    for index, step in enumerate(steps):
        if step.records is not None and recorded[step.records] != index:
            raise EventError(f"event {step.records} is recorded twice", recorded[step.records])
        if step.waits is None:
            continue
        if step.waits not in recorded or (in_order and recorded[step.waits] > index):
            before = " before" if in_order else ""
            raise EventError(f"event {step.waits} is waited for, but nothing{before} records it", index)
        if step.waits in waited:
            raise EventError(f"event {step.waits} is waited for twice", index)
        waited.add(step.waits)
    for event, index in recorded.items():
        if event not in waited:
            raise EventError(f"event {event} is recorded, but nothing waits for it", index)


def interleaving(steps: Sequence[Step], random: Random | None = None) -> list[int]:
    """An order in which streams may take their steps: of those that can, always the first in the list does.

    With ``random`` any of them does. Raises :class:`DeadlockError`.
    """
    queues: dict[int, list[int]] = {}
    for index in reversed(range(len(steps))):
        queues.setdefault(steps[index].stream, []).append(index)
    recorded: set[int | None] = {None}
    order: list[int] = []
    choose: Callable[[Sequence[int]], int] = min if random is None else random.choice
    while heads := [queue[-1] for _, queue in sorted(queues.items()) if queue]:
        able = [index for index in heads if steps[index].waits in recorded]
        if not able:
            raise DeadlockError(heads)
        index = choose(able)
        queues[steps[index].stream].pop()
        recorded.add(steps[index].records)
        order.append(index)
    return order


def clocks(steps: Sequence[Step], order: Sequence[int] | None = None) -> list[Clock]:
    """For each step, how many tasks of each stream are certain to be done when it is taken.

    ``order`` is any order that is possible; the list itself when left out. Raises ValueError when it is not possible.
    """
    width = max((step.stream for step in steps), default=-1) + 1
    known: list[Clock] = [(0,) * width] * width
    told: dict[int, Clock] = {}
    found: list[Clock] = [()] * len(steps)
    for index in range(len(steps)) if order is None else order:
        step = steps[index]
        clock = known[step.stream]
        if step.waits is not None:
            if step.waits not in told:
                raise ValueError(f"step {index} waits for event {step.waits}, which no step before it records")
            clock = tuple(map(max, clock, told[step.waits]))
        found[index] = clock
        if step.records is not None:
            told[step.records] = clock
        if step.is_task:
            clock = (*clock[: step.stream], clock[step.stream] + 1, *clock[step.stream + 1 :])
        known[step.stream] = clock
    return found


def schedule_of(steps: Sequence[Step], order: Sequence[int] | None = None) -> Schedule:
    """The tasks among steps with their streams and events; ``order`` is any order that is possible.

    An event stands for the last task before its record, or, where that stream has only waited since, for what it
    waited for.
    """
    numbers = [index for index, step in enumerate(steps) if step.is_task]
    task_of = {index: number for number, index in enumerate(numbers)}
    last: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    told: dict[int, list[int]] = {}
    events: list[tuple[int, int]] = []
    for index in range(len(steps)) if order is None else order:
        step = steps[index]
        if step.records is not None:
            own = [last[step.stream]] if step.stream in last else []
            told[step.records] = [*own, *waiting.get(step.stream, ())]
        if step.waits is not None:
            waiting.setdefault(step.stream, []).extend(told[step.waits])
        if step.is_task:
            last[step.stream] = task_of[index]
            events += [(source, task_of[index]) for source in waiting.pop(step.stream, ())]
    return Schedule(tuple(steps[index].stream for index in numbers), tuple(events), len(events))
