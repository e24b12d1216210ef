"""Tensors and types of the ONNX format, from and to attributes and types of the IR."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import onnx
from onnx import TensorProto, TypeProto, numpy_helper
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, UnrankedTensorType
from xdsl.ir import Attribute

from ge.dialects.onnx import STRING, UNKNOWN, MapType, OptionalType, SequenceType
from ge.dialects.onnx.attributes import literal_of
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import element_type, numpy_dtype
from ge.ir.errors import GeError
from ge.targets.onnx.model_file import ModelFile

SUB_BYTE = frozenset(
    {
        TensorProto.INT4,
        TensorProto.UINT4,
        TensorProto.FLOAT4E2M1,
        *(getattr(TensorProto, name) for name in ("INT2", "UINT2") if hasattr(TensorProto, name)),
    }
)
"""Element types of which the format packs several into a byte; constants in IR have one a byte."""


def element_type_of(data_type: int) -> Attribute:
    """The element type of a TensorProto.DataType."""
    if data_type == TensorProto.STRING:
        return STRING
    return element_type(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(data_type)))


def data_type_of(type: Attribute) -> int:
    """The TensorProto.DataType of an element type."""
    if type == STRING:
        return TensorProto.STRING
    return onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(type))


def literal_of_tensor(tensor: TensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    """A tensor of the model as literal and type; large ones are weights over the bytes of the file.

    Raises GE1014 when the tensor has another number of elements than its shape says.
    """
    shape = tuple(tensor.dims)
    if tensor.data_location != TensorProto.EXTERNAL:
        return literal_of(_array(tensor, model).reshape(shape))
    data = model.external_bytes(tensor)
    if tensor.data_type in SUB_BYTE or tensor.data_type == TensorProto.STRING:
        inline = TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=data.view.tobytes())
        return literal_of(_array(inline, model).reshape(shape))
    type = TensorType(element_type_of(tensor.data_type), shape)
    expected = math.prod(shape) * numpy_dtype(type.element_type).itemsize
    if data.view.nbytes != expected:
        what = f"tensor '{tensor.name}' of shape {list(shape)} needs {expected} bytes, has {data.view.nbytes}"
        raise GeError("GE1014", what, model.name)
    return WeightsAttr.from_buffer(data.view, data.file, data.offset), type


def _array(tensor: TensorProto, model: ModelFile) -> Any:
    try:
        return numpy_helper.to_array(tensor)
    except Exception as error:
        raise GeError("GE1014", f"tensor '{tensor.name}': {error}", model.name) from error


def literal_of_sparse(sparse: onnx.SparseTensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    """A sparse tensor, written out in full."""
    values, indices = _array(sparse.values, model), _array(sparse.indices, model)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    flat = indices if indices.ndim == 1 else np.ravel_multi_index(tuple(indices.T), dense.shape)
    dense.reshape(-1)[flat] = values
    return literal_of(dense)


def type_of_proto(proto: TypeProto) -> Attribute:
    """The IR type of an ONNX type; ``!onnx.unknown`` when it says nothing."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            return _tensor_type(proto.tensor_type)
        case "sparse_tensor_type":
            return _tensor_type(cast(Any, proto.sparse_tensor_type))
        case "sequence_type":
            return SequenceType(type_of_proto(proto.sequence_type.elem_type))
        case "optional_type":
            return OptionalType(type_of_proto(proto.optional_type.elem_type))
        case "map_type":
            return MapType(element_type_of(proto.map_type.key_type), type_of_proto(proto.map_type.value_type))
        case _:
            return UNKNOWN


def _tensor_type(proto: TypeProto.Tensor) -> Attribute:
    if not proto.elem_type:
        return UNKNOWN
    element = element_type_of(proto.elem_type)
    if not proto.HasField("shape"):
        return UnrankedTensorType(element)
    return TensorType(element, [_dimension(dim) for dim in proto.shape.dim])


def _dimension(dim: onnx.TensorShapeProto.Dimension) -> int:
    return dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else DYNAMIC_INDEX


def dimension_names(proto: TypeProto) -> list[str]:
    """The symbolic names of the dimensions of a tensor type, empty for numbers; [] when no dimension has a name."""
    names = [dim.dim_param for dim in proto.tensor_type.shape.dim]
    return names if any(names) else []


def proto_of_type(type: Attribute, names: list[str] | None = None) -> TypeProto:
    """The ONNX type of an IR type; ``names`` are the symbolic dimensions."""
    match type:
        case TensorType():
            tensor = cast("TensorType[Attribute]", type)
            shape = [
                dim if dim != DYNAMIC_INDEX else (names[position] or None if names else None)
                for position, dim in enumerate(tensor.get_shape())
            ]
            return onnx.helper.make_tensor_type_proto(data_type_of(tensor.element_type), shape)
        case UnrankedTensorType():
            unranked = cast("UnrankedTensorType[Attribute]", type)
            return onnx.helper.make_tensor_type_proto(data_type_of(unranked.element_type), None)
        case SequenceType():
            return onnx.helper.make_sequence_type_proto(proto_of_type(type.element_type))
        case OptionalType():
            return onnx.helper.make_optional_type_proto(proto_of_type(type.element_type))
        case MapType():
            return onnx.helper.make_map_type_proto(data_type_of(type.key_type), proto_of_type(type.value_type))
        case _:
            return TypeProto()


def tensor_of_literal(literal: Attribute, type: Attribute, name: str) -> TensorProto:
    """A literal as a tensor of the format, its bytes copied into it."""
    from ge.dialects.onnx.attributes import literal_array

    array = literal_array(literal, type)
    tensor_type = cast("TensorType[Attribute]", type)
    if data_type_of(tensor_type.element_type) in SUB_BYTE or array.dtype == object:
        return numpy_helper.from_array(array, name)
    return TensorProto(
        name=name, dims=array.shape, data_type=data_type_of(tensor_type.element_type), raw_data=array.tobytes()
    )
