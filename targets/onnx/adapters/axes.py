"""Squeeze, Unsqueeze and reductions: ``axes`` was an attribute and became an input."""

from __future__ import annotations

from onnx import TensorProto

from ge.targets.onnx.adapters.builder import INTEGERS, Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Node

REDUCTIONS = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare"
"""All but ReduceSum, which was changed in opset 13 already, and without a choice of what no axes mean."""


@up("Squeeze Unsqueeze ReduceSum", 11, 13)
@up(REDUCTIONS, 13, 18)
def axes_to_input(node: Node, new: Builder) -> None:
    """Without axes, Squeeze and the reductions still mean all of them."""
    axes = node.attribute("axes")
    if axes:
        new.replace([node.input("data"), new.constant(axes)], without=["axes"])
    elif axes is not None:
        new.replace(without=["axes"])


@down("Squeeze Unsqueeze", 13, 11)
def axes_to_attribute(node: Node, new: Builder) -> None:
    """No axes at all were all of them for the older Squeeze."""
    axes = node.known("axes").reshape(-1).tolist() if node.input("axes") else None
    if axes == []:
        new.add("Identity", [node.input("data")], node.outputs)
    elif axes is not None:
        new.replace([node.input("data")], axes=axes)


@down("ReduceSum", 13, 11)
@down(REDUCTIONS, 18, 13)
def axes_of_reduction_to_attribute(node: Node, new: Builder) -> None:
    """The new attribute ``noop_with_empty_axes`` chooses between all axes and none when there are no axes.

    A reduction over none is one over a new axis of size 1: it still squares, takes the logarithm and so on.
    """
    axes = node.known("axes").reshape(-1).tolist() if node.input("axes") else []
    dropped = ["noop_with_empty_axes"]
    if axes:
        new.replace([node.input("data")], without=dropped, axes=axes)
    elif node.attribute("noop_with_empty_axes"):
        column = new.unsqueeze(node.input("data"), [-1])
        new.replace([column], without=dropped, axes=[-1], keepdims=0)
    else:
        new.replace([node.input("data")], without=dropped)


@up("ReduceLogSum ReduceLogSumExp", 18, 28)
def integers_through_double(node: Node, new: Builder) -> None:
    """Opset 28 took integers out, for which the logarithm was rounded towards zero."""
    element = node.element("data")
    if element not in INTEGERS:
        return
    result = new.name(node.op_type)
    new.replace([new.cast(node.input("data"), TensorProto.DOUBLE), *node.proto.input[1:]], [result])
    new.cast(result, element, node.outputs)
