"""The pass `fold-consecutive-linear`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class FoldConsecutiveLinearPass(RuleFilePass):
    """Multiply the constant matrices of products in a row, and add those of products that are added.

    1. MatMul and Gemm of MatMul or Gemm.
    2. A 1 x 1 convolution before or after another one.
    3. The sum of two MatMuls, or of two convolutions with equal attributes, of the same value.

    Left alone: products that are larger than both constants together (a bottleneck of low rank is there on purpose);
    grouped convolutions; a convolution that pads what one with a bias gives; a value in between that something else
    uses.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "fold-consecutive-linear"
    RULES = (
        "matmul-matmul",
        "gemm-gemm",
        "matmul-gemm",
        "pointwise-before-conv",
        "pointwise-after-conv",
        "matmul-sum",
        "conv-sum",
    )
