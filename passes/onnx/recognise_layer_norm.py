"""The pass `recognise-layer-norm`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseLayerNormPass(RuleFilePass):
    """Recognise LayerNormalization, with and without scale and shift.

    `(x - mean) / √(variance + ε)` over the last axes, however the square and the root are written; then a scale and a
    shift of the shape of these axes.

    Left alone: float64, in which the operator does not compute; other axes than the last ones; a scale after a shift.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-layer-norm"
    RULES = (
        "layer-norm",
        "layer-norm-scale",
        "layer-norm-scale-constant",
        "layer-norm-shift",
    )
