"""The pass `merge-slices-to-split`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ge.dialects.onnx import OnnxOp, op_class, ranked
from ge.ir.rewriting import RewriteRule, erase_if_unused, replace_value, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import erase_unused, in_program_order, insert_before, new_op, only_user
from ge.passes.onnx.merge_slice import cuts_of


@dataclass(frozen=True)
class MergeSlicesToSplitPass(RulePass):
    """Make one `Split` of slices of one value that, side by side, are all of it.

    1. Two or more `Slice` operations in one block, each of one axis in steps of one, all of the same axis of known
       size, which together take every position once.

    Left alone: slices that overlap or leave something out; slices of several axes, backwards, or with steps; positions
    that are not constant; slices in different blocks; a slice that is only sliced again, which `merge-slice` makes one
    of both.
    """

    name = "merge-slices-to-split"

    def rules(self) -> list[RewriteRule[Any]]:
        return [merge]


@rewrite_rule(op_class("Slice"))
def merge(op: OnnxOp) -> bool:
    """Case 1, for the slices beside the one given."""
    value, type = op.operands[0], ranked(op.operands[0])
    own = _part(op) if value.has_more_than_one_use() else None
    if own is None or own[1] != 0 or type is None:  # the rule is tried on each of them
        return False
    axis, size = own[0], type.get_shape()[own[0]]
    parts: dict[int, tuple[int, OnnxOp]] = {}
    for slice_op in _slices(value, op):
        part = _part(slice_op)
        if part is not None and part[0] == axis:
            if part[1] in parts:
                return False
            parts[part[1]] = part[2], slice_op
    ordered = sorted(parts)
    ends = [parts[start][0] for start in ordered]
    if len(ordered) < 2 or ordered != [0, *ends[:-1]] or ends[-1] != size:
        return False
    if any(_is_sliced_again(slice_op) for _, slice_op in parts.values()):
        return False
    _replace(value, axis, [parts[start][1] for start in ordered])
    return True


def _slices(value: SSAValue, op: OnnxOp) -> list[OnnxOp]:
    """The slices of a value in the block of one of them."""
    users = dict.fromkeys(use.operation for use in value.uses if use.index == 0)
    return [user for user in users if isinstance(user, type(op)) and user.parent is op.parent]


def _is_sliced_again(op: OnnxOp) -> bool:
    user = only_user(op.results[0])
    return isinstance(user, type(op)) and cuts_of(user) is not None


def _part(op: OnnxOp) -> tuple[int, int, int] | None:
    """The axis of a slice, its start and its end; None when it is of another kind than case 1 says."""
    cuts, type = cuts_of(op), ranked(op.operands[0])
    if cuts is None or type is None or len(cuts) != 1:
        return None
    ((axis, cut),) = cuts.items()
    size = type.get_shape()[axis]
    if size == DYNAMIC_INDEX or cut.step != 1 or not (taken := cut.range(size)):
        return None
    return axis, taken.start, taken.stop


def _replace(value: SSAValue, axis: int, slices: list[OnnxOp]) -> None:
    """Put a split in front of the first of some slices, for all of them."""
    types = [op.results[0].type for op in slices]
    sizes = [taken[2] - taken[1] for op in slices if (taken := _part(op)) is not None]
    inputs = [value] if len(set(sizes)) == 1 else [value, sizes]
    count = {"num_outputs": len(sizes)} if len(set(sizes)) == 1 else {}
    new = new_op("Split", inputs, types, {"axis": axis, **count})
    first, *_ = in_program_order(slices)
    insert_before(first, new, slices)
    operands = [operand for op in slices for operand in op.operands]
    for op, part in zip(slices, new[-1].results, strict=True):
        replace_value(op.results[0], part)
        erase_if_unused(op)
    erase_unused(operands)
