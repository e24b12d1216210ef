"""Writing the message of a model to a file without its weights ever being in the message.

A message in memory holds a copy of every tensor, and serialising it makes another. Here large tensors are left out, the
skeleton is serialised, and the bytes of the tensors are written in their places as they lie in memory or in a mapped
file (:func:`ge.targets.onnx.wire.join`).
"""

from __future__ import annotations

from typing import IO, cast

from onnx import ModelProto, TensorProto
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ge.dialects.onnx.protos import SUB_BYTE, data_type_of, tensor_proto
from ge.ir.attributes import WeightsAttr
from ge.targets.onnx.wire import join, piece_tensor

MIN_BYTES = 1024
"""Smaller tensors are in the message from the start."""


class ModelWriter:
    """Makes the messages of constants (:meth:`tensor`) of one model, and writes the model."""

    def __init__(self) -> None:
        self._pieces: list[memoryview] = []

    def tensor(self, literal: Attribute, type: Attribute, name: str) -> TensorProto:
        """A constant as a tensor, which stands for its bytes when they are many; see :data:`TensorMaker`."""
        data_type = data_type_of(cast("TensorType[Attribute]", type).element_type)
        if not isinstance(literal, WeightsAttr) or literal.nbytes < MIN_BYTES or data_type in SUB_BYTE:
            return tensor_proto(literal, type, name)
        shape = cast("TensorType[Attribute]", type).get_shape()
        tensor = TensorProto(name=name or None, dims=shape, data_type=data_type)
        tensor.MergeFromString(piece_tensor(len(self._pieces)))
        self._pieces.append(literal.buffer)
        return tensor

    def write(self, model: ModelProto, stream: IO[bytes]) -> None:
        """Write the model of the messages. Raises OSError."""
        for chunk in join(model.SerializeToString(), self._pieces):
            stream.write(chunk)
