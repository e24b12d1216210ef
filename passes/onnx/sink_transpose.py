"""The pass `sink-transpose`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ge.dialects.onnx import ABSENT, OnnxOp, make_constant, make_op, op_class, ranked
from ge.ir.rewriting import RewriteRule, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import can_stand_for, erase_unused, insert_before
from ge.passes.onnx.transposable import Perm, Plan, inverse, plan_for, transposed

_MOST_OPS = 64
"""How many operations a transpose moves across at most."""


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
    table; operands that broadcast with fewer axes; operations in other blocks; more than 64 operations at once.
    """

    name = "sink-transpose"

    def rules(self) -> list[RewriteRule[Any]]:
        return [sink]


@rewrite_rule(op_class("Transpose"))
def sink(op: OnnxOp) -> bool:
    """Move a transpose if that saves one."""
    perm = perm_of(op)
    if perm is None:
        return False
    group = _grown(op.results[0], perm)
    if not group.may_save():
        return False
    _prune(group)
    if group.cost() >= 0:
        return False
    _rewrite(group)
    return True


# What moves


@dataclass(frozen=True)
class _Member:
    """An operation that is to work on another order of axes."""

    op: OnnxOp
    plan: Plan
    needs: Perm
    """The permutation of its operands."""

    def moved(self) -> list[SSAValue]:
        """The operands that come in the other order."""
        inputs = self.op.input_list()
        return [value for position in self.plan.moved if (value := inputs[position]) is not None]


Ordered: TypeAlias = "tuple[SSAValue, Perm]"
"""A value, and a permutation: that of which the value is the transpose by it."""


@dataclass
class _Group:
    """Operations that change together."""

    members: dict[Operation, _Member] = field(default_factory=dict[Operation, _Member])

    def fronts(self) -> tuple[set[OnnxOp], set[Ordered]]:
        """The transposes in front of the group, and the values that need one there."""
        transposes: set[OnnxOp] = set()
        values: set[Ordered] = set()
        for member in self.members.values():
            for value in member.moved():
                if value.owner in self.members:
                    continue
                front = _transpose_of(value)
                if front is not None and perm_of(front) == member.needs:
                    transposes.add(front)
                else:
                    values.add((value, member.needs))
        return transposes, values

    def may_save(self) -> bool:
        """Whether there is anything that a transpose could meet."""
        transposes, _ = self.fronts()
        ends = (
            _is_identity(member.plan.result) or _is_undone(use.operation, member.plan.result)
            for member in self.members.values()
            for result in member.op.results
            for use in result.uses
        )
        return len(transposes) > 1 or any(ends)

    def cost(self) -> int:
        """How many transposes there are more after the change than before."""
        transposes, values = self.fronts()
        gone = sum(all(use.operation in self.members for use in front.results[0].uses) for front in transposes)
        added = len(values)
        for member in self.members.values():
            for result in member.op.results:
                users = {use.operation for use in result.uses} - self.members.keys()
                gone += sum(_is_undone(user, member.plan.result) for user in users)
                stays = any(not isinstance(user, _TRANSPOSE) for user in users)
                added += stays and not _is_identity(member.plan.result)
        return added - gone


_TRANSPOSE = op_class("Transpose")


def _grown(value: SSAValue, perm: Perm) -> _Group:
    """The operations that a transposed value leads to, as far as they work on any order of axes."""
    group = _Group()
    pending = [(value, perm)]
    while pending and len(group.members) < _MOST_OPS:
        value, perm = pending.pop(0)
        for user in dict.fromkeys(use.operation for use in value.uses):
            if user in group.members or not isinstance(user, OnnxOp) or user.parent is not value.owner.parent:
                continue
            plan = None if isinstance(user, _TRANSPOSE) else plan_for(user, perm)
            if plan is None or not all(result.type == ABSENT or ranked(result) for result in user.results):
                continue
            member = _Member(user, plan, perm)
            if value in member.moved():
                group.members[user] = member
                pending += [(result, plan.result) for result in user.results]
    _make_consistent(group)
    return group


def _make_consistent(group: _Group) -> None:
    """Take out operations that would get an operand in another order than they need."""
    changed = True
    while changed:
        changed = False
        for op, member in list(group.members.items()):
            givers = [value.op for value in member.moved() if isinstance(value, OpResult)]
            if any(group.members[giver].plan.result != member.needs for giver in givers if giver in group.members):
                del group.members[op]
                changed = True


def _prune(group: _Group) -> None:
    """Take out operations while that saves transposes, or costs none."""
    cost, changed = group.cost(), True
    while changed:
        changed = False
        for op, member in reversed(list(group.members.items())):
            del group.members[op]
            without = group.cost()
            if without <= cost:
                cost, changed = without, True
            else:
                group.members[op] = member


# How it moves


def _rewrite(group: _Group) -> None:
    """Let the operations of a group work in the other order."""
    block = next(iter(group.members.values())).op.parent
    assert block is not None, "operations of a graph are in a block"
    ordered = [group.members[op] for op in block.ops if op in group.members]
    fronts, _ = group.fronts()
    values: dict[Ordered, SSAValue] = {
        (front.results[0], perm): front.operands[0] for front in fronts if (perm := perm_of(front)) is not None
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


def _moved_op(member: _Member, values: dict[Ordered, SSAValue]) -> OnnxOp:
    """The operation that works in the other order, in front of the one it stands for."""
    op, plan = member.op, member.plan
    inputs = op.input_list()
    for value in member.moved():
        if (value, member.needs) not in values:
            type = _moved_type(value, member.needs)
            back = make_op("Transpose", [value], [type], {"perm": inverse(member.needs)})
            insert_before(op, [back], [op])
            values[value, member.needs] = back.results[0]
    for position in plan.moved:
        value = inputs[position]
        inputs[position] = None if value is None else values[value, member.needs]
    for position, array in plan.constants.items():
        constant = make_constant(array)
        insert_before(op, [constant], [op])
        inputs += [None] * (position + 1 - len(inputs))
        inputs[position] = constant.results[0]
    types = [result.type if result.type == ABSENT else _moved_type(result, plan.result) for result in op.results]
    kept = {name: value for name, value in op.attributes.items() if "." not in name}
    new = make_op(op.op_type, inputs, types, {**kept, **plan.attributes})
    insert_before(op, [new], [op])
    return new


def _leave(old: SSAValue, new: SSAValue, member: _Member, group: _Group) -> None:
    """Let users outside of the group use the new result, behind a transpose where they need one."""
    perm = member.plan.result
    users = dict.fromkeys(use.operation for use in old.uses if use.operation not in group.members)
    for user in users:
        if isinstance(user, _TRANSPOSE) and (second := perm_of(user)) is not None:
            joined = _joined(perm, second)
            if _is_identity(joined) and can_stand_for(new, user.results[0]):
                replace(user, [], [new])
            else:
                user.operands = [new]
                user.set_attribute("perm", joined)
    others = [use for use in old.uses if use.operation not in group.members]
    if not others:
        return
    if not _is_identity(perm) or not can_stand_for(new, old):
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


# Permutations


def perm_of(op: OnnxOp) -> Perm | None:
    """The permutation of a `Transpose`; None when the rank is not known."""
    type = ranked(op.operands[0])
    return None if type is None else tuple(op.attribute("perm", list(range(type.get_num_dims()))[::-1]))


def _transpose_of(value: SSAValue) -> OnnxOp | None:
    return value.owner if isinstance(value.owner, _TRANSPOSE) else None


def _is_undone(op: Operation, perm: Perm) -> bool:
    """Whether an operation is a transpose that undoes a permutation."""
    second = perm_of(op) if isinstance(op, _TRANSPOSE) else None
    return second is not None and _is_identity(_joined(perm, second))


def _joined(first: Perm, second: Perm) -> Perm:
    """One permutation for two in a row."""
    return tuple(first[axis] for axis in second)


def _is_identity(perm: Perm) -> bool:
    return perm == tuple(range(len(perm)))
