"""`tile.store`: from the unified buffer to device memory, without what lies outside the tensor."""

from __future__ import annotations

from ge.dialects import tile
from ge.dialects.cube.instructions.copies import CopyUbToGm
from ge.dialects.tile.types import gm_type
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.elementwise import in_ub
from ge.lowering.tile_to_cube.loads import box, clip, memory_place, not_empty, row_major
from ge.lowering.tile_to_cube.places import Place
from ge.lowering.tile_to_cube.transfers import move


def store(k: KernelBuilder, op: tile.StoreOp) -> None:
    """Lower one store."""
    source = in_ub(k, op.value)
    bounds = gm_type(op.target).sizes
    clips = [
        clip(k, k.index(offset), size, bound)
        for offset, size, bound in zip(op.offsets, op.slice_sizes, bounds, strict=True)
    ]
    filled = not_empty(k, clips)
    if filled is False:
        return
    layout = source.layout.reshape(op.slice_sizes)
    with k.when(filled):
        shape = layout and box(k, layout, clips, row_major(bounds), source.element_bytes, to_memory=True)
        if shape is None:
            raise k.fail(f"a store of a tile that lies as {source.layout.dims} to a slice {list(op.slice_sizes)}")
        offset, axes = shape
        target = memory_place(k, op.target, clips, source.element_bytes)
        place = Place(source.buffer, k.math.add(source.offset, offset))
        move(k, CopyUbToGm, target, place, axes, source.element_bytes)
