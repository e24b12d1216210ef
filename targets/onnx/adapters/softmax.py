"""Softmax, LogSoftmax and Hardmax: until opset 12 over all axes from ``axis`` on together, since 13 over that axis."""

from __future__ import annotations

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Node

_OPERATORS = "Softmax LogSoftmax Hardmax"


@up(_OPERATORS, 11, 13)
def flatten_trailing_axes(node: Node, new: Builder) -> None:
    """Over the last axis both are the same; otherwise the axes are made one, and taken apart again."""
    x, axis = node.input("input"), node.attribute("axis")
    shape = node.shape("input")
    if axis == -1 or (shape is not None and axis % max(1, len(shape)) == len(shape) - 1):
        new.replace(axis=-1)
        return
    sizes = new.add("Shape", [x])
    flat = new.add("Flatten", [x], axis=axis)
    result = new.name(node.op_type)
    new.replace([flat], [result], axis=-1)
    new.reshape(result, sizes, shape if shape and axis % len(shape) else None, node.outputs)


@down(_OPERATORS, 13, 11)
def move_axis_last(node: Node, new: Builder) -> None:
    """With the axis in the last place both are the same."""
    x, axis = node.input("input"), node.attribute("axis")
    if axis == -1:
        new.replace(axis=-1)
        return
    rank = node.rank("input")
    axis %= max(1, rank)
    if axis == rank - 1:
        new.replace(axis=-1)
        return
    swap = list(range(rank))
    swap[axis], swap[-1] = swap[-1], swap[axis]
    result = new.name(node.op_type)
    new.replace([new.add("Transpose", [x], perm=swap)], [result], axis=-1)
    new.add("Transpose", [result], node.outputs, perm=swap)
