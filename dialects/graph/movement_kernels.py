"""Which movements of elements the AI Core has kernels for: part of :mod:`ge.dialects.graph.capabilities`.

Kernels copy boxes of whole blocks, put channels together in the lanes of blocks, and transpose matrices.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.movement import ConcatOp, GatherChannelsOp, SliceOp, TransDataOp, TransposeOp
from ge.dialects.graph.shapes import Shape
from ge.ir.attributes import block_lanes, layout_of
from ge.maths.layouts import C0, ND_FORMATS

MAX_LANE_RUNS = 1024
"""Runs of channels that a kernel puts together in blocks of 16, other than whole blocks: each is code of its own."""


def concat_obstacle(op: ConcatOp) -> str | None:
    """Why a concatenation has no kernel; None if it has one."""
    if joins_channels(op):
        return _mixture(op.xs, range(shape_of(op.y)[1]))
    return None if concat_formats(op) else _no_box(shape_of(op.y), op.axis.value.data % len(shape_of(op.y)))


def joins_channels(op: ConcatOp) -> bool:
    """Whether a concatenation is one of the channels of feature maps."""
    return len(shape_of(op.y)) == 4 and op.axis.value.data % 4 == 1


def concat_formats(op: ConcatOp) -> Sequence[str]:
    """The formats in which the parts of a concatenation, other than of channels, are boxes of whole blocks."""
    axis = op.axis.value.data % len(shape_of(op.y))
    return _box_formats(shape_of(op.y), axis, list(accumulate(shape_of(x)[axis] for x in op.xs)))


def slice_obstacle(op: SliceOp) -> str | None:
    """Why a slice has no kernel; None if it has one."""
    return None if slice_formats(op) else _no_box(shape_of(op.x), op.axis.value.data)


def slice_formats(op: SliceOp) -> Sequence[str]:
    """The formats in which a slice is a box of whole blocks."""
    start = op.start.value.data
    return _box_formats(shape_of(op.x), op.axis.value.data, [start, start + op.size.value.data])


def _box_formats(shape: Shape, axis: int, cuts: Sequence[int]) -> Sequence[str]:
    """The formats in which a tensor that is cut along `axis` falls into boxes of whole blocks, which kernels copy."""
    inner = math.prod(shape[axis + 1 :])
    formats = ["ND"] if all(cut * inner % C0 == 0 for cut in (*cuts, shape[axis])) else []
    if len(shape) >= 2 and (axis < len(shape) - 1 or all(cut % C0 == 0 or cut == shape[axis] for cut in cuts)):
        formats.append("FRACTAL_NZ")
    return formats


def _no_box(shape: Shape, axis: int) -> str:
    return f"{math.prod(shape[axis + 1 :])} elements after axis {axis} do not fill blocks, nor do its parts"


def gather_obstacle(op: GatherChannelsOp) -> str | None:
    """Why a choice of channels has no kernel; None if it has one."""
    if len(shape_of(op.y)) != 4:
        return "it does not gather channels of feature maps"
    return _mixture(op.xs, op.indices.get_values())


def _mixture(xs: Sequence[SSAValue], indices: Sequence[int]) -> str | None:
    """Whether a choice of the channels of `xs`, laid end to end, is too scattered for a kernel."""
    sizes = [shape_of(x)[1] for x in xs]
    ends = list(accumulate(sizes))
    sources = [bisect_right(ends, index) for index in indices]
    places = [(source, index - ends[source] + sizes[source]) for source, index in zip(sources, indices, strict=True)]
    runs = 0
    for start in range(0, len(places), C0):
        block = places[start : start + C0]
        breaks = sum((source, channel + 1) != after for (source, channel), after in pairwise(block))
        runs += breaks + 1 if breaks or block[0][1] % C0 else 0
    return None if runs <= MAX_LANE_RUNS else f"channels from {runs} places are more than {MAX_LANE_RUNS}"


def joined_axes(shape: Shape, perm: Sequence[int]) -> tuple[Shape, tuple[int, ...]]:
    """A transposition with dimensions that stay together as one, and without those of size 1."""
    order = [axis for axis in perm if shape[axis] != 1]
    runs: list[list[int]] = []
    for axis in order:
        before = range(runs[-1][-1] + 1, axis) if runs else range(0)
        if runs and runs[-1][-1] < axis and all(shape[between] == 1 for between in before):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    in_order = sorted(runs)
    sizes = tuple(math.prod(shape[axis] for axis in run) for run in in_order)
    return sizes or (1,), tuple(in_order.index(run) for run in runs) or (0,)


def transpose_obstacle(op: TransposeOp) -> str | None:
    """Why a transposition has no kernel; None if it has one."""
    return transposition_obstacle(shape_of(op.x), op.perm.get_values())


def transposition_obstacle(shape: Shape, perm: Sequence[int]) -> str | None:
    """Why a tensor of a plain format has no kernel that transposes it; None if it has one."""
    shape, perm = joined_axes(shape, perm)
    if len(perm) == 1:
        return "it moves nothing: it is a reshape"
    if perm[-1] == len(perm) - 1 and shape[-1] % C0 == 0:
        return None
    if perm in ((1, 0), (0, 2, 1)):
        return None
    return "it moves elements of rows in another way than by transposing matrices"


def keeps_bytes(op: TransDataOp) -> bool:
    """Whether both storage formats hold the same bytes: one position or one row, and no pad lanes."""
    if tensor(op.x).element_type != tensor(op.y).element_type:
        return False
    shape, formats = shape_of(op.x), {layout_of(op.x.type), layout_of(op.y.type)} - ND_FORMATS
    lanes = block_lanes(tensor(op.x))
    if formats == {"NC1HWC0"}:
        return shape[2:] == (1, 1) and shape[1] % lanes == 0
    if formats == {"FRACTAL_NZ"}:
        return shape[-1] % lanes == 0 and (shape[-2] == 1 or shape[-1] == lanes)
    return not formats
