"""Tensors of a model file as constants of the IR, without copying large ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import SparseTensorProto, TensorProto, numpy_helper
from xdsl.dialects.builtin import DictionaryAttr, TensorType
from xdsl.ir import Attribute

from ge.dialects.onnx import STRING, SparseAttr, TensorAttr
from ge.dialects.onnx.attributes import literal_of, string_attrs
from ge.dialects.onnx.protos import SUB_BYTE, element_type_of, tensor_notes
from ge.dialects.onnx.types import tensor_type
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import MAX_DENSE_BYTES, dense_attr, numpy_dtype
from ge.ir.errors import GeError
from ge.ir.weights import Weights, view_of
from ge.targets.onnx.model_file import ByteRange, ModelFile


def literal_of_tensor(tensor: TensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    """A tensor of the model as literal and type; large ones are weights over the bytes of the file.

    Raises GE1014 when the tensor has another number of elements than its shape says, GE1020 for an unknown type.
    """
    if tensor.data_type not in _KNOWN_TYPES:
        what = f"tensor '{tensor.name}' has element type number {tensor.data_type}, which does not exist"
        raise GeError("GE1020", what, model.name)
    if min(tensor.dims, default=0) < 0:
        raise GeError("GE1014", f"tensor '{tensor.name}' has the impossible shape {list(tensor.dims)}", model.name)
    if tensor.data_location == TensorProto.EXTERNAL:
        return _external(tensor, model)
    if tensor.data_type == TensorProto.STRING:
        return _strings(tensor, model)
    return _plain(tensor) or literal_of(_array(tensor, model))


def _plain(tensor: TensorProto) -> tuple[Attribute, TensorType[Attribute]] | None:
    """A small tensor whose bytes are those of the constant, as nearly all are: no array is made of it."""
    size, data = _PLAIN_BYTES.get(tensor.data_type), tensor.raw_data
    if size is None or len(data) > MAX_DENSE_BYTES:
        return None
    if len(data) != math.prod(tensor.dims) * size:
        return None
    type = tensor_type(element_type_of(tensor.data_type), tuple(tensor.dims))
    return dense_attr(type, data), type


_PLAIN_BYTES: Mapping[int, int] = {
    TensorProto.FLOAT: 4,
    TensorProto.DOUBLE: 8,
    TensorProto.FLOAT16: 2,
    TensorProto.INT8: 1,
    TensorProto.INT16: 2,
    TensorProto.INT32: 4,
    TensorProto.INT64: 8,
    TensorProto.UINT8: 1,
}
"""Bytes of an element of the types whose elements lie in `dense` as they do in a model."""


_KNOWN_TYPES = frozenset(TensorProto.DataType.values()) - {TensorProto.UNDEFINED}

_FIELD_TYPES = {
    TensorProto.FLOAT_DATA_FIELD_NUMBER: (TensorProto.FLOAT, TensorProto.COMPLEX64),
    TensorProto.DOUBLE_DATA_FIELD_NUMBER: (TensorProto.DOUBLE, TensorProto.COMPLEX128),
}
"""The element types whose bytes lie in a typed field as they do in memory."""


def _external(tensor: TensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    """A tensor whose bytes are not in the message."""
    data = model.external_bytes(tensor)
    if tensor.data_type not in _FIELD_TYPES.get(data.field, (tensor.data_type,)):
        what = f"tensor '{tensor.name}' has its elements in a field of another type"
        raise GeError("GE1014", what, model.name)
    if tensor.data_type in SUB_BYTE:
        inline = TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=data.view.tobytes())
        return literal_of(_array(inline, model))
    if tensor.data_type == TensorProto.STRING:
        raise GeError("GE1014", f"tensor '{tensor.name}' has strings outside the model", model.name)
    type = tensor_type(element_type_of(tensor.data_type), tuple(tensor.dims))
    expected = math.prod(tensor.dims) * numpy_dtype(type.element_type).itemsize
    if data.view.nbytes != expected:
        raise GeError("GE1014", _wrong_size(tensor, expected, data), model.name)
    if data.view.nbytes <= MAX_DENSE_BYTES:
        return literal_of(np.frombuffer(data.view, numpy_dtype(type.element_type)).reshape(tensor.dims))
    return WeightsAttr(Weights(view_of(data.view), data.view.nbytes, data.origin)), type


def _wrong_size(tensor: TensorProto, expected: int, data: ByteRange) -> str:
    name, shape = tensor.name, list(tensor.dims)
    return f"tensor '{name}' of shape {shape} needs {expected} bytes, has {data.view.nbytes}"


def _strings(tensor: TensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    items = tensor.string_data
    if len(items) != math.prod(tensor.dims):
        what = f"tensor '{tensor.name}' of shape {list(tensor.dims)} has {len(items)} strings"
        raise GeError("GE1014", what, model.name)
    return string_attrs(items), TensorType(STRING, tensor.dims)


def _array(tensor: TensorProto, model: ModelFile) -> Any:
    try:
        return numpy_helper.to_array(tensor).reshape(tuple(tensor.dims))
    except Exception as error:
        what = f"tensor '{tensor.name}' of shape {list(tensor.dims)}: {error}"
        raise GeError("GE1014", what, model.name) from error


def literal_of_sparse(sparse: SparseTensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    """A sparse tensor as literal and type. Raises GE1014 when its parts do not fit."""
    values, values_type = literal_of_tensor(sparse.values, model)
    indices, indices_type = literal_of_tensor(sparse.indices, model)
    literal = SparseAttr(values, values_type, indices, indices_type)
    try:
        literal.positions(sparse.dims)
    except (IndexError, TypeError, ValueError) as error:
        raise GeError("GE1014", f"sparse tensor '{sparse.values.name}': {error}", model.name) from error
    return literal, TensorType(values_type.element_type, sparse.dims)


def tensor_attr(tensor: TensorProto, model: ModelFile) -> TensorAttr:
    """A tensor in an attribute of a node."""
    if tensor.ByteSize() > _SMALL_BYTES:
        return _tensor_attr(tensor, model)
    message = tensor.SerializeToString()
    if message not in model.small_tensors:
        model.small_tensors[message] = _tensor_attr(tensor, model)
    return model.small_tensors[message]


_SMALL_BYTES = 128
"""Messages of tensors up to this size are kept."""


def _tensor_attr(tensor: TensorProto, model: ModelFile) -> TensorAttr:
    return TensorAttr(*literal_of_tensor(tensor, model), DictionaryAttr(tensor_notes(tensor)))


def sparse_attr(sparse: SparseTensorProto, model: ModelFile) -> TensorAttr:
    """A sparse tensor in an attribute of a node."""
    return TensorAttr(*literal_of_sparse(sparse, model), DictionaryAttr(sparse_notes(sparse)))


def sparse_notes(sparse: SparseTensorProto) -> dict[str, Attribute]:
    """What the parts of a sparse tensor say beside their elements."""
    notes = {"values": tensor_notes(sparse.values), "indices": tensor_notes(sparse.indices)}
    return {part: DictionaryAttr(entries) for part, entries in notes.items() if entries}
