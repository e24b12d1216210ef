"""Reductions along axes; means and maxima of whole feature maps are global pooling."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ge.dialects.graph.attributes import PoolKind, ReduceKind
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.host import ONNX_REDUCE
from ge.dialects.graph.movement import ReshapeOp
from ge.dialects.graph.reduction import ReduceOp
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.pooling import pool_all
from ge.lowering.onnx_to_graph.rules import Emitter, Results, Rule, Rules, axis_of, feature, known_ints

_POOLS = {ReduceKind.MEAN: PoolKind.AVERAGE, ReduceKind.MAX: PoolKind.MAX}
"""The pooling that a reduction of feature maps over all their positions is."""


def _reduce(kind: ReduceKind) -> Rule:
    def rule(op: OnnxOp, emit: Emitter) -> Results:
        """ReduceSum, ReduceMean, ReduceMax, ReduceMin and ReduceSumSquare over constant axes.

        1. No axes are all of them, or, with `noop_with_empty_axes`, none: the result is the operand, but for squares.
        2. Axes of size 1 alone make a reshape, but for squares.
        3. The mean or maximum over all positions of feature maps is a global pooling.
        4. All others are a `graph.reduce`, and a reshape where axes go away.
        """
        x = feature(op, "data")
        if x is None or not shape_of(x):
            return None
        axes = _axes(op, len(shape_of(x)))
        if axes is None:
            return None
        if kind is not ReduceKind.SUM_SQUARE and all(shape_of(x)[axis] == 1 for axis in axes):
            y = x
        elif kind in _POOLS and _is_plane(x, axes):
            y = pool_all(emit, _POOLS[kind], x)
        else:
            y = emit.add(ReduceOp(kind, x, axes))
        keeps = op.attribute("keepdims")
        kept = [1 if axis in axes else size for axis, size in enumerate(shape_of(x)) if keeps or axis not in axes]
        return emit.reshape(y, kept)

    return rule


def _axes(op: OnnxOp, rank: int) -> Sequence[int] | None:
    """The axes of a reduction, from the front and in order; None when they are not constant."""
    given = [] if op.operand("axes") is None else known_ints(op.operand("axes"))
    if given is None:
        return None
    if not given and not op.attribute("noop_with_empty_axes"):
        return range(rank)
    return sorted(axis_of(axis, rank) for axis in given)


def _is_plane(x: SSAValue, axes: Sequence[int]) -> bool:
    """Whether axes are all positions of feature maps, also of those of one row that a convolution has given.

    Of other tensors of rank 3, as of a sequence, the last axis is the elements of rows.
    """
    rank = len(shape_of(x))
    if list(axes) != list(range(2, rank)):
        return False
    origin = x.owner.x if isinstance(x.owner, ReshapeOp) else None
    return rank > 3 or (rank == 3 and origin is not None and len(shape_of(origin)) == 4)


RULES: Rules = {op_type: _reduce(kind) for kind, op_type in ONNX_REDUCE.items()}
