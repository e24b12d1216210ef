"""The pass `recognise-softmax`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseSoftmaxPass(RuleFilePass):
    """Recognise Softmax and LogSoftmax in exponentials, sums and logarithms.

    1. `exp(x) / sum(exp(x))`, and the same of `x - max(x)`.
    2. `log(softmax(x))`, `x - log(sum(exp(x)))`, `exp(log_softmax(x))`.
    3. A softmax of a value that is flattened before and reshaped back after it, which older opsets ask for.

    Left alone: sums over several axes, over axes that are not constant, and those that do not keep the axis.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-softmax"
    RULES = (
        "softmax",
        "softmax-shift",
        "log-softmax-shift",
        "log-softmax",
        "log-softmax-difference",
        "softmax-of-logarithm",
        "softmax-of-flattened",
    )
