"""The pass `fuse-binary-activation`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph import BinaryOp, UnaryOp
from ge.dialects.graph.capabilities import can_fuse_into_binary
from ge.ir.rewriting import apply_rules, rewrite_rule
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import describe, only_user

NAME = "fuse-binary-activation"


@dataclass(frozen=True)
class FuseBinaryActivationPass(ModulePass):
    """Fuse an elementwise operation of two tensors with the relu or clip after it, as at the end of a residual block.

    Left alone: operands that broadcast; other functions, which want float32; a result with a second user.
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [fuse])


@rewrite_rule(BinaryOp)
def fuse(op: BinaryOp) -> bool:
    """Fuse one operation with its only user."""
    user = only_user(op.y)
    if op.activation is not None or not isinstance(user, UnaryOp) or not can_fuse_into_binary(op, user.function):
        return False
    new = BinaryOp(op.kind.data, op.a, op.b, activation=user.function)
    text = f"Fuse {describe(op)} + {describe(user)} -> Fused{describe(op)}"
    replace_chain([op, user], [new])
    report.fused(NAME, text, new)
    return True
