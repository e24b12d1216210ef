"""DFT: ``axis`` was an attribute and became an input with another default."""

from __future__ import annotations

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Node


@up("DFT", 17, 20)
def axis_to_input(node: Node, new: Builder) -> None:
    """The axis was an attribute, 1 by default."""
    axis = new.constant(node.attribute("axis"))
    new.replace([node.input("input"), node.input("dft_length"), axis], without=["axis"])


@down("DFT", 20, 17)
def axis_to_attribute(node: Node, new: Builder) -> None:
    """The axis was an attribute, 1 by default; now it is the last one of the signal."""
    axis = int(node.known("axis")) if node.input("axis") else -2
    new.replace([node.input("input"), node.input("dft_length")], axis=axis)
