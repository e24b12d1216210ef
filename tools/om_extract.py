"""The parts of an OM file as files of their own: ``ge-om extract``.

``graph.onnx`` is the optimised graph in standard operators (:mod:`ge.tools.om_onnx`), ``device.onnx`` what the device
does: an operator of the device is a node of the domain ``ascend`` with the type, attributes and name that it has in the
file, an operator of the host a call of a function, which holds its ONNX nodes. Constants are initializers in the shape
of the model, not in that of the storage. The names of the nodes of the source model are in the metadata of each node.
A file that does not say what its kernels compute, as those of other compilers, has only the latter, as ``graph.onnx``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from xdsl.dialects.builtin import TensorType

from ge.dialects.onnx.operators import OPSET
from ge.dialects.onnx.protos import TensorMaker, tensor_proto
from ge.ir.attributes import layout_of
from ge.ir.constants import constant_attr, element_type, numpy_dtype, static_shape, tensor_type_of
from ge.ir.errors import GeError
from ge.ir.weights import atomic_write
from ge.maths.layouts import storage_shape, unpack
from ge.targets.ascend.om.container import PartitionType
from ge.targets.ascend.om.external_weights import plain_name
from ge.targets.ascend.om.file import OmFile, kernel_name, node_names, split_edge
from ge.targets.ascend.om.messages import read_type
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.onnx.exporter import save_model
from ge.targets.onnx.model_writer import ModelWriter
from ge.tools.om_inspection import outputs
from ge.tools.om_onnx import onnx_module

DEVICE_DOMAIN, HOST_DOMAIN = "ascend", "ge.host"

PARTS = ("weights", "kernels", "graph")


def extract(file: OmFile, folder: Path, parts: Sequence[str] = PARTS) -> list[Path]:
    """Write parts of a file below ``folder``; what was written. Raises GE1003.

    Weights are ``weights/NAME.npy`` and kernels ``kernels/NAME.bin`` (``.onnx`` for the host); ``index.json`` says
    which file belongs to which name.
    """
    written: list[Path] = []
    index: dict[str, dict[str, str]] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part, writer in (("weights", _weights), ("kernels", _kernels)):
            if part in parts:
                names = FileNames(part)
                (folder / part).mkdir(exist_ok=True)
                for name, ending, content in writer(file):
                    path = folder / names.add(name, ending)
                    _write(path, content)
                    written.append(path)
                index[part] = names.of
        if "graph" in parts:
            index["graph"] = _write_graphs(file, folder)
            written += [folder / name for name in index["graph"].values()]
        _write(folder / "index.json", json.dumps(index, indent=1).encode() + b"\n")
    except OSError as error:
        raise GeError("GE1003", f"cannot write to '{folder}': {error.strerror or error}", str(folder)) from error
    return [*written, folder / "index.json"]


def _write_graphs(file: OmFile, folder: Path) -> dict[str, str]:
    """Write the graph, and what the device makes of it where that is another; which file is which."""
    names = {"graph": "graph.onnx"}
    writer = ModelWriter()
    device = device_model(file, writer.tensor)
    module = onnx_module(file)
    if module is not None:
        save_model(module, folder / names["graph"])
        names["device"] = "device.onnx"
    with atomic_write(folder / [*names.values()][-1]) as stream:
        writer.write(device, stream)
    return names


class FileNames:
    """File names for the names of a model, which may have any characters: different names get different files."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.of: dict[str, str] = {}

    def add(self, name: str, ending: str) -> str:
        """The file for a name."""
        plain = plain_name(name)
        taken, number = {path.lower() for path in self.of.values()}, 0
        while (path := f"{self.folder}/{plain}{f'_{number}' if number else ''}{ending}").lower() in taken:
            number += 1
        self.of[name] = path
        return path


def _write(path: Path, data: bytes) -> None:
    with atomic_write(path) as stream:
        stream.write(data)


def _weights(file: OmFile) -> Iterator[tuple[str, str, bytes]]:
    """Name, ending and content of the file of each constant."""
    for op, data in file.constants():
        array = constant_array(op, data)
        if array is None:
            yield op.name, ".bin", bytes(data)
        else:
            content = BytesIO()
            np.save(content, array)
            yield op.name, ".npy", content.getvalue()


def _kernels(file: OmFile) -> Iterator[tuple[str, str, bytes]]:
    """Name, ending and content of the file of each kernel."""
    for kind, store in file.kernels.items():
        ending = ".onnx" if file.is_ours and kind is PartitionType.CUST_AICPU_KERNELS else ".bin"
        for name, binary in store.items():
            yield name, ending, bytes(binary)


def constant_array(op: ir.OpDef, data: memoryview) -> NDArray[Any] | None:
    """The elements of a constant in the shape of the model; None when NumPy cannot hold them, or a part is missing."""
    try:
        type = read_type(op.attr["value"].t.desc)
        shape, layout, dtype = static_shape(type), layout_of(type), numpy_dtype(tensor_type_of(type).element_type)
        stored = np.frombuffer(data, dtype).reshape(storage_shape(layout, shape))
        return np.asarray(unpack(stored, layout, shape))
    except (ValueError, GeError):
        return None


# ------------------------------------------------------------ the graph


def device_model(file: OmFile, tensor: TensorMaker = tensor_proto) -> ModelProto:
    """The operators of a file as an ONNX model; see the module. ``tensor`` makes the messages of constants."""
    functions = dict(_functions(file))
    model = helper.make_model(onnx.GraphProto(name=file.definition.name or "graph"), producer_name="ge-om")
    del model.opset_import[:]
    versions = {"": OPSET, DEVICE_DOMAIN: 1, HOST_DOMAIN: 1}
    model.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in versions.items())
    model.functions.extend(functions.values())
    constants = {op.name: (op, data) for op, data in file.constants()}
    for op in file.operators:
        array = constant_array(*constants[op.name]) if op.name in constants else None
        if op.type == "Data" and op.output_desc:
            model.graph.input.append(_value(f"{op.name}:0", op.output_desc[0]))
        elif array is not None:
            type = TensorType(element_type(array.dtype), array.shape)
            model.graph.initializer.append(tensor(constant_attr(array, type), type, f"{op.name}:0"))
        elif op.type != "NetOutput":
            model.graph.node.append(_node(op, functions))
            values = (_value(f"{op.name}:{number}", desc) for number, desc in enumerate(op.output_desc))
            model.graph.value_info.extend(values)
    _add_outputs(file, model.graph)
    return model


def _add_outputs(file: OmFile, graph: onnx.GraphProto) -> None:
    """Give a graph the outputs of the model, by their names."""
    ends = [op for op in file.operators if op.type == "NetOutput"]
    edges = [edge for op in ends for edge in op.input if split_edge(edge)[1] >= 0]
    descriptors = [desc for op in ends for desc in op.input_desc]
    names = [each["name"] for each in outputs(file)]
    graph.node.extend(helper.make_node("Identity", [edge], [name]) for name, edge in zip(names, edges, strict=False))
    graph.output.extend(_value(name, desc) for name, desc in zip(names, descriptors, strict=False))


_ONNX_TYPES: Mapping[int, int] = {
    ir.DT_FLOAT: TensorProto.FLOAT,
    ir.DT_FLOAT16: TensorProto.FLOAT16,
    ir.DT_INT8: TensorProto.INT8,
    ir.DT_UINT8: TensorProto.UINT8,
    ir.DT_INT16: TensorProto.INT16,
    ir.DT_UINT16: TensorProto.UINT16,
    ir.DT_INT32: TensorProto.INT32,
    ir.DT_INT64: TensorProto.INT64,
    ir.DT_UINT32: TensorProto.UINT32,
    ir.DT_UINT64: TensorProto.UINT64,
    ir.DT_BOOL: TensorProto.BOOL,
    ir.DT_DOUBLE: TensorProto.DOUBLE,
    ir.DT_STRING: TensorProto.STRING,
    ir.DT_COMPLEX64: TensorProto.COMPLEX64,
    ir.DT_COMPLEX128: TensorProto.COMPLEX128,
    ir.DT_BF16: TensorProto.BFLOAT16,
    ir.DT_INT4: TensorProto.INT4,
}


def _value(name: str, desc: ir.TensorDescriptor) -> ValueInfoProto:
    """What is known of a value: element type and shape of the model; nothing of what is no tensor."""
    element = _ONNX_TYPES.get(desc.dtype)
    if element is None:
        return ValueInfoProto(name=name)
    shape = desc.attr["origin_shape"].list.i if "origin_shape" in desc.attr else desc.shape.dim
    return helper.make_tensor_value_info(name, element, [size if size >= 0 else None for size in shape])


def _node(op: ir.OpDef, functions: Mapping[str, FunctionProto]) -> NodeProto:
    """An operator of the device, or a call of what runs on the host."""
    on_host = kernel_name(op) in functions
    node = NodeProto(
        op_type=functions[kernel_name(op) or ""].name if on_host else op.type,
        domain=HOST_DOMAIN if on_host else DEVICE_DOMAIN,
        name=op.name,
        input=[edge for edge in op.input if split_edge(edge)[1] >= 0 or not edge],
        output=[f"{op.name}:{number}" for number in range(len(op.output_desc))],
    )
    if not on_host:
        node.attribute.extend(_attributes(op.attr))
    node.metadata_props.add(key="ge.type", value=op.type)
    if names := node_names(op):
        node.metadata_props.add(key="ge.nodes", value=json.dumps(names))
    return node


def _attributes(attributes: Mapping[str, ir.AttrDef]) -> Iterator[onnx.AttributeProto]:
    """The attributes that ONNX has a form for; names of nodes and kernels are elsewhere."""
    for name in sorted(attributes):
        attr = attributes[name]
        kind = attr.WhichOneof("value")
        if name.startswith("_") or kind not in ("s", "i", "f", "b", "list"):
            continue
        if kind != "list":
            yield helper.make_attribute(name, int(attr.b) if kind == "b" else getattr(attr, kind))
            continue
        lists = [list(attr.list.s), list(attr.list.i), list(attr.list.f), [int(each) for each in attr.list.b]]
        if items := next(filter(None, lists), None):
            yield helper.make_attribute(name, items)


def _functions(file: OmFile) -> Iterator[tuple[str, FunctionProto]]:
    """A function for each kernel of the host, by the name of the kernel.

    A kernel is written for an opset in which its operators mean what they mean in the newest, so it says the newest.
    """
    if not file.is_ours:
        return
    for name, binary in file.kernels[PartitionType.CUST_AICPU_KERNELS].items():
        try:
            function = _function(name, ModelProto.FromString(bytes(binary)))
        except (DecodeError, UnicodeDecodeError) as error:
            raise GeError("GE5005", f"kernel '{name}' is not an ONNX model", str(file.path)) from error
        yield name, function


def _function(name: str, model: ModelProto) -> FunctionProto:
    versions = {entry.domain: entry.version for entry in model.opset_import} | {"": OPSET}
    constants = [helper.make_node("Constant", [], [tensor.name], value=tensor) for tensor in model.graph.initializer]
    return helper.make_function(
        HOST_DOMAIN,
        re.sub(r"[^A-Za-z0-9_]+", "_", name),
        [value.name for value in model.graph.input],
        [value.name for value in model.graph.output],
        [*constants, *model.graph.node],
        [helper.make_opsetid(domain, version) for domain, version in versions.items()],
    )
