"""The pass `eliminate-expand`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ge.dialects.onnx import OnnxOp, op_class, static_shape
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import erase_unused

BROADCASTING = frozenset(
    (
        *("Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Less"),
        *("LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor"),
    )
)
"""Elementwise operators whose operands all broadcast to the result."""


@dataclass(frozen=True)
class EliminateExpandPass(RulePass):
    """Take out `Expand` before elementwise operators that broadcast anyway: x / Expand(norm, shape of x) = x / norm.

    Left alone: unknown sizes; an operator whose result would be smaller, since no other operand has all of its sizes;
    what an operator of another kind wants, and an output.
    """

    name = "eliminate-expand"

    def rules(self) -> list[RewriteRule[Any]]:
        return [expand]


@rewrite_rule(op_class("Expand"))
def expand(op: OnnxOp) -> bool:
    """Let elementwise operators take what is expanded; the operation goes when nothing else uses its result."""
    source, expanded = op.operands[0], op.results[0]
    uses = [use for use in expanded.uses if _broadcasts(use.operation, expanded, source)]
    for use in uses:
        use.operation.operands[use.index] = source
    erase_unused([expanded])
    return bool(uses)


def _broadcasts(user: Operation, expanded: SSAValue, source: SSAValue) -> bool:
    """Whether an operation gives the same with `source` in the place of `expanded`."""
    if not isinstance(user, OnnxOp) or user.domain or user.op_type not in BROADCASTING:
        return False
    shapes = [static_shape(source if value is expanded else value) for value in user.operands]
    known = [shape for shape in shapes if shape is not None]
    return len(known) == len(shapes) and np.broadcast_shapes(*known) == static_shape(user.results[0])
