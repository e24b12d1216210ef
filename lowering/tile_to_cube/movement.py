"""Operations that only rearrange tiles.

| operation | how |
|---|---|
| `tile.slice` | an address and strides: no instruction, in the unified buffer, in L1 and in L0C |
| `tile.reshape` | the same bytes; a copy when rows are padded or strides do not allow it |
| `tile.concat` | its parts are computed where they belong; a part that already has a place is copied |
| `tile.transpose` | vnchwconv, 16 x 16 squares |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ge.dialects import tile
from ge.dialects.cube.instructions.vector import BYTES, Vnchwconv
from ge.dialects.cube.spaces import BLOCK, LANES
from ge.dialects.tile.types import tile_type
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.elementwise import copy, in_ub, is_stored, result_of
from ge.lowering.tile_to_cube.index_math import Index
from ge.lowering.tile_to_cube.places import Accumulator, L1Tile, Splat, UbTile
from ge.lowering.tile_to_cube.strides import Axis, Layout
from ge.lowering.tile_to_cube.transfers import most


def part(
    k: KernelBuilder, whole: UbTile, starts: Sequence[Index], sizes: Sequence[int], steps: Sequence[int]
) -> UbTile:
    """A strided part of a tile in the unified buffer."""
    layout, offset = _cut(k, whole.layout, starts, sizes, steps)
    return replace(whole, layout=layout, offset=k.math.add(whole.offset, k.math.mul(offset, whole.element_bytes)))


def _cut(
    k: KernelBuilder, layout: Layout, starts: Sequence[Index], sizes: Sequence[int], steps: Sequence[int]
) -> tuple[Layout, Index]:
    """The layout of a part, and where it starts, in elements."""
    cut = layout.slice([start if isinstance(start, int) else None for start in starts], sizes, steps)
    if cut is None:
        raise k.fail(f"a slice of sizes {list(sizes)} of a tile that lies as {layout.dims}")
    moved = [
        0 if isinstance(start, int) else k.math.mul(start, unit) for start, unit in zip(starts, cut.units, strict=True)
    ]
    return cut.layout, k.math.sum(cut.offset, *moved)


def slice_(k: KernelBuilder, op: tile.SliceOp) -> None:
    """A part of a tile, in each memory where the tile is."""
    starts = [k.index(offset) for offset in op.offsets]
    sizes, steps = tuple(op.sizes.iter_values()), tuple(op.strides.iter_values())
    splat, accumulator = k.find(op.source, Splat), k.find(op.source, Accumulator)
    in_l1, whole = k.find(op.source, L1Tile), k.find(op.source, UbTile)
    if splat is not None:
        k.put(op.result, splat)
    if in_l1 is not None:
        row = k.math.add(in_l1.row, starts[1]) if len(sizes) == 3 else 0
        elsewhere = [starts[0], 0, starts[2]] if len(sizes) == 3 else starts
        layout, offset = _cut(k, in_l1.layout, elsewhere, sizes, steps)
        place = k.math.add(in_l1.offset, k.math.mul(offset, BYTES[in_l1.dtype]))
        k.put(op.result, L1Tile(in_l1.buffer, place, layout, in_l1.dtype, in_l1.rows, row))
    if accumulator is not None and whole is None:
        layout, offset = _cut(k, Layout.dense(accumulator.sizes), starts, sizes, steps)
        if layout.is_dense:
            place = k.math.add(accumulator.offset, k.math.mul(offset, 4))
            k.put(op.result, replace(accumulator, offset=place, sizes=sizes))
            return
        whole = in_ub(k, op.source)
    if whole is not None:
        k.put(op.result, part(k, whole, starts, sizes, steps))


def reshape(k: KernelBuilder, op: tile.ReshapeOp) -> None:
    """The same elements in another shape."""
    type = tile_type(op.result)
    splat, in_l1 = k.find(op.source, Splat), k.find(op.source, L1Tile)
    if splat is not None:
        k.put(op.result, splat)
        return
    if in_l1 is not None:
        layout = in_l1.layout.reshape(type.sizes)
        if layout is None:
            raise k.fail(f"a reshape of a tile that lies as {in_l1.layout.dims}")
        k.put(op.result, replace(in_l1, layout=layout))
        return
    source = in_ub(k, op.source)
    layout = source.layout.reshape(type.sizes)
    if layout is not None:
        k.put(op.result, source.with_layout(layout))
        return
    target = k.alloc_tile(type, op.result.name_hint, doubled=is_stored(op.result))
    copy(k, target, source)
    k.put(op.result, target)


_PLACEABLE = (tile.LoadOp, tile.UnaryOp, tile.ScalarOp, tile.BinaryOp, tile.CastOp, tile.TransposeOp)
"""Operations that compute their result where they are told to."""


def plan_concat(k: KernelBuilder, op: tile.ConcatOp) -> None:
    """Before the parts are computed: give those without other uses their places in the result."""
    whole = k.alloc_tile(tile_type(op.result), op.result.name_hint, doubled=True)
    k.targets[op.result] = whole
    for value, place in zip(op.parts, _parts(k, op, whole), strict=True):
        here = isinstance(value.owner, _PLACEABLE) and value.owner.parent is op.parent
        if here and value.has_one_use() and k.math.divisor(place.offset) % BLOCK == 0:
            k.targets[value] = place


def _parts(k: KernelBuilder, op: tile.ConcatOp, whole: UbTile) -> list[UbTile]:
    """The places of the parts in the result."""
    places: list[UbTile] = []
    axis = op.axis_number
    starts = [0] * tile_type(op.result).rank
    for value in op.parts:
        sizes = tile_type(value).sizes
        places.append(part(k, whole, starts, sizes, [1] * len(sizes)))
        starts[axis] += sizes[axis]
    return places


def concat(k: KernelBuilder, op: tile.ConcatOp) -> None:
    """Copy the parts that are not in their place yet."""
    whole = k.targets[op.result]
    for value, place in zip(op.parts, _parts(k, op, whole), strict=True):
        if k.targets.get(value) is None:
            copy(k, place, in_ub(k, value))
    k.put(op.result, whole)


def transpose(k: KernelBuilder, op: tile.TransposeOp) -> None:
    """Transpose by squares of 16 x 16."""
    source = in_ub(k, op.source)
    rows, columns = (Layout((dim,)).axes for dim in source.layout.dims)
    if len(rows) > 1 or rows[0].stride % LANES or columns != [Axis(columns[0].size, 1)]:
        dense = k.alloc_tile(tile_type(op.source), None, doubled=False)
        copy(k, dense, source)
        source = dense
    target = result_of(k, op.result)
    height, width = tile_type(op.source).sizes
    source_row, target_row = (Layout(tile_.layout.dims[:1]).axes[0].stride * 2 for tile_ in (source, target))
    by_rows = height > width
    squares = max(height, width) // LANES
    steps = (BLOCK, source_row * LANES) if by_rows else (target_row * LANES, BLOCK)
    limit = most(Vnchwconv, "repeat")
    for first in range(0, squares, limit):
        k.add(
            Vnchwconv(
                dst=(target.buffer, k.math.add(target.offset, first * steps[0])),
                src=(source.buffer, k.math.add(source.offset, first * steps[1])),
                repeat=min(limit, squares - first),
                src_row=source_row,
                dst_row=target_row,
                src_rep=steps[1] // BLOCK,
                dst_rep=steps[0] // BLOCK,
            )
        )
