"""What the structural passes of this level share: reading constants, and putting operations in the place of others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import Pure

from ge.dialects.onnx import OnnxOp, constant_value, make_constant, make_op
from ge.ir.locations import fused_loc
from ge.ir.rewriting import erase_if_unused, may_stand_for, replace

OpT = TypeVar("OpT", bound=Operation)

Input: TypeAlias = "SSAValue | Sequence[int] | None"
"""An input of a new operation: a value, integers that become a constant vector, or nothing."""

FAR = 2**63 - 1
"""The end of a slice that goes as far as the axis."""


def integers(value: SSAValue | None) -> list[int] | None:
    """The elements of a constant of integers; None for any other value."""
    array = constant_value(value)
    return None if array is None or array.dtype.kind not in "iu" else array.reshape(-1).tolist()


def axes_of(value: SSAValue | None, rank: int) -> list[int] | None:
    """The axes that a constant names, counted from the front; None when they are not known or do not exist."""
    axes = integers(value)
    return None if axes is None or any(not -rank <= axis < rank for axis in axes) else [axis % rank for axis in axes]


def only_user(value: SSAValue) -> OnnxOp | None:
    """The operation that alone uses a value, once or more and in the same block; None for terminators."""
    users = {use.operation for use in value.uses}
    if len(users) != 1:
        return None
    (user,) = users
    return user if isinstance(user, OnnxOp) and user.parent is value.owner.parent else None


def producer(value: SSAValue | None, *op_types: str) -> OnnxOp | None:
    """The operation of ai.onnx that gives a value as its first result, when it is of one of the types."""
    op = None if value is None else value.owner
    if not isinstance(op, OnnxOp) or op.domain or op.op_type not in op_types or value is not op.results[0]:
        return None
    return op


def can_stand_for(value: SSAValue, old: SSAValue) -> bool:
    """Whether the uses of a result may use a value that is there. An output keeps its own, and its type."""
    return not is_output(old) or (value.type == old.type and may_stand_for(value, old))


def all_can_stand_for(values: Sequence[SSAValue], olds: Sequence[SSAValue]) -> bool:
    """Whether the uses of several results may use values that are there, each output another one."""
    outputs = [new for new, old in zip(values, olds, strict=True) if is_output(old)]
    return len(set(outputs)) == len(outputs) and all(map(can_stand_for, values, olds))


def is_output(value: SSAValue) -> bool:
    """Whether a value is an output of the model."""
    return any(isinstance(use.operation, ReturnOp) for use in value.uses)


def bypass(op: OnnxOp, value: SSAValue) -> bool:
    """Let the users of the first result use a value that is there, unless an output would lose its own. Whether so."""
    if not can_stand_for(value, op.results[0]):
        return False
    operands = list(op.operands)
    replace(op, [], [value, *[None] * (len(op.results) - 1)])
    erase_unused(operands)
    return True


def new_op(
    op_type: str, inputs: Sequence[Input], types: Sequence[Attribute], attributes: Mapping[str, Any] | None = None
) -> list[Operation]:
    """A new operation behind the constants that it needs."""
    ops: list[Operation] = []
    values: list[SSAValue | None] = []
    for given in inputs:
        if given is None or isinstance(given, SSAValue):
            values.append(given)
        else:
            ops.append(make_constant(np.array(given, np.int64)))
            values.append(ops[-1].results[0])
    return [*ops, make_op(op_type, values, types, attributes)]


def take_place(
    op: OnnxOp,
    op_type: str,
    inputs: Sequence[Input],
    attributes: Mapping[str, Any] | None = None,
    *,
    fused: Iterable[Operation] = (),
) -> None:
    """Put a new operation with results of the same types and names in the place of an operation.

    What gave the operands goes when nothing uses it any more.
    """
    new = new_op(op_type, inputs, list(op.result_types), attributes)
    if (names := op.attributes.get("onnx.outputs")) is not None:
        new[-1].attributes["onnx.outputs"] = names
    operands = list(op.operands)
    replace(op, new, fused=fused)
    erase_unused(operands)


def insert_before(op: OnnxOp, new: Sequence[Operation], stand_for: Iterable[Operation]) -> None:
    """Put new operations, which have the names of those that they stand for, in front of an operation."""
    location = fused_loc(stand_for)
    for each in new:
        each.location = location
    assert op.parent is not None, "operations of a graph are in a block"
    op.parent.insert_ops_before(list(new), op)


def in_program_order(ops: Iterable[OpT]) -> list[OpT]:
    """Operations of one block as they follow one another.

    They are looked for on both sides of one of them: that takes as long as they are far apart, however long the block.
    """
    missing: dict[Operation, OpT] = {op: op for op in ops}
    middle, first = missing.popitem()
    found = deque([first])
    before, after = middle.prev_op, middle.next_op
    while missing:
        assert before is not None or after is not None, "the operations are in one block"
        if before is not None:
            if before in missing:
                found.appendleft(missing.pop(before))
            before = before.prev_op
        if after is not None:
            if after in missing:
                found.append(missing.pop(after))
            after = after.next_op
    return list(found)


def erase_unused(values: Iterable[SSAValue]) -> None:
    """Erase the operations that only computed values which nobody uses."""
    pending = list(values)
    while pending:
        op = pending.pop().owner
        if isinstance(op, OnnxOp) and op.parent is not None and op.has_trait(Pure):
            operands = list(op.operands)
            if erase_if_unused(op):
                pending += operands
