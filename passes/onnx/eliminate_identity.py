"""The pass `eliminate-identity`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ge.dialects.onnx import OnnxOp, constant_value, op_class, ranked, static_shape
from ge.ir.rewriting import RewriteRule, may_stand_for, replace, rewrite_rule
from ge.ir.rule_pass import RulePass

_SAME_TYPE = tuple(map(op_class, ("Cast", "Expand", "Flatten", "Reshape", "Squeeze", "Unsqueeze")))
"""Operators that do nothing when the result has the type of the operand."""

_SINGLE = tuple(map(op_class, ("Concat", "Max", "Mean", "Min", "Sum")))
"""Operators that do nothing to a single operand."""


@dataclass(frozen=True)
class EliminateIdentityPass(RulePass):
    """Let the users of an operation that changes nothing use its operand.

    1. `Identity`.
    2. `Dropout` outside training, when its mask is not used.
    3. `Reshape`, `Expand`, `Flatten`, `Squeeze`, `Unsqueeze` to the shape, and `Cast` to the type, that the value has.
    4. `Transpose` that keeps the order of the axes.
    5. `Pad` by nothing, and `Slice` of everything, in steps of one.
    6. `Concat`, `Sum`, `Mean`, `Max` and `Min` of one operand.

    Left alone: an operation that gives an output of the model when its operand is an input, a constant, or an output
    already (the output needs a name and memory of its own); `Dropout` in training mode or with a mask that is used; a
    `Reshape` between equal types with unknown dimensions, which may still exchange them; a `Slice` that reverses.
    """

    name = "eliminate-identity"

    def rules(self) -> list[RewriteRule[Any]]:
        return [identity, dropout, same_type, transpose, pad, slice_all, single]


@rewrite_rule(op_class("Identity"))
def identity(op: OnnxOp) -> bool:
    """Case 1."""
    return _bypass(op)


@rewrite_rule(op_class("Dropout"))
def dropout(op: OnnxOp) -> bool:
    """Case 2."""
    if len(op.results) > 1 and op.results[1].uses:
        return False
    training = op.operand("training_mode")
    if training is not None:
        known = constant_value(training)
        if known is None or known.item():
            return False
    return _bypass(op)


@rewrite_rule(*_SAME_TYPE)
def same_type(op: OnnxOp) -> bool:
    """Case 3."""
    return _has_static_type_of_operand(op) and _bypass(op)


@rewrite_rule(op_class("Transpose"))
def transpose(op: OnnxOp) -> bool:
    """Case 4."""
    type = ranked(op.operands[0])
    if type is None:
        return False
    axes = list(range(type.get_num_dims()))
    return op.attribute("perm", axes[::-1]) == axes and _bypass(op)


@rewrite_rule(op_class("Pad"))
def pad(op: OnnxOp) -> bool:
    """Case 5, padding."""
    pads = constant_value(op.operand("pads"))
    return pads is not None and not pads.any() and _bypass(op)


@rewrite_rule(op_class("Slice"))
def slice_all(op: OnnxOp) -> bool:
    """Case 5, slices: the shape is the same, and no axis is walked backwards."""
    steps = op.operand("steps")
    if steps is not None:
        known = constant_value(steps)
        if known is None or (known != 1).any():
            return False
    return _has_static_type_of_operand(op) and _bypass(op)


@rewrite_rule(*_SINGLE)
def single(op: OnnxOp) -> bool:
    """Case 6."""
    return len(op.operands) == 1 and op.operands[0].type == op.results[0].type and _bypass(op)


def _has_static_type_of_operand(op: OnnxOp) -> bool:
    return op.operands[0].type == op.results[0].type and static_shape(op.operands[0]) is not None


def _bypass(op: OnnxOp) -> bool:
    """Let the users of the first result use the first operand, unless an output would lose its own value."""
    source = op.operands[0]
    if not may_stand_for(source, op.results[0]):
        return False
    replace(op, [], [source, *[None] * (len(op.results) - 1)])
    return True
