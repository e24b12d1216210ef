"""Shapes and types of a model's values, by onnx's shape inference, and the shapes that the user fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import GraphProto, ModelProto, TypeProto, ValueInfoProto, shape_inference

from ge.ir.errors import GeError


def fix_input_shapes(graph: GraphProto, shapes: Mapping[str, Sequence[int]], name: str) -> None:
    """Give inputs the shapes that the user asks for. Raises GE1019 when one does not fit."""
    constants = {tensor.name for tensor in graph.initializer}
    inputs = {value.name: value for value in graph.input if value.name not in constants}
    for input_name, shape in shapes.items():
        value = inputs.get(input_name)
        if value is None:
            known = ", ".join(map(describe, inputs.values()))
            raise GeError("GE1019", f"'{input_name}' is not an input of the model; its inputs are {known}", name)
        declared = value.type.tensor_type
        if declared.HasField("shape"):
            _check_fit(value, shape, name)
        del declared.shape.dim[:]
        declared.shape.dim.extend(onnx.TensorShapeProto.Dimension(dim_value=size) for size in shape)
    if shapes:
        for value in graph.output:
            value.type.tensor_type.ClearField("shape")


def _check_fit(value: ValueInfoProto, shape: Sequence[int], name: str) -> None:
    dims = value.type.tensor_type.shape.dim
    fits = len(dims) == len(shape) and all(
        size > 0 and (not dim.HasField("dim_value") or dim.dim_value in (size, 0, -1))
        for dim, size in zip(dims, shape, strict=True)
    )
    if not fits:
        asked = ",".join(map(str, shape))
        raise GeError("GE1019", f"input '{value.name}' cannot have shape {asked}: it is {describe(value)}", name)


def describe(value: ValueInfoProto) -> str:
    """An input for a message: ``x[batch,3,224,224]``."""
    dims = (dim.dim_param or (str(dim.dim_value) if dim.HasField("dim_value") else "?") for dim in _dims(value))
    return f"{value.name}[{','.join(dims)}]"


def _dims(value: ValueInfoProto) -> Sequence[onnx.TensorShapeProto.Dimension]:
    return value.type.tensor_type.shape.dim


def infer(model: ModelProto) -> ModelProto:
    """The model with the type of every value that can be inferred.

    Types that the file states for inner values are inferred anew; they count only where inference finds nothing, as
    after an operator of another domain. A model on which inference fails keeps what the file states.
    """
    stated = {value.name: value for value in model.graph.value_info}
    bare = ModelProto()
    bare.CopyFrom(model)
    del bare.graph.value_info[:]
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx", "ai.onnx.ml"):
            bare.graph.value_info.extend(stated[output] for output in node.output if output in stated)
    try:
        inferred = shape_inference.infer_shapes(bare, check_type=False, strict_mode=False, data_prop=True)
    except Exception:
        return model
    known = {value.name for value in inferred.graph.value_info if has_type(value.type)}
    known.update(value.name for value in (*inferred.graph.input, *inferred.graph.output))
    inferred.graph.value_info.extend(value for name, value in stated.items() if name not in known)
    return inferred


def has_type(type: TypeProto) -> bool:
    """Whether a type says anything."""
    return type.WhichOneof("value") is not None


def value_types(graph: GraphProto) -> dict[str, ValueInfoProto]:
    """The type of each value of one graph by name: inputs, outputs and inner values."""
    types = {value.name: value for value in graph.value_info}
    types.update({value.name: value for value in graph.output})
    types.update({value.name: value for value in graph.input})
    for tensor in graph.initializer:
        types[tensor.name] = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
    return types
