"""Types, constants and attributes of the dialect in ONNX's own form: the protobuf messages of ``onnx.proto``.

Whoever asks the ``onnx`` package something about operations (its shape inference, its reference implementation, the
exporter) goes through here; :mod:`ge.dialects.onnx.graph_builder` writes whole graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import onnx
from google.protobuf import text_format
from google.protobuf.message import Message
from onnx import AttributeProto, GraphProto, NodeProto, SparseTensorProto, TensorProto, TypeProto, helper, numpy_helper
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnrankedTensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, TypeAttribute

from ge.dialects.onnx.attributes import SparseAttr, TensorAttr, literal_array, to_python
from ge.dialects.onnx.rare_attributes import ListAttr, RefAttr, TypeProtoAttr
from ge.dialects.onnx.types import STRING, UNKNOWN, MapType, OptionalType, SequenceType, tensor_type
from ge.ir.attributes import remembered
from ge.ir.constants import element_type, numpy_dtype
from ge.ir.errors import GeError

MessageT = TypeVar("MessageT", bound=Message)

SUB_BYTE = frozenset(
    TensorProto.DataType.Value(name)
    for name in ("INT4", "UINT4", "FLOAT4E2M1", "INT2", "UINT2", "FLOAT6E2M3", "FLOAT6E3M2")
    if name in TensorProto.DataType.keys()  # noqa: SIM118
)
"""Element types that the format packs tighter than one in a byte; constants in IR have one a byte."""


def message_text(message: Message) -> str:
    """A message in the text form of protobuf, on one line."""
    return text_format.MessageToString(message, as_utf8=True, as_one_line=True)


def parse_message(text: str, message: MessageT) -> MessageT:
    """The message that :func:`message_text` wrote, put into ``message``. Raises GE3002 for any other text."""
    try:
        return text_format.Parse(text, message)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise GeError("GE3002", f"'{text[:80]}' is not a {message.DESCRIPTOR.name}: {error}") from error


# Types


@cache
def element_type_of(data_type: int) -> Attribute:
    """The element type of a TensorProto.DataType. Raises GE1020 for a number that is none."""
    if data_type == TensorProto.STRING:
        return STRING
    if data_type == TensorProto.UNDEFINED or data_type not in TensorProto.DataType.values():
        raise GeError("GE1020", f"element type number {data_type} does not exist")
    return element_type(np.dtype(helper.tensor_dtype_to_np_dtype(data_type)))


@cache
def data_type_of(type: Attribute) -> int:
    """The TensorProto.DataType of an element type."""
    if type == STRING:
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(numpy_dtype(type))


def type_of_proto(proto: TypeProto) -> Attribute:
    """The IR type of an ONNX type; ``!onnx.unknown`` when it says nothing, or not what a sequence or optional holds."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            return _tensor_type(proto.tensor_type)
        case "sparse_tensor_type":
            return _tensor_type(cast(Any, proto.sparse_tensor_type))
        case "sequence_type" if (element := type_of_proto(proto.sequence_type.elem_type)) != UNKNOWN:
            return SequenceType(element)
        case "optional_type" if (element := type_of_proto(proto.optional_type.elem_type)) != UNKNOWN:
            return OptionalType(element)
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
    return tensor_type(element, tuple(_dimension(dim) for dim in proto.shape.dim))


def _dimension(dim: onnx.TensorShapeProto.Dimension) -> int:
    return dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else DYNAMIC_INDEX


def dimensions(proto: TypeProto) -> Sequence[onnx.TensorShapeProto.Dimension]:
    """The dimensions of a tensor type, or of the tensors that a sequence, optional or map holds."""
    match proto.WhichOneof("value"):
        case "sequence_type":
            return dimensions(proto.sequence_type.elem_type)
        case "optional_type":
            return dimensions(proto.optional_type.elem_type)
        case "map_type":
            return dimensions(proto.map_type.value_type)
        case "tensor_type":
            return proto.tensor_type.shape.dim
        case _:
            return ()


def proto_of_type(type: Attribute) -> TypeProto:
    """The ONNX type of an IR type."""
    return TypeProto.FromString(_message_of_type(type))


@remembered
def _message_of_type(type: Attribute) -> bytes:
    """The serialised ONNX type of an IR type, which is made again much faster than it is built."""
    return _build_type(type).SerializeToString()


def _build_type(type: Attribute) -> TypeProto:
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


# Constants


TensorMaker: TypeAlias = Callable[[Attribute, Attribute, str], TensorProto]
"""What makes the message of a constant from its literal, type and name."""


def tensor_proto(literal: Attribute, type: Attribute, name: str) -> TensorProto:
    """A constant as a tensor, its bytes copied into it; a sparse one is written out in full."""
    array = literal_array(literal, type)
    data_type = data_type_of(cast("TensorType[Attribute]", type).element_type)
    if data_type in SUB_BYTE or data_type == TensorProto.STRING:
        return numpy_helper.from_array(array, name)
    return TensorProto(name=name or None, dims=array.shape, data_type=data_type, raw_data=array.tobytes())


def sparse_tensor_proto(
    literal: SparseAttr, type: Attribute, notes: Mapping[str, Attribute], tensor: TensorMaker = tensor_proto
) -> SparseTensorProto:
    """A sparse constant; the notes have what the model says of ``values`` and ``indices``."""
    shape = cast("TensorType[Attribute]", type).get_shape()
    parts = {
        "values": tensor(literal.values, literal.values_type, ""),
        "indices": tensor(literal.indices, literal.indices_type, ""),
    }
    for part, proto in parts.items():
        add_tensor_notes(proto, _dictionary(notes.get(part)))
    return SparseTensorProto(dims=shape, **parts)


def tensor_notes(tensor: TensorProto) -> dict[str, Attribute]:
    """What a tensor in an attribute says beside its elements."""
    notes: dict[str, Attribute] = {}
    if tensor.name:
        notes["name"] = StringAttr(tensor.name)
    if tensor.doc_string:
        notes["doc"] = StringAttr(tensor.doc_string)
    if tensor.metadata_props:
        notes["metadata"] = metadata_attr(tensor)
    return notes


def add_tensor_notes(tensor: TensorProto, notes: Mapping[str, Attribute]) -> None:
    """The inverse of :func:`tensor_notes`."""
    for key, field in (("name", "name"), ("doc", "doc_string")):
        if isinstance(text := notes.get(key), StringAttr):
            setattr(tensor, field, text.data)
    _add_metadata(tensor, notes.get("metadata"))


# Attributes

KINDS: Mapping[AttributeProto.AttributeType, str] = {
    AttributeProto.FLOAT: "float",
    AttributeProto.INT: "int",
    AttributeProto.STRING: "string",
    AttributeProto.TENSOR: "tensor",
    AttributeProto.GRAPH: "graph",
    AttributeProto.SPARSE_TENSOR: "sparse_tensor",
    AttributeProto.TYPE_PROTO: "type",
    AttributeProto.FLOATS: "floats",
    AttributeProto.INTS: "ints",
    AttributeProto.STRINGS: "strings",
    AttributeProto.TENSORS: "tensors",
    AttributeProto.GRAPHS: "graphs",
    AttributeProto.SPARSE_TENSORS: "sparse_tensors",
    AttributeProto.TYPE_PROTOS: "types",
}
"""The word of the operator table for each kind of attribute; those that end in s are lists."""

_KIND_NUMBERS = {kind: number for number, kind in KINDS.items()}


_GRAPH, _GRAPHS = AttributeProto.GRAPH, AttributeProto.GRAPHS


def inner_graphs(node: NodeProto) -> list[GraphProto]:
    """The graphs in the attributes of a node."""
    found: list[GraphProto] = []
    for attribute in node.attribute:
        kind = attribute.type
        if kind == _GRAPH:
            found.append(attribute.g)
        elif kind == _GRAPHS:
            found.extend(attribute.graphs)
    return found


def attribute_proto(name: str, attribute: Attribute, tensor: TensorMaker = tensor_proto) -> AttributeProto:
    """One attribute of a node."""
    proto = AttributeProto(name=name)
    match attribute:
        case RefAttr():
            proto.type = _KIND_NUMBERS[attribute.kind.data]
            proto.ref_attr_name = attribute.target.data
        case ListAttr():
            kind = attribute.kind.data
            proto.type = _KIND_NUMBERS[kind]
            fields = {"tensors": proto.tensors, "sparse_tensors": proto.sparse_tensors, "types": proto.type_protos}
            fields[kind].extend(_element_proto(item, tensor) for item in attribute.items)
        case TensorAttr() if isinstance(attribute.literal, SparseAttr):
            proto.type = AttributeProto.SPARSE_TENSOR
            proto.sparse_tensor.CopyFrom(_element_proto(attribute, tensor))
        case TensorAttr():
            proto.type = AttributeProto.TENSOR
            proto.t.CopyFrom(_element_proto(attribute, tensor))
        case TypeProtoAttr() | TypeAttribute():
            proto.type = AttributeProto.TYPE_PROTO
            proto.tp.CopyFrom(_element_proto(attribute, tensor))
        case _:
            _set_plain(proto, attribute)
    return proto


def _set_plain(proto: AttributeProto, attribute: Attribute) -> None:
    """Put a number, a string or a list of them into a message."""
    value = to_python(attribute)
    match attribute:
        case IntegerAttr():
            proto.type, proto.i = AttributeProto.INT, value
        case FloatAttr():
            proto.type, proto.f = AttributeProto.FLOAT, value
        case StringAttr() | BytesAttr():
            proto.type, proto.s = AttributeProto.STRING, _encoded(value)
        case DenseArrayBase() if attribute.elt_type == i64:
            proto.type = AttributeProto.INTS
            proto.ints.extend(value)
        case DenseArrayBase():
            proto.type = AttributeProto.FLOATS
            proto.floats.extend(value)
        case ArrayAttr():
            proto.type = AttributeProto.STRINGS
            proto.strings.extend(map(_encoded, value))
        case _:
            raise GeError("GE3002", f"attribute '{proto.name}' has no form in ONNX: {attribute}")


def _element_proto(attribute: Attribute, tensor: TensorMaker) -> Any:
    """A tensor, a sparse tensor or a type as a message."""
    match attribute:
        case TensorAttr(literal=SparseAttr() as literal):
            return sparse_tensor_proto(literal, attribute.type, attribute.notes.data, tensor)
        case TensorAttr():
            proto = tensor(attribute.literal, attribute.type, "")
            add_tensor_notes(proto, attribute.notes.data)
            return proto
        case TypeProtoAttr():
            return parse_message(attribute.text.data, TypeProto())
        case _:
            return proto_of_type(attribute)


def _encoded(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def attribute_protos(attributes: Mapping[str, Attribute], tensor: TensorMaker = tensor_proto) -> list[AttributeProto]:
    """The attributes of a node, without its graphs, from those of the operation."""
    docs = _dictionary(attributes.get("onnx.attribute_docs"))
    protos = [attribute_proto(name, value, tensor) for name, value in plain_attributes(attributes).items()]
    for proto in protos:
        if proto.name in docs:
            proto.doc_string = cast(StringAttr, docs[proto.name]).data
    return protos


def plain_attributes(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The attributes of an operation under their ONNX names, without notes."""
    plain = {name: attribute for name, attribute in attributes.items() if "." not in name}
    return {**plain, **_dictionary(attributes.get("onnx.odd_attributes"))}


# Notes


def text_note(op: Operation, note: str) -> str:
    """The text of the note ``onnx.<note>``, empty when there is none."""
    attribute = op.attributes.get(f"onnx.{note}")
    return attribute.data if isinstance(attribute, StringAttr) else ""


def text_notes(op: Operation, note: str) -> list[str]:
    """The list of texts of the note ``onnx.<note>``, empty when there is none."""
    attribute = op.attributes.get(f"onnx.{note}")
    return [text.data for text in cast("ArrayAttr[StringAttr]", attribute)] if isinstance(attribute, ArrayAttr) else []


def dictionary_note(op: Operation, note: str) -> Mapping[str, Attribute]:
    """The entries of the note ``onnx.<note>``, none when there is none."""
    return _dictionary(op.attributes.get(f"onnx.{note}"))


def _dictionary(attribute: Attribute | None) -> Mapping[str, Attribute]:
    return attribute.data if isinstance(attribute, DictionaryAttr) else {}


def documentation(proto: Any) -> dict[str, Attribute]:
    """The notes for the text and the metadata of a message."""
    notes: dict[str, Attribute] = {}
    if proto.doc_string:
        notes["onnx.doc"] = StringAttr(proto.doc_string)
    if proto.metadata_props:
        notes["onnx.metadata"] = metadata_attr(proto)
    return notes


def add_documentation(proto: Any, notes: Mapping[str, Attribute]) -> None:
    """Give a message the text and the metadata that the notes ``onnx.doc`` and ``onnx.metadata`` hold."""
    if isinstance(doc := notes.get("onnx.doc"), StringAttr):
        proto.doc_string = doc.data
    _add_metadata(proto, notes.get("onnx.metadata"))


def metadata_attr(proto: Any) -> DictionaryAttr:
    """The metadata of a message."""
    return DictionaryAttr({entry.key: StringAttr(entry.value) for entry in proto.metadata_props})


def _add_metadata(proto: Any, metadata: Attribute | None) -> None:
    for key, value in _dictionary(metadata).items():
        if isinstance(value, StringAttr):
            proto.metadata_props.add(key=key, value=value.data)


def rest_note(proto: Message, fields: Sequence[str]) -> dict[str, Attribute]:
    """The note ``onnx.rest``: fields of a message that have no other form, as protobuf writes them."""
    present = [field for field in fields if hasattr(proto, field) and len(getattr(proto, field))]
    if not present:
        return {}
    rest = type(proto)()
    for field in present:
        getattr(rest, field).extend(getattr(proto, field))
    return {"onnx.rest": StringAttr(message_text(rest))}


def add_rest(proto: Message, op: Operation) -> None:
    """Give a message the fields that the note ``onnx.rest`` holds."""
    if text := text_note(op, "rest"):
        proto.MergeFrom(parse_message(text, type(proto)()))
