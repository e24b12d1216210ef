"""The pass `recognise-reduce-mean`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseReduceMeanPass(RuleFilePass):
    """Recognise ReduceMean, and let it drop the axes that are dropped after it.

    1. A sum divided by the number of its elements.
    2. GlobalAveragePool or ReduceMean with Flatten, Squeeze or Reshape after it.

    Left alone: sums over axes of unknown size; a Squeeze of other axes.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-reduce-mean"
    RULES = (
        "sum-divided",
        "sum-multiplied",
        "mean-of-pool",
        "mean-of-pool-squeezed",
        "mean-of-pool-reshaped",
        "mean-squeezed",
        "mean-flattened",
    )
