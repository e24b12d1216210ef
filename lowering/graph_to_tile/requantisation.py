"""The way out of sums of integers: scaled in float32, rounded once, stored as 8 bits or as float16.

======  ==============================================================
i32     the sums, from L0C
f32     times the scale of each channel; the activation
i32     rounded, half to even; a float16 result is rounded there at once
f16     the zero point added: exact for all that does not saturate
i8      saturated
======  ==============================================================

A block of 8 bits has 32 lanes, and sums are in blocks of 16: the addition of the zero point writes two of them side by
side.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import Float16Type, f16, f32, i32
from xdsl.ir import Attribute, SSAValue

from ge.dialects.graph import ActivationAttr
from ge.dialects.graph.base import tensor
from ge.dialects.graph.integer import IntegerConv2DOp, IntegerMatmulOp
from ge.dialects.tile.types import tile_type
from ge.lowering.graph_to_tile.activations import Cost, activation_cost, emit_activation
from ge.lowering.graph_to_tile.builder import KernelBuilder


@dataclass(frozen=True)
class Requantisation:
    """How sums of integers become a result."""

    scale: SSAValue
    """A float32 tensor of 16 lanes for each output block."""
    zero_point: int
    element: Attribute
    """The element type of the result: i8, ui8 or f16."""

    def emit(self, b: KernelBuilder, sums: SSAValue, scale: SSAValue, activation: ActivationAttr | None) -> SSAValue:
        """Write the result for int32 sums [n1, m, 16] and the scales [n1, 1, 16]: [n1, m, 16] or [n1/2, m, 32]."""
        y = b.binary("mul", b.cast(sums, f32), scale)
        if activation is not None:
            y = emit_activation(b, y, activation)
        if isinstance(self.element, Float16Type):
            return b.cast(y, f16)
        return b.cast(side_by_side(b, rounded(b, y), self.zero_point), self.element)


def requantisation_of(op: IntegerConv2DOp | IntegerMatmulOp, scale: SSAValue) -> Requantisation:
    """That of an operation; ``scale`` is the kernel's argument for its scales."""
    return Requantisation(scale, op.zero_point.value.data, tensor(op.y).element_type)


def requantisation_cost(activation: ActivationAttr | None) -> Cost:
    """What the way out takes beside what that of a float16 result does."""
    cost = Cost(0, 0) if activation is None else activation_cost(activation)
    return Cost(cost.operations + 6, cost.copies + 1)


def divided(b: KernelBuilder, x: SSAValue, number: float) -> SSAValue:
    """A float32 tile divided by a number, as the quotient is rounded."""
    return b.binary("div", x, b.constant(number, (1,) * tile_type(x).rank, f32))


def rounded(b: KernelBuilder, x: SSAValue) -> SSAValue:
    """Whole numbers of a float32 tile, half to even, in float16: exact for all that does not saturate."""
    return b.cast(b.cast(x, i32), f16)


def side_by_side(b: KernelBuilder, blocks: SSAValue, number: float) -> SSAValue:
    """The tile [n1, m, 16] of float16, and a number added, as [n1/2, m, 32]."""
    n1, m, lanes = tile_type(blocks).sizes
    sizes, strides = [n1 // 2, m, lanes], [2, 1, 1]
    halves = [b.slice(blocks, [i, 0, 0], sizes, strides) for i in (0, 1)]
    return b.concat([b.scalar("adds", half, number) for half in halves], axis=2)
