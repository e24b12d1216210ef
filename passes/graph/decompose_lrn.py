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
from ge.maths.floats import FLOAT16_MAX
from ge.maths.layouts import C0
from ge.passes.graph import report

NAME = "decompose-lrn"

MAX_CHANNELS = 2048
"""The band has the square of this many elements (networks that use LRN have up to 512 channels)."""

SMALLEST_RANGE = 4096
"""Numbers up to this must have squares, with their factor, that float16 holds."""

LARGEST_ROOT = math.sqrt(FLOAT16_MAX)
"""The largest number of which float16 holds the square."""

MOST_EXPONENT = 7
"""4 to the power of this, and of its negative, are normal numbers of float16."""


@dataclass(frozen=True)
class DecomposeLrnPass(ModulePass):
    """Compute local response normalisation by three kernels: square, convolution, product.

    y = x · (bias + Σ 4^m · (2^-m · √(alpha/size) · x)²)^-beta, where the sum over neighbouring channels is a 1 x 1
    convolution with a band of 4^m, and the power is its activation, in float32. Scaling before squaring keeps the
    squares in the range of float16: with AlexNet's alpha = 1e-4 and size = 5, all of them instead of those up to
    |x| = 255. The m that this takes is less where small squares would be lost beside the bias (`band_exponent`).

    Left alone: other ranks than 4; channels that are not a multiple of 16, whose pad lanes the power would make
    infinite; a negative alpha, and a bias that is not positive; more channels than `MAX_CHANNELS`; an alpha so large
    that squares of |x| = `SMALLEST_RANGE` would saturate.
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
    exponent = band_exponent(size, alpha, bias)
    factor = math.ldexp(math.sqrt(alpha / size), -exponent)
    if factor * SMALLEST_RANGE > LARGEST_ROOT:
        report.missed(NAME, op, f"the squares of {SMALLEST_RANGE} are too large with alpha {alpha} and bias {bias}")
        return False
    band = constant(channel_band(shape[1], size).astype(dtype) * dtype.type(4.0**exponent))
    offset = constant(np.full(shape[1], bias, dtype))
    squares = UnaryOp(op.x, UnaryKind.SQUARE, factor)
    factors = Conv2DOp(squares, band, offset, activation=ActivationAttr(UnaryKind.POWER, -beta))
    product = BinaryOp("mul", op.x, factors)
    replace(op, [band, offset, squares, factors, product])
    report.fused(NAME, f"Decompose LRN({size}) -> Square + Conv2D({shape[1]}) + Mul", product)
    return True


def band_exponent(size: int, alpha: float, bias: float) -> int:
    """The m with which 4^m times a square of float16 is a square of the formula.

    All squares are in the range of float16 with the m that the largest number needs. But below 2**-14 squares are
    rounded to multiples of 2**-24: the errors of `size` of them, times 4^m, are to stay below that of the bias itself.
    """
    if alpha == 0:
        return 0
    needed = math.ceil(math.log2(math.sqrt(alpha / size) * FLOAT16_MAX / LARGEST_ROOT))
    allowed = math.floor((14 + math.log2(bias / size)) / 2)
    return max(-MOST_EXPONENT, min(needed, allowed, MOST_EXPONENT))


def channel_band(channels: int, size: int) -> np.ndarray:
    """The filters [C, C, 1, 1] of ones that sum, for each channel, the `size` channels around it."""
    output, source = np.indices((channels, channels))
    distance = source - output
    return ((distance >= -((size - 1) // 2)) & (distance <= size // 2))[:, :, None, None]
