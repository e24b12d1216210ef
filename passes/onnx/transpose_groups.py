"""Groups of operations that may work on transposed operands together: which they are, and what that costs."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Operation, OpResult, SSAValue

from ge.dialects.onnx import ABSENT, OnnxOp, op_class, ranked
from ge.passes.onnx.transposable import Perm, Plan, plan_for

TRANSPOSE = op_class("Transpose")

_MOST_OPS = 64
"""How many operations a transpose moves across at most; all users of one value may be more."""


@dataclass(frozen=True)
class Member:
    """An operation that is to work on another order of axes."""

    op: OnnxOp
    plan: Plan
    needs: Perm
    """The permutation of its operands."""
    moved: Collection[SSAValue]
    """The operands that come in the other order, each once."""


Ordered: TypeAlias = "tuple[SSAValue, Perm]"
"""A value, and a permutation: that of which the value is the transpose by it."""


@dataclass
class Group:
    """Operations that change together."""

    members: dict[Operation, Member] = field(default_factory=dict[Operation, Member])

    def from_outside(self, member: Member) -> Iterator[Ordered]:
        """What an operation needs in another order that the group does not give."""
        return ((value, member.needs) for value in member.moved if value.owner not in self.members)

    def fronts(self) -> set[OnnxOp]:
        """The transposes in front of the group."""
        needed = (each for member in self.members.values() for each in self.from_outside(member))
        return {front for each in needed if (front := _front(each)) is not None}

    def may_save(self) -> bool:
        """Whether there is anything that a transpose could meet."""
        ends = (
            is_identity(member.plan.result) or _is_undone(use.operation, member.plan.result)
            for member in self.members.values()
            for result in member.op.results
            for use in result.uses
        )
        return len(self.fronts()) > 1 or any(ends)


# Which operations


def grown(value: SSAValue, perm: Perm) -> Group:
    """The operations that a transposed value leads to, as far as they work on any order of axes."""
    group = Group()
    pending = deque([(value, perm)])
    while pending and len(group.members) < _MOST_OPS:
        value, perm = pending.popleft()
        for user in dict.fromkeys(use.operation for use in value.uses):
            if user in group.members or not isinstance(user, OnnxOp) or user.parent is not value.owner.parent:
                continue
            member = _member(user, perm)
            if member is not None and value in member.moved:
                group.members[user] = member
                pending += [(result, member.plan.result) for result in user.results]
    _make_consistent(group)
    return group


def _member(op: OnnxOp, perm: Perm) -> Member | None:
    """An operation on operands transposed by a permutation; None when it cannot work on others."""
    plan = None if isinstance(op, TRANSPOSE) else plan_for(op, perm)
    if plan is None or not all(result.type == ABSENT or ranked(result) for result in op.results):
        return None
    inputs = op.input_list()
    return Member(op, plan, perm, dict.fromkeys(value for at in plan.moved if (value := inputs[at]) is not None))


def _make_consistent(group: Group) -> None:
    """Take out operations that would get an operand in another order than they need."""
    changed = True
    while changed:
        changed = False
        for op, member in list(group.members.items()):
            givers = [value.op for value in member.moved if isinstance(value, OpResult)]
            if any(group.members[giver].plan.result != member.needs for giver in givers if giver in group.members):
                del group.members[op]
                changed = True


# What it costs


def prune(group: Group) -> int:
    """Take out operations while that saves transposes, or costs none.

    How many transposes there are more then, after the change than before.
    """
    balance = _Balance(group)
    changed = True
    while changed:
        changed = False
        for member in reversed(list(group.members.values())):
            cost = balance.total
            balance.take_out(member)
            if balance.total <= cost:
                changed = True
            else:
                balance.put_back(member, cost)
    return balance.total


class _Balance:
    """How many transposes there are more after the change than before, kept up to date as operations leave a group.

    One that leaves concerns what is counted of its own operands and results, so that nothing else is counted again.
    """

    def __init__(self, group: Group) -> None:
        self._group = group
        self._needed: Counter[Ordered] = Counter()
        """How many operations need what the group does not give."""
        self._outside: Counter[SSAValue] = Counter()
        """How many users of a value stay as they are. Of a transpose in front it may be less, but not none."""
        self._undone: dict[SSAValue, int] = {}
        """How many transposes go that undo what is behind a result."""
        for member in group.members.values():
            self._needed.update(group.from_outside(member))
            for result in member.op.results:
                users = {use.operation for use in result.uses if use.operation not in group.members}
                self._undone[result] = sum(_is_undone(user, member.plan.result) for user in users)
                self._outside[result] = sum(not isinstance(user, TRANSPOSE) for user in users)
        for value, _ in self._needed:
            self._outside[value] = int(any(use.operation not in group.members for use in value.uses))
        self.total = self._cost(self._needed, self._undone)

    def take_out(self, member: Member) -> None:
        """Let an operation stay as it is."""
        concerned = self._concerned(member)
        before = self._cost(*concerned)
        del self._group.members[member.op]
        self._count(member, 1)
        self.total += self._cost(*concerned) - before

    def put_back(self, member: Member, total: int) -> None:
        """Undo the last change, which took an operation out, from when there was this total."""
        self._count(member, -1)
        self._group.members[member.op] = member
        self.total = total

    def _count(self, member: Member, change: int) -> None:
        """Count an operation that leaves (1) or comes back (-1)."""
        for value in dict.fromkeys(member.op.operands):
            self._outside[value] += change
        for each in self._group.from_outside(member):
            self._needed[each] -= change
        for each in self._given(member):
            self._needed[each] += change

    def _given(self, member: Member) -> list[Ordered]:
        """What others of the group need of the results of an operation, once for each that does."""
        members = self._group.members
        return [
            (result, members[user].needs)
            for result in member.op.results
            for user in dict.fromkeys(use.operation for use in result.uses)
            if user in members and result in members[user].moved
        ]

    def _concerned(self, member: Member) -> tuple[Collection[Ordered], Collection[SSAValue]]:
        """What costs something else when an operation leaves: what is needed in another order, and what is given."""
        operands = list(dict.fromkeys(member.op.operands))
        needed = {*self._given(member), *((value, member.needs) for value in member.moved)}
        needed.update((value, perm) for value in operands if (perm := _perm_behind(value)) is not None)
        return needed, [*operands, *member.op.results]

    def _cost(self, needed: Collection[Ordered], given: Collection[SSAValue]) -> int:
        return sum(map(self._in_front, needed)) + sum(map(self._behind, given))

    def _in_front(self, each: Ordered) -> int:
        """What it costs that the group needs a value in another order."""
        if not self._needed[each]:
            return 0
        return 1 if _front(each) is None else -(not self._outside[each[0]])

    def _behind(self, result: SSAValue) -> int:
        """What it costs that an operation of the group gives a result in another order."""
        member = self._group.members.get(result.owner) if isinstance(result, OpResult) else None
        if member is None:
            return 0
        return (self._outside[result] > 0 and not is_identity(member.plan.result)) - self._undone[result]


def _front(each: Ordered) -> OnnxOp | None:
    """The transpose that gives a value, if it is by the permutation."""
    value, perm = each
    return value.owner if isinstance(value.owner, TRANSPOSE) and perm_of(value.owner) == perm else None


def _perm_behind(value: SSAValue) -> Perm | None:
    return perm_of(value.owner) if isinstance(value.owner, TRANSPOSE) else None


# Permutations


def perm_of(op: OnnxOp) -> Perm | None:
    """The permutation of a `Transpose`; None when the rank is not known."""
    type = ranked(op.operands[0])
    return None if type is None else tuple(op.attribute("perm", list(range(type.get_num_dims()))[::-1]))


def _is_undone(op: Operation, perm: Perm) -> bool:
    """Whether an operation is a transpose that undoes a permutation."""
    second = perm_of(op) if isinstance(op, TRANSPOSE) else None
    return second is not None and is_identity(joined(perm, second))


def joined(first: Perm, second: Perm) -> Perm:
    """One permutation for two in a row."""
    return tuple(first[axis] for axis in second)


def is_identity(perm: Perm) -> bool:
    """Whether a permutation leaves all axes where they are."""
    return perm == tuple(range(len(perm)))
