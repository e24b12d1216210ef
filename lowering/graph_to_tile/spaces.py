"""The spaces that elementwise kernels go through, cut into tiles that are dealt to the cores.

| space | the result is seen as | operands that spread |
|---|---|---|
| `Runs` | P blocks of 16 lanes, whatever the storage format; or a run of elements that ends inside a block | none |
| `Channels` | images x channel blocks x positions x 16 (NC1HWC0) | one block per channel block |
| `Rows` | rows x columns of a plain tensor, or matrices x elements in FRACTAL_NZ | one row, or one matrix |
| `Repeats` | images x rows x elements of a plain tensor; rows may end inside a block (`repeats`) | in any way |

In every space a scalar that is known only when the kernel runs is a tile of one element.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import BroadcastForm
from ge.dialects.graph.row_tiles import NUMBERS_BYTES
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import gm_type
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Target, storage_of
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly

SMALLEST_RUN = 64
"""Blocks below which a run is not shared among cores: 2 KiB, less than a transfer moves during its latency."""

HARMLESS = 1.0
"""What lanes beyond the end of a tensor read as: every function is finite there."""

Place: TypeAlias = tuple[Index, ...]
"""Where a tile is: a coordinate for each dimension of the space that is cut."""


class Space(ABC):
    """A way to cut the result of elementwise operations into tiles."""

    cores: int

    @abstractmethod
    def shape(self, value: SSAValue, form: BroadcastForm) -> Sequence[int]:
        """The shape under which the kernel sees an operand that spreads in that form."""

    @abstractmethod
    def places(self, b: KernelBuilder, stages: int) -> AbstractContextManager[Place]:
        """The loop over the tiles of a core."""

    @abstractmethod
    def load(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm, place: Place) -> SSAValue:
        """The part of an operand at a place."""

    @abstractmethod
    def store(self, b: KernelBuilder, value: SSAValue, target: SSAValue, place: Place) -> None:
        """Write the result at a place."""

    def load_before(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm) -> SSAValue | None:
        """An operand that is the same for all tiles, loaded before the loop; None for others."""
        return None


def load_scalar(b: KernelBuilder, source: SSAValue, rank: int) -> SSAValue:
    """The only element of an operand, as a tile that spreads over tiles of a rank."""
    return b.load(source, [0], [1], shape=(1,) * rank)


def run_shape(value: SSAValue) -> tuple[int, ...]:
    """The storage as P x 16, or as a run of elements when the last block is not full."""
    elements = math.prod(storage_of(value))
    return (elements // C0, C0) if elements % C0 == 0 else (elements,)


class Runs(Space):
    """The storage of all values is a run of blocks; they lie alike."""

    def __init__(self, result: SSAValue, block_bytes: int, target: Target) -> None:
        room = (target.ub - NUMBERS_BYTES) // 2 // block_bytes
        blocks = ceil_div(math.prod(storage_of(result)), C0)
        self.deal = deal_evenly(blocks, room, target.cores, SMALLEST_RUN)
        self.cores = self.deal.cores

    def shape(self, value: SSAValue, form: BroadcastForm) -> Sequence[int]:
        return (1,) if form == "scalar" else run_shape(value)

    @contextmanager
    def places(self, b: KernelBuilder, stages: int) -> Generator[Place]:
        with b.deal(self.deal.parts, stages) as number:
            yield (b.named("start", b.times(number, self.deal.size)),)

    def load(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm, place: Place) -> SSAValue:
        if form == "scalar":
            return load_scalar(b, source, 2)
        (start,), size = place, self.deal.size
        if gm_type(source).rank == 1:
            return b.load(source, [b.times(start, C0)], [size * C0], HARMLESS, shape=[size, C0])
        inside = gm_type(source).sizes[0] % size == 0
        return b.load(source, [start, 0], [size, C0], None if inside else HARMLESS)

    def store(self, b: KernelBuilder, value: SSAValue, target: SSAValue, place: Place) -> None:
        (start,), size = place, self.deal.size
        if gm_type(target).rank == 1:
            b.store(value, target, [b.times(start, C0)], [size * C0])
        else:
            b.store(value, target, [start, 0], [size, C0])


@dataclass(frozen=True)
class Grid:
    """The sizes of a tile of a space of rows x columns of blocks."""

    rows: int
    columns: int


def _tile_grid(rows: int, columns: int, block_bytes: int, target: Target) -> Grid:
    """The sizes of tiles of a grid of blocks: whole rows as many as fit, or parts of one row."""
    blocks = (target.ub - NUMBERS_BYTES) // 2 // block_bytes
    if columns > blocks:
        return Grid(1, deal_evenly(columns, blocks, 1).size)
    deal = deal_evenly(rows, blocks // columns, target.cores, ceil_div(SMALLEST_RUN, columns))
    return Grid(deal.size, columns)


class Channels(Space):
    """Feature maps, with operands that have one block for all positions of a channel block."""

    def __init__(self, result: SSAValue, block_bytes: int, target: Target) -> None:
        self.images, self.c1, height, width, _ = storage_of(result)
        self.plane = height * width
        self.grid = _tile_grid(self.c1, self.plane, block_bytes, target)
        self.tiles = (self.images, ceil_div(self.c1, self.grid.rows), ceil_div(self.plane, self.grid.columns))
        self.cores = min(target.cores, math.prod(self.tiles))

    def shape(self, value: SSAValue, form: BroadcastForm) -> Sequence[int]:
        if form == "scalar":
            return (1,)
        if form == "channel":
            return (shape_of(value)[0] if len(shape_of(value)) == 4 else 1, self.c1, 1, C0)
        return (self.images, self.c1, self.plane, C0)

    @contextmanager
    def places(self, b: KernelBuilder, stages: int) -> Generator[Place]:
        with b.deal(math.prod(self.tiles), stages) as number:
            image, row, column = b.split(number, *self.tiles)
            yield image, b.times(row, self.grid.rows), b.times(column, self.grid.columns)

    def load(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm, place: Place) -> SSAValue:
        if form == "scalar":
            return load_scalar(b, source, 3)
        (image, row, column), grid = place, self.grid
        whole_rows = self.c1 % grid.rows == 0
        if form == "channel":
            first = image if gm_type(source).sizes[0] > 1 else 0
            fill, shape = None if whole_rows else HARMLESS, (grid.rows, 1, C0)
            return b.load(source, (first, row, 0, 0), (1, *shape), fill, shape=shape)
        fill = None if whole_rows and self.plane % grid.columns == 0 else HARMLESS
        shape = (grid.rows, grid.columns, C0)
        return b.load(source, (image, row, column, 0), (1, *shape), fill, shape=shape)

    def store(self, b: KernelBuilder, value: SSAValue, target: SSAValue, place: Place) -> None:
        image, row, column = place
        b.store(value, target, (image, row, column, 0), (1, self.grid.rows, self.grid.columns, C0))


class Rows(Space):
    """Rows of whole blocks (or a single row) of a tensor as it is stored, with operands that are one of these rows."""

    def __init__(self, result: SSAValue, length: int, block_bytes: int, target: Target) -> None:
        self.length, self.rows = length, math.prod(storage_of(result)) // length
        blocks = _tile_grid(self.rows, ceil_div(length, C0), block_bytes, target)
        self.grid = Grid(blocks.rows, min(length, blocks.columns * C0))
        self.tiles = (ceil_div(length, self.grid.columns), ceil_div(self.rows, self.grid.rows))
        self.cores = min(target.cores, math.prod(self.tiles))

    def shape(self, value: SSAValue, form: BroadcastForm) -> Sequence[int]:
        if form == "scalar":
            return (1,)
        return (1 if form == "trailing" else self.rows, self.length)

    def load_before(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm) -> SSAValue | None:
        if form != "trailing" or self.grid.columns != self.length:
            return None
        return b.load(source, (0, 0), (1, self.length))

    @contextmanager
    def places(self, b: KernelBuilder, stages: int) -> Generator[Place]:
        with b.deal(math.prod(self.tiles), stages) as number:
            column, row = b.split(number, *self.tiles)
            yield b.times(row, self.grid.rows), b.times(column, self.grid.columns)

    def load(self, b: KernelBuilder, source: SSAValue, form: BroadcastForm, place: Place) -> SSAValue:
        if form == "scalar":
            return load_scalar(b, source, 2)
        (row, column), grid = place, self.grid
        fill = None if self.length % grid.columns == 0 else HARMLESS
        if form == "trailing":
            return b.load(source, (0, column), (1, grid.columns), fill)
        return b.load(
            source, (row, column), (grid.rows, grid.columns), fill if self.rows % grid.rows == 0 else HARMLESS
        )

    def store(self, b: KernelBuilder, value: SSAValue, target: SSAValue, place: Place) -> None:
        b.store(value, target, place, (self.grid.rows, self.grid.columns))
