"""The pass `inline-if`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from ge.dialects.onnx import OnnxOp, constant_value, make_constant, op_class, static_shape, yielded
from ge.dialects.onnx.shapes.types import type_of_value, value_of_type
from ge.dialects.onnx.shapes.values import join
from ge.ir.functions import update_type
from ge.ir.rewriting import RewriteRule, may_stand_for, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import erase_unused, is_output
from ge.passes.onnx.onnx_cse import region_key


@dataclass(frozen=True)
class InlineIfPass(RulePass):
    """Put a branch in the place of an `If` when it is known which one, or does not matter.

    1. The condition is constant: the branch that it chooses.
    2. Both branches do the same: the first one.
    3. An `If` inside a branch of another one with the same condition: there the condition is known.
    4. Both branches give nothing but values from outside, the same ones: those values.

    An output of the model takes the type that the branch knows.

    Left alone: conditions that are not known; a branch that gives an output of the model of which less is known; an
    input, a constant or another output in the place of one.
    """

    name = "inline-if"

    def rules(self) -> list[RewriteRule[Any]]:
        return [known_inside, constant_condition, equal_branches]


@rewrite_rule(op_class("If"))
def constant_condition(op: OnnxOp) -> bool:
    """Case 1."""
    condition = constant_value(op.operand("cond"))
    if condition is None or condition.size != 1:
        return False
    return take_branch(op, "then_branch" if condition.item() else "else_branch")


@rewrite_rule(op_class("If"))
def equal_branches(op: OnnxOp) -> bool:
    """Cases 2 and 4."""
    branches = [region_key(op.region(name)) for name in ("then_branch", "else_branch")]
    return branches[0] == branches[1] and take_branch(op, "then_branch")


@rewrite_rule(op_class("If"))
def known_inside(op: OnnxOp) -> bool:
    """Case 3."""
    condition = op.operands[0]
    branch = _branch_around(op, condition)
    if branch is None:
        return False
    known = make_constant(np.full(static_shape(condition) or (), branch == "then_branch"))
    assert op.parent is not None, "operations of a branch are in a block"
    op.parent.insert_op_before(known, op)
    op.operands = [known.results[0]]
    return True


def _branch_around(op: OnnxOp, condition: SSAValue) -> str | None:
    """The branch in which an operation is, at any depth, of another `If` with a condition."""
    region = op.parent_region()
    while region is not None and (outer := region.parent) is not None:
        if isinstance(outer, type(op)) and outer.operands[0] is condition:
            return "then_branch" if region is outer.region("then_branch") else "else_branch"
        region = outer.parent_region()
    return None


def take_branch(op: OnnxOp, name: str) -> bool:
    """Put the branch `name` in the place of an `If`. Whether the model allows it."""
    block = op.region(name).block
    results = list(yielded(block))
    outputs = [new for new, old in zip(results, op.results, strict=True) if is_output(old)]
    if len(set(outputs)) < len(outputs) or not all(map(_fits, results, op.results)):
        return False
    function = op.parent_op()
    inline(op, block, results)
    if isinstance(function, FuncOp):
        update_type(function)
    return True


def _fits(new: SSAValue, old: SSAValue) -> bool:
    """Whether a value can take the place of a result: one that is an output may become known better, not worse."""
    known = type_of_value(join(value_of_type(new.type), value_of_type(old.type))) == old.type
    return may_stand_for(new, old) and (known or not is_output(old))


def inline(op: OnnxOp, block: Block, results: Sequence[SSAValue]) -> None:
    """Put the operations of a block in front of an operation, and values of it in the place of the results."""
    operands = list(op.operands)
    terminator = block.last_op
    assert terminator is not None, "a graph ends with a terminator"
    terminator.detach()
    terminator.erase()
    ops = list(block.ops)
    for inner in ops:
        inner.detach()
    replace(op, ops, results)
    erase_unused(operands)
