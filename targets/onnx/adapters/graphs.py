"""Graphs, functions, and the graphs in attributes of their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, overload

from onnx import FunctionProto, GraphProto, NodeProto

from ge.dialects.onnx.protos import inner_graphs

Owner: TypeAlias = GraphProto | FunctionProto
"""What has nodes."""

OPSET_NOTE = "ge.opset"
"""Key of the metadata of a node that tells its own opset, where it differs from that of the nodes around it."""


@overload
def graphs_of(owner: GraphProto) -> Iterator[GraphProto]: ...


@overload
def graphs_of(owner: Owner) -> Iterator[Owner]: ...


def graphs_of(owner: Owner) -> Iterator[Owner]:
    """A graph or function, and all graphs in attributes of its nodes."""
    yield owner
    for node in owner.node:
        for inner in inner_graphs(node):
            yield from graphs_of(inner)


def defined(owner: Owner) -> Iterator[str]:
    """The names of all values that a graph defines, without those of graphs in it."""
    yield from names(owner.input)
    if isinstance(owner, GraphProto):
        yield from (tensor.name for tensor in owner.initializer)
        yield from (tensor.values.name for tensor in owner.sparse_initializer)
    yield from (output for node in owner.node for output in node.output)


def reads(owner: Owner) -> Iterator[str]:
    """The names of all values that the nodes and outputs of a graph, and of those in it, read."""
    for inner in graphs_of(owner):
        yield from names(inner.output)
        yield from (name for node in inner.node for name in node.input)


def names(values: Sequence[Any]) -> Iterator[str]:
    """The names of the inputs or outputs of a graph, or of a function, which has no more than names."""
    yield from (value if isinstance(value, str) else value.name for value in values)


def node_label(node: NodeProto) -> str:
    """What a node is called: its name, or its first output when it has none."""
    return node.name or next(filter(None, node.output), node.op_type)


def own_opset(node: NodeProto, opset: int) -> int:
    """The opset that a node is written for: its own, or that of the nodes around it."""
    return next((int(entry.value) for entry in node.metadata_props if entry.key == OPSET_NOTE), opset)


def drop_opset_note(node: NodeProto) -> None:
    """Forget that a node has an opset of its own."""
    for position, entry in enumerate(node.metadata_props):
        if entry.key == OPSET_NOTE:
            del node.metadata_props[position]
            return
