"""Tensors of a model in a file of their own, next to it: how models of more than 2 GB are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

from onnx import TensorProto
from typing_extensions import Buffer
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ge.dialects.onnx.protos import SUB_BYTE, data_type_of, tensor_proto
from ge.ir.attributes import WeightsAttr
from ge.ir.weights import atomic_write

MIN_BYTES = 1024
"""Smaller tensors stay in the model: they may be shapes, which tools want to see there."""

_ALIGNMENT = 4096
"""Of each tensor in bytes: a page, so that runtimes can map it into memory (onnx.proto asks for that)."""

_CHUNK = 1 << 24
"""Bytes that are written at once."""


class ExternalData:
    """The file ``location`` in the folder of a model, while the model is written.

    :meth:`tensor` makes the message of a constant, as :func:`~ge.dialects.onnx.protos.tensor_proto` does, and
    :meth:`write` the file. No weights are copied in between.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self._pieces: list[tuple[int, Callable[[], Buffer]]] = []
        self._end = 0

    def tensor(self, literal: Attribute, type: Attribute, name: str) -> TensorProto:
        """A constant as a tensor, its bytes in the file unless they are few."""
        if not isinstance(literal, WeightsAttr) or literal.nbytes < MIN_BYTES:
            return tensor_proto(literal, type, name)
        shape = cast("TensorType[Attribute]", type).get_shape()
        data_type = data_type_of(cast("TensorType[Attribute]", type).element_type)
        if data_type in SUB_BYTE:
            packed = tensor_proto(literal, type, name).raw_data
            offset, length = self._append(len(packed), lambda: packed)
        else:
            offset, length = self._append(literal.nbytes, lambda: literal.buffer)
        tensor = TensorProto(name=name or None, dims=shape, data_type=data_type, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.location), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor

    def _append(self, nbytes: int, data: Callable[[], Buffer]) -> tuple[int, int]:
        """The place of some bytes in the file: offset and length."""
        offset = -(-self._end // _ALIGNMENT) * _ALIGNMENT
        self._pieces.append((offset, data))
        self._end = offset + nbytes
        return offset, nbytes

    def write(self, folder: Path) -> None:
        """Write the file. Raises OSError."""
        if not self._pieces:
            return
        with atomic_write(folder / self.location) as stream:
            for offset, data in self._pieces:
                stream.write(bytes(offset - stream.tell()))
                view = memoryview(data())
                for start in range(0, view.nbytes, _CHUNK):
                    stream.write(view[start : start + _CHUNK])
