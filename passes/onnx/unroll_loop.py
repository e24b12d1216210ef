"""The pass `unroll-loop`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import OpResult, SSAValue

from ge.dialects.onnx import OnnxOp, constant_value, op_class, yielded
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.simplify_loop import run_turns, starts, turns_of


@dataclass(frozen=True)
class UnrollLoopPass(RulePass):
    """Put copies of the body in the place of a loop of few turns.

    1. A `Loop` whose count is constant and whose condition stays true.

    Left alone: loops that may end before their count; counts that are not constant; loops of no turns
    (`simplify-loop`); copies of more than `max_ops` operations together.
    """

    name = "unroll-loop"

    max_ops: int = 64

    def rules(self) -> list[RewriteRule[Any]]:
        @rewrite_rule(op_class("Loop"))
        def unroll(op: OnnxOp) -> bool:
            turns = turns_of(op)
            if not turns or not starts(op) or not _goes_on(op):
                return False
            size = sum(1 for _ in op.region("body").walk()) - 1
            return turns * size <= self.max_ops and run_turns(op, turns)

        return [unroll]


def _goes_on(op: OnnxOp) -> bool:
    """Whether the condition is true after every turn: a constant, or what it was before."""
    body = op.region("body").block
    condition: SSAValue = yielded(body)[0]
    while isinstance(condition, OpResult) and isinstance(condition.op, OnnxOp) and condition.op.op_type == "Identity":
        condition = condition.op.operands[0]
    known = constant_value(condition)
    return condition is body.args[1] or (known is not None and bool(known.item()))
