"""The pass `recognise-group-norm`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseGroupNormPass(RuleFilePass):
    """Recognise InstanceNormalization and GroupNormalization, with a scale and a shift for each channel.

    1. `(x - mean) / √(variance + ε)` over all axes after the second.
    2. An instance normalisation of groups of channels, between two Reshapes: a group normalisation.

    Left alone: other axes; a scale or shift that is not constant, or differs along another axis than the channels.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-group-norm"
    RULES = (
        "instance-norm",
        "instance-norm-scale",
        "instance-norm-shift",
        "group-norm",
        "group-norm-scale",
        "group-norm-shift",
    )
