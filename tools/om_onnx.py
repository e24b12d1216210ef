"""The graph that an OM file was made of, as an ONNX model of standard operators.

The file holds it as text with digests in the place of constants (``om.graph``). Their bytes are in the weights of the
file, perhaps with zeros behind them, which a kernel wanted, or in the kernels of the host.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge.dialects.graph.constants import stored_type
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import array_of, numpy_dtype, tensor_type_of
from ge.ir.errors import GeError
from ge.ir.weights import Weights, view_of
from ge.lowering.graph_to_onnx import ConvertGraphToOnnxPass
from ge.targets.ascend.om.container import PartitionType
from ge.targets.ascend.om.conventions import GRAPH
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.graph_text import read_graph
from ge.targets.ascend.om.kernels import host_module
from ge.targets.ascend.om.messages import read_type


def onnx_module(file: OmFile) -> ModuleOp | None:
    """The graph of a file at the onnx level; None when the file does not hold it, or it has no ONNX form.

    Raises GE5007 when a constant of the graph is not in the file, and what reading the graph and the kernels raises.
    """
    text = file.text(GRAPH) if file.is_ours else None
    if text is None:
        return None
    main = read_graph(text, str(file.path)).main
    main.detach()
    module = ModuleOp([main])
    _Constants(file).fill(module)
    try:
        ConvertGraphToOnnxPass().apply(Context(), module)
    except GeError as error:
        if error.code != "GE3004":
            raise
        return None
    return module


class _Constants:
    """The constants of a file, by the digests of their bytes."""

    def __init__(self, file: OmFile) -> None:
        self.where = str(file.path)
        self.file = file
        self.known: dict[str, memoryview] = {_digest(data): data for data in self._all()}

    def _all(self) -> Iterator[memoryview]:
        """The bytes of the constants: in the weights, and in the kernels of the host."""
        yield from (data for _, data in self.file.constants())
        for binary in self.file.kernels[PartitionType.CUST_AICPU_KERNELS].values():
            for op in host_module(bytes(binary)).walk():
                yield from (attr.buffer for attr in _attributes(op).values() if isinstance(attr, WeightsAttr))

    def fill(self, module: ModuleOp) -> None:
        """Put the bytes into all constants of a module. Raises GE5007."""
        for op in module.walk():
            for attributes in (op.attributes, op.properties):
                for name, attr in attributes.items():
                    if isinstance(attr, WeightsAttr) and attr.data.is_elided:
                        attributes[name] = self._found(attr, op)

    def _found(self, attr: WeightsAttr, op: Operation) -> WeightsAttr:
        data = self.known.get(attr.digest) or self._padded(attr, op)
        if data is None or data.nbytes != attr.nbytes:
            what = f"a constant of {attr.nbytes} bytes of the graph is not among the weights"
            raise GeError("GE5007", what, self.where)
        return WeightsAttr(Weights(data, data.nbytes))

    def _padded(self, attr: WeightsAttr, op: Operation) -> memoryview | None:
        """The bytes of a constant that the weights only have with zeros behind its blocks."""
        try:
            type = stored_type(tensor_type_of(op.results[0]))
        except (GeError, ValueError, IndexError):
            return None
        dtype = numpy_dtype(type.element_type)
        for stored in self._stored(dtype, len(type.get_shape())):
            if all(size >= wanted for size, wanted in zip(stored.shape, type.get_shape(), strict=True)):
                cut = np.ascontiguousarray(stored[tuple(map(slice, type.get_shape()))])
                if _digest(data := view_of(cut.reshape(-1).view(np.uint8).data)) == attr.digest:
                    return data
        return None

    def _stored(self, dtype: np.dtype[Any], rank: int) -> Iterator[NDArray[Any]]:
        """The constants of an element type and rank, as they lie in storage."""
        for op, data in self.file.constants():
            try:
                type = stored_type(tensor_type_of(read_type(op.attr["value"].t.desc)))
                if len(type.get_shape()) == rank and numpy_dtype(type.element_type) == dtype:
                    yield array_of(WeightsAttr(Weights(data, data.nbytes)), type)
            except (GeError, ValueError):
                continue


def _attributes(op: Operation) -> Mapping[str, Any]:
    return {**op.attributes, **op.properties}


def _digest(data: memoryview) -> str:
    return hashlib.sha256(data).hexdigest()
