"""RNN, GRU and LSTM: ``layout = 1`` (the batch comes first) is there since opset 14."""

from __future__ import annotations

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down
from ge.targets.onnx.adapters.values import Node

_STATES = ("initial_h", "initial_c")


@down("RNN GRU LSTM", 14, 7)
def batch_first(node: Node, new: Builder) -> None:
    """X is [batch, steps, size], states [batch, directions, size], Y [batch, steps, directions, size]."""
    if not node.attribute("layout"):
        return
    positions = [position for position, p in enumerate(node.schema.inputs) if p.name in ("X", *_STATES)]
    inputs = [
        new.add("Transpose", [name], perm=[1, 0, 2]) if name and position in positions else name
        for position, name in enumerate(node.proto.input)
    ]
    inner = [name and new.name(node.op_type) for name in node.outputs]
    new.replace(inputs, inner, without=["layout"])
    for position, (value, output) in enumerate(zip(inner, node.outputs, strict=True)):
        if output:
            new.add("Transpose", [value], [output], perm=[1, 0, 2] if position else [2, 0, 1, 3])
