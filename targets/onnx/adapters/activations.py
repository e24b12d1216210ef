"""Activation functions: in fewer operators than the functions that the standard defines them by."""

from __future__ import annotations

import math

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down
from ge.targets.onnx.adapters.values import Node


@down("Swish", 24, 0)
def swish_by_sigmoid(node: Node, new: Builder) -> None:
    """``x · sigmoid(alpha · x)``."""
    x, alpha = node.input("X"), node.attribute("alpha")
    scaled = x if alpha == 1 else new.add("Mul", [x, new.constant(alpha, node.known_element("X"))])
    new.add("Mul", [x, new.add("Sigmoid", [scaled])], node.outputs)


@down("Gelu", 20, 0)
def gelu_by_error_function(node: Node, new: Builder) -> None:
    """``½ · x · (1 + erf(x / √2))``; the approximation with tanh is left to the function of the standard."""
    if node.attribute("approximate") != "none":
        return
    x, element = node.input("X"), node.known_element("X")
    half, one, root = (new.constant(number, element) for number in (0.5, 1.0, math.sqrt(2)))
    gate = new.add("Add", [new.add("Erf", [new.add("Div", [x, root])]), one])
    new.add("Mul", [new.add("Mul", [x, half]), gate], node.outputs)
