"""`tile.load`: from device memory into the unified buffer, or into L1 for what feeds the cube unit.

* A slice that may leave the tensor is clipped; in the unified buffer, all of it is set to `fill` before. Where the
  part outside is the same in every turn of a loop, that happens once, before the loop.
* A row that ends inside a block is moved up to the end of the block; the lanes after its end are filled afterwards.
* A slab of a convolution keeps in L1 only what is inside the tensor; rows outside are padding of the `load3d`.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import f16

from ge.dialects import tile
from ge.dialects.cube.instructions.copies import CopyGmToL1, CopyGmToUb, CopyUbToL1
from ge.dialects.cube.instructions.vector import VectorDupMasked
from ge.dialects.cube.spaces import BLOCK, Space
from ge.dialects.tile.types import TileType, gm_type, tile_type
from ge.lowering.tile_to_cube.boxes import Clip, box, clip_all, has_gap, memory_place, not_empty, row_major
from ge.lowering.tile_to_cube.builder import KernelBuilder, ub_layout
from ge.lowering.tile_to_cube.elementwise import fill, half_of_bytes
from ge.lowering.tile_to_cube.index_math import Index
from ge.lowering.tile_to_cube.places import L1Tile, Place, Slab, UbTile, dtype_of, is_slab, needed
from ge.lowering.tile_to_cube.strides import Layout
from ge.lowering.tile_to_cube.transfers import MoveAxis, most, move

ZEROS = 4096
"""Bytes of zeros that are copied to L1 at once."""


def load(k: KernelBuilder, op: tile.LoadOp) -> None:
    """Lower one load, into each memory in which its tile is wanted."""
    bounds = gm_type(op.source).sizes
    if op.fill is None:
        slices = zip(op.offsets, op.slice_sizes, strict=True)
        clips = [Clip(k.index(offset), 0, size, 0, size) for offset, size in slices]
    else:
        clips = clip_all(k, op.offsets, op.slice_sizes, bounds)
    wanted = needed(op.result)
    if wanted & {Space.L1, Space.L0A, Space.L0B}:
        _load_to_l1(k, op, clips)
    if Space.UB in wanted:
        _load_to_ub(k, op, clips)


def _load_to_ub(k: KernelBuilder, op: tile.LoadOp, clips: list[Clip]) -> None:
    type = tile_type(op.result)
    once = op.fill_value is not None and op.result not in k.targets and len(k.scopes) > 1 and has_gap(k, clips) is True
    target = _filled_tile(k, op) if once else k.targets.get(op.result)
    target = target or k.alloc_tile(type, op.result.name_hint, doubled=True)
    k.put(op.result, target)
    layout = target.layout.reshape(op.slice_sizes)
    moved = layout and box(k, op.source, layout, clips, to_memory=False)
    if layout is None or moved is None:
        raise k.fail(f"a slice {list(op.slice_sizes)} that is clipped does not load as {type}")
    if op.fill_value is not None:
        with_gap = has_gap(k, [c for c in clips if not (once and isinstance(c.count, int))])
        if with_gap is not False:
            with k.when(with_gap):
                fill(k, target, op.fill_value)
    filled = not_empty(k, clips)
    if filled is False:
        return
    with k.when(filled):
        place = Place(target.buffer, k.math.add(target.offset, moved.offset))
        move(k, CopyGmToUb, place, memory_place(k, op.source, clips), moved.axes, type.element_bytes)
        if op.fill_value is not None:
            _fill_tails(k, op, target, layout, clips[-1])


def _filled_tile(k: KernelBuilder, op: tile.LoadOp) -> UbTile:
    """A place for a tile that has a gap in every turn of the loops around: filled once, before all of them.

    No transfer reaches the gap, so that it stays filled.
    """
    assert op.fill_value is not None
    type = tile_type(op.result)
    layout = ub_layout(type)
    slot = k.scope.slot
    with k.before_loops():
        alloc = k.reserve(Space.UB, layout.extent * type.element_bytes, op.result.name_hint, 1 if slot is None else 2)
        for copy in range(alloc.copy_count):
            fill(k, UbTile(alloc.result, copy * alloc.copy_bytes, layout, dtype_of(type)), op.fill_value)
    offset = 0 if slot is None else k.math.mul(slot, alloc.copy_bytes)
    return UbTile(alloc.result, offset, layout, dtype_of(type))


def _fill_tails(k: KernelBuilder, op: tile.LoadOp, target: UbTile, layout: Layout, last: Clip) -> None:
    """Fill what the last block of each row brought in from after the end of the row."""
    assert op.fill_value is not None
    if last.is_whole or not layout.dims[-1]:
        return
    bound = gm_type(op.source).sizes[-1]
    if isinstance(last.count, int):
        lane = last.count % target.lanes
    elif k.math.divisor(last.start) % target.lanes == 0:
        lane = bound % target.lanes
    else:
        raise k.fail(
            "a row of a load ends at a lane that is known at run time only", "Step the last dimension in blocks."
        )
    if lane == 0:
        return
    dtype, lanes, value = target.dtype, target.lanes, op.fill_value
    if target.element_bytes == 1:
        if lane % 2:
            raise k.fail("a row of 8 bits ends inside two bytes, of which no instruction fills one")
        dtype, lanes, lane, value = "f16", lanes // 2, lane // 2, half_of_bytes(k, value)
    mask = ((1 << lanes) - 1) ^ ((1 << lane) - 1)
    rows = [axis for axes in layout.dims[:-1] for axis in axes]

    def emit(position: int, offset: Index) -> None:
        if position < len(rows):
            for i in k.positions(rows[position].size):
                emit(position + 1, k.math.add(offset, k.math.mul(i, rows[position].stride * target.element_bytes)))
            return
        k.add(VectorDupMasked(dst=(target.buffer, offset), scalar=value, dtype=dtype, mask_low=mask))

    with k.when(k.math.less(last.count, last.size)):
        block = k.math.mul(k.math.div(last.count, target.lanes), BLOCK)
        emit(0, k.math.add(target.offset, block))


def _load_to_l1(k: KernelBuilder, op: tile.LoadOp, clips: list[Clip]) -> None:
    type = tile_type(op.result)
    place = k.alloc(Space.L1, type.nbytes, op.result.name_hint)
    if is_slab(op.result):
        _load_slab(k, op, clips, place)
        return
    layout = Layout.dense(type.sizes)
    by_slice = layout.reshape(op.slice_sizes)
    moved = by_slice and box(k, op.source, by_slice, clips, to_memory=False)
    if moved is None or op.fill_value not in (None, 0):
        raise k.fail("an operand of a matmul that does not read as zero outside of the tensor")
    with_gap = has_gap(k, clips)
    if with_gap is not False:
        with k.when(with_gap):
            _clear(k, place, type.nbytes)
    filled = not_empty(k, clips)
    if filled is not False:
        with k.when(filled):
            to = Place(place.buffer, k.math.add(place.offset, moved.offset))
            move(k, CopyGmToL1, to, memory_place(k, op.source, clips), moved.axes, type.element_bytes)
    k.put(op.result, L1Tile(place.buffer, place.offset, layout, dtype_of(type), type.sizes[1]))


def _clear(k: KernelBuilder, place: Place, nbytes: int) -> None:
    """Write zeros to L1, from a piece of the unified buffer."""
    type = TileType([min(nbytes, ZEROS) // 2], f16)
    zeros = k.alloc_tile(type, None, doubled=False)
    fill(k, zeros, 0.0)
    whole, rest = divmod(nbytes, type.nbytes)
    for i in k.positions(whole):
        to = Place(place.buffer, k.math.add(place.offset, k.math.mul(i, type.nbytes)))
        move(k, CopyUbToL1, to, zeros, [MoveAxis(type.nbytes, 1, 1)], 1)
    if rest:
        to = Place(place.buffer, k.math.add(place.offset, whole * type.nbytes))
        move(k, CopyUbToL1, to, zeros, [MoveAxis(rest, 1, 1)], 1)


def _load_slab(k: KernelBuilder, op: tile.LoadOp, clips: list[Clip], place: Place) -> None:
    """Load what lies inside the tensor of a slab c1 x rows x W x 16: of its rows or, of one row, of its columns."""
    type = tile_type(op.result)
    planes, rows, width, _ = type.sizes
    dims = [math.prod(op.slice_sizes[:d]) for d in range(len(clips))]
    clipped = [d for d, c in enumerate(clips) if not c.is_whole]
    cut = clips[clipped[0]] if clipped else Clip(0, 0, rows, 0, rows)
    by_row = cut.size == rows and (not clipped or dims[clipped[0]] == planes)
    padding = int(op.fill_value or 0)
    filled = padding == op.fill_value and (padding == 0 or type.element_bytes == 1)
    if len(clipped) > 1 or (clipped and not filled) or not (by_row or (rows == 1 and cut.size == width)):
        raise k.fail("only the rows of a slab can be outside of the tensor, and they read as zero or a byte there")
    if by_row and clipped:
        bound = gm_type(op.source).sizes[clipped[0]]
        cut = _with_a_row(k, cut, bound)
        clips = [cut if d == clipped[0] else c for d, c in enumerate(clips)]
    inside = k.math.max(cut.count, 1)
    height, columns = (inside, width) if by_row else (1, inside)
    source = memory_place(k, op.source, clips)
    plane = _plane_bytes(k, op, planes)
    _copy_planes(k, place, source, planes, plane, k.math.mul(height, columns) if by_row else columns)
    top = cut.skipped if by_row else 0
    bottom = cut.dropped if by_row else 0
    k.put(op.result, Slab(place.buffer, place.offset, planes, height, columns, top, bottom, padding))


def _with_a_row(k: KernelBuilder, cut: Clip, bound: int) -> Clip:
    """The clip of the rows of a slab, for a `load3d`, which reads one row at least.

    Where all rows are outside of a tensor of `bound` rows, in padding as wide as the windows, that is a row of the
    tensor behind the others: no window of the tile reaches it.
    """
    if k.math.bounds(cut.count).low >= 1:
        return cut
    missing = k.math.max(k.math.sub(1, cut.count), 0)
    skipped = k.math.min(k.math.add(cut.skipped, k.math.mul(missing, cut.size)), cut.size)
    count = k.math.max(cut.count, 1)
    dropped = k.math.max(k.math.sub(k.math.sub(cut.size, skipped), count), 0)
    return Clip(k.math.min(cut.start, bound - 1), skipped, count, dropped, cut.size)


def _plane_bytes(k: KernelBuilder, op: tile.LoadOp, planes: int) -> int:
    """How far the planes of a slab are apart in device memory."""
    type = gm_type(op.source)
    leading = [d for d, size in enumerate(op.slice_sizes) if math.prod(op.slice_sizes[: d + 1]) <= planes and size > 1]
    if len(leading) > 1:
        raise k.fail("the planes of a slab lie in one dimension of the tensor")
    return row_major(type.sizes)[leading[0]] * type.element_bytes if leading else 0


def _copy_planes(k: KernelBuilder, dst: Place, src: Place, planes: int, plane: int, run: Index) -> None:
    """Copy `planes` runs of `run` blocks, `plane` bytes apart in device memory, one after the other into L1."""
    gap = k.math.sub(plane // BLOCK, run) if planes > 1 else 0
    if planes == 1 or k.math.bounds(gap).high <= most(CopyGmToL1, "src_gap"):
        k.add(
            CopyGmToL1(
                dst=(dst.buffer, dst.offset), src=(src.buffer, src.offset), bursts=planes, length=run, src_gap=gap
            )
        )
        return
    for i in k.positions(planes):
        near = k.math.add(dst.offset, k.math.mul(k.math.mul(i, run), BLOCK))
        away = k.math.add(src.offset, k.math.mul(i, plane))
        k.add(CopyGmToL1(dst=(dst.buffer, near), src=(src.buffer, away), length=run))
