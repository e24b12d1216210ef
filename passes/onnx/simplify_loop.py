"""The pass `simplify-loop`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.onnx import (
    STRING,
    OnnxOp,
    constant_value,
    make_constant,
    make_op,
    op_class,
    ranked,
    static_shape,
    yielded,
)
from ge.ir.constants import numpy_dtype
from ge.ir.rewriting import RewriteRule, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import all_can_stand_for, can_stand_for, erase_unused, new_op
from ge.passes.onnx.regions import carried_count, copy_body


@dataclass(frozen=True)
class SimplifyLoopPass(RulePass):
    """Take out loops that do not repeat anything, and what does not change in a loop.

    1. A `Loop` of no turns, because its count is zero or its condition false: the values before it, and empty stacks.
    2. A `Loop` of one turn: its body.
    3. A value that a `Loop` carries and does not change: the value before the loop, inside and behind it.
    4. A condition that is constantly true after a turn: that of the turn, which is true and needs no operation.

    Left alone: counts and conditions that are not constant; more turns (`unroll-loop`); empty stacks whose other sizes
    are not known; outputs of the model that would become inputs or constants.
    """

    name = "simplify-loop"

    def rules(self) -> list[RewriteRule[Any]]:
        return [no_turn, one_turn, unchanged, goes_on]


@rewrite_rule(op_class("Loop"))
def no_turn(op: OnnxOp) -> bool:
    """Case 1."""
    condition = constant_value(op.operand("cond"))
    if turns_of(op) != 0 and (condition is None or condition.item()):
        return False
    states = list(op.operands)[len(op.operands) - carried_count(op) :]
    stacks = [_empty(result, each) for result, each in _stacks(op)]
    results = [*states, *(stack.results[0] for stack in stacks if stack is not None)]
    if len(results) < len(op.results) or not all_can_stand_for(results, op.results):
        return False
    operands = list(op.operands)
    replace(op, [stack for stack in stacks if stack is not None], results)
    erase_unused(operands)
    return True


@rewrite_rule(op_class("Loop"))
def one_turn(op: OnnxOp) -> bool:
    """Case 2."""
    return turns_of(op) == 1 and starts(op) and run_turns(op, 1)


@rewrite_rule(op_class("Loop"))
def unchanged(op: OnnxOp) -> bool:
    """Case 3."""
    body = op.region("body").block
    before = list(op.operands)[len(op.operands) - carried_count(op) :]
    changed = False
    for index, value in enumerate(before):
        argument, result = body.args[2 + index], op.results[index]
        if yielded(body)[1 + index] is not argument:
            continue
        others = [use for use in argument.uses if use.operation is not body.last_op or use.index != 1 + index]
        for use in others:
            use.operation.operands[use.index] = value
        replaced = bool(result.uses) and can_stand_for(value, result)
        if replaced:
            result.replace_all_uses_with(value)
        changed |= replaced or bool(others)
    return changed


@rewrite_rule(op_class("Loop"))
def goes_on(op: OnnxOp) -> bool:
    """Case 4."""
    body = op.region("body").block
    terminator, condition = body.last_op, constant_value(yielded(body)[0])
    if terminator is None or condition is None or not condition.all() or body.args[1].type != yielded(body)[0].type:
        return False
    terminator.operands[0] = body.args[1]
    return True


def turns_of(op: OnnxOp) -> int | None:
    """How often a loop runs at most, if that is constant."""
    count = constant_value(op.operand("M"))
    return None if count is None else max(0, int(count.item()))


def starts(op: OnnxOp) -> bool:
    """Whether the condition before the first turn is certainly true."""
    condition = op.operand("cond")
    known = constant_value(condition)
    return condition is None or (known is not None and bool(known.item()))


def run_turns(op: OnnxOp, turns: int) -> bool:
    """Put copies of the body in the place of a loop that certainly runs so often. Whether the model allows it."""
    body = op.region("body").block
    states = list(op.operands)[len(op.operands) - carried_count(op) :]
    new: list[Operation] = []
    collected: list[list[SSAValue]] = [[] for _ in _stacks(op)]
    for turn in range(turns):
        given = zip(body.args[:2], (turn, True), strict=True)
        fixed = [make_constant(np.full(static_shape(argument) or (), value)) for argument, value in given]
        ops, results = copy_body(body, [*(constant.results[0] for constant in fixed), *states])
        new += [*fixed, *ops]
        states = results[1 : 1 + len(states)]
        for rows, value in zip(collected, results[1 + len(states) :], strict=True):
            rows.append(value)
    results = list(states)
    for rows, result in zip(collected, op.results[len(states) :], strict=True):
        ops = _stack(rows, result)
        new += ops
        results.append(ops[-1].results[0])
    if not all_can_stand_for(results, op.results):
        for each in reversed(new):
            each.erase()
        return False
    operands = list(op.operands)
    replace(op, new, results)
    erase_unused(operands)
    return True


def _stacks(op: OnnxOp) -> list[tuple[SSAValue, SSAValue]]:
    """The results that a loop collects, each with what the body gives for it."""
    count = carried_count(op)
    return list(zip(op.results[count:], yielded(op.region("body").block)[1 + count :], strict=True))


def _empty(result: SSAValue, each: SSAValue) -> Operation | None:
    """An empty stack, when the sizes of what would be stacked are known."""
    type, shape = ranked(result), static_shape(each)
    if type is None or shape is None:
        return None
    dtype = np.dtype(object) if type.element_type == STRING else numpy_dtype(type.element_type)
    return make_constant(np.empty((0, *shape), dtype))


def _stack(rows: Sequence[SSAValue], result: SSAValue) -> list[Operation]:
    """Operations that stack values along a new first axis; the last one gives the stack."""
    if len(rows) == 1:
        return new_op("Unsqueeze", [rows[0], [0]], [result.type])
    parts = [new_op("Unsqueeze", [row, [0]], [_row_type(row, result)]) for row in rows]
    values = [ops[-1].results[0] for ops in parts]
    return [*(op for ops in parts for op in ops), make_op("Concat", values, [result.type], {"axis": 0})]


def _row_type(row: SSAValue, result: SSAValue) -> Attribute:
    """The type of a value with a first axis of one element."""
    type = ranked(row)
    if type is None:
        return UnrankedTensorType(cast("TensorType[Attribute]", result.type).element_type)
    return TensorType(type.element_type, [1, *type.get_shape()])
