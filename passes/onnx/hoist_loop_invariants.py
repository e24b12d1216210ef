"""The pass `hoist-loop-invariants`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block
from xdsl.traits import Pure

from ge.dialects.onnx import Constant, Custom, OnnxOp, op_class
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.regions import cannot_fail
from ge.passes.onnx.simplify_loop import starts, turns_of


@dataclass(frozen=True)
class HoistLoopInvariantsPass(RulePass):
    """Compute once in front of a loop what is the same in every turn.

    1. An operation in the body of a `Loop` whose operands come from outside, when the loop certainly runs: its count is
       a constant of at least one, and it starts.
    2. The same in a `Loop` or `Scan` that may not run at all, when the operation cannot fail: element by element, and
       the shape and the order of axes.

    Constants that the operation needs go with it.

    Left alone: constants alone; random operators; operators of other domains; control flow; in a loop that may not run,
    operators that fail for some operands (a `Reshape` to another size), which would fail where the model does not; the
    branches of an `If`.
    """

    name = "hoist-loop-invariants"

    def rules(self) -> list[RewriteRule[Any]]:
        return [hoist]


@rewrite_rule(op_class("Loop"), op_class("Scan"))
def hoist(op: OnnxOp) -> bool:
    """Both cases."""
    body = op.region("body").block
    runs = op.op_type == "Loop" and (turns_of(op) or 0) > 0 and starts(op)
    changed = False
    for inner in list(body.ops):
        if isinstance(inner, OnnxOp) and (runs or cannot_fail(inner)) and _is_invariant(inner, body):
            for moved in (*_constants(inner, body), inner):
                moved.detach()
                assert op.parent is not None, "operations of a graph are in a block"
                op.parent.insert_op_before(moved, op)
            changed = True
    return changed


def _is_invariant(op: OnnxOp, body: Block) -> bool:
    """Whether an operation of a body gives the same in every turn."""
    if isinstance(op, Constant | Custom) or op.regions or not op.has_trait(Pure):
        return False
    constants = _constants(op, body)
    return all(value.owner in constants or not _is_of(value.owner, body) for value in op.operands)


def _is_of(owner: object, body: Block) -> bool:
    return owner is body or (isinstance(owner, OnnxOp) and owner.parent is body)


def _constants(op: OnnxOp, body: Block) -> list[OnnxOp]:
    """The constants of a body that an operation uses."""
    owners = dict.fromkeys(value.owner for value in op.operands)
    return [owner for owner in owners if isinstance(owner, Constant) and owner.parent is body]
