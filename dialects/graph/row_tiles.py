"""How many rows a kernel that goes along rows has on the chip at once, and what they take there.

A *row* is the last axis of a tensor. Kernels have sixteen rows of a plain tensor at once, or one where sixteen do not
fit; of a tensor in FRACTAL_NZ some sixteens. The sums of a row are taken in another order in each of these ways: a
fusion has its rows in the way that its anchor alone would have them, so that it changes no bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.normalization import LayerNormOp, SoftmaxOp
from ge.ir.attributes import layout_of
from ge.maths.layouts import C0, round_up

NUMBERS_BYTES = 1024
"""What is left of the unified buffer for scalars, and for blocks that hold one number."""


@dataclass(frozen=True)
class RowKernel:
    """What an operation on rows keeps in the unified buffer."""

    lane_bytes: int
    """For each element, at most."""
    vector_bytes: int = 0
    """For each element of a row, once for all rows."""


ROW_KERNELS: Mapping[type[Operation], RowKernel] = {
    # float32 for operand, difference and exponential, float16 around both transposes
    SoftmaxOp: RowKernel(lane_bytes=3 * 4 + 3 * 2),
    # float32 for operand, difference and square, float16 around both transposes; scale and bias
    LayerNormOp: RowKernel(lane_bytes=3 * 4 + 3 * 2, vector_bytes=2 * 4),
}
"""The operations whose kernels go along rows."""


@dataclass(frozen=True)
class RowTiles:
    """The rows of a tensor, as a kernel sees them."""

    rows: int
    """All of them."""
    length: int
    fractal: bool
    """Whether the tensor is in FRACTAL_NZ."""

    @classmethod
    def of(cls, value: SSAValue) -> RowTiles:
        """The rows of a tensor in a plain format or FRACTAL_NZ."""
        *leading, length = shape_of(value)
        return cls(math.prod(leading), length, layout_of(value.type) == "FRACTAL_NZ")

    @property
    def padded(self) -> int:
        """The elements of a row in whole blocks."""
        return round_up(self.length, C0)

    @property
    def is_ragged(self) -> bool:
        """Whether rows do not fill their last block."""
        return self.length != self.padded

    def room(self, ub: int, kernel: RowKernel) -> int:
        """The elements of rows that fit into a unified buffer of `ub` bytes."""
        return (ub - kernel.vector_bytes * self.padded) // kernel.lane_bytes

    def together(self, ub: int, kernel: RowKernel) -> int:
        """The rows that the kernel has at once, or a divisor of them: 16, or 1 of those of a plain tensor."""
        sixteen = self.fractal or (self.rows > 1 and self.padded * C0 <= self.room(ub, kernel))
        return C0 if sixteen else 1
