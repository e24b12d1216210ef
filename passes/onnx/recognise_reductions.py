"""The pass `recognise-reductions`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseReductionsPass(RuleFilePass):
    """Recognise norms and sums of exponentials.

    ReduceL1, ReduceL2, ReduceSumSquare and ReduceLogSumExp, written as ReduceSum of a function.

    Left alone: `x / norm(x)`, because LpNormalization of a vector of zeros is zeros, where the division gives NaN;
    squares that something else uses.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-reductions"
    RULES = (
        "reduce-l1",
        "reduce-sum-square",
        "reduce-l2",
        "reduce-l2-of-product",
        "reduce-log-sum-exp",
    )
