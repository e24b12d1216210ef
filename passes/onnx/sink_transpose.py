"""The pass `sink-transpose`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ge.dialects.onnx import ABSENT, OnnxOp, make_constant, make_op, ranked
from ge.ir.rewriting import RewriteRule, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import can_stand_for, erase_unused, in_program_order, insert_before
from ge.passes.onnx.transposable import Perm, inverse, transposed
from ge.passes.onnx.transpose_groups import (
    TRANSPOSE,
    Group,
    Member,
    Ordered,
    grown,
    is_identity,
    joined,
    perm_of,
    prune,
)


@dataclass(frozen=True)
class SinkTransposePass(RulePass):
    """Move transposes across operations that do not mind, where they meet others and cancel.

    From a `Transpose` on, operations that work on any order of axes (element by element, reductions, `Softmax`,
    `Concat`, `Split`, `Slice`, `Pad`; the table is in `transposable`) are looked at together. They work on the values
    in front of the transposes instead when there are fewer transposes then:

    1. A transpose behind them undoes the one in front: both go.
    2. Several operands are transposed alike: one transpose behind for all of them.
    3. A reduction drops the axes that a transpose moved.

    Constants that take part are transposed; operands of one element stay. Where another transpose is met, both become
    one.

    Left alone: all that would leave as many transposes; operators that need an order of axes, and those not in the
    table; operands that broadcast with fewer axes; operations in other blocks; what is further than 64 operations away.
    """

    name = "sink-transpose"

    def rules(self) -> list[RewriteRule[Any]]:
        return [sink]


@rewrite_rule(TRANSPOSE)
def sink(op: OnnxOp) -> bool:
    """Move a transpose if that saves one."""
    perm = perm_of(op)
    if perm is None:
        return False
    group = grown(op.results[0], perm)
    if not group.may_save() or prune(group) >= 0:
        return False
    _rewrite(group)
    return True


# How it moves


def _rewrite(group: Group) -> None:
    """Let the operations of a group work in the other order."""
    ordered = [group.members[op] for op in in_program_order(group.members)]
    values: dict[Ordered, SSAValue] = {
        (front.results[0], perm): front.operands[0] for front in group.fronts() if (perm := perm_of(front)) is not None
    }
    for member in ordered:
        new = _moved_op(member, values)
        for old, result in zip(member.op.results, new.results, strict=True):
            values[old, member.plan.result] = result
    for member in ordered:
        for old in member.op.results:
            _leave(old, values[old, member.plan.result], member, group)
    operands = [value for member in ordered for value in member.op.operands]
    for member in reversed(ordered):
        member.op.detach()
        member.op.erase()
    erase_unused(operands)


def _moved_op(member: Member, values: dict[Ordered, SSAValue]) -> OnnxOp:
    """The operation that works in the other order, in front of the one it stands for."""
    op, plan = member.op, member.plan
    inputs = op.input_list()
    for value in member.moved:
        if (value, member.needs) not in values:
            type = _moved_type(value, member.needs)
            back = make_op("Transpose", [value], [type], {"perm": inverse(member.needs)})
            insert_before(op, [back], [op])
            values[value, member.needs] = back.results[0]
    for position in plan.moved:
        value = inputs[position]
        inputs[position] = None if value is None else values[value, member.needs]
    for position, array in plan.constants.items():
        constant = make_constant(np.ascontiguousarray(array))
        insert_before(op, [constant], [op])
        inputs += [None] * (position + 1 - len(inputs))
        inputs[position] = constant.results[0]
    types = [result.type if result.type == ABSENT else _moved_type(result, plan.result) for result in op.results]
    kept = {name: value for name, value in op.attributes.items() if "." not in name}
    new = make_op(op.op_type, inputs, types, {**kept, **plan.attributes})
    insert_before(op, [new], [op])
    return new


def _leave(old: SSAValue, new: SSAValue, member: Member, group: Group) -> None:
    """Let users outside of the group use the new result, behind a transpose where they need one."""
    perm = member.plan.result
    users = dict.fromkeys(use.operation for use in old.uses if use.operation not in group.members)
    for user in users:
        if isinstance(user, TRANSPOSE) and (second := perm_of(user)) is not None:
            both = joined(perm, second)
            if is_identity(both) and can_stand_for(new, user.results[0]):
                replace(user, [], [new])
            else:
                user.operands = [new]
                user.set_attribute("perm", both)
    others = [use for use in old.uses if use.operation not in group.members]
    if not others:
        return
    if not is_identity(perm) or not can_stand_for(new, old):
        back = make_op("Transpose", [new], [old.type], {"perm": perm})
        insert_before(member.op, [back], [member.op])
        new = back.results[0]
    new.name_hint = old.name_hint
    for use in others:
        use.operation.operands[use.index] = new


def _moved_type(value: SSAValue, perm: Perm) -> Attribute:
    type = ranked(value)
    assert type is not None, "only values of known rank are in a group"
    return TensorType(type.element_type, transposed(type.get_shape(), perm))
