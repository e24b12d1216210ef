"""How long a device program takes: its tasks, streams and events in the terms of :mod:`ge.maths.streams`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ge.dialects.graph import HostOp, LaunchOp
from ge.dialects.graph.streams import TaskOp, program_steps
from ge.dialects.om.values import value_bytes
from ge.ir.functions import body_of
from ge.maths.streams import Machine, Schedule, Task, makespan, schedule_of, single_stream
from ge.passes.graph.program_work import value_roots
from ge.targets.ascend.soc import Soc


@dataclass(frozen=True)
class ProgramTime:
    """The tasks of a device program in order, and the streams and events that the program has now."""

    operations: tuple[TaskOp, ...]
    tasks: tuple[Task, ...]
    schedule: Schedule
    machine: Machine

    @cached_property
    def cycles(self) -> int:
        """Cycles from the start of the first task to the end of the last."""
        return makespan(self.tasks, self.schedule, self.machine)

    @cached_property
    def cycles_in_one_stream(self) -> int:
        """The same for one task after the other."""
        return makespan(self.tasks, single_stream(self.tasks), self.machine)


def program_time(program: FuncOp, soc: Soc) -> ProgramTime:
    """The tasks of a program on a chip. Raises GE3004 and GE3024 for what is no device program.

    A launch takes the `cycles` that `estimate-cycles` wrote; without them, as many as its cores take to move its
    operands and results. Work of the host takes no time, because nothing is known of the host.
    """
    operations = [op for op in body_of(program).ops if isinstance(op, LaunchOp | HostOp)]
    root = value_roots(program, list(body_of(program).ops))
    made_by: dict[SSAValue, int] = {result: index for index, op in enumerate(operations) for result in op.results}
    tasks: list[Task] = []
    for op in operations:
        needs = {made_by[root[value]] for value in op.operands if root[value] in made_by}
        if isinstance(op, LaunchOp):
            cores = min(op.blocks.value.data, soc.cores)
            tasks.append(Task(launch_cycles(op, soc), cores, tuple(sorted(needs)), soc.launch_cycles))
        else:
            tasks.append(Task(0, 0, tuple(sorted(needs))))
    schedule = schedule_of(program_steps(program).steps)
    streams = schedule.streams
    across = sum(streams[need] != streams[index] for index, task in enumerate(tasks) for need in task.needs)
    schedule = replace(schedule, dependencies=across)
    return ProgramTime(tuple(operations), tuple(tasks), schedule, Machine(soc.cores, soc.event_cycles))


def launch_cycles(op: LaunchOp, soc: Soc) -> int:
    """How long a launch occupies its cores."""
    if op.cycles is not None:
        return op.cycles.value.data
    cores = max(1, min(op.blocks.value.data, soc.cores))
    return round(_bytes((*op.operands, *op.results)) / (cores * soc.ddr_rate))


def _bytes(values: Sequence[SSAValue]) -> int:
    return sum(value_bytes(value.type) or 0 for value in values)
