"""The pass `merge-reshape-into-reduce`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ge.dialects.onnx import OnnxOp, op_class, ranked, static_shape
from ge.dialects.onnx.ops import make_op
from ge.ir.rewriting import RewriteRule, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import axes_of, erase_unused, integers, only_user
from ge.passes.onnx.merge_reshape import RESHAPES

REDUCTIONS = (
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd"),
    *("ReduceSum", "ReduceSumSquare", "ArgMax", "ArgMin"),
)
"""Operators with the attribute `keepdims`."""


@dataclass(frozen=True)
class MergeReshapeIntoReducePass(RulePass):
    """Let a reduction keep or drop its axes, instead of an operation behind it.

    1. A reduction without its axes, and `Unsqueeze` or `Reshape` that put them back as ones: `keepdims` is 1.
    2. A reduction with its axes, and `Squeeze` or `Reshape` that take them away: `keepdims` is 0.

    Left alone: a reduction that something else uses, too, or that is an output; other axes and shapes; with unknown
    dimensions, a `Reshape`; axes that are not constant; a reduction over no axes, or of a value without
    dimensions.
    """

    name = "merge-reshape-into-reduce"

    def rules(self) -> list[RewriteRule[Any]]:
        return [merge]


@rewrite_rule(*map(op_class, REDUCTIONS))
def merge(op: OnnxOp) -> bool:
    """Both cases."""
    user, type = only_user(op.results[0]), ranked(op.operands[0])
    if user is None or user.op_type not in RESHAPES or user.domain or type is None:
        return False
    rank = type.get_num_dims()
    axes = _axes(op, rank) if rank else None
    keeps = bool(op.attribute("keepdims"))
    if not axes or user.operands[0] is not op.results[0] or not _undoes(user, axes, rank, keeps, type.get_shape()):
        return False
    attributes = {name: value for name, value in op.attributes.items() if "." not in name}
    new = make_op(op.op_type, op.input_list(), [user.results[0].type], {**attributes, "keepdims": int(not keeps)})
    if (names := user.attributes.get("onnx.outputs")) is not None:
        new.attributes["onnx.outputs"] = names
    operands = list(user.operands)
    replace(user, [new], fused=[op])
    erase_unused(operands)
    return True


def _axes(op: OnnxOp, rank: int) -> list[int] | None:
    """The axes that a reduction reduces; None when they are not known."""
    if op.op_type in ("ArgMax", "ArgMin"):
        return [op.attribute("axis") % rank]
    axes = [] if op.operand("axes") is None else axes_of(op.operand("axes"), rank)
    if axes == [] and not op.attribute("noop_with_empty_axes"):
        return list(range(rank))
    return axes


def _undoes(user: OnnxOp, axes: list[int], rank: int, keeps: bool, shape: tuple[int, ...]) -> bool:
    """Whether an operation puts back the axes that a reduction drops, or drops those that it keeps."""
    if user.op_type == ("Squeeze" if keeps else "Unsqueeze"):
        named = integers(user.operand("axes"))
        return named is not None and sorted(axis % rank for axis in named) == sorted(axes)
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    wanted = [size for axis, size in enumerate(kept) if axis not in axes] if keeps else kept
    return static_shape(user.results[0]) == tuple(wanted)
