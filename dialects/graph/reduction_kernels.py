"""Which reductions the AI Core has kernels for: part of :mod:`ge.dialects.graph.capabilities`.

Whatever the storage format, memory is a row of dimensions, each of which is kept or reduced. Neighbours of the same
fate are one dimension, and those of size 1 do not matter. So a reduction is of [outer, length, inner] to [outer,
inner], and inner = 1 of rows. In a fractal format each run of `inner` elements has whole blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.reduction import ReduceOp
from ge.dialects.graph.row_kernels import FRACTAL_ROW_ELEMENTS
from ge.dialects.graph.row_tiles import NUMBERS_BYTES
from ge.ir.attributes import layout_of
from ge.maths.layouts import C0, ceil_div, storage_axis, storage_shape
from ge.maths.tiling import deal_evenly

LANE_BYTES = 2 * 2 + 3 * 4
"""What one element takes at most: float16 around a transpose; float32 for element, square and sums of halves."""

WIDE_BLOCKS = 8
"""Blocks of a run that a tile has together before it is cut along what is combined: transfers of 256 bytes."""


def reduce_obstacle(op: ReduceOp) -> str | None:
    """Why a reduction has no kernel; None if it has one."""
    if all(shape_of(op.x)[axis] == 1 for axis in op.axes.get_values()):
        return "it combines nothing: it is a reshape"
    return None if reduced_runs(op, "ND") else "dimensions that stay are between those that are reduced"


def reduce_formats(op: ReduceOp) -> Sequence[tuple[str, str]]:
    """The formats of operand and result that kernels take, best first."""
    ranks = {"ND": True, "FRACTAL_NZ": len(shape_of(op.x)) >= 2, "NC1HWC0": len(shape_of(op.x)) == 4}
    alike = [(format, format) for format, fits in ranks.items() if fits and reduced_runs(op, format)]
    return [*alike, ("FRACTAL_NZ", "ND")] if _rows_in_fractals(op) else alike


def _rows_in_fractals(op: ReduceOp) -> bool:
    """Whether rows lie in FRACTAL_NZ so that a kernel may add them up: in whole blocks, of which 16 rows fit."""
    *leading, length = shape_of(op.x)
    is_last = bool(leading) and op.axes.get_values() == (len(leading),)
    return is_last and length % C0 == 0 and length <= FRACTAL_ROW_ELEMENTS


def reduced_runs(op: ReduceOp, format: str) -> tuple[int, int, int] | None:
    """A reduction in memory, with the operand stored in `format`: the sizes of [outer, length, inner].

    None where elements within blocks are combined, and where dimensions that stay are between those that are reduced.
    """
    shape = shape_of(op.x)
    axes = {storage_axis(format, len(shape), axis) for axis in op.axes.get_values()}
    if None in axes:
        return None
    dims = [(axis in axes, size) for axis, size in enumerate(storage_shape(format, shape)) if size != 1]
    runs = [(is_reduced, math.prod(size for _, size in run)) for is_reduced, run in groupby(dims, lambda dim: dim[0])]
    place = next((place for place, (is_reduced, _) in enumerate(runs) if is_reduced), None)
    if place is None or sum(is_reduced for is_reduced, _ in runs) > 1:
        return None
    outer, length, inner = (1, *(size for _, size in runs), 1)[place : place + 3]
    return outer, length, inner


@dataclass(frozen=True)
class ReduceTiles:
    """How much of [outer, length, inner] a kernel has on the chip at once.

    What does not fit comes in parts, which change the order in which sums are taken: a fusion has the parts that its
    reduction alone would have, so that it changes no bit.
    """

    outer: int
    length: int
    inner: int
    fractal: bool
    """Whether rows are summed up in FRACTAL_NZ, 16 or a multiple at once."""
    part: int
    """Of `length`, what is there at once; the last part may be shorter."""

    @classmethod
    def of(cls, op: ReduceOp, ub: int) -> ReduceTiles | None:
        """Those of a reduction with its formats, and a unified buffer of `ub` bytes; None if it has no kernel."""
        format = layout_of(op.x.type)
        runs = reduced_runs(op, format)
        if runs is None:
            *leading, length = shape_of(op.x)
            is_rows = format == "FRACTAL_NZ" and _rows_in_fractals(op)
            return cls(math.prod(leading), length, 1, True, length) if is_rows else None
        outer, length, inner = runs
        blocks = room_for_elements(ub) // 2 // C0
        if inner > 1:
            most = blocks // min(ceil_div(inner, C0), WIDE_BLOCKS)
            return cls(*runs, False, deal_evenly(length, most, 1).size)
        lanes = C0 if outer > 1 else 1
        return cls(*runs, False, C0 * deal_evenly(ceil_div(length, C0), blocks // lanes, 1).size)

    @property
    def smallest(self) -> int:
        """The elements of the smallest tile: a part of one block of runs, of 16 rows, or of one row."""
        return self.part * (C0 if self.inner > 1 or self.outer > 1 else 1)


def room_for_elements(ub: int, lane_bytes: int = LANE_BYTES) -> int:
    """The elements that a unified buffer of `ub` bytes holds, of which each takes so many bytes on its way."""
    return (ub - NUMBERS_BYTES) // lane_bytes
