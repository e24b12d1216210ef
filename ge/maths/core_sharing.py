"""Sharing the cores: how many each task takes, so that tasks which may run side by side do.

A kernel is fastest on all cores, but two that need each half of them may be done sooner than one after the other:
neither start nor latency of a kernel gets shorter with more cores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ge.maths.streams import Machine, Schedule, Task, assign_streams, makespan, with_events

EFFORT = 500_000
"""How many tasks are placed in all tries together: a number and not a time, so that every machine finds the same."""


def share_cores(choices: Sequence[Sequence[Task]], machine: Machine, most: int = 8) -> list[int]:
    """Which of its ``choices`` each task takes, by number, such that all together take little time.

    The choices of a task differ in cores and cycles; all need the same tasks. The first one is what a task takes that
    runs alone. Tried is, for each task, that all which may run beside it take another choice, and then each for itself;
    what saves time is kept, unless all together are no faster than the first choices, each in the streams of
    :func:`ge.maths.streams.assign_streams`.
    """
    chosen = [0] * len(choices)
    first = tasks = [each[0] for each in choices]
    schedule = _widest(tasks, machine, most)
    least = makespan(tasks, schedule, machine)
    tries = EFFORT // max(len(tasks), 1)
    for group, number in _moves(choices, _beside(tasks)):
        changed = {index: min(number, len(choices[index]) - 1) for index in group}
        if tries <= 0 or all(chosen[index] == choice for index, choice in changed.items()):
            continue
        tries -= 1
        trial = tasks.copy()
        for index, choice in changed.items():
            trial[index] = choices[index][choice]
        time = makespan(trial, schedule, machine)
        if time < least:
            tasks, least = trial, time
            for index, choice in changed.items():
                chosen[index] = choice
    saves = _time(tasks, machine, most) < _time(first, machine, most)
    return chosen if saves else [0] * len(choices)


def _time(tasks: Sequence[Task], machine: Machine, most: int) -> int:
    """What tasks take in the streams that they will be put into."""
    return makespan(tasks, assign_streams(tasks, machine, most), machine)


def _widest(tasks: Sequence[Task], machine: Machine, most: int) -> Schedule:
    """The fastest schedule of tasks that take no cores: what streams there are when cores are shared well."""
    free = [Task(task.cycles, 1, task.needs, task.start) for task in tasks]
    found = assign_streams(free, Machine(len(tasks), machine.event_cycles), most)
    return with_events(tasks, found.streams)


def _beside(tasks: Sequence[Task]) -> list[list[int]]:
    """For each task, itself and those that neither need it nor are needed by it."""
    before: list[int] = []
    for task in tasks:
        done = 0
        for need in task.needs:
            done |= before[need] | 1 << need
        before.append(done)
    return [
        [
            other
            for other in range(len(tasks))
            if not before[index] >> other & 1 and not before[other] >> index & 1 and not tasks[other].on_host
        ]
        for index in range(len(tasks))
    ]


def _moves(choices: Sequence[Sequence[Task]], beside: Sequence[Sequence[int]]) -> Iterator[tuple[Sequence[int], int]]:
    """What to try: tasks, and the choice that they take."""
    seen: set[tuple[int, ...]] = set()
    for index, group in enumerate(beside):
        if len(group) > 1 and tuple(group) not in seen:
            seen.add(tuple(group))
            for number in range(1, len(choices[index])):
                yield group, number
    for index, group in enumerate(beside):
        if len(group) > 1:
            for number in range(len(choices[index])):
                yield [index], number
