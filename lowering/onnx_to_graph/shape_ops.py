"""Operators that move or regroup elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.movement import ConcatOp, GatherChannelsOp, TransposeOp
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.rules import Emitter, Results, Rules, axis_of, feature, is_feature, is_static, known_ints

CHANNELS = 1
"""The axis of the channels."""


def reshape(op: OnnxOp, emit: Emitter) -> Results:
    """Reshape, Flatten, Squeeze and Unsqueeze: the result's shape says it all."""
    x = op.operands[0]
    return emit.reshape(x, shape_of(op.results[0])) if is_feature(x) and is_static(op.results[0]) else None


def transpose(op: OnnxOp, emit: Emitter) -> Results:
    """Transpose; one that only moves dimensions of size 1 is a reshape."""
    x = feature(op, "data")
    if x is None:
        return None
    shape = shape_of(x)
    perm: list[int] = op.attribute("perm") or list(range(len(shape)))[::-1]
    if sorted(perm) != list(range(len(shape))):
        return None
    moved = [axis for axis in perm if shape[axis] != 1]
    if moved == sorted(moved):
        return emit.reshape(x, shape_of(op.results[0]))
    return emit.add(TransposeOp(x, perm))


def concat(op: OnnxOp, emit: Emitter) -> Results:
    """Concat; of one tensor it is that tensor."""
    if not all(is_feature(operand) for operand in op.operands):
        return None
    if len(op.operands) == 1:
        return op.operands[0]
    return emit.add(ConcatOp(list(op.operands), axis_of(op.attribute("axis"), len(shape_of(op.results[0])))))


def split(op: OnnxOp, emit: Emitter) -> Results:
    """Split of channels into static parts."""
    x = feature(op, "input")
    if x is None or axis_of(op.attribute("axis"), len(shape_of(x))) != CHANNELS:
        return None
    if not all(is_static(result) for result in op.results):
        return None
    bounds = accumulate((shape_of(result)[CHANNELS] for result in op.results), initial=0)
    return [_channels(emit, x, range(start, end)) for start, end in pairwise(bounds)]


def slice_(op: OnnxOp, emit: Emitter) -> Results:
    """Slice of channels with constant bounds, also backwards or with gaps; all other dimensions stay whole."""
    x, starts, ends = feature(op, "data"), known_ints(op.operand("starts")), known_ints(op.operand("ends"))
    if x is None or starts is None or ends is None or len(shape_of(x)) < 2:
        return None
    shape = shape_of(x)
    axes = _ints_or(op.operand("axes"), list(range(len(starts))))
    steps = _ints_or(op.operand("steps"), [1] * len(starts))
    if axes is None or steps is None:
        return None
    taken = {axis: range(size) for axis, size in enumerate(shape)}
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = axis_of(axis, len(shape))
        taken[axis] = range(shape[axis])[start:end:step]
    if any(taken[axis] != range(size) for axis, size in enumerate(shape) if axis != CHANNELS):
        return None
    return _channels(emit, x, taken[CHANNELS]) if taken[CHANNELS] else None


def _ints_or(value: SSAValue | None, default: list[int]) -> list[int] | None:
    """The integers of an optional constant: `default` when it is absent, None when it is not constant."""
    return default if value is None else known_ints(value)


def _channels(emit: Emitter, x: SSAValue, indices: Sequence[int]) -> SSAValue:
    """Channels `indices` of `x`: all of them in order is `x` itself."""
    if list(indices) == list(range(shape_of(x)[CHANNELS])):
        return x
    return emit.add(GatherChannelsOp([x], indices))


RULES: Rules = {
    "Reshape": reshape,
    "Flatten": reshape,
    "Squeeze": reshape,
    "Unsqueeze": reshape,
    "Transpose": transpose,
    "Concat": concat,
    "Split": split,
    "Slice": slice_,
}
