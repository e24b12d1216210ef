"""Conversions between opsets that ``onnx.version_converter`` leaves out, or does without keeping the meaning.

Each repair takes a node as the model has it and the nodes that the converter made of it, and gives the nodes that
should replace it. Measured with onnx 1.23 against onnxruntime on the model before conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from ge.ir.errors import GeError


@dataclass(frozen=True)
class Context:
    """What a repair may look at, and how it names new values."""

    types: Mapping[str, ValueInfoProto]
    constants: Mapping[str, TensorProto]
    unique: Callable[[str], str]
    where: str

    def shape(self, name: str) -> list[int] | None:
        """The shape of a value, when all its dimensions are numbers."""
        value = self.types.get(name)
        dims = [] if value is None else [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        return dims if dims and all(size > 0 for size in dims) else None

    def node(self, op_type: str, inputs: list[str], output: str, **attributes: Any) -> NodeProto:
        """A new node named after its output."""
        return helper.make_node(op_type, inputs, [output], name=output, **attributes)

    def constant(self, values: list[int], near: str) -> NodeProto:
        """A node that gives a list of integers."""
        value = numpy_helper.from_array(np.array(values, np.int64))
        return self.node("Constant", [], self.unique(f"{near}_Constant"), value=value)


Repair: TypeAlias = Callable[[NodeProto, list[NodeProto], Context], list[NodeProto]]


def flatten_hardmax(node: NodeProto, converted: list[NodeProto], context: Context) -> list[NodeProto]:
    """Before opset 13 Hardmax is over all axes from ``axis`` on; the converter keeps only that axis."""
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
    label = node.output[0]
    shape, flat, result = (context.unique(f"{label}_{step}") for step in ("shape", "flat", "hardmax"))
    hardmax = helper.make_node("Hardmax", [flat], [result], name=node.name, axis=-1)
    return [
        context.node("Shape", [node.input[0]], shape),
        context.node("Flatten", [node.input[0]], flat, axis=axis),
        hardmax,
        context.node("Reshape", [result, shape], node.output[0]),
    ]


def place_resized_pixels(node: NodeProto, converted: list[NodeProto], context: Context) -> list[NodeProto]:
    """Before opset 11 pixel ``i`` of the result lies at ``i / scale``; the converter leaves out to say so.

    The nearest pixel is the one before that place, or after it when the image shrinks, as runtimes have always done.
    """
    for new in converted:
        if new.op_type != "Resize":
            continue
        scales = _scales(node, context)
        nearest = "ceil" if scales and max(scales) <= 1 and min(scales) < 1 else "floor"
        new.attribute.append(helper.make_attribute("coordinate_transformation_mode", "asymmetric"))
        new.attribute.append(helper.make_attribute("nearest_mode", nearest))
    return converted


def _scales(node: NodeProto, context: Context) -> list[float]:
    """The scales of an Upsample or Resize, when they are constant."""
    for attribute in node.attribute:
        if attribute.name == "scales":
            return list(attribute.floats)
    if len(node.input) > 1 and node.input[1] in context.constants:
        return [float(scale) for scale in numpy_helper.to_array(context.constants[node.input[1]])]
    return []


def spread_group_scales(node: NodeProto, converted: list[NodeProto], context: Context) -> list[NodeProto]:
    """Before opset 21 GroupNormalization has one scale and bias per group, then one per channel."""
    shape = context.shape(node.input[0])
    if shape is None:
        raise GeError(
            "GE1016", "GroupNormalization with an unknown number of channels cannot be converted", context.where
        )
    groups = next(attribute.i for attribute in node.attribute if attribute.name == "num_groups")
    nodes: list[NodeProto] = []
    inputs = [node.input[0]]
    for name in node.input[1:]:
        sizes = [[groups, 1], [groups, shape[1] // groups], [shape[1]]]
        for op_type, size in zip(("Reshape", "Expand", "Reshape"), sizes, strict=True):
            constant = context.constant(size, name)
            output = context.unique(f"{name}_{op_type}")
            nodes += [constant, context.node(op_type, [name, constant.output[0]], output)]
            name = output
        inputs.append(name)
    last = NodeProto()
    last.CopyFrom(node)
    last.input[:] = inputs
    return [*nodes, last]


def align_slope(node: NodeProto, converted: list[NodeProto], context: Context) -> list[NodeProto]:
    """Before opset 7 a PRelu has one slope per channel, the second axis; then it is broadcast from the last axis."""
    slope, shape = context.shape(node.input[1]), context.shape(node.input[0])
    if slope is None or shape is None:
        raise GeError("GE1016", "PRelu with an unknown shape cannot be converted", context.where)
    if len(slope) != 1 or slope == [1] or len(shape) <= 2:
        return converted
    constant = context.constant(list(range(1, len(shape) - 1)), node.input[1])
    output = context.unique(f"{node.input[1]}_Unsqueeze")
    last = NodeProto()
    last.CopyFrom(node)
    last.input[:] = [node.input[0], output]
    return [constant, context.node("Unsqueeze", [node.input[1], constant.output[0]], output), last]


REPAIRS: Mapping[str, tuple[int, Repair]] = {
    "GroupNormalization": (21, spread_group_scales),
    "Hardmax": (13, flatten_hardmax),
    "PRelu": (7, align_slope),
    "Resize": (11, place_resized_pixels),
    "Upsample": (11, place_resized_pixels),
}
"""Per operator, the opset of the change and the repair for nodes from before."""

REFUSED: Mapping[str, tuple[int, str]] = {
    "Scan": (9, "Before opset 9, Scan has a batch axis and sequence lengths, which the conversion would ignore."),
}
"""Operators whose conversion is wrong and cannot be repaired: the opset of the change, and why."""
