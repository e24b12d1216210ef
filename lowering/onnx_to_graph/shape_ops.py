"""Operators that move or regroup elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.movement import ConcatOp, GatherChannelsOp, SliceOp, TransposeOp
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.rules import (
    Emitter,
    Results,
    Rules,
    axis_of,
    feature,
    is_feature,
    is_quantised,
    is_static,
    known,
    known_ints,
)
from ge.maths.slices import positions

CHANNELS = 1
"""The axis of the channels."""


def reshape(op: OnnxOp, emit: Emitter) -> Results:
    """Reshape, Flatten, Squeeze and Unsqueeze: the result's shape says it all."""
    x = op.operands[0]
    moved = (is_feature(x) or is_quantised(x)) and is_static(op.results[0])
    return emit.reshape(x, shape_of(op.results[0])) if moved else None


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
    """Split into static parts."""
    x = feature(op, "input")
    if x is None or not all(is_static(result) for result in op.results):
        return None
    axis = axis_of(op.attribute("axis"), len(shape_of(x)))
    bounds = accumulate((shape_of(result)[axis] for result in op.results), initial=0)
    return [_part(emit, x, axis, range(start, end)) for start, end in pairwise(bounds)]


def slice_(op: OnnxOp, emit: Emitter) -> Results:
    """Slice with constant bounds: of channels also backwards or with gaps, of other dimensions as `_part` can."""
    x, starts, ends = feature(op, "data"), known_ints(op.operand("starts")), known_ints(op.operand("ends"))
    if x is None or starts is None or ends is None or len(shape_of(x)) < 2:
        return None
    shape = shape_of(x)
    axes = _ints_or(op.operand("axes"), list(range(len(starts))))
    steps = _ints_or(op.operand("steps"), [1] * len(starts))
    if axes is None or steps is None:
        return None
    y: SSAValue | None = x
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = axis_of(axis, len(shape))
        taken = positions(start, end, step, shape[axis])
        y = _part(emit, y, axis, taken) if y is not None and taken else None
    return y


def gather(op: OnnxOp, emit: Emitter) -> Results:
    """Gather of one constant position, or of positions that follow each other."""
    x, array = feature(op, "data"), known(op.operand("indices"))
    if x is None or array is None or array.ndim > 1 or not array.size:
        return None
    axis = axis_of(op.attribute("axis"), len(shape_of(x)))
    size = shape_of(x)[axis]
    indices = [int(index) for index in array.reshape(-1)]
    if not all(-size <= index < size for index in indices):
        return None
    first = indices[0] % size
    if [index % size for index in indices] != list(range(first, first + len(indices))):
        return None
    return emit.reshape(emit.add(SliceOp(x, axis, first, len(indices))), shape_of(op.results[0]))


def _part(emit: Emitter, x: SSAValue, axis: int, taken: range) -> SSAValue | None:
    """The positions `taken` of an axis; of axes other than the channels in order, and every n-th only if all of those.

    Every n-th position is one position of n, when the axis is seen as two.
    """
    shape = shape_of(x)
    if axis == CHANNELS and len(shape) == 4:
        return _channels(emit, x, taken)
    if taken == range(shape[axis]):
        return x
    if taken.step == 1:
        return emit.add(SliceOp(x, axis, taken.start, len(taken)))
    if taken.step < 1 or shape[axis] % taken.step or taken != range(taken.start % taken.step, shape[axis], taken.step):
        return None
    seen = emit.reshape(x, (*shape[:axis], len(taken), taken.step, *shape[axis + 1 :]))
    one = emit.add(SliceOp(seen, axis + 1, taken.start, 1))
    return emit.reshape(one, (*shape[:axis], len(taken), *shape[axis + 1 :]))


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
    "Gather": gather,
}
