"""Rows of a plain tensor on a core, sixteen at once, or one where sixteen do not fit.

Sixteen rows are a tile 16 x L, whose transpose has the rows in the lanes: what is summed runs over the first axis. Rows
that do not fill their last block are stored by one core, in order: each store rounds up into the next row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import BroadcastForm
from ge.dialects.graph.fusing import Around
from ge.dialects.graph.fusion_limits import is_vector, row_tiles, rows_together
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import gm_type
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Target
from ge.lowering.graph_to_tile.row_space import RowSpace
from ge.lowering.graph_to_tile.spaces import HARMLESS, Place, load_scalar
from ge.maths.layouts import ceil_div


class PlainRows(RowSpace):
    """A plain tensor as images x rows x L: one image, unless an operand spreads as a matrix of rows over others."""

    def __init__(self, around: Around, target: Target) -> None:
        tiles = row_tiles(around)
        self.length, self.padded = tiles.length, tiles.padded
        self.together = rows_together(around, target.ub)
        self.elements = self.together * self.padded
        shape = shape_of(around.result)
        in_matrices = any(shape_of(operand) != shape and not is_vector(operand) for operand in around.operands)
        self.rows = shape[-2] if in_matrices else tiles.rows
        self.images = tiles.rows // self.rows
        parts = self.images * ceil_div(self.rows, self.together)
        self.cores = 1 if tiles.is_ragged and tiles.rows > 1 else min(parts, target.cores)

    def shape(self, value: SSAValue, form: BroadcastForm) -> Sequence[int]:
        if form == "scalar":
            return (1,)
        if form == "trailing" and is_vector(value):
            return (1, 1, self.length)
        return (math.prod(shape_of(value)) // (self.rows * self.length), self.rows, self.length)

    def load_before(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm) -> SSAValue | None:
        if form != "trailing" or gm_type(source).sizes[:2] != (1, 1):
            return None
        return self._load(b, source, (0, 0, 0), 1, HARMLESS)

    def load(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm, place: Place) -> SSAValue:
        return load_scalar(b, source, 2) if form == "scalar" else self.load_rows(b, source, place)

    def load_rows(
        self, b: KernelBuilder, source: SSAValue, place: Sequence[Index], beyond: float = HARMLESS
    ) -> SSAValue:
        image, row = place
        return self._load(b, source, (self.matrix(b, source, image), row, 0), self.together, beyond)

    def _load(self, b: KernelBuilder, source: SSAValue, start: Sequence[Index], rows: int, beyond: float) -> SSAValue:
        inside = self.length == self.padded and self.rows % rows == 0
        return b.load(source, start, (1, rows, self.padded), None if inside else beyond, shape=(rows, self.padded))

    def load_vector(self, b: KernelBuilder, source: SSAValue, beyond: float = HARMLESS) -> SSAValue:
        return b.load(source, [0], [self.padded], beyond, shape=(1, self.padded))

    def store(self, b: KernelBuilder, value: SSAValue, target: SSAValue, place: Place) -> None:
        image, row = place
        b.store(value, target, (image, row, 0), (1, self.together, self.padded))

    def columns(self, b: KernelBuilder, tile: SSAValue) -> SSAValue:
        """The float32 numbers of sixteen rows, L x 16."""
        return b.cast(b.transpose(tile), f32)

    def tile(self, b: KernelBuilder, columns: SSAValue) -> SSAValue:
        """The tile, 16 x L, of float16 columns."""
        return b.transpose(columns)
