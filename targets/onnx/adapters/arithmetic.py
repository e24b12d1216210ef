"""Elementwise operators: bounds of Clip, types of Max, Pow, Relu and others, signs of Mod, Dropout."""

from __future__ import annotations

from onnx import TensorProto

from ge.targets.onnx.adapters.builder import FLOATS, INTEGERS, Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Node, RefusalError


@up("Clip", 6, 11)
def bounds_to_inputs(node: Node, new: Builder) -> None:
    """Bounds were attributes. One that is absent stays so."""
    element = node.known_element("input")
    bounds = [new.constant(node.attribute(name), element) if node.has(name) else "" for name in ("min", "max")]
    new.replace([node.input("input"), *bounds], without=["min", "max"])


@down("Clip", 12, 11)
def clip_integers_by_choice(node: Node, new: Builder) -> None:
    """Before opset 12 Clip has no integers, comparisons and Where have."""
    if node.element("input") not in INTEGERS:
        return
    value = node.input("input")
    for name, comparison in (("min", "Less"), ("max", "Greater")):
        if bound := node.input(name):
            value = new.add("Where", [new.add(comparison, [value, bound]), bound, value])
    new.add("Identity", [value], node.outputs)


@down("Max Min", 12, 8)
def choose_integers(node: Node, new: Builder) -> None:
    """Before opset 12 there are no integers, comparisons and Where have them."""
    first, *others = node.proto.input
    if node.element_of(first) not in INTEGERS:
        return
    comparison = "Greater" if node.op_type == "Max" else "Less"
    for other in others:
        first = new.add("Where", [new.add(comparison, [first, other]), first, other])
    new.add("Identity", [first], node.outputs)


@down("Relu", 14, 13)
def relu_of_integers(node: Node, new: Builder) -> None:
    """Opset 14 brought integers, which Max has had before."""
    element = node.element("X")
    if element in INTEGERS:
        new.add("Max", [node.input("X"), new.constant(0, element)], node.outputs)


@down("Pow", 12, 7)
def power_in_one_type(node: Node, new: Builder) -> None:
    """Before opset 12 base and exponent have the same type, which is float. A double holds all of int32."""
    base, exponent = node.known_element("X"), node.known_element("Y")
    if base == exponent and base in FLOATS:
        return
    if TensorProto.INT64 in (base, exponent) and base not in FLOATS:
        raise RefusalError("before opset 12 there is no power of 64-bit integers")
    if base in FLOATS:
        new.replace([node.input("X"), new.cast(node.input("Y"), base)])
        return
    result = new.name(node.op_type)
    new.replace([new.cast(name, TensorProto.DOUBLE) for name in node.proto.input], [result])
    new.cast(result, base, node.outputs)


@down("Mod", 28, 13)
def floor_modulo_of_floats(node: Node, new: Builder) -> None:
    """Before opset 28 floats have only the remainder with the sign of the dividend.

    The one with the sign of the divisor is that remainder, plus the divisor where their signs differ.
    """
    element = node.known_element("A")
    if element not in FLOATS or node.attribute("fmod"):
        return
    divisor = node.input("B")
    remainder = new.name("Mod")
    new.replace(outputs=[remainder], fmod=1)
    zero = new.constant(0, element)
    negative = new.add("Less", [divisor, zero])
    differs = new.add("Xor", [new.add("Less", [remainder, zero]), negative])
    nothing = new.add("Equal", [remainder, zero])
    moved = new.add("Add", [remainder, divisor])
    minus_zero = new.constant(-0.0, element)
    signed_zero = new.add("Where", [negative, minus_zero, zero])
    chosen = new.add("Where", [differs, moved, remainder])
    new.add("Where", [nothing, signed_zero, chosen], node.outputs)


@up("Erf", 9, 13)
def erf_of_integers(node: Node, new: Builder) -> None:
    """Opset 13 took integers out, for which the result was rounded towards zero."""
    element = node.element("input")
    if element not in INTEGERS:
        return
    result = new.name("Erf")
    new.replace([new.cast(node.input("input"), TensorProto.FLOAT)], [result])
    new.cast(result, element, node.outputs)


@up("Dropout", 7, 10)
def mask_of_booleans(node: Node, new: Builder) -> None:
    """The mask had the type of the data."""
    data, *mask = node.outputs
    if not node.scope.read.intersection(mask):
        return
    element = node.known_element("data")
    booleans = new.declare(new.name("mask"), TensorProto.BOOL, node.shape("data"))
    new.replace(outputs=[data, booleans])
    new.cast(booleans, element, mask)


@up("Dropout", 10, 12)
def ratio_to_input(node: Node, new: Builder) -> None:
    """Without the input ``training_mode`` it is the identity, as it was outside of training."""
    new.replace([node.input("data"), new.constant(node.attribute("ratio"), TensorProto.FLOAT)], without=["ratio"])


@down("Dropout", 12, 10)
def ratio_to_attribute(node: Node, new: Builder) -> None:
    """Outside of training the ratio says nothing; one that is computed is left out."""
    if node.input("training_mode") and bool(node.known("training_mode")):
        raise RefusalError("before opset 12 it cannot ask for training")
    ratio = node.value("ratio")
    new.replace([node.input("data")], without=["seed"], ratio=None if ratio is None else float(ratio))
