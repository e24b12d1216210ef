"""The pass `fold-scale-into-conv`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class FoldScaleIntoConvPass(RuleFilePass):
    """Take factors and shifts of channels into the constants next to them.

    1. Mul, Div, Add and Sub by a number for each channel after Conv or ConvTranspose, into filters and bias.
    2. Mul before Conv or ConvTranspose; Add before a Conv that does not pad.
    3. Mul before and after MatMul and Gemm with a constant matrix.
    4. Mul and Add before and after BatchNormalization outside of training.

    Left alone: an Add before a convolution that pads, since zeros are padded and not the shift; numbers that differ
    along another axis than that of the channels; weights that are computed; a convolution with a second user. Weights
    that others use are copied, never changed.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "fold-scale-into-conv"
    RULES = (
        "conv-scale",
        "conv-divided",
        "conv-shift",
        "conv-shift-down",
        "scale-before-conv",
        "shift-before-conv",
        "conv-transpose-scale",
        "conv-transpose-shift",
        "scale-before-conv-transpose",
        "matmul-scale",
        "scale-before-matmul",
        "gemm-scale",
        "scale-before-gemm",
        "batch-norm-scale",
        "batch-norm-shift",
        "batch-norm-of-scaled",
        "batch-norm-of-shifted",
    )
