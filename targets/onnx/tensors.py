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


def literal_of_sparse(sparse: SparseTensorProto, model: ModelFile) -> tuple[Attribute, TensorType[Attribute]]:
    """A sparse tensor, written out in full."""
    values, indices = _array(sparse.values, model), _array(sparse.indices, model)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    flat = indices if indices.ndim == 1 else np.ravel_multi_index(tuple(indices.T), dense.shape)
    dense.reshape(-1)[flat] = values
    return literal_of(dense)
