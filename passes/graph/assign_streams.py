"""The pass `assign-streams`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge.dialects.graph import HostOp, LaunchOp, RecordOp, WaitOp
from ge.dialects.graph.base import int_attr
from ge.dialects.graph.streams import program_steps
from ge.ir.functions import body_of
from ge.ir.rewrite_log import logger
from ge.ir.rewriting import permit
from ge.maths.streams import MAX_STREAMS, Schedule, makespan, stream_choices
from ge.passes.graph.plan_memory import plan_memory
from ge.passes.graph.program_time import ProgramTime, program_time
from ge.targets.ascend.soc import load_soc

SEARCHING_GAINS = 1.5
"""How far a plan by size may be from one that is searched for. Of nine real models in streams it was 1.21 at most."""


@dataclass(frozen=True)
class AssignStreamsPass(ModulePass):
    """Put the tasks of a device program into streams that run side by side, and insert the events that order them.

    What may overlap is the model of :mod:`ge.maths.streams`: cores, the start of a kernel, the cost of an event.

    1. Independent branches go to different streams, to as few as give the shortest time, `most` at the most. Of the
       numbers of streams, those count that save at least `gain` percent of the time that one stream takes, and with
       which the values that come and go need at most `memory` percent more than in one stream.
    2. Where a task needs one of another stream, an event is recorded behind that one and waited for by this one; not
       where it follows from other events and the order inside the streams (transitive reduction).

    Left alone: the order of the operations; a chain; branches that win nothing, as when every kernel takes all cores
    for longer than the next takes to start; a program that has streams or events already.
    """

    name = "assign-streams"

    most: int = 8
    """The most streams."""
    gain: int = 2
    """The least that streams must save, in percent of the time."""
    memory: int = -1
    """The most that they may cost, in percent of the memory; -1 is no limit."""
    soc: str = "Ascend310P3"
    """The SoC that the program runs on."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                steps = program_steps(program)
                if steps.stream_count <= 1 and not steps.event_count:
                    self._assign(program, program_time(program, load_soc(self.soc)))

    def _assign(self, program: FuncOp, time: ProgramTime) -> None:
        """Choose the streams of a program, and write them if they are more than one."""
        longest = time.cycles_in_one_stream * (100 - self.gain)
        choices = [
            each
            for each in stream_choices(time.tasks, time.machine, min(self.most, MAX_STREAMS))
            if each.stream_count > 1 and 100 * makespan(time.tasks, each, time.machine) <= longest
        ]
        limit = plan_memory(program).arena_size * (100 + self.memory) // 100 if choices and self.memory >= 0 else None
        for schedule in choices:
            write_streams(program, time, schedule)
            if limit is None or _fits(program, limit):
                break
            erase_streams(program)
        else:
            return
        if permit(self.name, program):
            _log(time, schedule)
        else:
            erase_streams(program)


def _fits(program: FuncOp, limit: int) -> bool:
    """Whether the values of a program fit into so many bytes; a search is only tried where it may decide that."""
    quick = plan_memory(program, planner="greedy-by-size").arena_size
    if quick <= limit or quick > limit * SEARCHING_GAINS:
        return quick <= limit
    return plan_memory(program).arena_size <= limit


def _log(time: ProgramTime, schedule: Schedule) -> None:
    logger.info(
        "%d streams, %d events of %d dependencies: %d cycles instead of %d",
        schedule.stream_count,
        len(schedule.events),
        schedule.dependencies,
        makespan(time.tasks, schedule, time.machine),
        time.cycles_in_one_stream,
    )


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


def erase_streams(program: FuncOp) -> None:
    """Put all tasks of a program into one stream, in the order that they have."""
    for op in list(body_of(program).ops):
        if isinstance(op, LaunchOp | HostOp):
            op.stream = None
        if isinstance(op, RecordOp | WaitOp):
            op.detach()
            op.erase()
