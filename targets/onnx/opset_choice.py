"""Which opset a model is exported with: the oldest one in which its operations mean what they mean at the newest."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from onnx import AttributeProto, NodeProto, TypeProto

from ge.dialects.onnx import ABSENT, Constant, Custom, OnnxOp
from ge.dialects.onnx.protos import attribute_protos, proto_of_type
from ge.dialects.onnx.types import type_code
from ge.targets.onnx.adapters.table import is_at_most, oldest_unchanged


def oldest_opset(ops: Iterable[OnnxOp], first: int) -> int:
    """The oldest opset from ``first`` on in which all operations mean what they do here."""
    newest, known = first, set[Hashable]()
    for op in ops:
        if op.domain or isinstance(op, Custom | Constant) or is_at_most(op.op_type, newest):
            continue
        key = _form(op)
        if key not in known:  # most operations of a model are like one before
            known.add(key)
            newest = oldest_unchanged(*_node(op), newest)
    return newest


def _form(op: OnnxOp) -> Hashable:
    """What the opset of an operation depends on: all but the sizes of its values."""
    attributes = frozenset(entry for entry in op.attributes.items() if "." not in entry[0])
    operands = tuple(None if value is None else type_code(value.type) for value in op.input_list())
    odd = op.attributes.get("onnx.odd_attributes")
    return op.op_type, attributes, odd, operands, tuple(map(type_code, op.result_types))


def _node(op: OnnxOp) -> tuple[NodeProto, dict[str, TypeProto]]:
    """A node like an operation, and the types of its values; its graphs are empty."""
    node = NodeProto(op_type=op.op_type, attribute=attribute_protos(op.attributes))
    node.attribute.extend(AttributeProto(name=group.name, type=AttributeProto.GRAPH) for group in op.region_groups)
    types: dict[str, TypeProto] = {}
    for side, values, names in (("x", op.input_list(), node.input), ("y", op.results, node.output)):
        for position, value in enumerate(values):
            if value is None or value.type == ABSENT:
                names.append("")
            else:
                names.append(f"{side}{position}")
                types[names[-1]] = proto_of_type(value.type)
    return node, types
