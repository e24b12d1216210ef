"""The pass `recognise-gelu`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseGeluPass(RuleFilePass):
    """Recognise Gelu, by the error function and by its approximation with tanh.

    1. `½ · x · (1 + erf(x / √2))` in any order of the factors.
    2. `½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`, also with the cube multiplied out.

    Left alone: constants that differ by more than their type can tell; parts that something else uses; float64, for
    which runtimes lack the operator.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-gelu"
    RULES = (
        "gelu",
        "gelu-tanh",
    )
