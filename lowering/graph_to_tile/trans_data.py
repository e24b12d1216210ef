"""`graph.trans_data` to a tile kernel: between plain formats (float16 or float32), NC1HWC0 and FRACTAL_NZ (float16).

Tensors of 8 bits stay that; their blocks have 32 lanes, and those of feature maps are transposed as float16.

1. *Feature maps* [N, C, H, W] to and from NC1HWC0: 16 channels x P positions are transposed to P x 16, or back.
2. *Matrices* [..., M, K] to and from FRACTAL_NZ, and feature maps of one position, which are matrices of one row:
   either a row at a time, as K1 blocks that lie M blocks apart, or a column of blocks at a time, for many rows.
3. A change of the element type only is `elementwise.lower_cast`.

Where a plain tensor is written and its rows are not whole blocks, the store of a row rounds up into the next one. One
core then writes all rows, in order; and where rows are written in parts, the last part of a row comes before the first
part of the next: parts go from the last to the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f16
from xdsl.ir import Attribute, SSAValue

from ge.dialects.graph import TransDataOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.fusing import Around
from ge.dialects.tile.types import tile_type
from ge.ir.attributes import block_lanes, layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder, is_f16
from ge.lowering.graph_to_tile.elementwise import F16_BLOCK, F32_BLOCK
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel
from ge.lowering.graph_to_tile.spaces import HARMLESS
from ge.lowering.graph_to_tile.stepped import SteppedKernel, moved_room
from ge.maths.layouts import C0, ND_FORMATS, ceil_div
from ge.maths.tiling import deal_evenly

ROW_BYTES = 2 * (F16_BLOCK + F32_BLOCK) // C0
"""What an element takes while it is loaded, converted, moved and stored."""


def lower_trans_data(op: TransDataOp, target: Target, around: Around | None = None) -> Outlined:
    """The kernel of a change of storage format, with the steps of a fusion `around` it."""
    around = around or Around.alone(op)
    source, result = layout_of(op.x.type), layout_of(op.y.type)
    packs = source in ND_FORMATS
    if packs == (result in ND_FORMATS) or "FRACTAL_Z" in (source, result):
        raise no_kernel(op, f"{source} to {result}")
    blocks = op.y if packs else op.x
    if not is_f16(blocks) and (_lanes(op) == C0 or tensor(op.x).element_type != tensor(op.y).element_type):
        raise no_kernel(op, "blocks hold float16, or 8 bits that stay as they are")
    shape = shape_of(op.x)
    is_map = "NC1HWC0" in (source, result)
    if is_map and shape[2:] != (1, 1):
        kernel = (_pack_map if packs else _unpack_map)(op, around, target)
    else:
        batch, rows, columns = (shape[0], 1, shape[1]) if is_map else (math.prod(shape[:-2]), *shape[-2:])
        matrix = Matrix(batch, rows, columns, block_lanes(tensor(blocks)))
        kernel = (_pack_matrix if packs else _unpack_matrix)(op, around, matrix, target)
    names = {format: "NCHW" if format in ND_FORMATS and len(shape) == 4 else format for format in (source, result)}
    shown = attributes(src_format=names[source], dst_format=names[result])
    return Outlined(kernel.b.kernel, kernel.operands, "TransData", shown)


class _Conversion(SteppedKernel):
    """A kernel that moves elements from one storage format to another."""

    def __init__(self, around: Around, source: Sequence[int], result: Sequence[int], cores: int) -> None:
        """`source` and `result` are how the kernel sees the storage of both."""
        super().__init__("trans_data", around, lambda operand: source, result, cores)

    def fill(self, inside: bool) -> float | None:
        """What is beyond the operand reads as: pad lanes of the result are zero, and no steps before it make any."""
        return None if inside else HARMLESS if self.around.before else 0.0


# Feature maps


def _map_views(op: TransDataOp) -> tuple[tuple[int, int, int], tuple[int, int, int, int]]:
    """The plain and the packed shape of a feature map, with positions as one dimension."""
    n, c, height, width = shape_of(op.x)
    lanes = _lanes(op)
    return (n, c, height * width), (n, ceil_div(c, lanes), height * width, lanes)


def _lanes(op: TransDataOp) -> int:
    """Lanes of a block; a change between 8 bits and others is none of this."""
    return block_lanes(tensor(op.y))


def _positions_first(b: KernelBuilder, x: SSAValue, element: Attribute) -> SSAValue:
    """Channels x positions as positions x channels, in squares of float16."""
    channels, size = tile_type(x).sizes
    x = b.cast(x, f16)
    parts = [b.transpose(b.slice(x, (first, 0), (C0, size))) for first in range(0, channels, C0)]
    return b.cast(b.concat(parts, axis=1), element)


def _channels_first(b: KernelBuilder, x: SSAValue, element: Attribute) -> SSAValue:
    """Positions x channels as channels x positions, in squares of float16."""
    size, channels = tile_type(x).sizes
    x = b.cast(x, f16)
    parts = [b.transpose(b.slice(x, (0, first), (size, C0))) for first in range(0, channels, C0)]
    return b.cast(b.concat(parts), element)


def _pack_map(op: TransDataOp, around: Around, target: Target) -> SteppedKernel:
    """16 channels x P positions to P x 16; channels and positions beyond the end are zero."""
    (n, c, plane), packed = _map_views(op)
    c1, lanes = packed[1], packed[3]
    room = moved_room(around, target, ROW_BYTES) // lanes // lanes
    size = lanes * deal_evenly(ceil_div(plane, lanes), room, ceil_div(target.cores, n * c1), 8).size
    tiles = (n, c1, ceil_div(plane, size))
    kernel = _Conversion(around, (n, c, plane), packed, min(target.cores, math.prod(tiles)))
    b, fill = kernel.b, kernel.fill(c % lanes == 0 and plane % size == 0)
    with b.deal(math.prod(tiles), target.stages) as number:
        image, block, part = b.split(number, *tiles)
        start = b.times(part, size)
        offsets, sizes = (image, b.times(block, lanes), start), (1, lanes, size)
        x = kernel.elements(lambda source: b.load(source, offsets, sizes, fill, shape=sizes[1:]), 2)
        y = _positions_first(b, x, tensor(op.y).element_type)
        kernel.store(y, (image, block, start, 0), (1, 1, size, lanes), plane % size == 0)
    return kernel


def _unpack_map(op: TransDataOp, around: Around, target: Target) -> SteppedKernel:
    """P x 16 to 16 channels x P positions, which go to rows of a plain tensor."""
    (n, c, plane), packed = _map_views(op)
    c1, lanes = packed[1], packed[3]
    room = moved_room(around, target, ROW_BYTES) // lanes // lanes
    element = tensor(op.y).element_type
    ragged = plane * element_bytes(op.y) % F16_BLOCK != 0
    share = 1 if ragged else ceil_div(target.cores, n * c1)
    size = lanes * deal_evenly(ceil_div(plane, lanes), room, share, 8).size
    parts = ceil_div(plane, size)
    groups = n * c1 * (1 if ragged else parts)
    kernel = _Conversion(around, packed, (n, c, plane), 1 if ragged else min(target.cores, groups))
    b, fill = kernel.b, kernel.fill(plane % size == 0)
    with b.deal(groups, target.stages) as number:
        image, block, part = b.split(number, n, c1, 1 if ragged else parts)
        with b.loop(0, parts if ragged else 1, 1, stages=target.stages) as turn:
            if ragged:
                part = b.minus(parts - 1, turn.counter)
            start = b.times(part, size)
            place, sizes = (image, block, start, 0), (1, 1, size, lanes)
            x = kernel.elements(lambda source: b.load(source, place, sizes, fill, shape=sizes[2:]), 2)
            y = _channels_first(b, x, element)
            inside = c % lanes == 0 and plane % size == 0
            kernel.store(y, (image, b.times(block, lanes), start), (1, lanes, size), inside)
    return kernel


def element_bytes(value: SSAValue) -> int:
    """Bytes of an element of a graph value."""
    return memory_type(value).element_bytes


# Matrices


@dataclass(frozen=True)
class Matrix:
    """A tensor seen as ``batch`` matrices of ``rows`` x ``columns``."""

    batch: int
    rows: int
    columns: int
    lanes: int = C0
    """Elements of a block."""

    @property
    def blocks(self) -> int:
        """Blocks of a row."""
        return ceil_div(self.columns, self.lanes)

    @property
    def plain(self) -> tuple[int, int, int]:
        """The shape in a plain format."""
        return (self.batch, self.rows, self.columns)

    @property
    def packed(self) -> tuple[int, int, int, int]:
        """The shape in FRACTAL_NZ."""
        return (self.batch, self.blocks, self.rows, self.lanes)


def _row_part(matrix: Matrix, around: Around, target: Target) -> int:
    """Blocks of a row that are moved at once."""
    return deal_evenly(matrix.blocks, moved_room(around, target, ROW_BYTES) // matrix.lanes, 1).size


def _pack_matrix(op: TransDataOp, around: Around, matrix: Matrix, target: Target) -> SteppedKernel:
    """Rows to columns of blocks; columns beyond the end are zero."""
    lanes = matrix.lanes
    part = _row_part(matrix, around, target)
    rows = 1
    if matrix.rows > matrix.blocks and part == matrix.blocks:
        room = moved_room(around, target, ROW_BYTES) // lanes // matrix.blocks
        rows = deal_evenly(matrix.rows, room, ceil_div(target.cores, matrix.batch)).size
    tiles = (matrix.batch, ceil_div(matrix.rows, rows), ceil_div(matrix.blocks, part))
    kernel = _Conversion(around, matrix.plain, matrix.packed, min(target.cores, math.prod(tiles)))
    b, fill = kernel.b, kernel.fill(matrix.columns % (part * lanes) == 0 and matrix.rows % rows == 0)
    with b.deal(math.prod(tiles), target.stages) as number:
        image, row, block = b.split(number, *tiles)
        row, block = b.times(row, rows), b.times(block, part)
        sizes = (1, rows, part * lanes)
        place = (image, row, b.times(block, lanes))
        x = kernel.elements(lambda source: b.load(source, place, sizes, fill, shape=sizes[1:]), 2)
        x = b.cast(x, tensor(op.y).element_type)
        if rows == 1:
            inside = matrix.blocks % part == 0
            kernel.store(b.reshape(x, (part, 1, lanes)), (image, block, row, 0), (1, part, 1, lanes), inside)
        else:
            with b.loop(0, part, 1, stages=target.stages) as turn:
                column = b.slice(x, (0, b.times(turn.counter, lanes)), (rows, lanes))
                inside = matrix.rows % rows == 0
                kernel.store(column, (image, turn.counter, row, 0), (1, 1, rows, lanes), inside)
    return kernel


def _unpack_matrix(op: TransDataOp, around: Around, matrix: Matrix, target: Target) -> SteppedKernel:
    """Columns of blocks to rows: columns at once where rows are whole blocks, otherwise row by row."""
    lanes = matrix.lanes
    ragged = matrix.columns * element_bytes(op.y) % F16_BLOCK != 0
    if not ragged and matrix.rows > matrix.blocks:
        return _unpack_columns(op, around, matrix, target)
    total = matrix.batch * matrix.rows
    kernel = _Conversion(around, matrix.packed, (total, matrix.columns), 1 if ragged else min(target.cores, total))
    part = _row_part(matrix, around, target)
    parts = ceil_div(matrix.blocks, part)
    element = tensor(op.y).element_type
    b, fill = kernel.b, kernel.fill(matrix.blocks % part == 0)
    with b.deal(total, target.stages) as row, b.loop(0, parts, 1, stages=target.stages) as turn:
        image, row_of_image = b.split(row, matrix.batch, matrix.rows)
        block = b.times(b.minus(parts - 1, turn.counter), part)
        place, sizes = (image, block, row_of_image, 0), (1, part, 1, lanes)
        x = kernel.elements(lambda source: b.load(source, place, sizes, fill, shape=(1, part * lanes)), 2)
        inside = matrix.columns % (part * lanes) == 0
        kernel.store(b.cast(x, element), (row, b.times(block, lanes)), (1, part * lanes), inside)
    return kernel


def _unpack_columns(op: TransDataOp, around: Around, matrix: Matrix, target: Target) -> SteppedKernel:
    """Each column of blocks goes to all rows of a plain matrix whose rows are whole blocks."""
    lanes = matrix.lanes
    room = moved_room(around, target, ROW_BYTES) // lanes
    rows = deal_evenly(matrix.rows, room, ceil_div(target.cores, matrix.batch * matrix.blocks), 8).size
    tiles = (matrix.batch, matrix.blocks, ceil_div(matrix.rows, rows))
    kernel = _Conversion(around, matrix.packed, matrix.plain, min(target.cores, math.prod(tiles)))
    b, inside = kernel.b, matrix.rows % rows == 0
    with b.deal(math.prod(tiles), target.stages) as number:
        image, block, row = b.split(number, *tiles)
        row = b.times(row, rows)
        place, sizes, fill = (image, block, row, 0), (1, 1, rows, lanes), kernel.fill(inside)
        x = kernel.elements(lambda source: b.load(source, place, sizes, fill, shape=(rows, lanes)), 2)
        y = b.cast(x, tensor(op.y).element_type)
        kernel.store(y, (image, row, b.times(block, lanes)), (1, rows, lanes), inside)
    return kernel
