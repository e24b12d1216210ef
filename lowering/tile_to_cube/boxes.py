"""Slices of tensors in device memory: the part inside the tensor, and the axes along which it is moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ge.dialects.cube.spaces import BLOCK
from ge.dialects.tile.types import gm_type
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.index_math import Index, Truth
from ge.lowering.tile_to_cube.places import Place
from ge.lowering.tile_to_cube.strides import Axis, Layout
from ge.lowering.tile_to_cube.transfers import MoveAxis


@dataclass(frozen=True)
class Clip:
    """A dimension of a slice, clipped to the tensor.

    Of its `size` positions, `skipped` lie before the tensor and `dropped` after; `count` are inside, from `start`.
    """

    start: Index
    skipped: Index
    count: Index
    dropped: Index
    size: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be outside."""
        return isinstance(self.count, int) and self.count == self.size


def clip(k: KernelBuilder, offset: Index, size: int, bound: int) -> Clip:
    """The positions `offset` to `offset + size`, clipped to a dimension of size `bound`."""
    inside = k.math.bounds(offset)
    before = 0 if inside.low >= 0 else k.math.max(k.math.sub(0, offset), 0)
    after = 0 if inside.high <= bound - size else k.math.max(k.math.add(offset, size - bound), 0)
    count = k.math.sub(k.math.sub(size, before), after)
    return Clip(k.math.add(offset, before), before, count, after, size)


def clip_all(k: KernelBuilder, offsets: Sequence[Index], sizes: Sequence[int], bounds: Sequence[int]) -> list[Clip]:
    """The clip of each dimension of a slice."""
    return [clip(k, k.index(o), size, bound) for o, size, bound in zip(offsets, sizes, bounds, strict=True)]


def not_empty(k: KernelBuilder, clips: Sequence[Clip]) -> Truth:
    """Whether a clipped slice has anything in it."""
    result: Truth = True
    for clipped in clips:
        if not clipped.is_whole:
            result = k.math.both(result, k.math.less(0, clipped.count))
    return result


def has_gap(k: KernelBuilder, clips: Sequence[Clip]) -> Truth:
    """Whether some of a clipped slice is outside."""
    result: Truth = False
    for clipped in clips:
        result = k.math.either(result, k.math.less(clipped.count, clipped.size))
    return result


def row_major(sizes: Sequence[int]) -> list[int]:
    """The stride of each dimension of a tensor, in elements."""
    return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]


def memory_place(k: KernelBuilder, memory: SSAValue, clips: Sequence[Clip]) -> Place:
    """Where a clipped slice of a tensor in device memory starts."""
    type = gm_type(memory)
    strides = row_major(type.sizes)
    terms = [k.math.mul(c.start, stride * type.element_bytes) for c, stride in zip(clips, strides, strict=True)]
    return Place(k.memories[memory], k.math.sum(*terms))


@dataclass(frozen=True)
class Box:
    """A clipped slice and the tile that it is moved to or from.

    It starts `offset` bytes into the tile; `axes` have the strides of both sides. With `overruns`, the last block of a
    row holds more than the row.
    """

    offset: Index
    axes: tuple[MoveAxis, ...]
    overruns: bool


def box(k: KernelBuilder, memory: SSAValue, layout: Layout, clips: Sequence[Clip], *, to_memory: bool) -> Box | None:
    """The box of a slice of `memory` and a tile with the same dimensions that lies as `layout` says.

    None when a clipped dimension of the tile is not regular.
    """
    type = gm_type(memory)
    element = type.element_bytes
    moves: list[MoveAxis] = []
    offsets: list[Index] = []
    for axes, clipped, stride in zip(layout.dims, clips, row_major(type.sizes), strict=True):
        joined = Layout((axes,)).axes
        kept = list(joined) if clipped.is_whole else _clip_axes(k, joined, clipped, element)
        if kept is None:
            return None
        if joined:
            offsets.append(k.math.mul(clipped.skipped, joined[-1].stride * element))
        inner = stride * element
        dimension: list[MoveAxis] = []
        for count, on_chip in reversed(kept):
            sides = (inner, on_chip * element) if to_memory else (on_chip * element, inner)
            dimension.append(MoveAxis(count, *sides, in_row=stride == 1))
            inner *= count if isinstance(count, int) else 1
        moves += reversed(dimension)
    overruns = k.math.divisor(clips[-1].count) * element % BLOCK != 0
    return Box(k.math.sum(*offsets), tuple(moves), overruns)


def _clip_axes(
    k: KernelBuilder, axes: Sequence[Axis], clipped: Clip, element: int
) -> Sequence[tuple[Index, int]] | None:
    """The axes of a dimension of which only `clipped.count` positions are moved: one axis, or blocks along one."""
    if not axes:
        return []
    if len(axes) == 1:
        return [(clipped.count, axes[0].stride)]
    *outer, inner = axes
    if len(outer) > 1 or inner.size * element != BLOCK or clipped.skipped != 0:
        return None
    return [(k.math.div_up(clipped.count, inner.size), outer[0].stride), inner]
