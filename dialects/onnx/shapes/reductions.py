"""Rules of operators that take dimensions away or keep the best of one: reductions, arg-max, top-k, losses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Dim, Shape
from ge.maths.symbols import differ


def reduction(node: Node) -> Sequence[Result]:
    """The input without the axes that the second input names (all when it is absent), or with size 1 there."""
    x, axes = node.shape(0), node.integers(1)
    if x is None:
        return [None]
    keep = bool(node.attribute("keepdims", 1))
    if not node.has(1) or axes == () or node.shape(1) == (0,):
        if node.attribute("noop_with_empty_axes", 0):
            return [x]
        axes = tuple(range(len(x)))
    if axes is None or not all(isinstance(axis, int) for axis in axes):
        length = node.length(1)
        if not keep and isinstance(length, int) and length > len(x):
            node.fail(f"{length} axes of an input of rank {len(x)}")
        return [(None,) * len(x) if keep else (None,) * (len(x) - length) if isinstance(length, int) else None]
    return [_without(x, node.axes([axis for axis in axes if isinstance(axis, int)], len(x)), keep)]


def _without(x: Shape, axes: Sequence[int], keep: bool) -> Shape:
    if keep:
        return tuple(1 if axis in axes else dim for axis, dim in enumerate(x))
    return tuple(dim for axis, dim in enumerate(x) if axis not in axes)


def arg_extreme(node: Node) -> Sequence[Result]:
    """The input without attribute `axis`, or with size 1 there."""
    x = node.shape(0)
    if x is None:
        return [None]
    axis = node.axis(node.attribute("axis"), len(x)) if x else 0
    return [_without(x, [axis], bool(node.attribute("keepdims")))]


def top_k(node: Node) -> Sequence[Result]:
    """The input with K elements along the axis; the same for the indices."""
    x, k = node.expect_least_rank(0, 1), node.scalar(1)
    if x is None:
        return [None, None]
    axis = node.axis(node.attribute("axis"), len(x))
    size = x[axis]
    if isinstance(k, int) and (k < 0 or (isinstance(size, int) and k > size)):
        node.fail(f"{k} elements of {size}")
    shape = (*x[:axis], k, *x[axis + 1 :])
    return [shape, shape]


def loss(node: Node) -> Sequence[Result]:
    """A scalar, or the shape of the labels without reduction; and the shape of the scores for the probabilities."""
    scores, labels = node.shape(0), node.shape(1)
    if scores is not None and labels is not None:
        without_classes = (*scores[:1], *scores[2:])
        labels = node.same_shapes(labels, without_classes, "labels and scores without classes")
    elif scores is not None:
        labels = (*scores[:1], *scores[2:])
    return [labels if node.attribute("reduction") == "none" else (), scores]


def one_hot(node: Node) -> Sequence[Result]:
    """The indices with a new axis, as long as the second input says."""
    indices, depth = node.shape(0), node.number(1)
    if indices is None:
        return [None]
    axis = node.axis(node.attribute("axis"), len(indices) + 1)
    if isinstance(depth, float):
        depth = int(depth) if math.isfinite(depth) else None
    size: Dim = depth
    return [(*indices[:axis], size, *indices[axis:])]


def non_zero(node: Node) -> Sequence[Result]:
    """[rank, number of elements that are not zero]: the number depends on the data."""
    return [(node.rank(), None)]


def unique(node: Node) -> Sequence[Result]:
    """The input with an unknown number of entries along the axis, or a vector of an unknown number of elements."""
    x, axis = node.shape(0), node.attribute("axis")
    if axis is None:
        return [(None,), (None,), (None,), (None,)]
    if x is None:
        return [None, (None,), (None,), (None,)]
    axis = node.axis(axis, len(x))
    return [(*x[:axis], None, *x[axis + 1 :]), (None,), (x[axis],), (None,)]


def compress(node: Node) -> Sequence[Result]:
    """The input with an unknown number of entries along the axis, or a vector of an unknown number of elements."""
    x, axis = node.shape(0), node.attribute("axis")
    if axis is None:
        return [(None,)]
    if x is None:
        return [None]
    axis = node.axis(axis, len(x))
    return [(*x[:axis], None, *x[axis + 1 :])]


def non_max_suppression(node: Node) -> Sequence[Result]:
    """[number of boxes selected, 3]: the number depends on the data."""
    boxes, scores = node.expect_rank(0, 3), node.expect_rank(1, 3)
    if boxes is not None and scores is not None:
        node.same(boxes[0], scores[0], "batch of boxes and scores")
        node.same(boxes[1], scores[2], "number of boxes and of scores")
    if boxes is not None and boxes[2] is not None and differ(boxes[2], 4):
        node.fail(f"{node.describe(0)} must have four coordinates")
    return [(None, 3)]


_REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare"

RULES: Mapping[str, Rule] = {
    **{f"Reduce{name}": reduction for name in _REDUCTIONS.split()},
    "ArgMax": arg_extreme,
    "ArgMin": arg_extreme,
    "Compress": compress,
    "NegativeLogLikelihoodLoss": loss,
    "NonMaxSuppression": non_max_suppression,
    "NonZero": non_zero,
    "OneHot": one_hot,
    "SoftmaxCrossEntropyLoss": loss,
    "TopK": top_k,
    "Unique": unique,
}
