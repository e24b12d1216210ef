"""The pass `merge-host`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import HostOp, main_function
from ge.dialects.graph.host import HostRegion
from ge.ir.locations import fused_loc
from ge.ir.rewriting import replace_value


@dataclass(frozen=True)
class MergeHostPass(ModulePass):
    """Join `graph.host` regions that feed each other, so that the host works once where it worked many times.

    Two regions are joined if one uses a result of the other and no operation of the device lies on any way between
    them: both have the same *stage*, the number of changes from host to device on the longest way that leads to them.
    Results that only the joined region used are no results any more. Operations are put in an order in which every
    value is defined before it is used.
    """

    name = "merge-host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = main_function(op).body.block
        clusters = [members for members in find_clusters(block) if len(members) > 1]
        for members in clusters:
            merge(members)
        if clusters:
            sort_operations(block)


def find_clusters(block: Block) -> list[list[HostOp]]:
    """The host operations that may be joined, in program order."""
    stage: dict[Operation, int] = {}
    root: dict[HostOp, HostOp] = {}

    def find(op: HostOp) -> HostOp:
        while root[op] is not op:
            root[op] = root[root[op]]  # ways become short
            op = root[op]
        return op

    for op in block.ops:
        producers = [operand.owner for operand in op.operands if isinstance(operand.owner, Operation)]
        is_host = isinstance(op, HostOp)
        stage[op] = max((stage[p] + (isinstance(p, HostOp) and not is_host) for p in producers), default=0)
        if isinstance(op, HostOp):
            root[op] = op
            for producer in producers:
                if isinstance(producer, HostOp) and stage[producer] == stage[op]:
                    root[find(op)] = find(producer)
    clusters: dict[HostOp, list[HostOp]] = defaultdict(list)
    for op in root:
        clusters[find(op)].append(op)
    return list(clusters.values())


def merge(members: list[HostOp]) -> None:
    """Put one host operation in the place of the last of `members`, which are in program order."""
    region = HostRegion()
    for member in members:
        mapping: dict[SSAValue, SSAValue] = {
            argument: region.inside(operand)
            for argument, operand in zip(member.body.block.args, member.inputs, strict=True)
        }
        for inner in list(member.body.block.ops)[:-1]:
            region.block.add_op(inner.clone(mapping))
        for output, inside in zip(member.outputs, member.results_inside, strict=True):
            region.define(output, mapping.get(inside, inside))
    joined = set(members)
    kept = [output for member in members for output in member.outputs if _used_outside(output, joined)]
    merged = region.finish([region.inside(output) for output in kept])
    merged.location = fused_loc(members)
    block = members[-1].parent
    assert block is not None, "operations of a function are in a block"
    block.insert_op_before(merged, members[-1])
    for old, new in zip(kept, merged.outputs, strict=True):
        replace_value(old, new)
    for member in reversed(members):
        member.detach()
        member.erase()


def _used_outside(output: SSAValue, members: AbstractSet[HostOp]) -> bool:
    return any(use.operation not in members for use in output.uses)


def sort_operations(block: Block) -> None:
    """Reorder a block, as little as possible, so that operands are defined before their uses."""
    order: list[Operation] = []
    placed: set[Operation] = set()

    def place(op: Operation) -> None:
        stack = [(op, iter(list(op.operands)))]
        while stack:
            current, operands = stack[-1]
            producer = next((value.owner for value in operands if _is_missing(value, placed)), None)
            if isinstance(producer, Operation):
                stack.append((producer, iter(list(producer.operands))))
                continue
            stack.pop()
            if current not in placed:
                placed.add(current)
                order.append(current)

    for op in block.ops:
        place(op)
    for op in order:
        op.detach()
        block.add_op(op)


def _is_missing(value: SSAValue, placed: set[Operation]) -> bool:
    return isinstance(value.owner, Operation) and value.owner not in placed
