"""Give every value of a device program its place in memory: ``plan-memory``.

Feature maps share one arena by lifetime: a value lives from the operation that makes it to the last one that reads it,
and two values may overlap in memory only when they do not overlap in time. Where a program has several streams, that
means: when all uses of one are certain to be done before the other is made, by the streams and their events. Every slot
starts at a multiple of 512 bytes and has 32 spare bytes at its end. The cases:

1. the result of a launch or of host work lies in the arena, from its operation to its last reader;
2. a view lies where its operand lies, and keeps it alive;
3. an input of the model, and a result that the model returns, has a slot of its own behind the arena for the whole run,
   so that the caller may put it elsewhere (zero copy); what is returned twice, or is also an input, has one slot;
4. a constant lies in the weights block, in order of use, those with the same bytes once (`weight_block.py`);
5. a host value whose size is not known before it is computed has no place: offset -1.

A program that needs more memory than the device has is refused (GE4022), as are events that make no sense (GE3024).
The order of the operations is not changed. Running the pass again gives the same plan.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, RecordOp, ViewOp, WaitOp
from ge.dialects.graph.base import int_attr, ints
from ge.dialects.graph.streams import ProgramSteps, program_steps
from ge.dialects.om.values import ALIGNMENT, NO_OFFSET, slot_bytes, value_bytes
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import node_names, where
from ge.maths.intervals import Interval, lower_bound
from ge.maths.layouts import round_up
from ge.maths.placement import PLANNERS, Lifetimes, StreamLifetimes
from ge.maths.streams import Clock, clocks
from ge.passes.graph.weight_block import plan_weights
from ge.targets.ascend.soc import Soc, load_soc

Planner: TypeAlias = Literal["best-fit", "greedy-by-size", "search"]
"""How the values of the arena are placed: see :mod:`ge.maths.placement`."""


@dataclass(frozen=True)
class MemoryPlan:
    """Where everything lies, in bytes, and what the plan is worth."""

    offsets: dict[SSAValue, int]
    """Offset of every value: of constants (and views of them) in the weights, of all others in the feature maps."""
    arena_size: int
    """Peak of the values that come and go."""
    io_size: int
    """Slots of inputs and outputs, behind the arena."""
    weight_size: int
    size_without_reuse: int
    """What the arena would take if every value had its own slot."""
    lower_bound: int
    """The most bytes that are live at one moment: no plan for this order of operations takes less."""

    @property
    def memory_size(self) -> int:
        """Bytes of the feature-map memory: the arena, then inputs and outputs."""
        return self.arena_size + self.io_size


def plan_memory(
    program: FuncOp,
    reuse: bool = True,
    planner: Planner = "search",
    no_reuse: Collection[str] = (),
    *,
    one_stream: bool = False,
) -> MemoryPlan:
    """The places of all values of a device program. Raises GE3004 for an operation that is not of that level.

    Without ``reuse`` every value keeps its slot for the whole run, which helps to look at them afterwards; ``no_reuse``
    does that for the results of some nodes of the model. ``one_stream`` plans as if streams did not run side by side.
    """
    operations = list(body_of(program).ops)
    root = value_roots(program, operations)
    weights = plan_weights(operations, root)
    offsets = dict(weights.offsets)
    returned = [root[value] for value in operations[-1].operands]
    own = dict.fromkeys([*program.body.block.args, *(value for value in returned if value not in offsets)])
    intervals = _lifetimes(operations, root, exclude={*own, *offsets})
    kept = {value for value in intervals if not reuse or names_any(value, no_reuse)}
    last = len(operations)
    placed = {value: Interval(0, last, each.size) if value in kept else each for value, each in intervals.items()}
    steps = program_steps(program)
    one_stream = one_stream or steps.stream_count <= 1
    buffers = Lifetimes([*placed.values()]) if one_stream else _stream_lifetimes(steps, root, placed)
    placement = PLANNERS[planner](buffers, ALIGNMENT)
    offsets.update(zip(intervals, placement.offsets, strict=True))
    end = arena_size = round_up(placement.peak, ALIGNMENT)
    for value in own:
        size = value_bytes(value.type)
        offsets[value] = NO_OFFSET if size is None else end
        end += 0 if size is None else slot_bytes(size)
    for value, origin in root.items():
        offsets[value] = offsets.get(origin, NO_OFFSET)
    sizes = [interval.size for interval in intervals.values()]
    return MemoryPlan(
        offsets, arena_size, end - arena_size, weights.size, sum(sizes), lower_bound([*intervals.values()])
    )


def value_roots(program: FuncOp, operations: Sequence[Operation]) -> dict[SSAValue, SSAValue]:
    """For every value the one whose bytes it is: itself, or what it is a view of."""
    roots: dict[SSAValue, SSAValue] = {argument: argument for argument in program.body.block.args}
    for op in operations:
        match op:
            case ViewOp():
                roots[op.y] = roots[op.x]
            case ConstantOp() | LaunchOp() | HostOp() | RecordOp() | WaitOp() | ReturnOp():
                roots.update({result: result for result in op.results})
            case _:
                raise GeError("GE3004", f"a device program cannot contain {op.name}", where(op))
    return roots


def _lifetimes(
    operations: Sequence[Operation], root: dict[SSAValue, SSAValue], exclude: set[SSAValue]
) -> dict[SSAValue, Interval]:
    """When each value of the arena lives: from the number of its operation to that of its last reader."""
    last = {root[value]: step for step, op in enumerate(operations) for value in (*op.results, *op.operands)}
    intervals: dict[SSAValue, Interval] = {}
    for step, op in enumerate(operations):
        for result in op.results:
            size = value_bytes(result.type)
            if root[result] is result and result not in exclude and size is not None:
                intervals[result] = Interval(step, last[result], slot_bytes(size))
    return intervals


def _stream_lifetimes(
    program: ProgramSteps, root: dict[SSAValue, SSAValue], placed: dict[SSAValue, Interval]
) -> StreamLifetimes:
    """The lifetimes of the values of the arena in a program of several streams.

    What has the lifetime of the whole program because it shares memory with nothing keeps to that by its interval.
    """
    nothing: Clock = (0,) * program.stream_count
    made: dict[SSAValue, Clock] = {}
    used: dict[SSAValue, Clock] = dict.fromkeys(placed, nothing)
    for op, step, clock in zip(program.operations, program.steps, clocks(program.steps), strict=True):
        if step.is_task:
            made.update(dict.fromkeys(op.results, clock))
            for value in {root[value] for value in (*op.results, *op.operands)} & placed.keys():
                counts = [*used[value]]
                counts[step.stream] = clock[step.stream] + 1
                used[value] = tuple(counts)
    return StreamLifetimes([*placed.values()], [made[value] for value in placed], [used[value] for value in placed])


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Give every value of a device program its place in memory; see the module."""

    name = "plan-memory"

    reuse: bool = True
    planner: Planner = "search"
    no_reuse: tuple[str, ...] = ()
    """Names of nodes whose results share memory with nothing."""
    limit: int = 0
    """The most bytes that the values that come and go may take; 0 is no limit."""
    soc: str = "Ascend310P3"
    """The SoC whose memory must be large enough."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                plan = plan_memory(program, self.reuse, self.planner, self.no_reuse)
                _check_size(plan, load_soc(self.soc), program)
                if self.limit and plan.arena_size > self.limit:
                    raise _over_limit(program, plan, self.limit)
                write_plan(program, plan)


def _check_size(plan: MemoryPlan, soc: Soc, program: FuncOp) -> None:
    """Refuse a program that is too large for the device. Raises GE4022."""
    needed = plan.memory_size + plan.weight_size
    if needed > soc.memory_bytes:
        what = f"the model needs {needed} bytes ({plan.weight_size} for weights), {soc.name} has {soc.memory_bytes}"
        raise GeError("GE4022", what, where(program))


def _over_limit(program: FuncOp, plan: MemoryPlan, limit: int) -> GeError:
    """The error about a program that needs more than it may have: it names the largest values at the fullest step."""
    operations = list(body_of(program).ops)
    root = value_roots(program, operations)
    arena = {value for value, offset in plan.offsets.items() if 0 <= offset < plan.arena_size}
    constants = {value for op in operations if isinstance(op, ConstantOp) for value in op.results}
    intervals = _lifetimes(operations, root, exclude={*root} - arena | constants)
    fullest = max(
        range(len(operations)),
        key=lambda step: sum(each.size for each in intervals.values() if each.start <= step <= each.end),
    )
    live = sorted(
        (value for value, each in intervals.items() if each.start <= fullest <= each.end),
        key=lambda value: -intervals[value].size,
    )
    largest = ", ".join(f"{_node(value)} ({intervals[value].size} bytes)" for value in live[:5])
    what = f"values need {plan.arena_size} bytes at the same time, {limit} are allowed; most take: {largest}"
    return GeError("GE4024", what, where(operations[fullest]))


def _node(value: SSAValue) -> str:
    """The name of the node that makes a value."""
    names = node_names(value.owner) if isinstance(value.owner, Operation) else ()
    return f"'{names[-1]}'" if names else f"%{value.name_hint or '?'}"


def names_any(value: SSAValue, names: Collection[str]) -> bool:
    """Whether one of the nodes that a value comes from is named."""
    return bool(names) and isinstance(value.owner, Operation) and not {*names}.isdisjoint(node_names(value.owner))


def write_plan(program: FuncOp, plan: MemoryPlan) -> None:
    """Write the plan into the operations and the attributes of the function."""
    block = program.body.block
    for op in block.ops:
        match op:
            case ConstantOp() | ViewOp():
                op.offset = int_attr(plan.offsets[op.y])
            case LaunchOp() | HostOp():
                op.offsets = ints([plan.offsets[result] for result in op.results])
            case RecordOp() | WaitOp():
                pass
            case _:
                returned = [plan.offsets[value] for value in op.operands]
                program.attributes["graph.output_offsets"] = ints(returned)
    program.attributes["graph.input_offsets"] = ints([plan.offsets[argument] for argument in block.args])
    program.attributes["graph.memory_size"] = int_attr(plan.memory_size)
    program.attributes["graph.io_size"] = int_attr(plan.io_size)
    program.attributes["graph.weight_size"] = int_attr(plan.weight_size)
