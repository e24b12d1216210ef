"""The pass `merge-slice`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ge.dialects.onnx import OnnxOp, op_class, ranked
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.maths.slices import positions, python_slice
from ge.passes.onnx.building import FAR, Input, axes_of, integers, only_user, producer, take_place


@dataclass(frozen=True)
class Cut:
    """What a `Slice` takes of one axis."""

    start: int
    end: int
    step: int

    def range(self, size: int) -> range:
        """The positions taken of an axis of known size."""
        return positions(self.start, self.end, self.step, size)


@dataclass(frozen=True)
class MergeSlicePass(RulePass):
    """Make one `Slice` of two that follow each other.

    1. On different axes.
    2. On the same axis, when its size is known.
    3. On the same axis of unknown size, forwards in steps of one and counted from the front.

    Left alone: positions that are not constant; a first slice that something else uses, too; slices that leave nothing;
    backward slices of an axis of unknown size on which both slices are.
    """

    name = "merge-slice"

    def rules(self) -> list[RewriteRule[Any]]:
        return [merge]


@rewrite_rule(op_class("Slice"))
def merge(op: OnnxOp) -> bool:
    """All cases."""
    inner = producer(op.operands[0], "Slice")
    if inner is None or only_user(op.operands[0]) is not op:
        return False
    first, second, type = cuts_of(inner), cuts_of(op), ranked(inner.operands[0])
    if first is None or second is None or type is None:
        return False
    merged = dict(first)
    for axis, cut in second.items():
        joined = _joined(first[axis], cut, type.get_shape()[axis]) if axis in first else cut
        if joined is None:
            return False
        merged[axis] = joined
    replace_by_slice(op, inner, merged)
    return True


def replace_by_slice(op: OnnxOp, inner: OnnxOp, cuts: Mapping[int, Cut]) -> None:
    """Put a slice of the operand of `inner` in the place of an operation."""
    take_place(op, "Slice", slice_inputs(inner.operands[0], cuts), fused=[inner])


def slice_inputs(value: SSAValue, cuts: Mapping[int, Cut]) -> list[Input]:
    """The inputs of a `Slice` of a value; steps are left out when all are one."""
    axes = sorted(cuts)
    starts, ends, steps = ([getattr(cuts[axis], part) for axis in axes] for part in ("start", "end", "step"))
    return [value, starts, ends, axes, *([steps] if set(steps) != {1} else [])]


def cuts_of(op: OnnxOp) -> dict[int, Cut] | None:
    """What a `Slice` takes of each axis that it names; None when that is not constant."""
    type = ranked(op.operands[0])
    starts, ends = integers(op.operand("starts")), integers(op.operand("ends"))
    if type is None or starts is None or ends is None:
        return None
    count = len(starts)
    axes = list(range(count)) if op.operand("axes") is None else axes_of(op.operand("axes"), type.get_num_dims())
    steps = [1] * count if op.operand("steps") is None else integers(op.operand("steps"))
    if axes is None or steps is None or not len(ends) == len(axes) == len(steps) == count == len(set(axes)):
        return None
    return {axis: Cut(*cut) for axis, *cut in zip(axes, starts, ends, steps, strict=True)}


def _joined(first: Cut, second: Cut, size: int) -> Cut | None:
    """One slice for two of the same axis, None when there is none."""
    if size != DYNAMIC_INDEX:
        outer = first.range(size)
        taken = outer[python_slice(second.range(len(outer)))]
        if not taken:
            return None
        return Cut(taken.start, taken.stop if taken.stop >= 0 else -FAR, taken.step)
    if {first.step, second.step} != {1} or min(first.start, first.end, second.start, second.end) < 0:
        return None
    return Cut(min(first.start + second.start, FAR), min(first.end, first.start + second.end, FAR), 1)
