"""The pass `onnx-cse`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from ge.dialects.onnx import Custom, OnnxOp
from ge.ir.rewriting import permit, replace


@dataclass(frozen=True)
class OnnxCsePass(ModulePass):
    """Compute once what a block computes twice: equal operators on equal operands with equal attributes.

    Constants count: equal bytes of equal type become one. The notes on names are not compared; the first one stays.

    Left alone: operators whose results differ from run to run (also `RandomNormal` with a seed), operators of other
    domains, operations with regions, equal operations in different blocks, and operations that give an output of the
    model, which keeps its own value and name.
    """

    name = "onnx-cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        blocks = dict.fromkeys(inner.parent for inner in op.walk() if isinstance(inner, OnnxOp))
        for block in blocks:
            if block is not None:
                merge_equal(block)


def merge_equal(block: Block) -> None:
    """Merge equal operations of one block, in program order, so that users of merged values can merge in turn."""
    first: dict[Hashable, OnnxOp] = {}
    for op in list(block.ops):
        if not isinstance(op, OnnxOp) or isinstance(op, Custom) or op.regions or op.is_random:
            continue
        known = first.setdefault(_key(op), op)
        if known is not op and not _is_returned(op) and permit("onnx-cse", op):
            replace(op, [], known.results)


def _key(op: OnnxOp) -> Hashable:
    """What makes two operations equal."""
    attributes = frozenset((name, value) for name, value in op.attributes.items() if "." not in name)
    return op.name, tuple(op.operands), attributes, op.absent, tuple(op.result_types)


def _is_returned(op: OnnxOp) -> bool:
    return any(isinstance(use.operation, ReturnOp) for result in op.results for use in result.uses)
