"""The pass `gather-to-slice`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ge.dialects.onnx import OnnxOp, op_class, ranked
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import FAR, integers, take_place
from ge.passes.onnx.merge_slice import Cut, slice_inputs


@dataclass(frozen=True)
class GatherToSlicePass(RulePass):
    """Take elements in order by position, not by a list of positions.

    1. `Gather` with a constant vector of positions in equal steps, forwards or backwards: a `Slice`.
    2. The one position of an axis of one element: a `Squeeze`.

    Left alone: a single position of a longer axis, which would be a `Slice` and a `Squeeze`; positions that are not
    constant, in unequal steps, twice the same, or outside; an axis of unknown size, outside of which a `Gather` fails
    and a `Slice` gives nothing.
    """

    name = "gather-to-slice"

    def rules(self) -> list[RewriteRule[Any]]:
        return [gather]


@rewrite_rule(op_class("Gather"))
def gather(op: OnnxOp) -> bool:
    """Both cases."""
    positions, indices, type = integers(op.operands[1]), ranked(op.operands[1]), ranked(op.operands[0])
    if not positions or indices is None or indices.get_num_dims() > 1 or type is None:
        return False
    axis: int = op.attribute("axis") % type.get_num_dims()
    size = type.get_shape()[axis]
    if size == DYNAMIC_INDEX or not all(-size <= position < size for position in positions):
        return False
    if indices.get_num_dims() == 0:
        if size == 1:
            take_place(op, "Squeeze", [op.operands[0], [axis]])
        return size == 1
    first, *rest = [position % size for position in positions]
    step = rest[0] - first if rest else 1
    if step == 0 or [first, *rest] != [first + step * index for index in range(len(rest) + 1)]:
        return False
    end = first + step * (len(rest) + 1)
    cut = Cut(first, end if end >= 0 else -FAR, step)
    take_place(op, "Slice", slice_inputs(op.operands[0], {axis: cut}))
    return True
