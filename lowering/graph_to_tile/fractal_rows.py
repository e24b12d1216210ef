"""Rows of a FRACTAL_NZ tensor on a core: how softmax and normalisation sum along them.

The last axis of [..., M, L] lies as ⌈L/16⌉ blocks of 16 elements, a block of all M rows after the other. So a tile of R
rows is K1 x R x 16, and its transpose has the rows in the lanes::

    K1·R x 16  --transpose-->  16 x K1·R  --same bytes-->  16·K1 x R

Each column of the last one is a row of the tensor, its elements in another order: what adds them up, or looks for the
largest, does not see that. The way back is the same two steps.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.tile.text import Index
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Target
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly


@dataclass(frozen=True)
class FractalRows:
    """A FRACTAL_NZ tensor cut into tiles of whole rows."""

    batch: int
    """The product of all dimensions but the last two."""
    blocks: int
    """K1: blocks of 16 elements in a row."""
    rows: int
    """M."""
    together: int
    """R: rows of a tile, a multiple of 16."""
    cores: int

    @classmethod
    def of(cls, value: SSAValue, room: int, target: Target) -> FractalRows | None:
        """Tiles of at most ``room`` elements; None when not even 16 rows fit."""
        *leading, rows, length = shape_of(value)
        batch, blocks = math.prod(leading), ceil_div(length, C0)
        most = room // (blocks * C0 * C0)
        if most == 0:
            return None
        groups = ceil_div(rows, C0)
        deal = deal_evenly(groups, most, max(target.cores // batch, 1))
        return cls(batch, blocks, rows, deal.size * C0, min(target.cores, batch * deal.parts))

    @property
    def shape(self) -> tuple[int, ...]:
        """The storage as the kernel sees it."""
        return (self.batch, self.blocks, self.rows, C0)

    @property
    def elements(self) -> int:
        """Elements of a tile."""
        return self.blocks * self.together * C0

    @contextmanager
    def places(self, b: KernelBuilder, stages: int) -> Generator[tuple[Index, Index]]:
        """The loop over the tiles of a core: the number in the batch, and the first row."""
        parts = ceil_div(self.rows, self.together)
        with b.deal(self.batch * parts, stages) as number:
            image, part = b.split(number, self.batch, parts)
            yield image, b.times(part, self.together)

    def load(self, b: KernelBuilder, source: SSAValue, place: tuple[Index, Index]) -> SSAValue:
        """A tile, K1 x R x 16; rows beyond the last one are zero."""
        image, row = place
        sizes = (self.blocks, self.together, C0)
        fill = None if self.rows % self.together == 0 else 0.0
        return b.load(source, (image, 0, row, 0), (1, *sizes), fill, shape=sizes)

    def store(self, b: KernelBuilder, value: SSAValue, target: SSAValue, place: tuple[Index, Index]) -> None:
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
