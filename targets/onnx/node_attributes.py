"""Attributes of the nodes of a model as attributes of operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from onnx import AttributeProto, NodeProto, TypeProto
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute

from ge.dialects.onnx import Custom, ListAttr, RefAttr, TypeProtoAttr
from ge.dialects.onnx.attributes import to_attribute
from ge.dialects.onnx.protos import KINDS, message_text, proto_of_type, type_of_proto
from ge.dialects.onnx.schema import AttributeKind
from ge.ir.errors import GeError
from ge.targets.onnx.model_file import ModelFile
from ge.targets.onnx.tensors import sparse_attr, tensor_attr

GRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def node_attributes(protos: Sequence[AttributeProto], model: ModelFile, where: str) -> dict[str, Attribute]:
    """All but the graphs, by name, and the notes on them. Raises GE1017 for a kind that does not exist.

    An attribute whose name IR would take for a note or a property is in the note ``onnx.odd_attributes``.
    """
    plain: dict[str, Attribute] = {}
    odd: dict[str, Attribute] = {}
    for proto in protos:
        if proto.type in GRAPHS and not proto.ref_attr_name:
            continue
        names = odd if "." in proto.name or proto.name in _RESERVED else plain
        names[proto.name] = attribute_of(proto, model, where)
    if odd:
        plain["onnx.odd_attributes"] = DictionaryAttr(odd)
    if docs := {proto.name: StringAttr(proto.doc_string) for proto in protos if proto.doc_string}:
        plain["onnx.attribute_docs"] = DictionaryAttr(docs)
    return plain


_RESERVED = frozenset({"", *Custom.get_irdl_definition().properties})


def attribute_of(proto: AttributeProto, model: ModelFile, where: str) -> Attribute:
    """One attribute that is not a graph."""
    kind = KINDS.get(proto.type)
    if kind is None:
        raise GeError("GE1017", f"attribute '{proto.name}' is of kind {proto.type}, which does not exist", where)
    if proto.ref_attr_name:
        return RefAttr(StringAttr(kind), StringAttr(proto.ref_attr_name))
    if (field := _PLAIN_FIELDS.get(proto.type)) is not None:
        return to_attribute(cast(AttributeKind, kind), getattr(proto, field))
    match proto.type:
        case AttributeProto.TENSOR:
            return tensor_attr(proto.t, model)
        case AttributeProto.SPARSE_TENSOR:
            return sparse_attr(proto.sparse_tensor, model)
        case AttributeProto.TYPE_PROTO:
            return _type_attr(proto.tp)
        case AttributeProto.TENSORS:
            return _list_attr(kind, [tensor_attr(tensor, model) for tensor in proto.tensors])
        case AttributeProto.SPARSE_TENSORS:
            return _list_attr(kind, [sparse_attr(sparse, model) for sparse in proto.sparse_tensors])
        case _:
            return _list_attr(kind, [_type_attr(type) for type in proto.type_protos])


def _list_attr(kind: str, items: Sequence[Attribute]) -> Attribute:
    return ListAttr(StringAttr(kind), ArrayAttr(items))


def _type_attr(proto: TypeProto) -> Attribute:
    """A type; as protobuf writes it when the type of IR says less."""
    type = type_of_proto(proto)
    return type if proto_of_type(type) == proto else TypeProtoAttr(type, StringAttr(message_text(proto)))


def complete_kinds(node: NodeProto) -> None:
    """Give the attributes of a node their kind, which models of IR version 1 leave out."""
    for proto in node.attribute:
        if proto.type == AttributeProto.UNDEFINED and not proto.ref_attr_name:
            present = {field.name for field, _ in proto.ListFields()}
            proto.type = next((kind for field, kind in _FIELDS.items() if field in present), proto.type)


_FIELDS = {
    "f": AttributeProto.FLOAT,
    "i": AttributeProto.INT,
    "s": AttributeProto.STRING,
    "t": AttributeProto.TENSOR,
    "g": AttributeProto.GRAPH,
    "floats": AttributeProto.FLOATS,
    "ints": AttributeProto.INTS,
    "strings": AttributeProto.STRINGS,
    "tensors": AttributeProto.TENSORS,
    "graphs": AttributeProto.GRAPHS,
}

_PLAIN_FIELDS = {kind: field for field, kind in _FIELDS.items() if field not in ("t", "g", "tensors", "graphs")}
"""Where the numbers and strings of an attribute of a kind are."""
