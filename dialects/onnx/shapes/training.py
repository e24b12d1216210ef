"""Rules of the operators of ai.onnx.preview.training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Tensor


def _optimiser(states: int) -> Callable[[Node], Sequence[Result]]:
    """The rule of an optimiser whose inputs are rate and step, then tensors, gradients and ``states`` of each."""

    def updated_tensors(node: Node) -> Sequence[Result]:
        """The tensors and their states, which keep their shapes; the gradients do not come back."""
        count = (len(node.inputs) - 2) // (2 + states)
        values = [Tensor(node.element(i), node.shape(i)) for i in range(2, len(node.inputs))]
        return [*values[:count], *values[2 * count :]]

    return updated_tensors


def gradient(node: Node) -> Sequence[Result]:
    """The shapes of the tensors of attribute `xs`, which come first among the inputs."""
    return [Tensor(node.element(i), node.shape(i)) for i in range(len(node.attribute("xs") or ()))]


RULES: Mapping[str, Rule] = {
    "ai.onnx.preview.training.Adagrad": _optimiser(1),
    "ai.onnx.preview.training.Adam": _optimiser(2),
    "ai.onnx.preview.training.Gradient": gradient,
    "ai.onnx.preview.training.Momentum": _optimiser(1),
}
