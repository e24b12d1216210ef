"""The pass `unflatten-softmax`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ge.dialects.onnx import OnnxOp, make_op, op_class, static_shape
from ge.ir.rewriting import RewriteRule, erase_if_unused, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import only_user, producer
from ge.passes.onnx.merge_reshape import RESHAPES

_SOFTMAXES = tuple(map(op_class, ("Softmax", "LogSoftmax", "Hardmax")))


@dataclass(frozen=True)
class UnflattenSoftmaxPass(RulePass):
    """Compute a softmax before the reshape in front of it instead of after, when it has an axis of its own there.

    1. `Softmax`, `LogSoftmax` and `Hardmax` between two operations that only reshape: the axis of the flat value is one
       axis of the value before, with as many elements before it and after it. Models of opsets before 13 are imported
       like this, and mostly have sizes of one beside the axis. The two reshapes then meet, for `merge-reshape`.

    Left alone: unknown sizes; an axis that several axes were joined in, or that is part of one; results that something
    else uses, or that are outputs of the model; softmaxes with a reshape on one side only, which gain nothing.
    """

    name = "unflatten-softmax"

    def rules(self) -> list[RewriteRule[Any]]:
        return [unflatten]


@rewrite_rule(*_SOFTMAXES)
def unflatten(op: OnnxOp) -> bool:
    """Case 1."""
    before, after = producer(op.operands[0], *RESHAPES), only_user(op.results[0])
    if before is None or after is None or producer(after.results[0], *RESHAPES) is None:
        return False
    if only_user(before.results[0]) is not op or after.operands[0] is not op.results[0]:
        return False
    source, flat = before.operands[0], op.operands[0]
    shape, flat_shape = static_shape(source), static_shape(flat)
    if shape is None or not flat_shape:
        return False
    axis = _same_axis(shape, flat_shape, op.attribute("axis") % len(flat_shape))
    if axis is None:
        return False
    softmax = make_op(op.op_type, [source], [source.type], {"axis": axis}, location=op.location)
    inputs = [softmax.results[0], *before.operands[1:]]
    reshape = make_op(before.op_type, inputs, op.result_types, _attributes(before), location=before.location)
    replace(op, [softmax, reshape])
    erase_if_unused(before)
    return True


def _attributes(op: OnnxOp) -> dict[str, Any]:
    return {name: op.attribute(name) for name in op.attributes if "." not in name}


def _same_axis(shape: Sequence[int], flat: Sequence[int], axis: int) -> int | None:
    """The axis of a shape that an axis of the flat shape is: of its size, with as many elements before and after it."""
    wanted = (math.prod(flat[:axis]), flat[axis], math.prod(flat[axis + 1 :]))
    for candidate, size in enumerate(shape):
        if (math.prod(shape[:candidate]), size, math.prod(shape[candidate + 1 :])) == wanted:
            return candidate
    return None
