"""The shapes of inputs: those that the user fixes, and names of dimensions that mean nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import GraphProto, TensorShapeProto, TypeProto, ValueInfoProto

from ge.dialects.onnx.shapes.input_shapes import Asked, described, fix_shapes
from ge.dialects.onnx.shapes.signature import Names
from ge.dialects.onnx.shapes.values import Dim, Shape
from ge.dialects.onnx.value_info import PLACEHOLDERS
from ge.maths.symbols import Interval


def fix_input_shapes(graph: GraphProto, asked: Mapping[str, Sequence[Asked]], name: str) -> Mapping[str, Interval]:
    """Give inputs the shapes that the user asks for; the bounds of names that go with them.

    What the graph states of the shapes of outputs is dropped then. Raises GE1019 when a shape does not fit.
    """
    if not asked:
        return {}
    constants = {tensor.name for tensor in graph.initializer}
    tensors = [value for value in graph.input if value.type.HasField("tensor_type") and value.name not in constants]
    inputs = {value.name: value.type.tensor_type for value in tensors}
    declared = {name: _shape(type) for name, type in inputs.items()}
    fixed = fix_shapes(declared, asked, name)
    for input_name, shape in fixed.shapes.items():
        if shape is not None:
            del inputs[input_name].shape.dim[:]
            inputs[input_name].shape.dim.extend(map(_proto, shape))
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    return fixed.bounds


def describe(value: ValueInfoProto) -> str:
    """An input for a message: ``x[batch, 3, 224, 224]``."""
    return described(value.name, _shape(value.type.tensor_type))


def _shape(type: TypeProto.Tensor) -> Shape | None:
    names = Names()
    return tuple(_dim(dim, names) for dim in type.shape.dim) if type.HasField("shape") else None


def _dim(dim: TensorShapeProto.Dimension, names: Names) -> Dim:
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else None
    return None if dim.dim_param in PLACEHOLDERS else names.dim(dim.dim_param)


def _proto(dim: Dim) -> TensorShapeProto.Dimension:
    if isinstance(dim, int):
        return TensorShapeProto.Dimension(dim_value=dim)
    return TensorShapeProto.Dimension() if dim is None else TensorShapeProto.Dimension(dim_param=str(dim))


def forget_placeholders(graph: GraphProto) -> None:
    """Take the names away that do not name a dimension: equal names would say that the dimensions are equal."""
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in value.type.tensor_type.shape.dim if value.type.HasField("tensor_type") else ():
            if dim.dim_param in PLACEHOLDERS:
                dim.ClearField("dim_param")
