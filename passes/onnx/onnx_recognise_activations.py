"""The pass `onnx-recognise-activations`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class OnnxRecogniseActivationsPass(RuleFilePass):
    """Recognise the other activation functions of the standard.

    Mish, Softplus, Softsign; Elu, LeakyRelu, PRelu, ThresholdedRelu written with Where, Max or two Relus; Selu as a
    multiple of Elu.

    Left alone: slopes that are not constant (except of PRelu) or not between 0 and 1 in `max(x, a · x)`;
    float64, for which runtimes lack the operators.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "onnx-recognise-activations"
    RULES = (
        "softplus",
        "softsign",
        "mish",
        "elu",
        "elu-one",
        "selu",
        "leaky-relu",
        "leaky-relu-max",
        "prelu",
        "prelu-sum",
        "thresholded-relu",
    )
