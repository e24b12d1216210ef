"""`graph.pool2d` to a tile kernel, on feature maps in NC1HWC0.

Two kernels:

1. *Windows*: a tile is a few channel blocks x a few output rows. The input rows under it are loaded with the padding as
   fill; windows are reduced first along columns of rows, then along rows: kh + kw steps in place of kh · kw.
2. *Whole planes* (global pooling): positions are reduced as one axis.

Averages are summed in float32 and multiplied by 1 / count. Where a window counts differently at the border, the count
is the product of one for its row and one for its column, and both reciprocals are small constants.

Maxima of 8-bit integers are taken in float16, which holds them exactly, on blocks of 32 lanes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import f16, f32, i8
from xdsl.ir import SSAValue

from ge.dialects.graph import ConstantOp, Pool2DOp, PoolKind
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.constants import constant
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import gm_type
from ge.ir.attributes import ui8
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel, storage_of
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly

LOWEST = -65504.0
"""The lowest finite float16."""

F16_BLOCK, F32_BLOCK = 32, 64
"""Bytes of 16 lanes."""


def lower_pool2d(op: Pool2DOp, target: Target) -> Outlined:
    """The kernel of a pooling."""
    if max(op.dilations.get_values()) > 1:
        raise no_kernel(op, "the window is dilated")
    _, _, height, width = shape_of(op.x)
    is_global = op.kernel.get_values() == (height, width) and not any(op.pads.get_values())
    kernel, constants = _whole_planes(op, target) if is_global else _windows(op, target)
    top, left, bottom, right = op.pads.get_values()
    shown = attributes(
        ksize=(1, 1, *op.kernel.get_values()),
        strides=(1, 1, *op.strides.get_values()),
        padding_mode="CALCULATED",
        pads=(top, bottom, left, right),
        data_format="NCHW",
        global_pooling=is_global,
        ceil_mode=op.ceil_mode is not None,
    )
    inputs = [op.x, *(constant.y for constant in constants)]
    if _is_max(op):
        return Outlined(kernel.kernel, inputs, "MaxPoolV3", shown)
    shown |= attributes(exclusive=op.count_include_pad is None)
    return Outlined(kernel.kernel, inputs, "AvgPoolV2", shown, constants)


def _lowest(op: Pool2DOp) -> float:
    """What padding reads as under a maximum."""
    element = tensor(op.x).element_type
    return -128.0 if element == i8 else 0.0 if element == ui8 else LOWEST


def _widening(op: Pool2DOp) -> int:
    """How much more a block takes: of 8 bits, twice as many lanes in float16, and what is loaded and stored."""
    return 1 if storage_of(op.x)[-1] == C0 else 3


def _is_max(op: Pool2DOp) -> bool:
    return op.kind.data is PoolKind.MAX


# Whole planes


def _whole_planes(op: Pool2DOp, target: Target) -> tuple[KernelBuilder, list[ConstantOp]]:
    """Global pooling: tiles of channel blocks, each with all its positions if they fit, otherwise in parts."""
    n, c1, height, width, lanes = storage_of(op.x)
    planes, positions = n * c1, height * width
    fitting = target.ub // 2 // ((F16_BLOCK if _is_max(op) else F16_BLOCK + 2 * F32_BLOCK) * _widening(op))
    part = deal_evenly(positions, fitting, 1)
    deal = deal_evenly(planes, fitting // part.size if part.parts == 1 else 1, target.cores)
    b = KernelBuilder(
        f"{op.kind.data}_pool",
        [memory_type(op.x, (planes, positions, lanes))],
        [memory_type(op.y, (planes, lanes))],
        deal.cores,
    )
    element, fill = (f16, _lowest(op)) if _is_max(op) else (f32, 0.0)
    kind = "max" if _is_max(op) else "sum"
    with b.deal(deal.parts, target.stages) as number:
        plane = b.times(number, deal.size)
        shape = (deal.size, 1, lanes)
        start = [b.constant(fill, shape, element)] if part.parts > 1 else []
        with b.loop(0, positions, part.size, start, target.stages) as turn:
            inside = planes % deal.size == 0 and positions % part.size == 0
            sizes = (deal.size, part.size, lanes)
            x = b.load(b.inputs[0], (plane, turn.counter, 0), sizes, None if inside else fill)
            reduced = b.reduce(kind, b.cast(x, element), 1)
            combined = b.binary("max" if _is_max(op) else "add", turn.carried[0], reduced) if start else reduced
            turn.results = [combined]
        y = turn.results[0] if _is_max(op) else b.cast(b.scalar("muls", turn.results[0], 1 / positions), f16)
        y = b.cast(b.reshape(y, (deal.size, lanes)), tensor(op.y).element_type)
        b.store(y, b.outputs[0], (plane, 0), (deal.size, lanes))
    return b, []


# Windows


@dataclass(frozen=True)
class WindowTile:
    """The sizes of a tile: channel blocks, output rows and columns, and the input rows and columns under them."""

    planes: int
    rows: int
    columns: int
    in_rows: int
    in_columns: int
    lanes: int

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of the result."""
        return (self.planes, self.rows, self.columns, self.lanes)


def _tile_bytes(op: Pool2DOp, tile: WindowTile) -> int:
    """What a tile takes in the unified buffer: its input, what one reduction reads and writes, its result."""
    taken = tile.in_rows * tile.in_columns * F16_BLOCK + tile.rows * tile.columns * F16_BLOCK
    block = F16_BLOCK if _is_max(op) else F32_BLOCK
    taken += tile.rows * (2 * tile.in_columns + 2 * tile.columns) * block
    return tile.planes * taken * _widening(op)


def _window_tile(op: Pool2DOp, planes: int, rows: int, columns: int) -> WindowTile:
    """The tile of so many channel blocks, output rows and output columns."""
    (kh, kw), (sh, sw) = op.kernel.get_values(), op.strides.get_values()
    return WindowTile(planes, rows, columns, (rows - 1) * sh + kh, (columns - 1) * sw + kw, storage_of(op.x)[-1])


def _choose_tile(op: Pool2DOp, target: Target) -> tuple[WindowTile, int]:
    """The largest tile of which two fit (or one, if not two do), and the stages that leaves.

    Tiles are whole rows as long as one fits, then parts of a row.
    """
    n, c1, height, width, _ = storage_of(op.y)
    for stages in (2, 1) if target.double_buffer else (1,):
        room = target.ub // stages

        def fits(rows: int, columns: int, room: int = room) -> bool:
            return _tile_bytes(op, _window_tile(op, 1, rows, columns)) <= room

        widest = bisect_right(range(1, width + 1), False, key=lambda size: not fits(1, size))
        if not widest:
            continue
        columns = ceil_div(width, ceil_div(width, widest))  # of equal parts, as few as possible
        most = bisect_right(range(1, height + 1), False, key=lambda rows: not fits(rows, columns))
        rows = deal_evenly(height, most, max(1, target.cores // (n * c1))).size
        whole = rows == height and columns == width
        planes = room // _tile_bytes(op, _window_tile(op, 1, rows, columns)) if whole else 1
        return _window_tile(op, deal_evenly(c1, planes, max(1, target.cores // n)).size, rows, columns), stages
    raise no_kernel(op, "one window does not fit into the unified buffer")


def _windows(op: Pool2DOp, target: Target) -> tuple[KernelBuilder, list[ConstantOp]]:
    """Pooling over windows; see the module docstring."""
    n, c1, out_height, out_width, _ = storage_of(op.y)
    tile, stages = _choose_tile(op, target)
    reciprocals = [] if _is_max(op) else _reciprocals(op)
    tiles = (n, ceil_div(c1, tile.planes), ceil_div(out_height, tile.rows), ceil_div(out_width, tile.columns))
    b = KernelBuilder(
        f"{op.kind.data}_pool",
        [memory_type(op.x), *(memory_type(constant.y) for constant in reciprocals)],
        [memory_type(op.y)],
        min(target.cores, math.prod(tiles)),
    )
    b.name_arguments("x", *(["per_row", "per_column"] if reciprocals else []), "y")
    (sh, sw), (top, left, _, _) = op.strides.get_values(), op.pads.get_values()
    fill = None if _is_inside(op, tile, tiles) else _lowest(op) if _is_max(op) else 0.0
    with b.deal(math.prod(tiles), stages) as number:
        image, plane, row, column = b.split(number, *tiles)
        plane, row, column = b.times(plane, tile.planes), b.times(row, tile.rows), b.times(column, tile.columns)
        corner = (b.minus(b.times(row, sh), top), b.minus(b.times(column, sw), left))
        sizes = (1, tile.planes, tile.in_rows, tile.in_columns, tile.lanes)
        x = b.load(b.inputs[0], (image, plane, *corner, 0), sizes, fill, shape=sizes[1:])
        y = _reduce_windows(b, op, b.cast(x, f16), tile)
        if reciprocals:
            per_row = _load_counts(b, b.inputs[1], row, tile.rows, (1, tile.rows, 1, C0))
            per_column = _load_counts(b, b.inputs[2], column, tile.columns, (1, 1, tile.columns, C0))
            y = b.binary("mul", b.binary("mul", y, per_column), per_row)
        elif not _is_max(op):
            y = b.scalar("muls", y, 1 / math.prod(op.kernel.get_values()))
        y = b.cast(b.cast(y, f16), tensor(op.y).element_type)
        b.store(y, b.outputs[0], (image, plane, row, column, 0), (1, *tile.shape))
    return b, reciprocals


def _is_inside(op: Pool2DOp, tile: WindowTile, tiles: tuple[int, int, int, int]) -> bool:
    """Whether the input of every tile lies inside the feature map."""
    _, c1, height, width, _ = storage_of(op.x)
    (sh, sw), (top, left, _, _) = op.strides.get_values(), op.pads.get_values()
    last_row, last_column = (tiles[2] - 1) * tile.rows * sh, (tiles[3] - 1) * tile.columns * sw
    fits = last_row + tile.in_rows <= height and last_column + tile.in_columns <= width
    return top == left == 0 and c1 % tile.planes == 0 and fits


def _reduce_windows(b: KernelBuilder, op: Pool2DOp, x: SSAValue, tile: WindowTile) -> SSAValue:
    """Reduce the windows of loaded rows, first over their rows, then over their columns."""
    (kh, kw), (sh, sw) = op.kernel.get_values(), op.strides.get_values()
    shape = (tile.planes, tile.rows, tile.in_columns, tile.lanes)
    x = _combine(b, op, (b.slice(x, (0, tap, 0, 0), shape, (1, sh, 1, 1)) for tap in range(kh)))
    return _combine(b, op, (b.slice(x, (0, 0, tap, 0), tile.shape, (1, 1, sw, 1)) for tap in range(kw)))


def _combine(b: KernelBuilder, op: Pool2DOp, taps: Iterator[SSAValue]) -> SSAValue:
    """The maximum, or the float32 sum, of tiles, each of which is written when it is needed."""
    result = next(taps) if _is_max(op) else b.cast(next(taps), f32)
    for tap in taps:
        result = b.binary("max", result, tap) if _is_max(op) else b.binary("add", result, b.cast(tap, f32))
    return result


# Counts


def _reciprocals(op: Pool2DOp) -> list[ConstantOp]:
    """1 / count for each output row and for each output column, in all 16 lanes; none where all windows count alike."""
    counts = [_counts(op, axis) for axis in range(2)]
    if all((count == count[0]).all() and count[0] == op.kernel.get_values()[axis] for axis, count in enumerate(counts)):
        return []
    return [constant(np.repeat((1 / count).astype(np.float32)[:, None], C0, axis=1)) for count in counts]


def _counts(op: Pool2DOp, axis: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The elements that each window counts along an axis."""
    size, positions = shape_of(op.x)[2 + axis], shape_of(op.y)[2 + axis]
    before, after = op.pads.get_values()[axis], op.pads.get_values()[2 + axis]
    first, last = (-before, size + after) if op.count_include_pad is not None else (0, size)
    starts = np.arange(positions) * op.strides.get_values()[axis] - before
    return (np.minimum(starts + op.kernel.get_values()[axis], last) - np.maximum(starts, first)).astype(np.float64)


def _load_counts(b: KernelBuilder, source: SSAValue, start: Index, count: int, shape: tuple[int, ...]) -> SSAValue:
    """The reciprocals of the rows or columns of a tile."""
    fill = None if gm_type(source).sizes[0] % count == 0 else 1.0
    return b.load(source, (start, 0), (count, C0), fill, shape=shape)
