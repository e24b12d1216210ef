"""The pass `decompose-lrn`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph import ActivationAttr, BinaryOp, Conv2DOp, LrnOp, UnaryKind, UnaryOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant, dtype_of
from ge.ir.rewriting import apply_rules, replace, rewrite_rule
from ge.maths.layouts import C0
from ge.passes.graph import report

NAME = "decompose-lrn"

MAX_CHANNELS = 2048
"""The band of ones has the square of this many elements (networks that use LRN have up to 512 channels)."""


@dataclass(frozen=True)
class DecomposeLrnPass(ModulePass):
    """Compute local response normalisation by three kernels: square, convolution, product.

    y = x · (bias + Σ (√(alpha/size) · x)²)^-beta, where the sum over neighbouring channels is a 1 x 1 convolution with
    a band of ones, and the power is its activation, in float32. Scaling before squaring keeps the squares in the range
    of float16: with AlexNet's alpha = 1e-4 and size = 5, up to |x| = 57 000 instead of 255.

    Left alone: other ranks than 4; channels that are not a multiple of 16, whose pad lanes the power would make
    infinite; a negative alpha, and a bias that is not positive; more channels than `MAX_CHANNELS`.
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [decompose])


@rewrite_rule(LrnOp)
def decompose(op: LrnOp) -> bool:
    """Decompose one normalisation."""
    shape, dtype = shape_of(op.x), dtype_of(op.x)
    alpha, beta, bias = op.alpha.value.data, op.beta.value.data, op.bias.value.data
    if len(shape) != 4:
        return False
    if shape[1] % C0 or shape[1] > MAX_CHANNELS or alpha < 0 or bias <= 0:
        report.missed(NAME, op, f"{shape[1]} channels, alpha {alpha}, bias {bias}")
        return False
    size = op.size.value.data
    band = constant(channel_band(shape[1], size).astype(dtype))
    offset = constant(np.full(shape[1], bias, dtype))
    squares = UnaryOp(op.x, UnaryKind.SQUARE, math.sqrt(alpha / size))
    factors = Conv2DOp(squares, band, offset, activation=ActivationAttr(UnaryKind.POWER, -beta))
    product = BinaryOp("mul", op.x, factors)
    replace(op, [band, offset, squares, factors, product])
    report.fused(NAME, f"Decompose LRN({size}) -> Square + Conv2D({shape[1]}) + Mul", product)
    return True


def channel_band(channels: int, size: int) -> np.ndarray:
    """The filters [C, C, 1, 1] that sum, for each channel, the `size` channels around it."""
    output, source = np.indices((channels, channels))
    distance = source - output
    return ((distance >= -((size - 1) // 2)) & (distance <= size // 2))[:, :, None, None]
