"""The cube unit: im2col into L0A, weights into L0B, products into accumulators in L0C.

| tile operation | instructions |
|---|---|
| `tile.im2col` of a slab | one load3d; the position and the K block may be run-time values |
| operand of a matmul | FRACTAL_Z: load2d, the fractals lie as L0B wants them; FRACTAL_NZ: load3d, 1 x 1 kernel |
| the same of 8 bits | load3d_b8, load2d_b8; FRACTAL_Z only |
| `tile.matmul` | mmad, or mmad_b8, onto the accumulator it adds to; the first one onto zeros starts from zero instead |
| accumulator from a broadcast bias | broadcast_ub_to_l0c |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge.dialects import tile
from ge.dialects.cube.instructions.copies import CopyUbToL1
from ge.dialects.cube.instructions.loads import Load2d, Load2dB8, Load3d, Load3dB8
from ge.dialects.cube.instructions.matrix import BroadcastUbToL0c, Mmad, MmadB8
from ge.dialects.cube.instructions.vector import BYTES
from ge.dialects.cube.spaces import BLOCK, FRACTAL_F16, LANES, Space
from ge.dialects.tile.types import tile_type
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.elementwise import around, fill, in_ub
from ge.lowering.tile_to_cube.index_math import Index
from ge.lowering.tile_to_cube.places import (
    Accumulator,
    L1Tile,
    LeftTile,
    Place,
    RightTile,
    Slab,
    Splat,
    UbTile,
    dtype_of,
    is_slab,
    needed,
)
from ge.lowering.tile_to_cube.strides import Layout, refine
from ge.lowering.tile_to_cube.transfers import MoveAxis, most, move


def im2col(k: KernelBuilder, op: tile.Im2colOp) -> None:
    """Load a piece of the im2col matrix of a slab into L0A."""
    slab = k.get(op.slab, Slab)
    blocks, positions, lanes = tile_type(op.result).sizes
    place = k.alloc(Space.L0A, blocks * positions * BLOCK, op.result.name_hint or "a")
    kernel_h, kernel_w = op.kernel.iter_values()
    stride_h, stride_w = op.strides.iter_values()
    dilation_h, dilation_w = op.dilations.iter_values()
    pad_left, pad_right = op.pads.iter_values()
    if slab.width != tile_type(op.slab).sizes[2] and (kernel_h, kernel_w, stride_w) != (1, 1, 1):
        raise k.fail("a slab of which columns are outside of the tensor has a 1 x 1 kernel")
    instruction, padding = Load3d, {}
    if tile_type(op.slab).element_bytes == 1:
        if slab.fill != op.pad_value and (slab.pad_top != 0 or slab.pad_bottom != 0):
            raise k.fail(f"rows outside of a slab read as {slab.fill}, columns as {op.pad_value}")
        instruction, padding = Load3dB8, {"pad_value": op.pad_value % 256}
    k.add(
        instruction(
            dst=(place.buffer, place.offset),
            src=(slab.buffer, slab.offset),
            height=slab.height,
            width=slab.width,
            channels=slab.planes * lanes,
            k_start=k.math.mul(k.index(op.k_block), lanes),
            k_extent=blocks * lanes,
            m_start=k.index(op.position),
            m_extent=positions,
            stride_h=stride_h,
            stride_w=stride_w,
            kernel_h=kernel_h,
            kernel_w=kernel_w,
            dilation_h=dilation_h,
            dilation_w=dilation_w,
            pad_top=slab.pad_top,
            pad_bottom=slab.pad_bottom,
            pad_left=pad_left,
            pad_right=pad_right,
            **padding,
        )
    )
    k.put(op.result, LeftTile(place.buffer, place.offset))


def bring_operands(k: KernelBuilder, value: SSAValue) -> None:
    """Bring a tile to where the cube unit wants it: from the unified buffer into L1, from there into L0A and L0B."""
    wanted = needed(value)
    if k.find(value, LeftTile) is not None:
        return
    if not wanted & {Space.L1, Space.L0A, Space.L0B}:
        return
    if k.find(value, L1Tile) is None and k.find(value, Slab) is None:
        _bring_to_l1(k, value)
    for space in (Space.L0A, Space.L0B):
        if space in wanted:
            _bring_to_l0(k, value, space)


def _bring_to_l1(k: KernelBuilder, value: SSAValue) -> None:
    """Copy a computed tile from the unified buffer into L1."""
    type = tile_type(value)
    source = in_ub(k, value)
    place = k.alloc(Space.L1, type.nbytes, value.name_hint)
    axes = refine([Layout.dense(type.sizes).axes, source.layout.axes])
    size = source.element_bytes
    if axes is None or size > 2:
        raise k.fail(f"an operand of the cube unit of type {type}")
    moved = [MoveAxis(axis.size, axis.strides[0] * size, axis.strides[1] * size) for axis in axes]
    move(k, CopyUbToL1, place, source, moved, size)
    if is_slab(value):
        planes, rows, width, _ = type.sizes
        k.put(value, Slab(place.buffer, place.offset, planes, rows, width, 0, 0))
    else:
        k.put(value, L1Tile(place.buffer, place.offset, Layout.dense(type.sizes), source.dtype, type.sizes[1]))


def _bring_to_l0(k: KernelBuilder, value: SSAValue, space: Space) -> None:
    type = tile_type(value)
    source = k.get(value, L1Tile)
    place = k.alloc(space, type.nbytes, value.name_hint or space.value[-1])
    if type.rank == 4:
        _load_fractals(k, place, source, type.element_count)
    else:
        _load_columns(k, place, source, type.sizes)
    kind = LeftTile if space is Space.L0A else RightTile
    k.put(value, kind(place.buffer, place.offset))


def _load_fractals(k: KernelBuilder, target: Place, source: L1Tile, elements: int) -> None:
    """FRACTAL_Z: K1 x N1 fractals, one after the other in L0B."""
    axes = refine([Layout.dense([elements]).axes, source.layout.axes])
    size = BYTES[source.dtype]
    fractal = FRACTAL_F16 // size
    if not axes or axes[-1].strides != (1, 1) or axes[-1].size % fractal:
        raise k.fail(f"weights that are not whole fractals: {source.layout.axes}")
    *loops, run = axes
    repeat, apart = run.size // fractal, 1
    if repeat == 1 and loops:
        last = loops.pop()
        repeat, apart = last.size, last.strides[1] // fractal
    instruction = Load2d if size == 2 else Load2dB8
    limit = most(instruction, "repeat")

    def emit(offsets: Sequence[Index]) -> None:
        for first in range(0, repeat, limit):
            dst = k.math.add(offsets[0], first * FRACTAL_F16)
            src = k.math.add(offsets[1], first * apart * FRACTAL_F16)
            count = min(limit, repeat - first)
            k.add(instruction(dst=(target.buffer, dst), src=(source.buffer, src), repeat=count, src_stride=apart))

    around(k, loops, [target.offset, source.offset], [size, size], emit)


def _load_columns(k: KernelBuilder, target: Place, source: L1Tile, sizes: tuple[int, ...]) -> None:
    """FRACTAL_NZ: column blocks x rows x 16 is a feature map of one image row, of which a 1 x 1 kernel reads all."""
    columns, rows, lanes = sizes
    expected = Layout.dense((columns, source.rows, lanes)).slice([0, 0, 0], sizes, [1, 1, 1])
    if expected is None or source.layout != expected.layout:
        raise k.fail(f"an operand of a matmul that does not lie in blocks of {lanes} columns: {source.layout.dims}")
    k.add(
        Load3d(
            dst=(target.buffer, target.offset),
            src=(source.buffer, source.offset),
            height=1,
            width=source.rows,
            channels=columns * lanes,
            k_extent=columns * lanes,
            m_start=source.row,
            m_extent=rows,
        )
    )


def matmul(k: KernelBuilder, op: tile.MatmulOp) -> None:
    """Add a product to an accumulator, in place."""
    accumulator = accumulate_on(k, op.acc)
    left, right = k.get(op.a, LeftTile), k.get(op.b, RightTile)
    k1, rows, lanes = tile_type(op.a).sizes
    dtype = dtype_of(tile_type(op.a))
    instruction, kind = (Mmad, {}) if dtype == "f16" else (MmadB8, {"left": dtype})
    k.add(
        instruction(
            dst=(accumulator.buffer, accumulator.offset),
            a=(left.buffer, left.offset),
            b=(right.buffer, right.offset),
            m=rows,
            k=k1 * lanes,
            n=accumulator.sizes[0] * LANES,
            init=accumulator.empty,
            **kind,
        )
    )
    k.put(op.result, replace(accumulator, empty=False))


def accumulate_on(k: KernelBuilder, value: SSAValue) -> Accumulator:
    """The accumulator that holds a tile; a constant or a broadcast gets a new one."""
    found = k.find(value, Accumulator)
    if found is not None:
        return found
    sizes = tile_type(value).sizes
    place = k.alloc(Space.L0C, math.prod(sizes) * 4, "acc")
    accumulator = Accumulator(place.buffer, place.offset, sizes, dtype_of(tile_type(value)), empty=True)
    splat = k.find(value, Splat)
    if splat is None:
        return _spread(k, accumulator, in_ub(k, value))
    if splat.value != 0 and accumulator.dtype != "f32":
        raise k.fail("an accumulator of integers starts from zero, or from a row")
    return accumulator if splat.value == 0 else fill_accumulator(k, accumulator, splat.value)


def fill_accumulator(k: KernelBuilder, accumulator: Accumulator, value: float = 0.0) -> Accumulator:
    """Write a number to every element of an accumulator; zero for integers, which has the bits of that of float32."""
    rows = k.alloc_tile(tile.TileType([accumulator.sizes[0], 1, LANES], f32), None, doubled=False)
    fill(k, rows, value)
    return _spread(k, accumulator, rows.with_layout(rows.layout.broadcast(accumulator.sizes)))


def _spread(k: KernelBuilder, accumulator: Accumulator, rows: UbTile) -> Accumulator:
    """Set each row of an accumulator to the same lanes, one set of 16 for each column block."""
    columns, positions, lanes = accumulator.sizes
    expected = Layout.dense([columns, 1, lanes]).broadcast(accumulator.sizes)
    if rows.layout != expected or positions % lanes:
        raise k.fail("an accumulator starts from zero, or from one row repeated for all positions")
    k.add(
        BroadcastUbToL0c(
            dst=(accumulator.buffer, accumulator.offset),
            src=(rows.buffer, rows.offset),
            n1=columns,
            m1=positions // lanes,
        )
    )
    return replace(accumulator, empty=False)
