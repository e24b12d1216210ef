"""The pass `order-launches`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import HostOp, LaunchOp
from ge.dialects.graph.streams import program_steps
from ge.dialects.om.values import slot_bytes, value_bytes
from ge.ir.functions import body_of
from ge.ir.rewriting import permit
from ge.maths.ordering import Work, least_of_any_order, order_for_memory
from ge.passes.graph.plan_memory import value_roots


@dataclass(frozen=True)
class OrderLaunchesPass(ModulePass):
    """Put the launches of a device program into an order in which fewer bytes are live at once.

    1. Of two branches, the one that needs more memory than it leaves behind comes first.
    2. An operation that frees more than it makes comes as soon as its operands are there.

    Left alone: an order that is as good as any that is found; a program with events, which say what comes when;
    constants, which stay before all work; views, which stay behind what they are views of. Inputs, outputs and
    constants have memory of their own and do not count.
    """

    name = "order-launches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                _order(program)


@dataclass(frozen=True)
class ProgramWork:
    """The work of a device program: its operations, what each reads and makes in the arena, and the bytes of values."""

    operations: tuple[Operation, ...]
    work: tuple[Work, ...]
    sizes: tuple[int, ...]

    @property
    def least_bytes(self) -> int:
        """No order of the operations takes fewer bytes."""
        return least_of_any_order(self.work, self.sizes)


def program_work(program: FuncOp) -> ProgramWork:
    """The launches and host work of a program, with the values that lie in the arena."""
    operations = list(body_of(program).ops)
    root = value_roots(program, operations)
    returned = {root[value] for value in operations[-1].operands}
    tasks = [op for op in operations if isinstance(op, LaunchOp | HostOp)]
    numbers: dict[SSAValue, int] = {}
    sizes: list[int] = []
    for value in (result for op in tasks for result in op.results):
        size = value_bytes(value.type)
        numbers[value] = len(sizes)
        sizes.append(0 if size is None or value in returned else slot_bytes(size))

    def known(values: Sequence[SSAValue]) -> tuple[int, ...]:
        return tuple(numbers[root[value]] for value in values if root[value] in numbers)

    return ProgramWork(tuple(tasks), tuple(Work(known(op.operands), known(op.results)) for op in tasks), tuple(sizes))


def _order(program: FuncOp) -> None:
    """Move the operations of one program."""
    if program_steps(program).event_count:
        return
    before = program_work(program)
    order = order_for_memory(before.work, before.sizes)
    if order == list(range(len(order))) or not permit(OrderLaunchesPass.name, program):
        return
    block = body_of(program)
    tasks = set(before.operations)
    others = [op for op in block.ops if op not in tasks]
    root = value_roots(program, list(block.ops))
    last = others.pop()
    behind: dict[Operation | None, list[Operation]] = {}
    for op in others:
        source = root[op.results[0]].owner
        behind.setdefault(source if isinstance(source, LaunchOp | HostOp) else None, []).append(op)
    moved = [*behind.get(None, ())]
    for index in order:
        moved += [before.operations[index], *behind.get(before.operations[index], ())]
    for op in moved:
        op.detach()
    block.insert_ops_before(moved, last)
