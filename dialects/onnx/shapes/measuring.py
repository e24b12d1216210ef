"""Rules of operators that tell sizes: the start of every computation of shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import SequenceOf, Tensor, known_product


def shape_of(node: Node) -> Sequence[Result]:
    """A vector of the dimensions from attribute `start` to `end`."""
    x = node.shape(0)
    if x is None:
        return [Tensor("i64", (None,))]
    dims = x[node.attribute("start", 0) : node.attribute("end")]
    return [Tensor("i64", (len(dims),), dims)]


def size_of(node: Node) -> Sequence[Result]:
    """A scalar: the number of elements."""
    count = known_product(node.shape(0))
    return [Tensor("i64", (), None if count is None else (count,))]


def sequence_length(node: Node) -> Sequence[Result]:
    """A scalar: the number of values in a sequence."""
    value = node.value(0)
    items = value.items if isinstance(value, SequenceOf) else None
    return [Tensor("i64", (), None if items is None else (len(items),))]


RULES: Mapping[str, Rule] = {"SequenceLength": sequence_length, "Shape": shape_of, "Size": size_of}
