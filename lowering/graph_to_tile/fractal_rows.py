"""Rows of a FRACTAL_NZ tensor on a core: how softmax and normalisation sum along them.

The last axis of [..., M, L] lies as ⌈L/16⌉ blocks of 16 elements, a block of all M rows after the other. So a tile of R
rows is K1 x R x 16, and its transpose has the rows in the lanes::

    K1·R x 16  --transpose-->  16 x K1·R  --same bytes-->  16·K1 x R

Each column of the last one is a row of the tensor, its elements in another order: what adds them up, or looks for the
largest, does not see that. The way back is the same two steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import BroadcastForm
from ge.dialects.tile.text import Index
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Target
from ge.lowering.graph_to_tile.row_space import RowSpace
from ge.lowering.graph_to_tile.spaces import HARMLESS, Place, load_scalar
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly


class FractalRows(RowSpace):
    """A FRACTAL_NZ tensor as images x K1 x M x 16, an image for each matrix, K1 blocks in a row, and M rows."""

    def __init__(self, value: SSAValue, room: int, target: Target) -> None:
        """Tiles of a tensor of at most `room` elements, but at least 16 rows."""
        *leading, self.rows, length = shape_of(value)
        self.images, self.blocks = math.prod(leading), ceil_div(length, C0)
        most = max(room // (self.blocks * C0 * C0), 1)
        deal = deal_evenly(ceil_div(self.rows, C0), most, max(target.cores // self.images, 1))
        self.together = deal.size * C0
        self.elements = self.blocks * self.together * C0
        self.cores = min(target.cores, self.images * deal.parts)

    def shape(self, value: SSAValue, form: BroadcastForm) -> Sequence[int]:
        return (1,) if form == "scalar" else (math.prod(shape_of(value)[:-2]), self.blocks, self.rows, C0)

    def load(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm, place: Place) -> SSAValue:
        return load_scalar(b, source, 3) if form == "scalar" else self.load_rows(b, source, place)

    def load_rows(
        self, b: KernelBuilder, source: SSAValue, place: Sequence[Index], beyond: float = HARMLESS
    ) -> SSAValue:
        """A tile, K1 x R x 16."""
        image, row = place
        sizes = (self.blocks, self.together, C0)
        fill = None if self.rows % self.together == 0 else beyond
        return b.load(source, (self.matrix(b, source, image), 0, row, 0), (1, *sizes), fill, shape=sizes)

    def load_vector(self, b: KernelBuilder, source: SSAValue, beyond: float = HARMLESS) -> SSAValue:
        return b.load(source, [0], [self.blocks * C0], beyond, shape=(self.blocks, 1, C0))

    def store(self, b: KernelBuilder, value: SSAValue, target: SSAValue, place: Place) -> None:
        """Write a tile; rows beyond the last one are dropped."""
        image, row = place
        b.store(value, target, (image, 0, row, 0), (1, self.blocks, self.together, C0))

    def columns(self, b: KernelBuilder, tile: SSAValue) -> SSAValue:
        """The float32 numbers of a tile, 16·K1 x R: every row a column."""
        turned = b.transpose(b.reshape(tile, (self.blocks * self.together, C0)))
        return b.cast(b.reshape(turned, (C0 * self.blocks, self.together)), f32)

    def tile(self, b: KernelBuilder, columns: SSAValue) -> SSAValue:
        """The tile, K1 x R x 16, of float16 columns."""
        turned = b.reshape(columns, (C0, self.blocks * self.together))
        return b.reshape(b.transpose(turned), (self.blocks, self.together, C0))
