"""Rules of normalisation, quantisation and recurrent layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.elements import DATA_TYPES
from ge.dialects.onnx.shapes.elementwise import like_input
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Dim, Shape, Tensor

# Normalisation


def batch_normalisation(node: Node) -> Sequence[Result]:
    """The shape of the input [N, C, ...]; running mean and variance are [C]."""
    x = node.shape(0)
    channels: Dim = None if x is None else x[1] if len(x) > 1 else 1
    for position, name in enumerate(("scale", "bias", "mean", "variance"), 1):
        channels = node.same(channels, node.length(position), f"channels of input and {name}")
    return [x, (channels,), (channels,)]


def channel_normalisation(node: Node) -> Sequence[Result]:
    """The shape of the input [N, C, ...], which has one scale and bias a channel."""
    x = node.expect_least_rank(0, 2)
    channels: Dim = None if x is None else x[1]
    for position, name in enumerate(("scale", "bias"), 1):
        channels = node.same(channels, node.length(position), f"channels of input and {name}")
    return [x]


def layer_normalisation(node: Node) -> Sequence[Result]:
    """The shape of the input; mean and deviation have size 1 from the axis on."""
    x = node.shape(0)
    if x is None:
        return [None, Tensor(_stash(node)), Tensor(_stash(node))]
    axis = node.axis(node.attribute("axis"), len(x)) if x else 0
    kept = Tensor(_stash(node), (*x[:axis], *(1,) * (len(x) - axis)))
    return [x, kept, kept]


def _stash(node: Node) -> str | None:
    return DATA_TYPES.get(node.attribute("stash_type"))


# Quantisation


def quantise(node: Node) -> Sequence[Result]:
    """The shape of the input, in the type of the zero point, of attribute `output_dtype`, or ui8."""
    stated = node.attribute("output_dtype")
    element = node.element(2) if node.has(2) else DATA_TYPES.get(stated) if stated else "ui8"
    return [Tensor(element, node.shape(0))]


def dequantise(node: Node) -> Sequence[Result]:
    """The shape of the input, in the type of attribute `output_dtype` or of the scale."""
    stated = node.attribute("output_dtype")
    return [Tensor(DATA_TYPES.get(stated) if stated else node.element(1), node.shape(0))]


def dynamic_quantise(node: Node) -> Sequence[Result]:
    """The shape of the input, a scale and a zero point."""
    return [node.shape(0), (), ()]


# Recurrent layers


def recurrent(node: Node) -> Sequence[Result]:
    """All hidden states, the last hidden state, and the last cell state."""
    x, weights, hidden_weights = node.expect_rank(0, 3), node.expect_rank(1, 3), node.expect_rank(2, 3)
    batch_first = node.attribute("layout") == 1
    steps, batch = (None, None) if x is None else (x[1], x[0]) if batch_first else (x[0], x[1])
    if x is not None and weights is not None:
        node.same(x[2], weights[2], "width of input and weights")
    hidden: Dim = node.attribute("hidden_size")
    hidden = node.same(hidden, None if hidden_weights is None else hidden_weights[2], "hidden size and weights")
    directions = 2 if node.attribute("direction") == "bidirectional" else 1
    every: Shape = (batch, steps, directions, hidden) if batch_first else (steps, directions, batch, hidden)
    last: Shape = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
    return [every, last, last]


RULES: Mapping[str, Rule] = {
    "BatchNormalization": batch_normalisation,
    "DequantizeLinear": dequantise,
    "DynamicQuantizeLinear": dynamic_quantise,
    "GRU": recurrent,
    "GroupNormalization": channel_normalisation,
    "InstanceNormalization": channel_normalisation,
    "LSTM": recurrent,
    "LayerNormalization": layer_normalisation,
    "QuantizeLinear": quantise,
    "RMSNormalization": like_input,
    "RNN": recurrent,
}
