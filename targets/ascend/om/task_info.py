"""What the streams of an OM file do: the tasks of TASK_INFO as steps, checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ge.dialects.om.values import SPARE, Area
from ge.maths.streams import MAX_EVENTS, MAX_STREAMS, Clock, Step, check_events, clocks, interleaving
from ge.targets.ascend.om.conventions import RECORD_TASK, WAIT_TASK
from ge.targets.ascend.om.model import Task
from ge.targets.ascend.om.proto import task_pb2 as messages


def read_steps(info: messages.ModelTaskDef) -> list[Step]:
    """The steps of the streams. Raises ValueError for numbers beyond those announced, and for events without sense."""
    if info.stream_num > MAX_STREAMS or info.event_num > MAX_EVENTS:
        raise ValueError(f"{info.stream_num} streams and {info.event_num} events are more than a model may have")
    steps = [_step(message) for message in info.task]
    for message in info.task:
        if message.stream_id >= info.stream_num:
            raise ValueError(f"task {message.id} is in stream {message.stream_id} of {info.stream_num}")
        if message.type in (RECORD_TASK, WAIT_TASK) and message.event_id >= info.event_num:
            raise ValueError(f"task {message.id} is about event {message.event_id} of {info.event_num}")
    check_events(steps)
    return steps


def _step(message: messages.TaskDef) -> Step:
    if message.type == RECORD_TASK:
        return Step(message.stream_id, records=message.event_id)
    if message.type == WAIT_TASK:
        return Step(message.stream_id, waits=message.event_id)
    return Step(message.stream_id)


def task_clocks(steps: Sequence[Step]) -> list[tuple[int, Clock]]:
    """For each task its stream, and how many tasks of each stream are certain to be done when it runs.

    Raises :class:`ge.maths.streams.DeadlockError` for streams that wait for each other.
    """
    found = clocks(steps, interleaving(steps))
    return [(step.stream, clock) for step, clock in zip(steps, found, strict=True) if step.is_task]


def unready(
    tasks: Sequence[Task], known: Sequence[tuple[int, Clock]], given: Collection[str], source: Mapping[str, str]
) -> tuple[str, str] | None:
    """A task and a value that it may read before that is made; None when there is none.

    ``given`` are values that are there from the start; ``source`` names for each value the one whose bytes it is.
    """
    makers = {
        value.name: (stream, clock[stream])  # the stream, and how many tasks of it come before
        for task, (stream, clock) in zip(tasks, known, strict=True)
        for value in task.outputs
    }
    for task, (_, clock) in zip(tasks, known, strict=True):
        for value in task.inputs:
            name = source[value.name]
            stream, position = makers.get(name, (0, clock[0]))
            if name not in given and clock[stream] <= position:
                return task.operator, value.name
    return None


def race(tasks: Sequence[Task], known: Sequence[tuple[int, Clock]]) -> tuple[str, str] | None:
    """Two tasks that may use the same bytes of the feature maps at the same time, one of them writing; None if none do.

    A task may write up to 32 bytes behind a result.
    """
    uses = [
        (number, value.offset, value.offset + value.nbytes + (SPARE if writes else 0), writes)
        for number, task in enumerate(tasks)
        for values, writes in ((task.inputs, False), (task.outputs, True))
        for value in values
        if value.area is Area.MEMORY
    ]
    if not uses or len({stream for stream, _ in known}) < 2:
        return None
    user, start, end, writes = np.array(uses, np.int64).T
    streams = np.array([stream for stream, _ in known], np.int64)[user]
    done = np.array([clock for _, clock in known], np.int64)[user]
    position = done[np.arange(len(user)), streams]
    for index in range(len(user)):
        meets = (start < end[index]) & (start[index] < end) & (streams != streams[index])
        others = np.flatnonzero(meets & ((writes | writes[index]) > 0))
        before = done[index, streams[others]] > position[others]
        after = done[others, streams[index]] > position[index]
        apart = others[~(before | after)]
        if apart.size:
            return tasks[int(user[index])].operator, tasks[int(user[apart[0]])].operator
    return None
