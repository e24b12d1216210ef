"""The pass `eliminate-concat-split`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, SSAValue

from ge.dialects.onnx import OnnxOp, op_class, ranked
from ge.ir.rewriting import RewriteRule, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import (
    FAR,
    all_can_stand_for,
    bypass,
    erase_unused,
    insert_before,
    new_op,
    only_user,
    producer,
    take_place,
)
from ge.passes.onnx.merge_slice import Cut, cuts_of, replace_by_slice, slice_inputs


@dataclass(frozen=True)
class EliminateConcatSplitPass(RulePass):
    """Take out what joins values and takes them apart again.

    1. `Concat` of all results of one `Split`, in order, along its axis: the value that was split.
    2. `Split` of a `Concat` along its axis into the sizes of its operands: the operands.
    3. `Concat` of a `Concat` along the same axis: one `Concat`.
    4. `Concat` without operands that are empty.
    5. `Concat` of slices that lie side by side in one value: one slice for them.
    6. `Slice` of a `Concat` within one of its operands: a slice of that operand.
    7. `Split` of which one result is used: a `Slice`.

    Left alone: other axes and orders; an inner `Concat` that something else uses, too; a `Split` with two results in
    use; sizes that are not known; a value that would be an output of the model for the second time.
    """

    name = "eliminate-concat-split"

    def rules(self) -> list[RewriteRule[Any]]:
        return [
            concat_of_split,
            split_of_concat,
            concat_of_concat,
            empty_operands,
            side_by_side,
            slice_of_concat,
            split,
        ]


@rewrite_rule(op_class("Concat"))
def concat_of_split(op: OnnxOp) -> bool:
    """Case 1."""
    parts = op.operands[0].owner
    if not isinstance(parts, OnnxOp) or parts.op_type != "Split" or tuple(parts.results) != tuple(op.operands):
        return False
    return _same_axis(op, parts, op.operands[0]) and bypass(op, parts.operands[0])


@rewrite_rule(op_class("Split"))
def split_of_concat(op: OnnxOp) -> bool:
    """Case 2."""
    joined = producer(op.operands[0], "Concat")
    if joined is None or not _same_axis(op, joined, op.operands[0]):
        return False
    axis = joined.attribute("axis")
    sizes, wanted = sizes_along(joined.operands, axis), sizes_along(op.results, axis)
    if sizes is None or sizes != wanted:
        return False
    if not all_can_stand_for(joined.operands, op.results):
        return False
    operands = list(op.operands)
    replace(op, [], list(joined.operands))
    erase_unused(operands)
    return True


@rewrite_rule(op_class("Concat"))
def concat_of_concat(op: OnnxOp) -> bool:
    """Case 3."""
    for position, operand in enumerate(op.operands):
        inner = producer(operand, "Concat")
        if inner is not None and only_user(operand) is op and _same_axis(op, inner, operand):
            operands = list(op.operands)
            if operands.count(operand) > 1:
                return False
            operands[position : position + 1] = inner.operands
            take_place(op, "Concat", operands, {"axis": op.attribute("axis")}, fused=[inner])
            return True
    return False


@rewrite_rule(op_class("Concat"))
def empty_operands(op: OnnxOp) -> bool:
    """Case 4."""
    axis = op.attribute("axis")
    kept = [operand for operand in op.operands if sizes_along([operand], axis) != [0]]
    if not kept or len(kept) == len(op.operands):
        return False
    take_place(op, "Concat", kept, {"axis": axis})
    return True


@rewrite_rule(op_class("Concat"))
def side_by_side(op: OnnxOp) -> bool:
    """Case 5, two slices at a time."""
    type = ranked(op.results[0])
    if type is None:
        return False
    axis = op.attribute("axis") % type.get_num_dims()
    operands = list(op.operands)
    for position, (left, right) in enumerate(pairwise(operands)):
        a, b = producer(left, "Slice"), producer(right, "Slice")
        if a is None or b is None or operands.count(left) + operands.count(right) > 2:
            continue
        cuts = _both(a, b, axis)
        if cuts is None or only_user(left) is not op or only_user(right) is not op:
            continue
        if len(operands) == 2:
            replace_by_slice(op, a, cuts)
        else:
            whole = new_op("Slice", slice_inputs(a.operands[0], cuts), [_longer(left, right, axis)])
            insert_before(op, whole, [a, b])
            operands[position : position + 2] = whole[-1].results
            take_place(op, "Concat", operands, {"axis": axis}, fused=[a, b])
        return True
    return False


@rewrite_rule(op_class("Slice"))
def slice_of_concat(op: OnnxOp) -> bool:
    """Case 6."""
    joined = producer(op.operands[0], "Concat")
    cuts, type = None if joined is None else cuts_of(op), ranked(op.operands[0])
    if joined is None or cuts is None or type is None:
        return False
    axis = joined.attribute("axis") % type.get_num_dims()
    sizes = sizes_along(joined.operands, axis)
    if axis not in cuts or sizes is None:
        return False
    taken = cuts[axis].range(sum(sizes))
    starts = [0, *accumulate(sizes)]
    for operand, start, size in zip(joined.operands, starts, sizes, strict=False):
        if taken and start <= min(taken[0], taken[-1]) and max(taken[0], taken[-1]) < start + size:
            end = taken.stop - start if taken.stop >= start else -FAR
            moved = {**cuts, axis: Cut(taken.start - start, end, taken.step)}
            take_place(op, "Slice", slice_inputs(operand, moved), fused=[joined])
            return True
    return False


@rewrite_rule(op_class("Split"))
def split(op: OnnxOp) -> bool:
    """Case 7."""
    used = [position for position, result in enumerate(op.results) if result.uses]
    axis = op.attribute("axis")
    sizes = sizes_along(op.results, axis)
    if len(used) != 1 or sizes is None:
        return False
    (position,) = used
    start = sum(sizes[:position])
    result = op.results[position]
    new = new_op("Slice", slice_inputs(op.operands[0], {axis: Cut(start, start + sizes[position], 1)}), [result.type])
    operands = list(op.operands)
    replace(op, new, [new[-1].results[0] if other is result else None for other in op.results])
    erase_unused(operands)
    return True


def _same_axis(op: OnnxOp, other: OnnxOp, value: SSAValue) -> bool:
    """Whether two operations work along the same axis of a value."""
    a, b, type = op.attribute("axis"), other.attribute("axis"), ranked(value)
    return a == b or (type is not None and a % type.get_num_dims() == b % type.get_num_dims())


def sizes_along(values: Sequence[SSAValue], axis: int) -> list[int] | None:
    """The sizes of values along an axis; None when one is not known."""
    sizes: list[int] = []
    for value in values:
        type = ranked(value)
        if type is None or (size := type.get_shape()[axis]) == DYNAMIC_INDEX:
            return None
        sizes.append(size)
    return sizes


def _both(a: OnnxOp, b: OnnxOp, axis: int) -> dict[int, Cut] | None:
    """What two slices of one value take together, when the second begins where the first ends."""
    first, second, type = cuts_of(a), cuts_of(b), ranked(a.operands[0])
    if a.operands[0] is not b.operands[0] or first is None or second is None or type is None:
        return None
    if first.keys() != second.keys() or axis not in first:
        return None
    if any(first[other] != second[other] for other in first if other != axis):
        return None
    left, right, size = first[axis], second[axis], type.get_shape()[axis]
    if {left.step, right.step} != {1}:
        return None
    if size != DYNAMIC_INDEX:
        left, right = (Cut(cut.range(size).start, cut.range(size).stop, 1) for cut in (left, right))
    if not 0 <= left.start <= left.end == right.start <= right.end:
        return None
    return {**first, axis: Cut(left.start, right.end, 1)}


def _longer(left: SSAValue, right: SSAValue, axis: int) -> Attribute:
    """The type of two values joined along an axis."""
    type, sizes = ranked(left), sizes_along([left, right], axis)
    assert type is not None, "a slice of a ranked value is ranked"
    shape = list(type.get_shape())
    shape[axis] = DYNAMIC_INDEX if sizes is None else sum(sizes)
    return TensorType(type.element_type, shape)
