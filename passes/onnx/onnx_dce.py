"""The pass `onnx-dce`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects.onnx import OnnxOp
from ge.ir.rewriting import erase_if_unused


@dataclass(frozen=True)
class OnnxDcePass(ModulePass):
    """Erase operations whose results nobody uses, in regions too. No ONNX operator has another effect.

    Left alone: an operation of which any result is used, inputs of the model, and the terminators of regions, which
    keep the results of control flow alive even when nobody uses one of them.
    """

    name = "onnx-dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        erase_dead(op)


def erase_dead(root: Operation) -> None:
    """Visit operations from last to first, so that what only dead operations use dies with them."""
    for region in root.regions:
        for block in region.blocks:
            for op in reversed(list(block.ops)):
                if not (isinstance(op, OnnxOp) and erase_if_unused(op)):
                    erase_dead(op)
