"""Functions of one element, composed of what the vector unit has: for elementwise kernels and for epilogues.

Each entry of the table writes the operations for one kind, on a float32 tile. Functions that change nothing but the
sign of numbers, or pick one of two, give the same result on float16 tiles; :func:`keeps_precision` names them. The
error functions use formula 7.1.26 of Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), whose error is
below 1.5e-7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import f32
from xdsl.ir import Block, SSAValue

from ge.dialects.graph import ActivationAttr, UnaryKind
from ge.dialects.graph.fusion_limits import ON_FLOAT16
from ge.dialects.tile.types import GmType
from ge.lowering.graph_to_tile.builder import KernelBuilder

Emitter: TypeAlias = Callable[[KernelBuilder, SSAValue, float, float], SSAValue]
"""Writes a function of a tile, given its parameters alpha and beta."""


def emit_activation(b: KernelBuilder, x: SSAValue, function: ActivationAttr) -> SSAValue:
    """Write ``function`` of the tile ``x`` and return the result."""
    return _EMITTERS[function.kind](b, x, function.alpha, function.beta)


def keeps_precision(function: ActivationAttr) -> bool:
    """Whether the function may be applied to float16 as well as to float32 with the same result after rounding."""
    if function.kind is UnaryKind.LEAKY_RELU:
        return 0 <= function.alpha <= 1
    return function.kind in ON_FLOAT16


@dataclass(frozen=True)
class Cost:
    """What a function takes: vector operations, and tiles that live at the same time beside its operand."""

    operations: int
    copies: int


@lru_cache(maxsize=256)
def activation_cost(function: ActivationAttr) -> Cost:
    """Count the operations that :func:`emit_activation` writes for ``function``, and the tiles that live at once."""
    b = KernelBuilder("cost", [GmType([16], f32)], [GmType([16], f32)], 1)
    x = b.load(b.inputs[0], [0], [16])
    emit_activation(b, x, function)
    return Cost(sum(1 for _ in b.kernel.body.block.ops) - 1, live_tiles(b.kernel.body.block) - 1)


def live_tiles(block: Block) -> int:
    """The largest number of results of a straight-line block that are needed at the same time."""
    ops = list(block.ops)
    number = {op: i for i, op in enumerate(ops)}
    last_use = [
        max((number[use.operation] for result in op.results for use in result.uses), default=number[op]) for op in ops
    ]
    return max(sum(start <= i <= last_use[start] for start in range(i + 1)) for i in range(len(ops)))


def _sigmoid(b: KernelBuilder, x: SSAValue, slope: float = 1.0) -> SSAValue:
    """1 / (1 + e^(-slope·x))."""
    return b.unary("rec", b.scalar("adds", b.unary("exp", b.scalar("muls", x, -slope)), 1))


def _tanh(b: KernelBuilder, x: SSAValue, *_: float) -> SSAValue:
    """2·sigmoid(2x) - 1."""
    return b.scalar("adds", b.scalar("muls", _sigmoid(b, x, 2), 2), -1)


def _square(b: KernelBuilder, x: SSAValue, alpha: float, _: float) -> SSAValue:
    """(alpha·x)²."""
    scaled = x if alpha == 1 else b.scalar("muls", x, alpha)
    return b.binary("mul", scaled, scaled)


def _clamp(b: KernelBuilder, x: SSAValue, low: float, high: float) -> SSAValue:
    """min(max(x, low), high); an infinite bound costs nothing, a lower bound of 0 is a relu."""
    if low == 0:
        x = b.unary("relu", x)
    elif low > -math.inf:
        x = b.scalar("maxs", x, low)
    return b.scalar("mins", x, high) if high < math.inf else x


def _leaky_relu(b: KernelBuilder, x: SSAValue, alpha: float, _: float) -> SSAValue:
    """max(x, alpha·x) for slopes of 0 to 1, otherwise max(x, 0) + alpha·min(x, 0)."""
    if 0 <= alpha <= 1:
        return b.binary("max", x, b.scalar("muls", x, alpha))
    return b.binary("add", b.unary("relu", x), b.scalar("muls", b.scalar("mins", x, 0), alpha))


def _elu(b: KernelBuilder, x: SSAValue, alpha: float, width: float = 1.0) -> SSAValue:
    """max(x, 0) + alpha·(e^(min(x, 0) / width) - 1)."""
    power = b.scalar("mins", x, 0)
    if width != 1:
        power = b.scalar("muls", power, 1 / width)
    negative = b.scalar("muls", b.scalar("adds", b.unary("exp", power), -1), alpha)
    return b.binary("add", b.unary("relu", x), negative)


def _softplus(b: KernelBuilder, x: SSAValue, *_: float) -> SSAValue:
    """max(x, 0) + ln(1 + e^-|x|), which does not overflow."""
    small = b.unary("exp", b.unary("neg", b.unary("abs", x)))
    return b.binary("add", b.unary("relu", x), b.unary("ln", b.scalar("adds", small, 1)))


def _complementary_erf(b: KernelBuilder, z: SSAValue) -> SSAValue:
    """1 - erf(z) for z >= 0, as t·(a1 + t·(a2 + ...))·e^(-z²) with t = 1 / (1 + p·z)."""
    t = b.unary("rec", b.scalar("adds", b.scalar("muls", z, 0.3275911), 1))
    polynomial = b.scalar("adds", b.scalar("muls", t, 1.061405429), -1.453152027)
    for coefficient in (1.421413741, -0.284496736, 0.254829592):
        polynomial = b.scalar("adds", b.binary("mul", polynomial, t), coefficient)
    gauss = b.unary("exp", b.unary("neg", b.binary("mul", z, z)))
    return b.binary("mul", b.binary("mul", polynomial, t), gauss)


def _erf(b: KernelBuilder, x: SSAValue, *_: float) -> SSAValue:
    """sign(x)·(1 - erfc(|x|)), the sign being x / max(|x|, tiny)."""
    size = b.unary("abs", x)
    sign = b.binary("mul", x, b.unary("rec", b.scalar("maxs", size, 1e-30)))
    return b.binary("mul", sign, b.scalar("adds", b.unary("neg", _complementary_erf(b, size)), 1))


def _gelu(b: KernelBuilder, x: SSAValue, *_: float) -> SSAValue:
    """x/2·(1 + erf(x/√2)) = max(x, 0) - |x|/2·erfc(|x|/√2)."""
    size = b.unary("abs", x)
    tail = b.binary("mul", _complementary_erf(b, b.scalar("muls", size, math.sqrt(0.5))), size)
    return b.binary("add", b.unary("relu", x), b.scalar("muls", tail, -0.5))


def _gelu_tanh(b: KernelBuilder, x: SSAValue, *_: float) -> SSAValue:
    """x/2·(1 + tanh u) = x·sigmoid(2u) with u = √(2/π)·x·(1 + 0.044715·x²)."""
    square = b.scalar("adds", b.scalar("muls", b.binary("mul", x, x), 0.044715), 1)
    return b.binary("mul", x, _sigmoid(b, b.binary("mul", square, x), 2 * math.sqrt(2 / math.pi)))


def _mish(b: KernelBuilder, x: SSAValue, *_: float) -> SSAValue:
    """x·n / (n + 2) with n = e·(e + 2) and e = e^x: tanh(ln(1 + e)) is that; beyond x = 20 it is 1 in float32."""
    power = b.unary("exp", b.scalar("mins", x, 20))
    n = b.binary("mul", power, b.scalar("adds", power, 2))
    return b.binary("mul", x, b.binary("div", n, b.scalar("adds", n, 2)))


def _plain(kind: str) -> Emitter:
    """A function that the vector unit has itself."""
    return lambda b, x, _alpha, _beta: b.unary(kind, x)


_EMITTERS: Mapping[UnaryKind, Emitter] = {
    UnaryKind.IDENTITY: lambda b, x, _alpha, _beta: x,
    UnaryKind.NEG: _plain("neg"),
    UnaryKind.ABS: _plain("abs"),
    UnaryKind.SQUARE: _square,
    UnaryKind.POWER: lambda b, x, alpha, _beta: b.unary("exp", b.scalar("muls", b.unary("ln", x), alpha)),
    UnaryKind.SQRT: _plain("sqrt"),
    UnaryKind.RSQRT: _plain("rsqrt"),
    UnaryKind.RECIPROCAL: _plain("rec"),
    UnaryKind.EXP: _plain("exp"),
    UnaryKind.LOG: _plain("ln"),
    UnaryKind.RELU: _plain("relu"),
    UnaryKind.LEAKY_RELU: _leaky_relu,
    UnaryKind.ELU: lambda b, x, alpha, _beta: _elu(b, x, alpha),
    UnaryKind.SELU: lambda b, x, alpha, beta: b.scalar("muls", _elu(b, x, alpha), beta),
    UnaryKind.CELU: lambda b, x, alpha, _beta: _elu(b, x, alpha, alpha),
    UnaryKind.CLIP: _clamp,
    UnaryKind.SIGMOID: lambda b, x, _alpha, _beta: _sigmoid(b, x),
    UnaryKind.HARD_SIGMOID: lambda b, x, alpha, beta: _clamp(
        b, b.scalar("adds", b.scalar("muls", x, alpha), beta), 0, 1
    ),
    UnaryKind.TANH: _tanh,
    UnaryKind.SOFTPLUS: _softplus,
    UnaryKind.SOFTSIGN: lambda b, x, _alpha, _beta: b.binary(
        "mul", x, b.unary("rec", b.scalar("adds", b.unary("abs", x), 1))
    ),
    UnaryKind.ERF: _erf,
    UnaryKind.GELU: _gelu,
    UnaryKind.GELU_TANH: _gelu_tanh,
    UnaryKind.SWISH: lambda b, x, alpha, _beta: b.binary("mul", x, _sigmoid(b, x, alpha)),
    UnaryKind.HARD_SWISH: lambda b, x, _alpha, _beta: b.binary(
        "mul", x, _clamp(b, b.scalar("adds", b.scalar("muls", x, 1 / 6), 0.5), 0, 1)
    ),
    UnaryKind.MISH: _mish,
}
