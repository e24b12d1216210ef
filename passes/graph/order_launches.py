"""The pass `order-launches`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects.graph import HostOp, LaunchOp
from ge.dialects.graph.streams import program_steps
from ge.ir.functions import body_of
from ge.ir.rewriting import permit
from ge.maths.order_search import search_order
from ge.passes.graph.program_work import program_work, value_roots


@dataclass(frozen=True)
class OrderLaunchesPass(ModulePass):
    """Put the launches of a device program into an order in which fewer bytes are live at once.

    1. Of two branches, the one that needs more memory than it leaves behind comes first.
    2. An operation that frees more than it makes comes as soon as its operands are there.
    3. Where a local search that begins with these orders finds a lower peak, its order is taken
       (:mod:`ge.maths.order_search`).

    Left alone: an order that is as good as any that is found; a program with events, which say what comes when;
    constants, which stay before all work; views, which stay behind what they are views of. Inputs, outputs and
    constants have memory of their own and do not count.
    """

    name = "order-launches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                _order(program)


def _order(program: FuncOp) -> None:
    """Move the operations of one program."""
    if program_steps(program).event_count:
        return
    before = program_work(program)
    order = search_order(before.work, before.sizes)
    if order == list(range(len(order))) or not permit(OrderLaunchesPass.name, program):
        return
    block = body_of(program)
    tasks: set[Operation] = set(before.operations)
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
