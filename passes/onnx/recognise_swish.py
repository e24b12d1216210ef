"""The pass `recognise-swish`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseSwishPass(RuleFilePass):
    """Recognise Sigmoid and Swish.

    1. `1 / (1 + exp(-x))`.
    2. `x · sigmoid(x)`, `x · sigmoid(a · x)`, `x / (1 + exp(-x))`.

    Left alone: a gate of another value, a gate that something else uses, a factor for each channel, or of float64.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-swish"
    RULES = (
        "sigmoid",
        "swish",
        "swish-quotient",
        "swish-scaled",
    )
