"""Cast, CastLike and constants of types that an operator lacks."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from ge.targets.onnx.adapters.builder import FLOAT8, Builder, attribute_named
from ge.targets.onnx.adapters.registry import down
from ge.targets.onnx.adapters.values import Node


@down("Cast", 24, 23)
@down("Cast", 19, 13)
@down("CastLike", 24, 23)
@down("CastLike", 19, 15)
def drop_rounding_of_float8(node: Node, new: Builder) -> None:
    """``saturate`` and ``round_mode`` only say something of float8, which the older version does not have."""
    idle = ["round_mode"] if node.schema.since_version == 24 else ["saturate"]
    wanted = node.element_of(node.outputs[0]) or node.attribute("to")
    affected = FLOAT8 if idle == ["saturate"] else {TensorProto.FLOAT8E8M0}
    if wanted not in affected and node.has(idle[0]):
        new.replace(without=idle)


@down("Constant", 12, 11)
def values_to_tensor(node: Node, new: Builder) -> None:
    """``value_float``, ``value_ints`` and the like are short forms of a tensor."""
    attribute = node.proto.attribute[0]
    if attribute.name in ("value", "sparse_value"):
        return
    value = node.attribute(attribute.name)
    kind = attribute.name.removeprefix("value_").rstrip("s")
    element = {"float": TensorProto.FLOAT, "int": TensorProto.INT64, "string": TensorProto.STRING}[kind]
    array = np.array(value, helper.tensor_dtype_to_np_dtype(element))
    tensor = helper.make_tensor("value", element, array.shape, array.reshape(-1).tolist())
    new.replace(without=[attribute.name], value=tensor)


@down("ConstantOfShape", 20, 9)
def fill_in_float(node: Node, new: Builder) -> None:
    """Opset 20 brought bfloat16 and float8: before, a float is cast."""
    attribute = attribute_named(node.proto, "value")
    if attribute is None or attribute.t.data_type not in {TensorProto.BFLOAT16, *FLOAT8}:
        return
    value = numpy_helper.to_array(attribute.t).astype("float32")
    filled = new.name(node.op_type)
    new.replace(outputs=[filled], value=numpy_helper.from_array(value))
    new.cast(filled, attribute.t.data_type, node.outputs)


@down("EyeLike", 22, 9)
@down("RandomNormal RandomNormalLike RandomUniform RandomUniformLike", 22, 1)
def make_in_float(node: Node, new: Builder) -> None:
    """Opset 22 brought bfloat16: before, a float is cast."""
    element = node.attribute("dtype") or (node.element("input") if node.schema.inputs else TensorProto.FLOAT)
    if element != TensorProto.BFLOAT16:
        return
    value = new.name(node.op_type)
    inputs = [new.cast(node.input("input"), TensorProto.FLOAT)] if node.schema.inputs else []
    new.replace(inputs, [value], dtype=TensorProto.FLOAT)
    new.cast(value, element, node.outputs)
