"""The shapes of inputs: those that the user fixes, and names of dimensions that mean nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import GraphProto, ValueInfoProto

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


_PLACEHOLDERS = ("?", "-1", "None", "unk")
"""What some exporters write as the name of every dimension that they do not know."""


def forget_placeholders(graph: GraphProto) -> None:
    """Take the names away that do not name a dimension: equal names would say that the dimensions are equal."""
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in value.type.tensor_type.shape.dim if value.type.HasField("tensor_type") else ():
            if dim.dim_param in _PLACEHOLDERS:
                dim.ClearField("dim_param")


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
