"""The pass `fuse-quantise-conv`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from ge.dialects.graph import IntegerConv2DOp, QuantiseOp
from ge.dialects.graph.base import tensor
from ge.dialects.graph.capabilities import obstacle
from ge.ir.rewriting import apply_rules, rewrite_rule
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import describe, only_user

NAME = "fuse-quantise-conv"


@dataclass(frozen=True)
class FuseQuantiseConvPass(ModulePass):
    """Let the first convolution of a quantised model quantise the rows of its input itself, as it reads them.

    An image of three channels takes a block of 32 lanes for each position once it is quantised, of which 29 are empty:
    for most networks that is the largest value of all.

    Rewritten: quantise(x) of an input of the model, whose only user is a convolution of integers.

    Left alone: a quantised value with another user; what an operation makes; more than 16 channels, groups, and windows
    of one position, which have no kernel that quantises (`ge.dialects.graph.capabilities`).
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [fuse])


@rewrite_rule(IntegerConv2DOp)
def fuse(op: IntegerConv2DOp) -> bool:
    """Fuse one convolution with the quantisation before it."""
    source = op.x.owner
    if not isinstance(source, QuantiseOp) or only_user(source.y) is not op or not isinstance(source.x.owner, Block):
        return False
    if source.zero_point != op.padding:
        return False
    new = IntegerConv2DOp.create(
        operands=[source.x, *op.operands[1:]],
        result_types=[op.y.type],
        properties={**op.properties, "x_scale": source.scale, "x_type": tensor(source.y).element_type},
    )
    if obstacle(new) is not None:
        new.erase()
        return False
    text = f"Fuse {describe(source)} + {describe(op)} -> {describe(new)}"
    replace_chain([source, op], [new])
    report.fused(NAME, text, new)
    return True
