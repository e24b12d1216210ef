"""Which opset a model is exported with: the oldest one in which its operations mean what they mean at the newest."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import AttributeProto, NodeProto, TypeProto

from ge.dialects.onnx import ABSENT, Constant, Custom, OnnxOp
from ge.dialects.onnx.protos import attribute_protos, proto_of_type
from ge.targets.onnx.adapters.table import oldest_unchanged


def oldest_opset(ops: Iterable[OnnxOp], first: int) -> int:
    """The oldest opset from ``first`` on in which all operations mean what they do here."""
    own = (op for op in ops if not op.domain and not isinstance(op, Custom | Constant))
    return max((oldest_unchanged(*_node(op), first) for op in own), default=first)


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
