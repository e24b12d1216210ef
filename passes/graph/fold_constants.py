"""The pass `graph-fold-constants`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, YieldOp, main_function
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant, constant_array, dtype_of
from ge.dialects.graph.meaning import evaluate
from ge.ir.attributes import layout_of
from ge.ir.constants import Array
from ge.ir.rewriting import erase_if_unused, permit, replace

MOST_GROWTH = 1 << 20
"""How many bytes the results of a folded operation may have more than its operands."""


@dataclass(frozen=True)
class GraphFoldConstantsPass(ModulePass):
    """Evaluate operations whose operands are all constant, by the same functions that evaluate them at run time.

    Left alone: regions for the host, kernel launches, and operations that would make the model more than 1 MiB larger
    (a broadcast of a small constant, say). Constants that have no users then are taken out.
    """

    name = "graph-fold-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = main_function(op).body.block
        for inner in list(block.ops):
            if inner.name.startswith("graph.") and not isinstance(inner, ConstantOp | HostOp | LaunchOp | YieldOp):
                fold(inner)
        for inner in list(block.ops):
            if isinstance(inner, ConstantOp):
                erase_if_unused(inner)


def bytes_of(value: SSAValue) -> int:
    """The size of a tensor in origin shape."""
    return math.prod(shape_of(value)) * dtype_of(value).itemsize


def fold(op: Operation) -> bool:
    """Replace one operation by a constant, if it can be. Whether it was."""
    if not op.operands or not all(isinstance(operand.owner, ConstantOp) for operand in op.operands):
        return False
    if sum(map(bytes_of, op.results)) - sum(map(bytes_of, op.operands)) > MOST_GROWTH:
        return False
    if not permit("graph-fold-constants", op):
        return False
    results = cast("list[Array]", evaluate(op, [constant_array(operand) for operand in op.operands]))
    constants = [constant(array, layout_of(old.type)) for array, old in zip(results, op.results, strict=True)]
    replace(op, constants, [new.y for new in constants])
    return True
