"""Operations, types and constants of the dialect in ONNX's own form: the protobuf messages of ``onnx.proto``.

:class:`GraphBuilder` writes operations as a GraphProto. Whoever asks the ``onnx`` package something about operations
(its shape inference, its reference implementation, the exporter) goes through here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, TypeProto, ValueInfoProto, helper, numpy_helper
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge.dialects.onnx.attributes import TensorAttr, literal_array, to_python
from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.ops import Constant, Custom, yielded
from ge.dialects.onnx.types import ABSENT, STRING, UNKNOWN, MapType, OptionalType, SequenceType
from ge.ir.constants import element_type, numpy_dtype
from ge.ir.errors import GeError
from ge.ir.locations import node_names, where

SUB_BYTE = frozenset(
    {
        TensorProto.INT4,
        TensorProto.UINT4,
        TensorProto.FLOAT4E2M1,
        *(getattr(TensorProto, name) for name in ("INT2", "UINT2") if hasattr(TensorProto, name)),
    }
)
"""Element types of which the format packs several into a byte; constants in IR have one a byte."""


# Types


def element_type_of(data_type: int) -> Attribute:
    """The element type of a TensorProto.DataType. Raises ValueError for a number that is none."""
    if data_type == TensorProto.STRING:
        return STRING
    if data_type == TensorProto.UNDEFINED or data_type not in TensorProto.DataType.values():
        raise ValueError(f"element type number {data_type} does not exist")
    return element_type(np.dtype(helper.tensor_dtype_to_np_dtype(data_type)))


def data_type_of(type: Attribute) -> int:
    """The TensorProto.DataType of an element type."""
    if type == STRING:
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(numpy_dtype(type))


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


def dimensions(proto: TypeProto) -> Sequence[onnx.TensorShapeProto.Dimension]:
    """The dimensions of a tensor type, or of the tensors that a sequence or optional holds."""
    match proto.WhichOneof("value"):
        case "sequence_type":
            return dimensions(proto.sequence_type.elem_type)
        case "optional_type":
            return dimensions(proto.optional_type.elem_type)
        case "tensor_type":
            return proto.tensor_type.shape.dim
        case _:
            return ()


def proto_of_type(type: Attribute) -> TypeProto:
    """The ONNX type of an IR type."""
    match type:
        case TensorType():
            shape = [None if dim == DYNAMIC_INDEX else dim for dim in type.get_shape()]
            return helper.make_tensor_type_proto(data_type_of(type.element_type), shape)
        case UnrankedTensorType():
            return helper.make_tensor_type_proto(data_type_of(type.element_type), None)
        case SequenceType():
            return helper.make_sequence_type_proto(proto_of_type(type.element_type))
        case OptionalType():
            return helper.make_optional_type_proto(proto_of_type(type.element_type))
        case MapType():
            return helper.make_map_type_proto(data_type_of(type.key_type), proto_of_type(type.value_type))
        case _:
            return TypeProto()


def value_info(name: str, value: SSAValue) -> ValueInfoProto:
    """Name and type of a value."""
    return helper.make_value_info(name, proto_of_type(value.type))


# Constants and attributes


def tensor_proto(literal: Attribute, type: Attribute, name: str) -> TensorProto:
    """A constant as a tensor, its bytes copied into it."""
    array = literal_array(literal, type)
    data_type = data_type_of(cast("TensorType[Attribute]", type).element_type)
    if data_type in SUB_BYTE or data_type == TensorProto.STRING:
        return numpy_helper.from_array(array, name)
    return TensorProto(name=name, dims=array.shape, data_type=data_type, raw_data=array.tobytes())


_ATTRIBUTE_TYPES: Mapping[str, int] = {
    "int": AttributeProto.INT,
    "float": AttributeProto.FLOAT,
    "string": AttributeProto.STRING,
    "ints": AttributeProto.INTS,
    "floats": AttributeProto.FLOATS,
    "strings": AttributeProto.STRINGS,
}


def attribute_proto(name: str, attribute: Attribute, kind: str | None) -> AttributeProto:
    """One attribute of a node; the kind (None: not known) tells what an empty list is a list of."""
    if isinstance(attribute, TensorAttr):
        return helper.make_attribute(name, tensor_proto(attribute.literal, attribute.type, name))
    value = to_python(attribute)
    if isinstance(value, Attribute):
        return AttributeProto(name=name, type=AttributeProto.TYPE_PROTO, tp=proto_of_type(value))
    return helper.make_attribute(name, value, attr_type=_ATTRIBUTE_TYPES.get(kind or ""))


def attribute_protos(op: OnnxOp) -> list[AttributeProto]:
    """The attributes of a node, without its graphs."""
    specs = op.operator.attributes
    return [
        attribute_proto(name, attribute, specs[name].kind if name in specs else None)
        for name, attribute in op.attributes.items()
        if "." not in name
    ]


# Names: what the notes of the importer say


def default_output_names(label: str, unnamed: bool, count: int) -> list[str]:
    """The names of the outputs of a node that are not written down."""
    return [label] if unnamed and count == 1 else [f"{label}_output_{i}" for i in range(count)]


def result_name(op: Operation, index: int) -> str:
    """The ONNX name of a result."""
    written = text_notes(op, "outputs")
    if len(written) == len(op.results):
        return written[index]
    label = next(iter(node_names(op)), "") or op.results[index].name_hint or op.name.rpartition(".")[2]
    if isinstance(op, Constant):
        return label
    return default_output_names(label, "onnx.unnamed" in op.attributes, len(op.results))[index]


def text_note(op: Operation, note: str) -> str:
    """The text of the note ``onnx.<note>``, empty when there is none."""
    attribute = op.attributes.get(f"onnx.{note}")
    return attribute.data if isinstance(attribute, StringAttr) else ""


def text_notes(op: Operation, note: str) -> list[str]:
    """The list of texts of the note ``onnx.<note>``, empty when there is none."""
    attribute = op.attributes.get(f"onnx.{note}")
    return [text.data for text in cast("ArrayAttr[StringAttr]", attribute)] if isinstance(attribute, ArrayAttr) else []


def add_documentation(proto: Any, op: Operation) -> None:
    """Give a message the text and the metadata that the notes ``onnx.doc`` and ``onnx.metadata`` hold."""
    if doc := text_note(op, "doc"):
        proto.doc_string = doc
    attribute = op.attributes.get("onnx.metadata")
    if isinstance(attribute, DictionaryAttr):
        for key, value in attribute.data.items():
            proto.metadata_props.add(key=key, value=cast(StringAttr, value).data)


class GraphBuilder:
    """Writes operations as graphs. All names in the graphs of one builder differ.

    Constants of more than ``max_constant_bytes`` become inputs of the graph, for a reader that only asks for types.
    """

    def __init__(self, max_constant_bytes: int | None = None) -> None:
        self.max_constant_bytes = max_constant_bytes
        self.names: dict[SSAValue, str] = {}
        """The ONNX name of each value written."""
        self._taken: set[str] = set()
        self._nodes: set[str] = set()

    def graph(
        self,
        ops: Iterable[Operation],
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        input_names: Sequence[str] = (),
        output_names: Sequence[str] = (),
    ) -> GraphProto:
        """The graph of ``ops`` (terminators are left out). Raises GE3004 for operations of other dialects.

        An output that is no result of a node of this graph, or is one twice, gets its value from an Identity.
        """
        ops = [op for op in ops if op.parent is None or op.parent.last_op is not op or isinstance(op, OnnxOp)]
        graph = GraphProto()
        for position, value in enumerate(inputs):
            self._bind(value, input_names[position] if input_names else value.name_hint or "input")
            graph.input.append(value_info(self.names[value], value))
        own = {result for op in ops if not isinstance(op, Constant) for result in op.results}
        copies: list[NodeProto] = []
        for position, value in enumerate(outputs):
            name = output_names[position] if output_names else ""
            if value in own and value not in self.names:
                self._bind(value, name or result_name(cast(Operation, value.owner), _index(value)))
                graph.output.append(value_info(self.names[value], value))
            else:
                name = _unique(name or "output", self._taken)
                copies.append(NodeProto(op_type="Identity", output=[name], name=_unique(name, self._nodes)))
                graph.output.append(value_info(name, value))
        for op in ops:
            self._add(graph, op)
        copied = [value for value, info in zip(outputs, graph.output, strict=True) if self.names[value] != info.name]
        for node, value in zip(copies, copied, strict=True):
            node.input.append(self.names[value])
        graph.node.extend(copies)
        return graph

    def _bind(self, value: SSAValue, name: str) -> None:
        self.names[value] = _unique(name, self._taken)

    def _add(self, graph: GraphProto, op: Operation) -> None:
        """Add the node, or the initializer, of one operation."""
        if not isinstance(op, OnnxOp):
            raise GeError("GE3004", f"operation '{op.name}' has no form in ONNX", where(op))
        for index, result in enumerate(op.results):
            if result not in self.names and result.type != ABSENT:
                self._bind(result, result_name(op, index))
        if isinstance(op, Constant):
            self._add_constant(graph, op.attributes["value"], op.results[0])
            return
        graph.node.append(self._node(op))
        if isinstance(op, Custom):
            known = [result for result in op.results if result.type not in (ABSENT, UNKNOWN)]
            graph.value_info.extend(value_info(self.names[result], result) for result in known)

    def _add_constant(self, graph: GraphProto, literal: Attribute, value: SSAValue) -> None:
        nbytes = getattr(literal, "nbytes", 0)
        if self.max_constant_bytes is not None and nbytes > self.max_constant_bytes:
            graph.input.append(value_info(self.names[value], value))
        else:
            graph.initializer.append(tensor_proto(literal, value.type, self.names[value]))

    def _node(self, op: OnnxOp) -> NodeProto:
        node = NodeProto(op_type=op.op_type, domain=op.domain or None, attribute=attribute_protos(op))
        node.input.extend("" if value is None else self._read(op, value) for value in op.input_list())
        node.output.extend(self.names.get(result, "") for result in op.results)
        if "onnx.unnamed" not in op.attributes:
            label = next(iter(node_names(op)), "") or next(filter(None, node.output), op.op_type)
            node.name = _unique(label, self._nodes)
        for name, region in zip(op.region_names, op.regions, strict=True):
            node.attribute.append(AttributeProto(name=name, type=AttributeProto.GRAPH, g=self._body(region.block)))
        add_documentation(node, op)
        return node

    def _read(self, op: OnnxOp, value: SSAValue) -> str:
        if value not in self.names:
            raise GeError("GE3003", f"'{op.op_type}' reads a value that is not among these operations", where(op))
        return self.names[value]

    def _body(self, block: Block) -> GraphProto:
        graph = self.graph(block.ops, block.args, yielded(block))
        graph.name = next(iter(node_names(cast(Operation, block.last_op))), "body")
        return graph


def _index(value: SSAValue) -> int:
    return list(cast(Operation, value.owner).results).index(cast(Any, value))


def _unique(name: str, taken: set[str]) -> str:
    """``name``, or with a number when it is taken; it is taken then."""
    candidate, number = name, 0
    while candidate in taken or not candidate:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate
