"""How much a model may hold beside its weights.

An empty message takes two bytes of a file and a hundred or more in memory, an operation of IR thousands: without
limits, a file of a few megabytes would take all memory of the machine. The limits are far above all models that are
known: unrolled models of language have some ten thousand nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx

from ge.ir.errors import GeError
from ge.maths.expansion import MAX_EXPANDED_NODES, expanded_size
from ge.targets.onnx.adapters.graphs import inner_graphs
from ge.targets.onnx.wire import fields

MAX_PARTS = 2_000_000
"""Messages and texts in a model: nodes, attributes, types, dimensions, names; without the weights."""

_FEWEST_BYTES = 2
"""A tag and a length: the smallest message or text."""


def check_parts(data: memoryview, name: str) -> None:
    """Count the messages and texts in a serialised model without decoding it. Raises GE1020 for too many."""
    if len(data) <= _FEWEST_BYTES * MAX_PARTS:
        return
    parts = 0
    waiting: list[tuple[int, int, Any]] = [(0, len(data), onnx.ModelProto.DESCRIPTOR)]
    while waiting:
        start, end, descriptor = waiting.pop()
        for number, payload, stop in fields(data, start, end):
            field = descriptor.fields_by_number.get(number)
            if field is None or field.type not in (field.TYPE_MESSAGE, field.TYPE_STRING, field.TYPE_BYTES):
                continue
            parts += 1
            if field.message_type is not None:
                waiting.append((payload, stop, field.message_type))
            if parts > MAX_PARTS:
                what = f"'{name}' has more than {MAX_PARTS} messages and texts beside its weights"
                raise GeError("GE1020", what, name, "Reading them would take gigabytes of memory.")


def check_nodes(model: onnx.ModelProto, name: str) -> None:
    """Refuse functions that call each other in a circle, and too many nodes, with all functions inlined (GE1020)."""
    owners = {"": model.graph, **{_callee(function, function.name): function for function in model.functions}}
    nodes = {key: list(_all_nodes(owner)) for key, owner in owners.items()}
    calls = {key: [_callee(node, node.op_type) for node in own] for key, own in nodes.items()}
    try:
        size = expanded_size("", {key: len(own) for key, own in nodes.items()}, calls)
    except ValueError as error:
        raise GeError("GE1020", f"'{name}': {error}", name) from error
    if size > MAX_EXPANDED_NODES:
        what = f"the functions of '{name}' come to {size} nodes when they are inlined"
        if not model.functions:
            what = f"'{name}' has {size} nodes"
        raise GeError("GE1020", what, name, f"More than {MAX_EXPANDED_NODES} nodes are refused.")


def _callee(proto: onnx.NodeProto | onnx.FunctionProto, name: str) -> str:
    """What identifies a function, and the node that calls it."""
    return f"{proto.domain}::{name}" + (f":{proto.overload}" if proto.overload else "")


def _all_nodes(owner: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """The nodes of a graph or function, and those of the graphs in them."""
    for node in owner.node:
        yield node
        for graph in inner_graphs(node):
            yield from _all_nodes(graph)
