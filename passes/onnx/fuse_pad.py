"""The pass `fuse-pad`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class FusePadPass(RuleFilePass):
    """Let a convolution or pooling pad its input itself.

    1. Zeros around the input of Conv.
    2. Zeros around the input of AveragePool, which then counts them.
    3. Minus infinity around the input of MaxPool, or zeros when the input is never negative.
    4. Pad of Pad with the same number.

    Left alone: padding of other axes than the spatial ones, negative padding, other modes than `constant`, pads or
    values that are not constant; pooling whose window could lie in the padding altogether, that rounds its size up, or
    that pads already and does not count it; zeros in front of MaxPool when the input may be empty; `auto_pad` that
    follows the size.
    """

    name = "fuse-pad"
    EXACT = (
        "conv-pad",
        "average-pool-pad",
        "max-pool-pad",
        "max-pool-pad-zero",
        "pad-twice",
    )
