"""Scan: before opset 9 it had a batch axis and lengths of sequences."""

from __future__ import annotations

from onnx import GraphProto, TensorProto, TypeProto, ValueInfoProto, helper

from ge.targets.onnx.adapters.builder import Builder, attribute_named
from ge.targets.onnx.adapters.registry import up
from ge.targets.onnx.adapters.values import Node, RefusalError


@up("Scan", 8, 9)
def scan_batches(node: Node, new: Builder) -> None:
    """A Scan over the batch (axis 0) whose body is a Scan over the sequence.

    Where sequences have lengths, states stay as they are after the end of their sequence; one more state counts steps.
    The graphs of a node have been converted before it: what is added to them here means the same at every opset.
    """
    lengths, *values = node.proto.input
    count: int = node.attribute("num_scan_inputs")
    state_count = len(values) - count
    directions: list[int] = node.attribute("directions") or [0] * count
    attribute = attribute_named(node.proto, "body")
    assert attribute is not None
    body = GraphProto()
    body.CopyFrom(attribute.g)
    if lengths and any(directions):
        raise RefusalError("opset 9 cannot scan sequences of different lengths backwards")
    inputs = [ValueInfoProto(name=new.name("item")) for _ in values]
    names = [value.name for value in inputs]
    outputs = [ValueInfoProto(name=new.name("result")) for _ in body.output]
    results = [value.name for value in outputs]
    constants: list[TensorProto] = []
    if lengths:
        length = ValueInfoProto(name=new.name("length"), type=_scalar(TensorProto.INT64))
        zero, one = new.name("zero"), new.name("one")
        _stop_at(body, state_count, length.name, one, new)
        constants = [helper.make_tensor(name, TensorProto.INT64, [], [v]) for name, v in ((zero, 0), (one, 1))]
        values, inputs = [*values, lengths], [*inputs, length]
        names, results = [zero, *names], [new.name("steps"), *results]
    sequence = helper.make_node(
        "Scan", names, results, body=body, num_scan_inputs=count, scan_input_directions=directions
    )
    batch = helper.make_graph([sequence], new.name("batch"), inputs, outputs, constants)
    new.add("Scan", values, node.outputs, body=batch, num_scan_inputs=len(values))


def _stop_at(body: GraphProto, state_count: int, length: str, one: str, new: Builder) -> None:
    """Give a body a counter of steps as its first state, and keep its other states from ``length`` on."""
    step, after, going = (new.name(kind) for kind in ("step", "after", "going"))
    body.node.append(helper.make_node("Less", [step, length], [going]))
    body.node.append(helper.make_node("Add", [step, one], [after]))
    for value, result in zip(body.input[:state_count], body.output[:state_count], strict=True):
        kept = new.name("kept")
        body.node.append(helper.make_node("Where", [going, result.name, value.name], [kept]))
        result.name = kept
    counter = ValueInfoProto(name=step, type=_scalar(TensorProto.INT64))
    counted = ValueInfoProto(name=after, type=_scalar(TensorProto.INT64))
    for side, first in ((body.input, counter), (body.output, counted)):
        rest = list(side)
        del side[:]
        side.extend([first, *rest])


def _scalar(element: int) -> TypeProto:
    return helper.make_tensor_type_proto(element, [])
