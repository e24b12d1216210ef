"""The pass `recognise-hard-swish`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseHardSwishPass(RuleFilePass):
    """Recognise HardSigmoid and HardSwish.

    1. `clip(x + 3, 0, 6) / 6`, `clip(a · x + b, 0, 1)`.
    2. `x · hard_sigmoid(x)`, `x · clip(x + 3, 0, 6) / 6` with the division first or last.

    Left alone: clips that do not begin at 0, a divisor that is not the upper bound, constants of several elements;
    float64, for which runtimes lack the operators.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-hard-swish"
    RULES = (
        "hard-sigmoid",
        "hard-sigmoid-line",
        "hard-sigmoid-quotient",
        "hard-swish",
        "hard-swish-product",
        "hard-swish-factor",
    )
