"""Shape, Reshape, and optional values."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down
from ge.targets.onnx.adapters.values import Node

_END = np.iinfo(np.int64).max


@down("Shape", 15, 13)
def slice_of_shape(node: Node, new: Builder) -> None:
    """Since opset 15 a part of the shape can be asked for."""
    start, end = node.attribute("start"), node.attribute("end")
    if not start and end is None:
        return
    whole = new.name("Shape")
    new.replace(outputs=[whole], without=["start", "end"])
    bounds = [new.constant([start]), new.constant([_END if end is None else end])]
    new.add("Slice", [whole, *bounds], node.outputs)


@down("Reshape", 14, 13)
def zero_is_a_size(node: Node, new: Builder) -> None:
    """With ``allowzero`` a 0 is a size, otherwise it copies one. A tensor with size 0 has no elements to reshape."""
    if not node.attribute("allowzero"):
        return
    if np.all(node.known("shape") != 0):
        new.replace(without=["allowzero"])
        return
    empty = np.zeros(1, helper.tensor_dtype_to_np_dtype(node.known_element("data")))
    new.add("ConstantOfShape", [node.input("shape")], node.outputs, value=numpy_helper.from_array(empty))


@down("OptionalHasElement", 18, 15)
def answer_for_tensors(node: Node, new: Builder) -> None:
    """Opset 18 lets the input be absent (false), or be no optional (true)."""
    type = node.scope.types.get(node.input("input"))
    if not node.input("input"):
        new.add("Identity", [new.constant(False, np.bool_)], node.outputs)
    elif type is not None and not type.HasField("optional_type"):
        new.add("Identity", [new.constant(True, np.bool_)], node.outputs)


@down("OptionalGetElement", 18, 15)
def pass_tensors_on(node: Node, new: Builder) -> None:
    """Opset 18 lets the input be no optional: then it is the result."""
    type = node.scope.types.get(node.input("input"))
    if type is not None and not type.HasField("optional_type"):
        new.add("Identity", [node.input("input")], node.outputs)
