"""The pass `merge-constants`."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, MutableMapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from ge.dialects.onnx import Constant, OnnxOp
from ge.ir.rewriting import permit, replace
from ge.passes.onnx.building import can_stand_for
from ge.passes.onnx.onnx_cse import Computation


@dataclass(frozen=True)
class MergeConstantsPass(ModulePass):
    """Keep each constant once: weights that layers share, and the small numbers that exporters repeat.

    1. Constants of equal bytes and equal type in one graph.
    2. A constant in the body of a loop or branch that the graph around it has, too.

    Bytes count, not values: 0.0 and -0.0 differ, and a NaN is equal to itself.

    Left alone: constants of another element type or shape; constants in different branches; a constant that is an
    output of the model, which needs memory of its own.
    """

    name = "merge-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                _merge(function.body.block, {})


def _merge(block: Block, first: MutableMapping[Hashable, OnnxOp]) -> None:
    for op in list(block.ops):
        for region in op.regions:
            _merge(region.block, ChainMap({}, first))
        if not isinstance(op, Constant):
            continue
        known = first.setdefault(Computation(op), op)
        if known is not op and can_stand_for(known.results[0], op.results[0]) and permit("merge-constants", op):
            replace(op, [], known.results)
