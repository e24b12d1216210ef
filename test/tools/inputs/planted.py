"""A plug-in with a pass of ten rewrites, of which the eighth is wrong, and only for negative numbers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.onnx import OnnxOp, make_op
from ge.ir.locations import node_names
from ge.ir.rewriting import permit, replace


@dataclass(frozen=True)
class Planted(ModulePass):
    """Put `Abs` in the place of `Abs`, and once `Relu`."""

    name = "planted"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, OnnxOp) and inner.op_type == "Abs" and permit("planted-rule", inner):
                kind = "Relu" if node_names(inner) == ("abs_7",) else "Abs"
                replace(inner, make_op(kind, [inner.operands[0]], [inner.results[0].type]))


PASSES = {"planted": Planted}
