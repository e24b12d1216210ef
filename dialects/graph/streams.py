"""Streams of a device program: the operations that order them, and what is certain to be done when.

A launch or host work runs in the stream that it names, one after the other in the order of the program. Tasks of
different streams run side by side, unless an event orders them: `graph.record` marks a moment of one stream, and
`graph.wait` holds another stream until that moment has come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def

from ge.dialects.graph.base import Int, int_attr
from ge.dialects.graph.program import HostOp, LaunchOp, check_number
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import where
from ge.maths.streams import MAX_EVENTS, MAX_STREAMS, EventError, Step, check_events


class EventOp(IRDLOperation):
    """What a stream does with an event; both have numbers from 0."""

    event = prop_def(Int)
    stream = prop_def(Int)

    def __init__(self, event: int, stream: int) -> None:
        super().__init__(properties={"event": int_attr(event), "stream": int_attr(stream)})

    def verify_(self) -> None:
        """Numbers are those that there may be."""
        check_number("event", self.event, MAX_EVENTS)
        check_number("stream", self.stream, MAX_STREAMS)


@irdl_op_definition
class RecordOp(EventOp):
    """Everything before it in its stream is done: `graph.record event 3 stream 0`. An event is recorded once."""

    name = "graph.record"

    assembly_format = "`event` $event `stream` $stream attr-dict"


@irdl_op_definition
class WaitOp(EventOp):
    """Hold a stream until an event is recorded: `graph.wait event 3 stream 1`. An event is waited for once."""

    name = "graph.wait"

    assembly_format = "`event` $event `stream` $stream attr-dict"


STREAM_OPS: list[type[Operation]] = [RecordOp, WaitOp]

TaskOp: TypeAlias = LaunchOp | HostOp


@dataclass(frozen=True)
class ProgramSteps:
    """What the streams of a device program do: its tasks and events, in order."""

    operations: tuple[Operation, ...]
    steps: tuple[Step, ...]

    @property
    def stream_count(self) -> int:
        """The number of streams."""
        return max((step.stream for step in self.steps), default=-1) + 1

    @property
    def event_count(self) -> int:
        """The number of events."""
        return sum(step.records is not None for step in self.steps)


def stream_of(op: TaskOp) -> int:
    """The stream of a task."""
    return 0 if op.stream is None else op.stream.value.data


def program_steps(program: FuncOp) -> ProgramSteps:
    """The steps of a device program. Raises GE3024 for events that are not recorded once and then waited for once."""
    operations: list[Operation] = []
    steps: list[Step] = []
    for op in body_of(program).ops:
        match op:
            case LaunchOp() | HostOp():
                steps.append(Step(stream_of(op)))
            case RecordOp():
                steps.append(Step(op.stream.value.data, records=op.event.value.data))
            case WaitOp():
                steps.append(Step(op.stream.value.data, waits=op.event.value.data))
            case _:
                continue
        operations.append(op)
    try:
        check_events(steps, in_order=True)
    except EventError as error:
        raise GeError("GE3024", str(error), where(operations[error.step])) from error
    return ProgramSteps(tuple(operations), tuple(steps))
