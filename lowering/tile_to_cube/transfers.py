"""Moving boxes of bytes between memories with as few copy instructions as possible.

A copy instruction moves `bursts` runs of `length` blocks, with a gap of whole blocks between runs on either side. A box
of more dimensions, or one with other distances, takes a loop of copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from ge.dialects.cube.fields import Integer
from ge.dialects.cube.instruction import Instruction
from ge.dialects.cube.instructions.copies import Copy
from ge.dialects.cube.instructions.sync import PipeBarrier
from ge.dialects.cube.spaces import BLOCK, Space
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.index_math import Index
from ge.lowering.tile_to_cube.places import Place


@dataclass(frozen=True)
class MoveAxis:
    """`count` positions, `dst` and `src` bytes apart; `in_row` if they are parts of one row of a tensor."""

    count: Index
    dst: int
    src: int
    in_row: bool = False


def move(
    k: KernelBuilder,
    copy: type[Copy],
    dst: Place,
    src: Place,
    axes: Sequence[MoveAxis],
    element: int,
    *,
    overruns: bool = False,
) -> None:
    """Copy a box: `axes` outermost first, around runs of `element` bytes. Runs are rounded up to whole blocks.

    With `overruns`, the last block of a row reaches into the next row of the destination, which must be written later:
    rows go one by one in order, with a barrier before each.
    """
    outer, length = _contiguous_run(k, axes, element)
    burst = _burst_axis(k, copy, [axis for axis in outer if axis.in_row or not overruns], length)
    loops = [axis for axis in outer if axis is not burst]

    def emit(position: int, dst_offset: Index, src_offset: Index) -> None:
        if position < len(loops):
            axis = loops[position]
            for i in k.positions(axis.count):
                emit(
                    position + 1,
                    k.math.add(dst_offset, k.math.mul(i, axis.dst)),
                    k.math.add(src_offset, k.math.mul(i, axis.src)),
                )
            return
        if overruns:
            k.add(PipeBarrier(pipe=copy.PIPE))
        _emit(k, copy, Place(dst.buffer, dst_offset), Place(src.buffer, src_offset), burst, length)

    emit(0, dst.offset, src.offset)


def _contiguous_run(k: KernelBuilder, axes: Sequence[MoveAxis], element: int) -> tuple[list[MoveAxis], Index]:
    """The axes that remain around the longest contiguous run, and its length in blocks."""
    outer = [axis for axis in axes if axis.count != 1]
    run = element
    while outer and outer[-1].dst == outer[-1].src == run:
        count = outer.pop().count
        if isinstance(count, int):
            run *= count
        elif run % BLOCK == 0:
            return outer, k.math.mul(count, run // BLOCK)
        else:
            return outer, k.math.div_up(k.math.mul(count, run), BLOCK)
    return outer, -(-run // BLOCK)


def _burst_axis(k: KernelBuilder, copy: type[Copy], axes: Sequence[MoveAxis], length: Index) -> MoveAxis | None:
    """The axis with most positions that one instruction can step along."""
    limit = most(copy, "bursts")

    lengths = k.math.bounds(length)

    def fits(axis: MoveAxis) -> bool:
        if axis.dst % BLOCK or axis.src % BLOCK:
            return False
        strides = (axis.dst // BLOCK, axis.src // BLOCK)
        if min(strides) < lengths.high or max(strides) - lengths.low > most(copy, "src_gap"):
            return False
        return isinstance(axis.count, int) or k.math.bounds(axis.count).high <= limit

    fitting = [axis for axis in axes if fits(axis)]
    return max(fitting, key=lambda axis: k.math.bounds(axis.count).high, default=None)


def _emit(k: KernelBuilder, copy: type[Copy], dst: Place, src: Place, burst: MoveAxis | None, length: Index) -> None:
    for place, space in zip((src, dst), copy.PATH, strict=True):
        if space is not Space.GM and k.math.divisor(place.offset) % BLOCK:
            raise k.fail(f"a move to or from {space} that starts inside a block")
    if burst is None:
        k.add(copy(dst=(dst.buffer, dst.offset), src=(src.buffer, src.offset), length=length))
        return
    limit = most(copy, "bursts")
    counts = [burst.count]
    if isinstance(burst.count, int) and burst.count > limit:
        counts = [limit] * (burst.count // limit) + [burst.count % limit] * (burst.count % limit > 0)
    for i, count in enumerate(counts):
        k.add(
            copy(
                dst=(dst.buffer, k.math.add(dst.offset, i * limit * burst.dst)),
                src=(src.buffer, k.math.add(src.offset, i * limit * burst.src)),
                bursts=count,
                length=length,
                src_gap=k.math.sub(burst.src // BLOCK, length),
                dst_gap=k.math.sub(burst.dst // BLOCK, length),
            )
        )


def most(instruction: type[Instruction], field: str) -> int:
    """The greatest number that a field of an instruction holds."""
    return next(cast(Integer, f).max for f in instruction.FIELDS if f.name == field)
