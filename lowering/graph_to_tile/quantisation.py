"""`graph.quantise`, `graph.dequantise` and `graph.integer_add` to tile kernels.

Their operands and results of 8 bits go through float16, which holds them exactly, to and from float32. The storage is
seen as

1. a run of blocks of 32 elements, where the operand and the result lie alike (an addition in any format, the others in
   a plain one);
2. feature maps, where one has blocks of 16 lanes and the other of 32: two blocks are put side by side, or one is cut;
3. for a quantisation, a plain feature map that becomes NC1HWC0: 32 channels x P positions are transposed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import DequantiseOp, IntegerAddOp, QuantiseOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.integer import number_of
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, storage_of
from ge.lowering.graph_to_tile.requantisation import divided, rounded, side_by_side
from ge.lowering.graph_to_tile.spaces import HARMLESS, NUMBERS_BYTES, SMALLEST_RUN
from ge.maths.layouts import C0, C0_BYTES, ceil_div
from ge.maths.tiling import deal_evenly

Emit: TypeAlias = Callable[[KernelBuilder, Sequence[SSAValue]], SSAValue]
"""Writes what a kernel computes of tiles of its operands."""

LANE_BYTES = 16
"""What a lane of a quantisation, or of a dequantisation, takes at once: two copies in float32 and what is loaded and
stored."""

SUM_LANE_BYTES = 28
"""The same of an addition."""


def lower_quantise(op: QuantiseOp, target: Target) -> Outlined:
    """The kernel of a quantisation."""
    source, result = layout_of(op.x.type), layout_of(op.y.type)
    if source == result == "NC1HWC0":
        kernel = _joined_blocks(op, target)
    elif result == "NC1HWC0":
        kernel = _packed_map(op, target)
    else:
        kernel = _run(op, target, LANE_BYTES, lambda b, xs: _as_integers(b, scaled(b, op, xs[0]), op))
    shown = attributes(scale=1 / number_of(op.scale), offset=float(op.zero_point.value.data), round_mode="Round")
    return Outlined(kernel.kernel, [op.x], "AscendQuant", shown)


def lower_dequantise(op: DequantiseOp, target: Target) -> Outlined:
    """The kernel of a dequantisation."""
    element = tensor(op.y).element_type
    if layout_of(op.x.type) == "NC1HWC0":
        kernel = _cut_blocks(op, target)
    else:
        kernel = _run(op, target, LANE_BYTES, lambda b, xs: b.cast(_numbers(b, xs[0], op), element))
    shown = attributes(scale=number_of(op.scale), offset=-float(op.zero_point.value.data))
    return Outlined(kernel.kernel, [op.x], "AscendAntiQuant", shown)


def lower_integer_add(op: IntegerAddOp, target: Target) -> Outlined:
    """The kernel of an addition."""
    a_point, b_point, point = op.zero_points.get_values()

    def emit(b: KernelBuilder, xs: Sequence[SSAValue]) -> SSAValue:
        numbers = [
            numbers_of(b, x, zero, number_of(scale))
            for x, zero, scale in zip(xs, (a_point, b_point), (op.a_scale, op.b_scale), strict=True)
        ]
        total = divided(b, b.binary("add", *numbers), number_of(op.scale))
        return b.cast(b.scalar("adds", rounded(b, total), point), tensor(op.y).element_type)

    return Outlined(_run(op, target, SUM_LANE_BYTES, emit).kernel, [op.a, op.b], "Add")


# What is computed of tiles


def scaled(b: KernelBuilder, op: QuantiseOp, x: SSAValue) -> SSAValue:
    """Numbers in units of the scale, rounded."""
    return rounded(b, divided(b, b.cast(x, f32), number_of(op.scale)))


def _as_integers(b: KernelBuilder, x: SSAValue, op: QuantiseOp) -> SSAValue:
    return b.cast(b.scalar("adds", x, op.zero_point.value.data), tensor(op.y).element_type)


def numbers_of(b: KernelBuilder, x: SSAValue, zero_point: int, scale: float) -> SSAValue:
    """The float32 numbers that integers stand for."""
    return b.scalar("muls", b.cast(b.scalar("adds", b.cast(x, f16), -zero_point), f32), scale)


def _numbers(b: KernelBuilder, x: SSAValue, op: DequantiseOp) -> SSAValue:
    return numbers_of(b, x, op.zero_point.value.data, number_of(op.scale))


# Spaces


def _run(op: Operation, target: Target, lane_bytes: int, emit: Emit) -> KernelBuilder:
    """The kernel of an elementwise operation whose operands and result lie alike, in blocks of 32 elements."""
    elements = math.prod(storage_of(op.results[0]))
    room = (target.ub - NUMBERS_BYTES) // 2 // (lane_bytes * C0_BYTES)
    deal = deal_evenly(ceil_div(elements, C0_BYTES), room, target.cores, SMALLEST_RUN // 2)
    whole = elements % C0_BYTES == 0
    shape = (elements // C0_BYTES, C0_BYTES) if whole else (elements,)
    b = KernelBuilder(
        op.name.removeprefix("graph."),
        [memory_type(operand, shape) for operand in op.operands],
        [memory_type(op.results[0], shape)],
        deal.cores,
    )
    tile = (deal.size, C0_BYTES)
    sizes = tile if whole else (deal.size * C0_BYTES,)
    with b.deal(deal.parts, target.stages) as number:
        start = b.named("start", b.times(number, deal.size))
        place = (start, 0) if whole else (b.times(start, C0_BYTES),)
        inside = whole and shape[0] % deal.size == 0
        tiles = [b.load(source, place, sizes, None if inside else 0.0, shape=tile) for source in b.inputs]
        b.store(emit(b, tiles), b.outputs[0], place, sizes)
    return b


def _map_tiles(op: Operation, value: SSAValue, blocks: int, target: Target) -> tuple[int, tuple[int, int, int]]:
    """Positions of a tile of a feature map with all lanes of one wide block, and the number of tiles."""
    n, _, height, width = shape_of(value)
    room = target.ub // target.stages // (LANE_BYTES * C0_BYTES) // C0_BYTES
    positions = ceil_div(height * width, C0_BYTES)
    size = C0_BYTES * deal_evenly(positions, room, ceil_div(target.cores, n * blocks), 4).size
    return size, (n, blocks, ceil_div(height * width, size))


def _joined_blocks(op: QuantiseOp, target: Target) -> KernelBuilder:
    """Two blocks of 16 lanes side by side."""
    n, c, height, width = shape_of(op.x)
    plane, blocks = height * width, ceil_div(c, C0_BYTES)
    size, tiles = _map_tiles(op, op.x, blocks, target)
    b = KernelBuilder(
        "quantise",
        [memory_type(op.x, (n, ceil_div(c, C0), plane, C0))],
        [memory_type(op.y, (n, blocks, plane, C0_BYTES))],
        min(target.cores, math.prod(tiles)),
    )
    inside = plane % size == 0 and ceil_div(c, C0) == 2 * blocks
    with b.deal(math.prod(tiles), target.stages) as number:
        image, block, part = b.split(number, *tiles)
        start, sizes = b.times(part, size), (1, 2, size, C0)
        place = (image, b.times(block, 2), start, 0)
        x = b.load(b.inputs[0], place, sizes, None if inside else HARMLESS, shape=sizes[1:])
        y = b.cast(side_by_side(b, scaled(b, op, x), op.zero_point.value.data), tensor(op.y).element_type)
        b.store(y, b.outputs[0], (image, block, start, 0), (1, 1, size, C0_BYTES))
    return b


def _packed_map(op: QuantiseOp, target: Target) -> KernelBuilder:
    """32 channels x P positions to P x 32; channels and positions beyond the end are zero before they are quantised."""
    n, c, height, width = shape_of(op.x)
    plane, blocks = height * width, ceil_div(c, C0_BYTES)
    size, tiles = _map_tiles(op, op.x, blocks, target)
    b = KernelBuilder(
        "quantise",
        [memory_type(op.x, (n, c, plane))],
        [memory_type(op.y, (n, blocks, plane, C0_BYTES))],
        min(target.cores, math.prod(tiles)),
    )
    channels = C0 if c <= C0 else C0_BYTES
    inside = c % C0_BYTES == 0 and plane % size == 0
    with b.deal(math.prod(tiles), target.stages) as number:
        image, block, part = b.split(number, *tiles)
        start, sizes = b.times(part, size), (1, channels, size)
        x = b.load(
            b.inputs[0], (image, b.times(block, C0_BYTES), start), sizes, None if inside else 0.0, shape=sizes[1:]
        )
        x = scaled(b, op, x)
        halves = [b.transpose(b.slice(x, (first, 0), (C0, size))) for first in range(0, channels, C0)]
        y = b.concat([b.scalar("adds", half, op.zero_point.value.data) for half in halves * (C0_BYTES // channels)], 1)
        b.store(b.cast(y, tensor(op.y).element_type), b.outputs[0], (image, block, start, 0), (1, 1, size, C0_BYTES))
    return b


def _cut_blocks(op: DequantiseOp, target: Target) -> KernelBuilder:
    """Blocks of 32 lanes as two of 16; the last of them may be beyond the end."""
    n, c, height, width = shape_of(op.x)
    plane, blocks = height * width, ceil_div(c, C0_BYTES)
    size, tiles = _map_tiles(op, op.x, blocks, target)
    b = KernelBuilder(
        "dequantise",
        [memory_type(op.x, (n, blocks, plane, C0_BYTES))],
        [memory_type(op.y, (n, ceil_div(c, C0), plane, C0))],
        min(target.cores, math.prod(tiles)),
    )
    with b.deal(math.prod(tiles), target.stages) as number:
        image, block, part = b.split(number, *tiles)
        start, sizes = b.times(part, size), (1, 1, size, C0_BYTES)
        inside = plane % size == 0
        x = b.load(b.inputs[0], (image, block, start, 0), sizes, None if inside else 0.0, shape=sizes[2:])
        y = b.cast(_numbers(b, x, op), tensor(op.y).element_type)
        for half in range(2):
            lanes = b.slice(y, (0, half * C0), (size, C0))
            place = (image, b.plus(b.times(block, 2), half), start, 0)
            b.store(lanes, b.outputs[0], place, (1, 1, size, C0))
    return b
