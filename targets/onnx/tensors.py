"""Tensors of a model file as constants of the IR, without copying large ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from onnx import SparseTensorProto, TensorProto, numpy_helper
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ge.dialects.onnx.attributes import literal_of
from ge.dialects.onnx.protos import SUB_BYTE, element_type_of
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import numpy_dtype
from ge.ir.errors import GeError
from ge.targets.onnx.model_file import ModelFile


def literal_of_tensor(tensor: TensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    """A tensor of the model as literal and type; large ones are weights over the bytes of the file.

    Raises GE1014 when the tensor has another number of elements than its shape says, GE1020 for an unknown type.
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
    if tensor.data_type not in _KNOWN_TYPES:
        what = f"tensor '{tensor.name}' has element type number {tensor.data_type}, which does not exist"
        raise GeError("GE1020", what, model.name)
    try:
        return numpy_helper.to_array(tensor)
    except Exception as error:
        raise GeError("GE1014", f"tensor '{tensor.name}': {error}", model.name) from error


_KNOWN_TYPES = frozenset(TensorProto.DataType.values()) - {TensorProto.UNDEFINED}

MAX_SPARSE_BYTES = 1 << 28
"""Bytes that a sparse tensor may take when it is written out: a few numbers in a file can ask for any amount."""


def literal_of_sparse(sparse: SparseTensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    """A sparse tensor, written out in full. Raises GE1014 when its parts do not fit, or it would be too large."""
    values, indices = _array(sparse.values, model), _array(sparse.indices, model)
    shape = tuple(sparse.dims)
    if min(shape, default=0) < 0 or math.prod(shape) * values.dtype.itemsize > MAX_SPARSE_BYTES:
        what = f"sparse tensor '{sparse.values.name}' has shape {list(shape)}, more than {MAX_SPARSE_BYTES} bytes"
        raise GeError("GE1014", what, model.name)
    dense = np.zeros(shape, values.dtype)
    try:
        flat = indices if indices.ndim == 1 else np.ravel_multi_index(tuple(indices.T), dense.shape)
        dense.reshape(-1)[flat] = values
    except (IndexError, TypeError, ValueError) as error:
        raise GeError("GE1014", f"sparse tensor '{sparse.values.name}': {error}", model.name) from error
    return literal_of(dense)
