"""The pass `recognise-rms-norm`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseRmsNormPass(RuleFilePass):
    """Recognise RMSNormalization, with and without scale.

    `x / √(mean(x²) + ε)` over the last axes, however the square and the root are written, and a scale after it.

    Left alone: float64, in which the operator does not compute; other axes than the last ones.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-rms-norm"
    RULES = (
        "rms-norm",
        "rms-norm-scale",
        "rms-norm-scale-constant",
    )
