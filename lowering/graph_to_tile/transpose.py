"""`graph.transpose` of plain tensors to a tile kernel.

Dimensions that stay together are one; then there are two kernels:

1. *Rows*: the last dimension stays and fills whole blocks. Rows along the longest of the others are brought in and
   written at once, each a burst of its own on both sides; nothing moves within a row.
2. *Matrices*: the last two dimensions change places. 16 rows x P columns are transposed to P x 16. Where the new rows
   do not fill their last block, one core writes them all: the last 16 columns of P rows first, since a store rounds
   up into the head of the next row.

The steps of a fusion are done on the tile before it is turned, and after that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ge.dialects.graph import TransposeOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.fusing import Around
from ge.dialects.graph.movement_kernels import joined_axes
from ge.dialects.tile.text import Index
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, no_kernel
from ge.lowering.graph_to_tile.stepped import SteppedKernel, moved_room
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly, divisors

ELEMENT_BYTES = 2
"""Bytes of a float16."""


def lower_transpose(op: TransposeOp, target: Target, around: Around | None = None) -> Outlined:
    """The kernel of a transposition, with the steps of a fusion `around` it."""
    around = around or Around.alone(op)
    shape, perm = joined_axes(shape_of(op.x), op.perm.get_values())
    if len(perm) > 1 and perm[-1] == len(perm) - 1 and shape[-1] % C0 == 0:
        kernel = _rows(around, shape, perm, target)
    elif perm in ((1, 0), (0, 2, 1)):
        kernel = _matrices(around, (1, *shape)[-3:], target)
    else:
        raise no_kernel(op, "it moves elements of rows in another way than by transposing matrices")
    return Outlined(kernel.b.kernel, kernel.operands, "TransposeD", attributes(perm=op.perm.get_values()))


def _rows(around: Around, shape: Sequence[int], perm: Sequence[int], target: Target) -> SteppedKernel:
    """Tiles of rows along the longest dimension but the last, or parts of rows where one is too long."""
    room = moved_room(around, target, ELEMENT_BYTES)
    columns = next(size for size in divisors(shape[-1]) if size <= room and size % C0 == 0)
    along = max(range(len(shape) - 1), key=lambda axis: shape[axis])
    others = math.prod(shape[:-1]) // shape[along] * (shape[-1] // columns)
    rows = deal_evenly(shape[along], room // columns, ceil_div(target.cores, others)).size
    steps = [1] * len(shape)
    steps[along], steps[-1] = rows, columns
    tiles = [ceil_div(size, step) for size, step in zip(shape, steps, strict=True)]
    moved = [shape[axis] for axis in perm]
    kernel = SteppedKernel("transpose", around, lambda operand: shape, moved, min(target.cores, math.prod(tiles)))
    b, inside = kernel.b, shape[along] % rows == 0
    with b.deal(math.prod(tiles), target.stages) as number:
        places = [b.times(place, step) for place, step in zip(b.split(number, *tiles), steps, strict=True)]
        fill = kernel.fill(inside)
        x = kernel.elements(lambda source: b.load(source, places, steps, fill, shape=(rows, columns)), 2)
        kernel.store(x, [places[axis] for axis in perm], [steps[axis] for axis in perm], inside)
    return kernel


def _matrices(around: Around, shape: Sequence[int], target: Target) -> SteppedKernel:
    """Squares of 16 x 16, as many next to each other as there is room for."""
    batch, height, width = shape
    blocks = ceil_div(height, C0)
    ragged = height % C0 != 0 and width * batch > 1
    room = moved_room(around, target, 2 * ELEMENT_BYTES) // C0 // C0
    share = 1 if ragged else ceil_div(target.cores, batch * blocks)
    size = C0 * deal_evenly(ceil_div(width, C0), room, share).size
    parts = ceil_div(width, size)
    total = batch * parts * (1 if ragged else blocks)
    cores = 1 if ragged else min(target.cores, total)
    kernel = SteppedKernel("transpose", around, lambda operand: shape, (batch, width, height), cores)
    b, inside = kernel.b, height % C0 == 0 and width % size == 0
    fill = kernel.fill(inside)

    def move(matrix: Index, part: Index, block: Index) -> None:
        row, column = b.times(block, C0), b.times(part, size)
        place, sizes = (matrix, row, column), (1, C0, size)
        x = kernel.elements(lambda source: b.load(source, place, sizes, fill, shape=(C0, size)), 2)
        kernel.store(b.transpose(x), (matrix, column, row), (1, size, C0), inside)

    with b.deal(total, target.stages) as number:
        matrix, part, block = b.split(number, batch, parts, 1 if ragged else blocks)
        with b.loop(0, blocks if ragged else 1, 1, stages=target.stages) as turn:
            move(matrix, part, b.minus(blocks - 1, turn.counter) if ragged else block)
    return kernel
