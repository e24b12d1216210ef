"""What the streams of an OM file do: the tasks of TASK_INFO as steps, checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ge.maths.streams import MAX_EVENTS, MAX_STREAMS, Step, check_events, clocks, interleaving
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


def unready(
    tasks: Sequence[Task], steps: Sequence[Step], given: Collection[str], source: Mapping[str, str]
) -> tuple[str, str] | None:
    """A task and a value that it may read before that is made; None when there is none.

    ``given`` are values that are there from the start; ``source`` names for each value the one whose bytes it is.
    Raises :class:`ge.maths.streams.DeadlockError` for streams that wait for each other.
    """
    found = clocks(steps, interleaving(steps))
    known = [(step.stream, clock) for step, clock in zip(steps, found, strict=True) if step.is_task]
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
