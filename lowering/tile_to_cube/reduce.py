"""`tile.reduce`: along the last axis with vcadd and vcmax, along any other axis by combining halves.

A vcadd reduces every repeat (256 bytes) of its source to one element. Rows of the last axis that are

* one repeat long are reduced by one instruction, all rows together;
* several whole repeats long are first added up to one repeat, all rows together;
* of other lengths are reduced row by row, to one element for each repeat, and these to one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from ge.dialects import tile
from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.instructions.vector import REPEAT
from ge.dialects.cube.spaces import Space
from ge.dialects.tile.compute import ReduceKind
from ge.dialects.tile.types import tile_type
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.elementwise import around, copy, in_ub, result_of, vector
from ge.lowering.tile_to_cube.index_math import Index
from ge.lowering.tile_to_cube.movement import part
from ge.lowering.tile_to_cube.places import UbTile
from ge.lowering.tile_to_cube.strides import CommonAxis, Layout, refine

_COMBINE = {ReduceKind.SUM: "vadd", ReduceKind.MAX: "vmax"}
_REDUCE = {ReduceKind.SUM: "vcadd", ReduceKind.MAX: "vcmax"}


def reduce(k: KernelBuilder, op: tile.ReduceOp) -> None:
    """Lower a reduction along one axis."""
    source = in_ub(k, op.source)
    sizes = tile_type(op.source).sizes
    target = result_of(k, op.result)
    if sizes[op.axis_number] == 1:
        copy(k, target, source)
    elif all(size == 1 for size in sizes[op.axis_number + 1 :]):
        _reduce_rows(k, op, target, source)
    else:
        _combine_halves(k, op, target, source)


def _combine_halves(k: KernelBuilder, op: tile.ReduceOp, target: UbTile, source: UbTile) -> None:
    """N positions along the axis become n/2, and so on; the last of an odd number joins at the end."""
    name, axis = _COMBINE[op.kind.data], op.axis_number
    sizes = list(tile_type(op.source).sizes)
    count = sizes[axis]
    if count > 3:
        sizes[axis] = count // 2
        work = k.alloc_tile(tile_type(op.source).with_shape(*sizes), None, doubled=False)
    else:
        work = target
    odd_ones: list[UbTile] = []
    while count > 1:
        half = count // 2
        if count % 2:
            odd_ones.append(_part(k, source, axis, count - 1, 1))
        dst = target if half == 1 else _part(k, work, axis, 0, half)
        halves = {"src0": _part(k, source, axis, 0, half), "src1": _part(k, source, axis, half, half)}
        vector(k, name, {"dst": dst, **halves}, dtype=target.dtype)
        source, count = work, half
    for odd in odd_ones:
        vector(k, name, {"dst": target, "src0": target, "src1": odd}, dtype=target.dtype)


def _part(k: KernelBuilder, whole: UbTile, axis: int, start: int, size: int) -> UbTile:
    """`size` positions from `start` along one axis."""
    sizes = list(whole.layout.sizes)
    starts: list[Index] = [0] * len(sizes)
    sizes[axis], starts[axis] = size, start
    return part(k, whole, starts, sizes, [1] * len(sizes))


def _reduce_rows(k: KernelBuilder, op: tile.ReduceOp, target: UbTile, source: UbTile) -> None:
    """One element for each row of the last axis that is longer than 1."""
    length = tile_type(op.source).sizes[op.axis_number]
    rows = _rows_of(k, op, target, source)
    repeat = REPEAT // source.element_bytes
    chunks = -(-length // repeat)
    if length == repeat:
        _reduce_together(k, op, target, source)
    elif length % repeat == 0 and rows and chunks <= 2 * rows[0].size:
        _reduce_together(k, op, target, _combine_chunks(k, op, source, chunks))
    else:
        _reduce_one_by_one(k, op, target, source, rows, length)


def _rows_of(k: KernelBuilder, op: tile.ReduceOp, target: UbTile, source: UbTile) -> list[CommonAxis]:
    """The axes along which rows and their results lie; strides are those of the target and of the source."""
    *outer, row = source.layout.dims[: op.axis_number + 1]
    rows = refine([target.layout.axes, Layout(tuple(outer)).axes])
    if rows is None or any(axis.stride != 1 for axis in row) or any(axis.strides[1] % source.lanes for axis in rows):
        raise k.fail(f"a reduction of rows that lie as {source.layout.dims}")
    return rows


def _combine_chunks(k: KernelBuilder, op: tile.ReduceOp, source: UbTile, chunks: int) -> UbTile:
    """Combine all repeats of each row into one."""
    axis = op.axis_number
    repeat = REPEAT // source.element_bytes
    sizes = list(source.layout.sizes)
    sizes[axis] = repeat
    work = k.alloc_tile(tile_type(op.source).with_shape(*sizes), None, doubled=False)
    first = _part(k, source, axis, 0, repeat)
    for chunk in range(1, chunks):
        operands = {"dst": work, "src0": first, "src1": _part(k, source, axis, chunk * repeat, repeat)}
        vector(k, _COMBINE[op.kind.data], operands, dtype=source.dtype)
        first = work
    return work


def _reduce_together(k: KernelBuilder, op: tile.ReduceOp, target: UbTile, source: UbTile) -> None:
    """Rows of exactly one repeat: the repeats of an instruction step along an axis of rows."""
    rows = _rows_of(k, op, target, source)
    repeat = REPEAT // source.element_bytes
    *loops, last = rows or [CommonAxis(1, (1, repeat))]
    instruction = INSTRUCTIONS[_REDUCE[op.kind.data]]

    def emit(offsets: Sequence[Index]) -> None:
        k.add(
            instruction(
                dst=(target.buffer, offsets[0]),
                src=(source.buffer, offsets[1]),
                dtype=source.dtype,
                count=last.size * repeat,
                src_rep=last.strides[1] // source.lanes,
                dst_rep=last.strides[0],
            )
        )

    around(k, loops, [target.offset, source.offset], [source.element_bytes] * 2, emit)


def _reduce_one_by_one(
    k: KernelBuilder, op: tile.ReduceOp, target: UbTile, source: UbTile, rows: Sequence[CommonAxis], length: int
) -> None:
    """Reduce each row to one element per repeat, in its own block or blocks, and these again, until one is left."""
    instruction = INSTRUCTIONS[_REDUCE[op.kind.data]]
    repeat = REPEAT // source.element_bytes
    total = math.prod(axis.size for axis in rows)
    buffer, start = source.buffer, source.offset
    strides = [axis.strides[1] for axis in rows]
    while length > 1:
        partial = -(-length // repeat)
        pitch = -(-partial // source.lanes) * source.lanes
        if partial == 1:
            to, onto, steps = target.buffer, target.offset, [axis.strides[0] for axis in rows]
        else:
            place = k.alloc(Space.UB, total * pitch * source.element_bytes, None, doubled=False)
            inner = [math.prod(axis.size for axis in rows[i + 1 :]) for i in range(len(rows))]
            to, onto, steps = place.buffer, place.offset, [count * pitch for count in inner]
        loops = [CommonAxis(axis.size, (near, far)) for axis, near, far in zip(rows, steps, strides, strict=True)]

        def emit(offsets: Sequence[Index], dst: SSAValue = to, src: SSAValue = buffer, count: int = length) -> None:
            k.add(instruction(dst=(dst, offsets[0]), src=(src, offsets[1]), dtype=source.dtype, count=count))

        around(k, loops, [onto, start], [source.element_bytes] * 2, emit)
        buffer, start, strides, length = to, onto, steps, partial
