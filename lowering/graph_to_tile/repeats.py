"""The space of tensors over which operands repeat in any way: along rows, from row to row, or both.

Axes next to each other along which every operand has all sizes, or one, are one dimension. What remains is seen as
images x rows x elements: of [2, 12, 64, 100] with an operand [2, 1, 64, 1], two dimensions of images, 2 and 12. Where
an operand repeats along a dimension, all places there load the same part of it. What it repeats along the elements is
one number for each row::

    1 x R  --broadcast-->  16 x R  --transpose-->  R x 16  --same bytes-->  R x 1 x 16

In FRACTAL_NZ, a matrix is a row here: what repeats are whole matrices.

That is one instruction for 16 rows: it reads the same block of 16 numbers as all rows of a square, so that each number
fills a block, and the tiles, R x K1 x 16, read that block over and over.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import f16
from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import BroadcastForm
from ge.dialects.graph.row_tiles import NUMBERS_BYTES
from ge.dialects.graph.shapes import Shape, joined_axes, padded
from ge.dialects.tile.compute import CastOp
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import gm_type, tile_type
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder, is_f16
from ge.lowering.graph_to_tile.outline import Target, memory_type
from ge.lowering.graph_to_tile.spaces import HARMLESS, SMALLEST_RUN, Grid, Place, Space, load_scalar
from ge.maths.layouts import C0, ceil_div, round_up, storage_shape
from ge.maths.tiling import BLOCK_BYTES, deal_evenly

END_BYTES = 2 * 4 * C0 * C0 + 4 * C0 * C0
"""What the ends of sixteen rows take on their way to the start of a block: squares of float16, and one of float32."""


class Repeats(Space):
    """Images x rows x elements of tensors, in tiles of some rows, or of parts of them where few rows are long.

    A row that does not fill its last block is stored *exactly*: as its whole blocks, and its last 16 elements, which
    two transposes bring to the start of a block. What a store would round up to may be written by another core. Rows
    of less than a block, and those longer than a tile, are left to one core, which stores them in order, of the latter
    the last part first: then what the store before has rounded up to is written again.
    """

    def __init__(self, result: SSAValue, operands: Sequence[SSAValue], block_bytes: int, target: Target) -> None:
        shape = _rows_of(result)
        axes = joined_axes(shape, [_rows_of(operand) for operand in operands])
        self.axes, self.rank = [()] * (2 - len(axes)) + axes, len(shape)
        *self.images, self.rows, self.length = self._joined(shape)
        images, blocks = math.prod(self.images), ceil_div(self.length, C0)
        room = (target.ub - NUMBERS_BYTES - END_BYTES) // 2 // block_bytes
        ragged = self.length * memory_type(result).element_bytes % BLOCK_BYTES != 0
        self.in_order = ragged and (self.length < C0 or blocks > room)
        self.exact = ragged and not self.in_order
        self.grid = _grid(self.rows, blocks, room, 1 if self.in_order else ceil_div(target.cores, images), ragged)
        self.parts = ceil_div(blocks, self.grid.columns)
        self.tiles = (*self.images, ceil_div(self.rows, self.grid.rows), self.parts)
        self.cores = 1 if self.in_order else min(target.cores, math.prod(self.tiles))

    def _joined(self, shape: Shape) -> tuple[int, ...]:
        """A shape with the axes of each dimension joined; 1 is where an operand repeats."""
        sizes = padded(shape, self.rank)
        return tuple(math.prod(sizes[axis] for axis in axes) for axes in self.axes)

    def shape(self, value: SSAValue, form: BroadcastForm) -> Sequence[int]:
        if form == "scalar":
            return (1,)
        sizes = self._joined(_rows_of(value))
        while sizes[-1] == 1:
            sizes = sizes[:-1]
        return sizes

    def load_before(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm) -> SSAValue | None:
        sizes = gm_type(source).sizes
        is_row = len(sizes) == len(self.tiles) and math.prod(sizes) == self.length
        return self._load(b, source, [0 for _ in sizes]) if is_row and self.parts == 1 else None

    @contextmanager
    def places(self, b: KernelBuilder, stages: int) -> Generator[Place]:
        with b.deal(math.prod(self.tiles), stages) as number:
            *image, row, part = b.split(number, *self.tiles)
            part = b.minus(self.parts - 1, part) if self.in_order else part
            yield (*image, b.times(row, self.grid.rows), b.times(part, self.grid.columns * C0))

    def load(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm, place: Place) -> SSAValue:
        if form == "scalar":
            return load_scalar(b, source, 3)
        sizes = gm_type(source).sizes
        offsets = [0 if size == 1 else offset for size, offset in zip(sizes, place, strict=False)]
        return self._load(b, source, offsets) if len(sizes) == len(place) else self._load_numbers(b, source, offsets)

    def _load(self, b: KernelBuilder, source: SSAValue, offsets: Sequence[Index]) -> SSAValue:
        """Rows of an operand, or the one that all rows of an image have: R or 1 x K1 x 16."""
        *images, count, length = gm_type(source).sizes
        rows, columns = self.grid.rows if count > 1 else 1, self.grid.columns
        inside = count % rows == 0 and length % (columns * C0) == 0
        sizes = (*(1 for _ in images), rows, columns * C0)
        return b.load(source, offsets, sizes, None if inside else HARMLESS, shape=(rows, columns, C0))

    def _load_numbers(self, b: KernelBuilder, source: SSAValue, offsets: Sequence[Index]) -> SSAValue:
        """A number for each row, which fills a block: R x 1 x 16. Or that of a single row or image: 1 x 1 x 16.

        Where an operand has no elements along rows, its last dimension is one of images.
        """
        *outer, count = gm_type(source).sizes
        *offsets, first = offsets
        rows = self.grid.rows if len(outer) == len(self.images) else 1
        together = round_up(rows, C0)
        inside = count % together == 0 and rows in (1, together)
        start = first if rows > 1 else b.times(b.divide(first, C0), C0)
        sizes = (*(1 for _ in outer), together)
        numbers = b.load(source, (*offsets, start), sizes, None if inside else HARMLESS, (1, together))
        blocks = b.transpose(b.broadcast(numbers, (C0, together)))
        row = 0 if rows > 1 else b.modulo(first, C0)
        return b.reshape(b.slice(blocks, (row, 0), (rows, C0)), (rows, 1, C0))

    def store(self, b: KernelBuilder, value: SSAValue, target: SSAValue, place: Place) -> None:
        rows, columns, ones = self.grid.rows, self.grid.columns, [1 for _ in self.images]
        if not self.exact:
            b.store(value, target, place, (*ones, rows, columns * C0))
            return
        *image, row, _ = place
        whole = self.length // C0
        b.store(b.slice(value, (0, 0, 0), (rows, whole, C0)), target, (*image, row, 0), (*ones, rows, whole * C0))
        for first in range(0, rows, C0):
            count = min(rows - first, C0)
            offsets = (*image, b.plus(row, first), self.length - C0)
            b.store(self._ends(b, value, first, count), target, offsets, (*ones, count, C0))

    def _ends(self, b: KernelBuilder, value: SSAValue, first: int, count: int) -> SSAValue:
        """The last 16 elements of at most sixteen rows of a tile, which do not begin at a block, as blocks: R x 16.

        Blocks of their transpose have an element each, so that they begin at any; float32 is moved before it is that.
        """
        half = value.owner.source if isinstance(value.owner, CastOp) and not is_f16(value) else value
        last = b.slice(half, (first, self.length // C0 - 1, 0), (count, 2, C0))
        parts = [b.reshape(last, (count, 2 * C0))]
        if count < C0:
            parts.append(b.constant(0, (C0 - count, 2 * C0), f16))
        by_element = b.transpose(b.concat(parts))
        squared = b.transpose(b.slice(by_element, (self.length % C0, 0), (C0, C0)))
        return b.cast(b.slice(squared, (0, 0), (count, C0)), tile_type(value).element_type)


def _rows_of(value: SSAValue) -> Shape:
    """The shape of a tensor, of which a matrix in FRACTAL_NZ is one row; a scalar has none."""
    shape = shape_of(value)
    if math.prod(shape) == 1:
        return ()
    if layout_of(value.type) != "FRACTAL_NZ":
        return shape
    return (*shape[:-2], math.prod(storage_shape("FRACTAL_NZ", shape[-2:])))


def _grid(rows: int, blocks: int, room: int, cores: int, ragged: bool) -> Grid:
    """The rows and blocks of a tile of an image of rows x blocks, with `room` for so many blocks.

    Tiles have whole sixteens of rows, as the numbers for them are loaded, or all of fewer. Rows are whole, unless 16 do
    not fit, or would leave cores without work; ragged ones as long as one fits.
    """
    unit = min(rows, C0)
    if ragged and unit * blocks > room:
        return Grid(1, deal_evenly(blocks, room, 1).size)
    smallest = ceil_div(SMALLEST_RUN, unit * min(blocks, SMALLEST_RUN))
    groups = deal_evenly(ceil_div(rows, unit), max(room // (unit * blocks), 1), cores, smallest)
    together = min(rows, groups.size * unit)
    share = 1 if ragged else ceil_div(cores, groups.parts)
    return Grid(together, deal_evenly(blocks, room // together, share, ceil_div(SMALLEST_RUN, together)).size)
