"""Give every value of a device program its place in memory: ``plan-memory``.

Feature maps share one arena by lifetime: a value lives from the operation that makes it to the last one that reads it,
and two values may overlap in memory only when they do not overlap in time. Where a program has several streams, that
means: when all uses of one are certain to be done before the other is made, by the streams and their events. Every slot
starts at a multiple of 512 bytes and has 32 spare bytes at its end. The cases:

1. the result of a launch or of host work lies in the arena, from its operation to its last reader;
2. the result of a launch is written over an operand, where its kernel allows that (`in_place` of the launch), both take
   as many bytes, the operand is in the arena and nothing uses it later; operands of host work have been copied when its
   results are written, so that these may lie anywhere in their memory;
3. a view lies where its operand lies, and keeps it alive;
4. an input of the model, and a result that the model returns, has a slot of its own behind the arena for the whole run,
   so that the caller may put it elsewhere (zero copy); what is returned twice, or is also an input, has one slot;
5. a constant lies in the weights block, in order of use, those with the same bytes once (`weight_block.py`);
6. a host value whose size is not known before it is computed has no place: offset -1.

A program that needs more memory than the device has is refused (GE4022), as are events that make no sense (GE3024).
The order of the operations is not changed. Running the pass again gives the same plan.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
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
from ge.maths.ordering import lifetimes, place_lifetimes, places
from ge.maths.placement import PLANNERS, Lifetimes, StreamLifetimes
from ge.maths.streams import Clock, clocks
from ge.passes.graph.program_work import ProgramWork, program_work, value_roots
from ge.passes.graph.weight_block import plan_weights
from ge.targets.ascend.soc import Soc, load_soc

Planner: TypeAlias = Literal["best-fit", "greedy-by-size", "search", "solver"]
"""How the values of the arena are placed: see :mod:`ge.maths.placement`."""


def check_planner(planner: Planner) -> None:
    """Raise GE2050 for a planner whose package is not installed."""
    if planner == "solver" and find_spec("ortools") is None:
        raise GeError("GE2050", "the planner 'solver' needs the package ortools")


@dataclass(frozen=True)
class Slot:
    """A piece of the arena: the values in it, each written over the one before, and when it is in use."""

    values: tuple[SSAValue, ...]
    interval: Interval
    """In steps of two for each task: see :func:`ge.maths.ordering.lifetimes`."""


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
    slots: tuple[Slot, ...]
    """The pieces of the arena."""

    @property
    def in_place(self) -> int:
        """How many results are written over an operand."""
        return sum(len(slot.values) - 1 for slot in self.slots)

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
    in_place: bool = True,
    one_stream: bool = False,
) -> MemoryPlan:
    """The places of all values of a device program. Raises GE3004 for an operation that is not of that level.

    Without ``reuse`` every value keeps its slot for the whole run, which helps to look at them afterwards; ``no_reuse``
    does that for the results of some nodes of the model. Without ``in_place`` no result is written over an operand of
    its launch. ``one_stream`` plans as if streams did not run side by side. Raises GE2050 for a planner whose
    package is not installed.
    """
    check_planner(planner)
    operations = list(body_of(program).ops)
    root = value_roots(program, operations)
    weights = plan_weights(operations, root)
    offsets = dict(weights.offsets)
    returned = [root[value] for value in operations[-1].operands]
    own = dict.fromkeys([*program.body.block.args, *(value for value in returned if value not in offsets)])
    work = program_work(program, in_place)
    kept = {value for value in work.values if not reuse or names_any(value, no_reuse)}
    slots = _slots(work, kept)
    steps = program_steps(program)
    one_stream = one_stream or steps.stream_count <= 1
    buffers = Lifetimes([slot.interval for slot in slots]) if one_stream else _stream_lifetimes(steps, root, slots)
    placement = PLANNERS[planner](buffers, ALIGNMENT)
    for slot, offset in zip(slots, placement.offsets, strict=True):
        offsets.update(dict.fromkeys(slot.values, offset))
    end = arena_size = round_up(placement.peak, ALIGNMENT)
    for value in own:
        size = value_bytes(value.type)
        offsets[value] = NO_OFFSET if size is None else end
        end += 0 if size is None else slot_bytes(size)
    for value, origin in root.items():
        offsets[value] = offsets.get(origin, NO_OFFSET)
    return MemoryPlan(
        offsets=offsets,
        arena_size=arena_size,
        io_size=end - arena_size,
        weight_size=weights.size,
        size_without_reuse=sum(work.sizes),
        lower_bound=lower_bound([slot.interval for slot in _slots(work)]),
        slots=tuple(slots),
    )


def _slots(work: ProgramWork, kept: Collection[SSAValue] = ()) -> list[Slot]:
    """The slots of a program; values of `kept` have one of their own for the whole run."""
    order = range(len(work.work))
    whole = (0, 2 * len(order))
    intervals = [
        Interval(*whole, each.size) if value in kept else each
        for value, each in zip(work.values, lifetimes(work.work, work.sizes, order), strict=True)
    ]
    first = places(work.work, order, intervals)
    members: dict[int, list[SSAValue]] = {}
    for value, place in zip(work.values, first, strict=True):
        members.setdefault(place, []).append(value)
    return [
        Slot(tuple(members[place]), interval)
        for place, interval in place_lifetimes(first, intervals).items()
        if interval.size
    ]


def _stream_lifetimes(
    program: ProgramSteps, root: Mapping[SSAValue, SSAValue], slots: Sequence[Slot]
) -> StreamLifetimes:
    """The lifetimes of the slots of the arena in a program of several streams.

    What has the lifetime of the whole program because it shares memory with nothing keeps to that by its interval.
    """
    nothing: Clock = (0,) * program.stream_count
    slot_of = {value: number for number, slot in enumerate(slots) for value in slot.values}
    made: dict[int, Clock] = {}
    used: dict[int, Clock] = dict.fromkeys(range(len(slots)), nothing)
    for op, step, clock in zip(program.operations, program.steps, clocks(program.steps), strict=True):
        if not step.is_task:
            continue
        after = tuple(done + (stream == step.stream) for stream, done in enumerate(clock))
        for value in op.results:
            if value in slot_of:
                made.setdefault(slot_of[value], after if isinstance(op, HostOp) else clock)
        for number in {slot_of[root[value]] for value in (*op.results, *op.operands) if root[value] in slot_of}:
            counts = [*used[number]]
            counts[step.stream] = after[step.stream]
            used[number] = tuple(counts)
    numbers = range(len(slots))
    return StreamLifetimes([slot.interval for slot in slots], [made[n] for n in numbers], [used[n] for n in numbers])


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Give every value of a device program its place in memory; see the module."""

    name = "plan-memory"

    reuse: bool = True
    planner: Planner = "search"
    no_reuse: tuple[str, ...] = ()
    """Names of nodes whose results share memory with nothing."""
    in_place: bool = True
    """Whether results may be written over operands."""
    limit: int = 0
    """The most bytes that the values that come and go may take; 0 is no limit."""
    soc: str = "Ascend310P3"
    """The SoC whose memory must be large enough."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                plan = plan_memory(program, self.reuse, self.planner, self.no_reuse, in_place=self.in_place)
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
    work = program_work(program)
    slots = _slots(work)
    moments = range(2 * len(work.work))

    def live(moment: int) -> list[Slot]:
        return [slot for slot in slots if slot.interval.start <= moment <= slot.interval.end]

    fullest = max(moments, key=lambda moment: sum(slot.interval.size for slot in live(moment)))
    largest = sorted(live(fullest), key=lambda slot: -slot.interval.size)[:5]
    named = ", ".join(f"{_maker(slot.values[0])}: {slot.interval.size} bytes" for slot in largest)
    what = f"values need {plan.arena_size} bytes at the same time, {limit} are allowed; most take: {named}"
    return GeError("GE4024", what, where(work.operations[fullest // 2]))


def _maker(value: SSAValue) -> str:
    """The node that makes a value, and the kind of the operator that it has become."""
    op = value.owner
    names = node_names(op) if isinstance(op, Operation) else ()
    kind = f" ({op.op_type.data})" if isinstance(op, LaunchOp) else ""
    return f"'{names[-1]}'{kind}" if names else f"%{value.name_hint or '?'}{kind}"


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
