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
    """Combine the second half of the positions along the axis with the first half, in place, until one is left.

    Of an odd number, the position in the middle stays where it is; in the first step, which is not in place, it joins
    at the end.
    """
    axis, sizes = op.axis_number, list(tile_type(op.source).sizes)

    def combine(dst: UbTile, src0: UbTile, src1: UbTile) -> None:
        vector(k, _COMBINE[op.kind.data], {"dst": dst, "src0": src0, "src1": src1}, dtype=target.dtype)

    half, odd = divmod(sizes[axis], 2)
    ends = _part(k, source, axis, 0, half), _part(k, source, axis, half + odd, half)
    if half == 1:
        combine(target, *ends)
    else:
        sizes[axis] = half
        work = k.alloc_tile(tile_type(op.source).with_shape(*sizes), None, doubled=False)
        combine(work, *ends)
        count = half
        while count > 2:
            rest = count - count // 2
            first = _part(k, work, axis, 0, count - rest)
            combine(first, first, _part(k, work, axis, rest, count - rest))
            count = rest
        combine(target, _part(k, work, axis, 0, 1), _part(k, work, axis, 1, 1))
    if odd:
        combine(target, target, _part(k, source, axis, half, 1))


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
