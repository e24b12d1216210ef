"""`graph.gather_channels`, and `graph.concat` of channels, to a tile kernel on feature maps in NC1HWC0.

Output blocks are of two kinds:

1. *Copies*: all channels come from one block of one input, each from its own lane. Copies that follow each other in the
   input and in the result are one run of blocks. A concatenation at multiples of 16 channels is nothing but copies.
2. *Mixtures*: the blocks that contribute are loaded and transposed, so that a channel is a row; the rows are put
   together, transposed back and stored.

Positions are whole blocks, so the size of the plane does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from xdsl.dialects.builtin import f16
from xdsl.ir import SSAValue

from ge.dialects.graph import ConcatOp, GatherChannelsOp
from ge.dialects.graph.base import shape_of
from ge.dialects.tile.text import Index
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel, storage_of
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly, divisors

BLOCK_BYTES = 32
"""Bytes of one position of a channel block."""

SMALLEST_COPY = 64
"""Blocks below which a copy is not shared among cores."""


@dataclass(frozen=True)
class Channel:
    """Where a channel of the result comes from."""

    source: int
    block: int
    lane: int


@dataclass(frozen=True)
class Copy:
    """A run of ``count`` blocks that is copied."""

    source: int
    source_block: int
    block: int
    count: int


def lower_concat(op: ConcatOp, target: Target) -> Outlined:
    """The kernel of a concatenation of channels."""
    if len(shape_of(op.y)) != 4 or op.axis.value.data % 4 != 1:
        raise no_kernel(op, "it does not join the channels of feature maps")
    kernel = _channels_kernel("concat", op.xs, range(shape_of(op.y)[1]), op.y, target)
    return Outlined(kernel.kernel, list(op.xs), "ConcatD", attributes(concat_dim=1, N=len(op.xs)))


def lower_gather_channels(op: GatherChannelsOp, target: Target) -> Outlined:
    """The kernel of a gathering of channels."""
    indices = op.indices.get_values()
    kernel = _channels_kernel("gather_channels", op.xs, indices, op.y, target)
    return Outlined(kernel.kernel, list(op.xs), "GatherV2D", attributes(axis=1, indices=indices))


def find_channels(sizes: Sequence[int], indices: Sequence[int]) -> list[list[Channel]]:
    """The channels of each output block, for inputs of ``sizes`` channels laid end to end."""
    origins: list[Channel] = []
    ends = list(accumulate(sizes))
    for index in indices:
        source = next(i for i, end in enumerate(ends) if index < end)
        channel = index - (ends[source] - sizes[source])
        origins.append(Channel(source, channel // C0, channel % C0))
    return [origins[start : start + C0] for start in range(0, len(origins), C0)]


def find_copies(blocks: Sequence[Sequence[Channel]]) -> list[Copy]:
    """The output blocks that are copies, joined to runs."""
    copies: list[Copy] = []
    for number, channels in enumerate(blocks):
        first = channels[0]
        if any(channel != Channel(first.source, first.block, lane) for lane, channel in enumerate(channels)):
            continue
        last = copies[-1] if copies else Copy(-1, 0, 0, 0)
        after = Copy(last.source, last.source_block + last.count, last.block + last.count, 1)
        if after == Copy(first.source, first.block, number, 1):
            copies[-1] = replace(last, count=last.count + 1)
        else:
            copies.append(Copy(first.source, first.block, number, 1))
    return copies


def _channels_kernel(
    name: str, xs: Sequence[SSAValue], indices: Sequence[int], y: SSAValue, target: Target
) -> KernelBuilder:
    """A kernel for any choice of channels."""
    n, c1, height, width, _ = storage_of(y)
    plane = height * width
    blocks = find_channels([shape_of(x)[1] for x in xs], indices)
    copies = find_copies(blocks)
    copied = {copy.block + i for copy in copies for i in range(copy.count)}
    arguments = [memory_type(x, (n, storage_of(x)[1], plane, C0)) for x in xs]
    cores = min(target.cores, ceil_div(n * c1 * plane, SMALLEST_COPY))
    b = KernelBuilder(name, arguments, [memory_type(y, (n, c1, plane, C0))], cores)
    for copy in copies:
        _copy(b, copy, n, plane, target)
    mixtures = {number: channels for number, channels in enumerate(blocks) if number not in copied}
    if mixtures:
        _mix(b, mixtures, n, plane, target)
    return b


def _copy(b: KernelBuilder, copy: Copy, images: int, plane: int, target: Target) -> None:
    """Copy a run of blocks of every image: whole planes as many as fit and keep the cores busy, or parts of one."""
    room, cores = target.ub // target.stages // BLOCK_BYTES, b.kernel.block_count
    most = max(1, min(room // plane, ceil_div(copy.count * images, cores)))
    count = next(size for size in divisors(copy.count) if size <= most)
    deal = deal_evenly(plane, room, ceil_div(cores, images * copy.count), SMALLEST_COPY)
    with b.loop(b.core, images * (copy.count // count) * deal.parts, cores, stages=target.stages) as turn:
        image, block, part = b.split(turn.counter, images, copy.count // count, deal.parts)
        block, start, sizes = b.times(block, count), b.times(part, deal.size), (1, count, deal.size, C0)
        fill = None if plane % deal.size == 0 else 0.0
        x = b.load(b.inputs[copy.source], (image, b.plus(block, copy.source_block), start, 0), sizes, fill)
        b.store(x, b.outputs[0], (image, b.plus(block, copy.block), start, 0), sizes)


def _mix(b: KernelBuilder, mixtures: dict[int, list[Channel]], images: int, plane: int, target: Target) -> None:
    """Put together the output blocks that take channels from several places.

    Each is code of its own. The tiles of all of them are dealt to the cores in turn: the first core that takes part in
    one follows the last core of the one before.
    """
    sources = max(len({(channel.source, channel.block) for channel in channels}) for channels in mixtures.values())
    room = target.ub // target.stages // (BLOCK_BYTES * (2 * sources + 3)) // C0
    cores = b.kernel.block_count
    size = C0 * deal_evenly(ceil_div(plane, C0), room, ceil_div(cores, images * len(mixtures))).size
    tiles = images * ceil_div(plane, size)
    for turn, (number, channels) in enumerate(mixtures.items()):
        first = b.modulo(b.plus(b.core, -turn * tiles % cores), cores)
        with b.loop(first, tiles, cores, stages=target.stages) as tile:
            image, part = b.split(tile.counter, images, ceil_div(plane, size))
            place = Positions(image, b.times(part, size), size, None if plane % size == 0 else 0.0)
            _mixture(b, number, channels, place)


@dataclass(frozen=True)
class Positions:
    """A run of positions of one image, and what those beyond the plane read as."""

    image: Index
    start: Index
    size: int
    fill: float | None


def _mixture(b: KernelBuilder, number: int, channels: list[Channel], place: Positions) -> None:
    """One output block at some positions."""
    size = place.size
    rows: dict[tuple[int, int], SSAValue] = {}
    for channel in channels:
        if (channel.source, channel.block) not in rows:
            offsets, source = (place.image, channel.block, place.start, 0), b.inputs[channel.source]
            x = b.load(source, offsets, (1, 1, size, C0), place.fill, shape=(size, C0))
            rows[channel.source, channel.block] = b.transpose(x)
    parts = [b.slice(rows[c.source, c.block], (c.lane, 0), (count, size)) for c, count in _lane_runs(channels)]
    if len(channels) < C0:
        parts.append(b.constant(0, (C0 - len(channels), size), f16))
    y = b.transpose(b.concat(parts))
    b.store(y, b.outputs[0], (place.image, number, place.start, 0), (1, 1, size, C0))


def _lane_runs(channels: Sequence[Channel]) -> list[tuple[Channel, int]]:
    """The first channel and the length of each run of lanes that lie next to each other in one block."""
    runs: list[tuple[Channel, int]] = []
    for channel in channels:
        first, count = runs[-1] if runs else (Channel(-1, 0, 0), 0)
        if channel == replace(first, lane=first.lane + count):
            runs[-1] = (first, count + 1)
        else:
            runs.append((channel, 1))
    return runs
