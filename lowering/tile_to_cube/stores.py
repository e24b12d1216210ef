"""`tile.store`: from the unified buffer to device memory, without what lies outside the tensor."""

from __future__ import annotations

from ge.dialects import tile
from ge.dialects.cube.instructions.copies import CopyUbToGm
from ge.dialects.cube.instructions.sync import PipeBarrier
from ge.dialects.cube.spaces import BLOCK
from ge.dialects.tile.types import gm_type
from ge.lowering.tile_to_cube.boxes import box, clip_all, memory_place, not_empty
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.elementwise import in_ub
from ge.lowering.tile_to_cube.places import Place
from ge.lowering.tile_to_cube.transfers import move


def store(k: KernelBuilder, op: tile.StoreOp) -> None:
    """Lower one store."""
    source = in_ub(k, op.value)
    clips = clip_all(k, op.offsets, op.slice_sizes, gm_type(op.target).sizes)
    filled = not_empty(k, clips)
    if filled is False:
        return
    layout = source.layout.reshape(op.slice_sizes)
    if _writes_again(op):
        k.add(PipeBarrier(pipe=CopyUbToGm.PIPE))
    with k.when(filled):
        moved = layout and box(k, op.target, layout, clips, to_memory=True)
        if moved is None:
            raise k.fail(f"a store of a tile that lies as {source.layout.dims} to a slice {list(op.slice_sizes)}")
        target = memory_place(k, op.target, clips)
        place = Place(source.buffer, k.math.add(source.offset, moved.offset))
        move(k, CopyUbToGm, target, place, moved.axes, source.element_bytes, overruns=moved.overruns)


def _writes_again(op: tile.StoreOp) -> bool:
    """Whether a store may write again what one before it has: parts of rows that are no whole blocks overlap."""
    type = gm_type(op.target)
    earlier = (use.operation for use in op.target.uses if isinstance(use.operation, tile.StoreOp))
    is_ragged = type.sizes[-1] * type.element_bytes % BLOCK != 0
    return is_ragged and any(each.parent is op.parent and each.is_before_in_block(op) for each in earlier)
