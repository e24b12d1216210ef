"""Putting operations into groups that become one kernel each: what the passes that make `graph.fusion` share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from ge.dialects.graph import FusionOp, YieldOp
from ge.dialects.graph.fusing import Around, is_step, outside_operands, tile_operands
from ge.dialects.graph.fusion_limits import fusion_obstacle
from ge.dialects.om.values import value_bytes
from ge.ir.locations import fused_loc
from ge.ir.rewriting import replace_value
from ge.passes.graph import report
from ge.passes.graph.epilogue import describe
from ge.targets.ascend.soc import Soc


class FusionGroups:
    """The operations of a block in groups, each at first alone, or with the others of its `graph.fusion`.

    Groups are made of the operations of a copy of the function, in which fusions are open: their steps lie in the
    block. :meth:`close` changes the function itself, one group at a time, so that reports see what became what.
    """

    def __init__(self, block: Block, soc: Soc) -> None:
        self.soc = soc
        """The chip that is to hold each group."""
        self._group: dict[Operation, list[Operation]] = {}
        self._origin: dict[Operation, tuple[Operation, int]] = {}
        """What an operation of the copy is a copy of; of a fusion, with the number of the step."""
        function = block.parent_op()
        assert function is not None, "a block of a function"
        self._copy = function.clone().regions[0].block
        for op, copy in zip(list(block.ops), list(self._copy.ops), strict=True):
            steps = open_fusion(copy) if isinstance(copy, FusionOp) else [copy]
            self._group.update((step, steps) for step in steps)
            self._origin.update((step, (op, number)) for number, step in enumerate(steps))
        # The groups as they are now; kept, so that no other gets the id of one.
        self._first = {id(steps): steps for steps in self._group.values()}
        self._position = {op: i for i, op in enumerate(self._copy.ops)}

    def of(self, op: Operation) -> list[Operation]:
        """The steps of the group of an operation, in the order of the kernel."""
        return self._group[op]

    def candidates(self) -> list[Operation]:
        """The operations that may be steps, in program order."""
        return [op for op in self._copy.ops if is_step(op)]

    def joined(self, producer: Operation, user: Operation) -> list[Operation]:
        """The steps of the groups of two operations together: what makes the anchor's operand, it, and the others."""
        steps = {*self.of(producer), *self.of(user)}
        return Around.of(sorted(steps, key=self._position.__getitem__)).steps

    def obstacle(self, producer: Operation, user: Operation) -> str | None:
        """Why the groups of two operations cannot be joined; None if they can."""
        return fusion_obstacle(self.joined(producer, user), self.soc.buffers["ub"])

    def join(self, producer: Operation, user: Operation) -> None:
        """Join the groups of two operations, if they are two."""
        if self.of(producer) is not self.of(user):
            steps = self.joined(producer, user)
            self._group.update((step, steps) for step in steps)

    def saved_bytes(self, producer: Operation, user: Operation) -> int:
        """Bytes of device memory traffic that joining saves: what both kernels move, less what the joined one does."""
        before = traffic(self.of(producer)) + traffic(self.of(user))
        return before - traffic(self.joined(producer, user))

    def close(self, rule: str) -> None:
        """Make a fusion of every group that is new, and report it."""
        groups = {id(steps): steps for steps in self._group.values()}
        for steps in (steps for each, steps in groups.items() if each not in self._first):
            text = f"Fuse {' + '.join(map(describe, steps))} -> Fused{describe(Around.of(steps).anchor or steps[0])}"
            report.fused(rule, text, make_fusion(self._originals(steps)))

    def _originals(self, steps: Sequence[Operation]) -> list[Operation]:
        """The operations of the function that steps are copies of; its fusions among them are opened."""
        origins = [self._origin[step] for step in steps]
        opened = {op: open_fusion(op) for op in dict.fromkeys(op for op, _ in origins) if isinstance(op, FusionOp)}
        return [opened[op][number] if isinstance(op, FusionOp) else op for op, number in origins]


def open_fusion(op: FusionOp) -> list[Operation]:
    """Put the steps of a fusion in its place."""
    values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.inputs, strict=True))
    steps = [step.clone(values) for step in op.steps]
    assert op.parent is not None, "operations of a function are in a block"
    op.parent.insert_ops_before(steps, op)
    replace_value(op.y, values.get(op.yielded, op.yielded))
    op.detach()
    op.erase()
    return steps


def traffic(steps: Sequence[Operation]) -> int:
    """Bytes that a kernel of these steps reads and writes: its operands and its result, in storage format.

    >>> traffic([conv]) + traffic([add]) - traffic([conv, add])  # twice the value between them
    """
    values = [*tile_operands(steps), steps[-1].results[0]]
    return sum(value_bytes(value.type) or 0 for value in values)


def make_fusion(steps: Sequence[Operation]) -> FusionOp:
    """Put one fusion in the place of operations of a block, of which only the last one is used elsewhere."""
    inputs = outside_operands(steps)
    body = Block(arg_types=[value.type for value in inputs])
    values: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(inputs, body.args, strict=True):
        values[value], argument.name_hint = argument, value.name_hint
    for step in steps:
        body.add_op(step.clone(values))
    last, result = steps[-1], steps[-1].results[0]
    body.add_op(YieldOp([values[result]]))
    fusion = FusionOp(inputs, result.type, Region(body))
    fusion.location = fused_loc(steps)
    assert last.parent is not None, "operations of a function are in a block"
    last.parent.insert_op_before(fusion, last)
    replace_value(result, fusion.y)
    for step in reversed(steps):
        step.detach()
        step.erase()
    return fusion
