"""Normalisation: of batches, rows and local responses, and softmax."""

from __future__ import annotations

import math

import numpy as np

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import dtype_of
from ge.dialects.graph.normalization import BatchNormOp, LayerNormOp, LrnOp, SoftmaxOp
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.rules import Emitter, Results, Rule, Rules, axis_of, feature, is_feature
from ge.lowering.onnx_to_graph.windows import as_plane, from_plane


def batch_norm(op: OnnxOp, emit: Emitter) -> Results:
    """BatchNormalization with given statistics, of rows as feature maps; in training mode it stays on the host."""
    if op.attribute("training_mode") or any(result.uses for result in op.results[1:]):
        return None
    if not all(is_feature(operand) for operand in op.operands) or len(shape_of(op.operands[0])) < 2:
        return None
    x, scale, bias, mean, var = op.operands
    y = emit.add(BatchNormOp(as_plane(emit, x), scale, bias, mean, var, op.attribute("epsilon")))
    return [from_plane(emit, y, x), *(None for _ in op.results[1:])]


def layer_norm(op: OnnxOp, emit: Emitter) -> Results:
    """LayerNormalization of the last axis, or of all axes from one on as rows; mean and deviation are no results."""
    x, scale, bias = feature(op, "X"), feature(op, "Scale"), op.operand("B")
    if x is None or scale is None or any(result.uses for result in op.results[1:]):
        return None
    if op.attribute("stash_type") != 1 or (bias is not None and not is_feature(bias)):
        return None
    shape = shape_of(x)
    axis = axis_of(op.attribute("axis"), len(shape))
    length = math.prod(shape[axis:])
    if any(shape_of(vector) != shape[axis:] for vector in (scale, bias) if vector is not None):
        return None
    rows = x if axis == len(shape) - 1 else emit.reshape(x, (*shape[:axis], length))
    scale = emit.reshape(scale, (length,))
    shift = emit.constant(np.zeros(length, dtype_of(x))) if bias is None else emit.reshape(bias, (length,))
    y = emit.reshape(emit.add(LayerNormOp(rows, scale, shift, op.attribute("epsilon"))), shape)
    return [y, *(None for _ in op.results[1:])]


def lrn(op: OnnxOp, emit: Emitter) -> Results:
    """LRN over channels."""
    x = feature(op, "X")
    if x is None or len(shape_of(x)) < 2 or op.attribute("size") < 1:
        return None
    return emit.add(LrnOp(x, op.attribute("size"), op.attribute("alpha"), op.attribute("beta"), op.attribute("bias")))


def _softmax(log: bool) -> Rule:
    def rule(op: OnnxOp, emit: Emitter) -> Results:
        """Softmax and LogSoftmax; an axis followed only by dimensions of size 1 becomes the last one."""
        x = feature(op, "input")
        if x is None or not shape_of(x):
            return None
        shape = shape_of(x)
        axis = axis_of(op.attribute("axis"), len(shape))
        if axis < len(shape) - 1 and math.prod(shape[axis + 1 :]) == 1:
            rows = emit.reshape(x, shape[: axis + 1])
            return emit.reshape(emit.add(SoftmaxOp(rows, -1, log=log)), shape)
        return emit.add(SoftmaxOp(x, axis, log=log))

    return rule


RULES: Rules = {
    "BatchNormalization": batch_norm,
    "LayerNormalization": layer_norm,
    "LRN": lrn,
    "Softmax": _softmax(log=False),
    "LogSoftmax": _softmax(log=True),
}
