"""Shape, Reshape, and optional values."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from ge.targets.onnx.adapters.builder import FLOAT8, FLOATS, INTEGERS, Builder
from ge.targets.onnx.adapters.registry import down
from ge.targets.onnx.adapters.values import Node, RefusalError

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
    """With ``allowzero`` a 0 is a size, otherwise it copies one. A tensor with size 0 has no elements to reshape.

    Where it is open whether there are elements, there are both forms, and an If that chooses.
    """
    if not node.attribute("allowzero"):
        return
    data, shape = node.shape("data"), node.value("shape")
    if (data is not None and all(data)) or (shape is not None and shape.all()):
        new.replace(without=["allowzero"])
        return
    element = node.known_element("data")
    filled = _FILLED if shape is None else {*_FILLED, TensorProto.BFLOAT16, *FLOAT8}
    if element not in filled:
        raise RefusalError("its size 0 cannot be told from one that is copied, for values of this type")
    zero = numpy_helper.from_array(np.zeros(1, helper.tensor_dtype_to_np_dtype(element)))
    if shape is not None:
        new.add("ConstantOfShape", [node.input("shape")], node.outputs, value=zero)
        return
    (rank,) = node.sizes("shape")
    is_empty = new.add("Equal", [new.add("Size", [node.input("data")]), new.constant(0)])
    branches = {
        "then_branch": helper.make_node("ConstantOfShape", [node.input("shape")], [new.name("Empty")], value=zero),
        "else_branch": helper.make_node("Reshape", list(node.proto.input), [new.name("Reshape")]),
    }
    graphs = {
        name: helper.make_graph(
            [inner], name, [], [helper.make_tensor_value_info(inner.output[0], element, [None] * rank)]
        )
        for name, inner in branches.items()
    }
    new.add("If", [is_empty], node.outputs, **graphs)


_FILLED = {TensorProto.BOOL, *INTEGERS, *FLOATS} - {TensorProto.BFLOAT16}
"""What ConstantOfShape has made since opset 9, the others by way of a Cast."""


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
