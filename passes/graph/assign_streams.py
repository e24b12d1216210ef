"""The pass `assign-streams`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge.dialects.graph import RecordOp, WaitOp
from ge.dialects.graph.base import int_attr
from ge.dialects.graph.streams import program_steps
from ge.ir.functions import body_of
from ge.ir.rewrite_log import logger
from ge.ir.rewriting import permit
from ge.maths.streams import Schedule, assign_streams, makespan
from ge.passes.graph.program_time import ProgramTime, program_time
from ge.targets.ascend.soc import load_soc


@dataclass(frozen=True)
class AssignStreamsPass(ModulePass):
    """Put the tasks of a device program into streams that run side by side, and insert the events that order them.

    What may overlap is the model of :mod:`ge.maths.streams`: cores, the start of a kernel, the cost of an event.

    1. Independent branches go to different streams, to as few as give the shortest time, `most` at the most.
    2. Where a task needs one of another stream, an event is recorded behind that one and waited for by this one; not
       where it follows from other events and the order inside the streams (transitive reduction).

    Left alone: the order of the operations; a chain; branches that win nothing, as when every kernel takes all cores
    for longer than the next takes to start; a program that has streams or events already.
    """

    name = "assign-streams"

    most: int = 8
    """The most streams."""
    soc: str = "Ascend310P3"
    """The SoC that the program runs on."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                steps = program_steps(program)
                if steps.stream_count <= 1 and not steps.event_count:
                    _assign(program, program_time(program, load_soc(self.soc)), self.most)


def _assign(program: FuncOp, time: ProgramTime, most: int) -> None:
    """Choose the streams of a program, and write them if they are more than one."""
    schedule = assign_streams(time.tasks, time.machine, most)
    if schedule.stream_count <= 1 or not permit(AssignStreamsPass.name, program):
        return
    logger.info(
        "%d streams, %d events of %d dependencies: %d cycles instead of %d",
        schedule.stream_count,
        len(schedule.events),
        schedule.dependencies,
        makespan(time.tasks, schedule, time.machine),
        time.cycles_in_one_stream,
    )
    write_streams(program, time, schedule)


def write_streams(program: FuncOp, time: ProgramTime, schedule: Schedule) -> None:
    """Write the stream of each task, and the events around them; events are numbered in the order of their waits."""
    block = body_of(program)
    for op, stream in zip(time.operations, schedule.streams, strict=True):
        op.stream = int_attr(stream)
    events = sorted(schedule.events, key=lambda event: event[::-1])
    for number, (source, _) in reversed([*enumerate(events)]):  # so that several behind one task ascend
        block.insert_op_after(RecordOp(number, schedule.streams[source]), time.operations[source])
    for number, (_, target) in enumerate(events):
        block.insert_op_before(WaitOp(number, schedule.streams[target]), time.operations[target])
