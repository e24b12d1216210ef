"""`graph.gather_channels`, and `graph.concat` of channels, to a tile kernel on feature maps in NC1HWC0.

Output blocks are of two kinds:

1. *Copies*: all channels come from one block of one input, each from its own lane. Copies that follow each other in the
   input and in the result are one run of blocks. A concatenation at multiples of 16 channels is nothing but copies.
2. *Mixtures*: the blocks that contribute are loaded and transposed, so that a channel is a row; the rows are put
   together, transposed back and stored. Where rows take turns, as after a shuffle, those of one source move together:
   as column r of lanes x turns (`take_turns`). Mixtures that are alike but for the number of the blocks, which grows
   evenly, are one loop (`find_families`).

Positions are whole blocks, so the size of the plane does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeAlias

from xdsl.dialects.builtin import f16
from xdsl.ir import SSAValue

from ge.dialects.graph import ConcatOp, GatherChannelsOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.fusing import Around
from ge.dialects.graph.movement_kernels import joins_channels
from ge.dialects.tile.text import Index
from ge.lowering.graph_to_tile.boxes import lower_concat_of_rows
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, storage_of
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


def lower_concat(op: ConcatOp, target: Target, around: Around | None = None) -> Outlined:
    """The kernel of a concatenation: of channels, or of plain tensors with the steps of a fusion (see `boxes`)."""
    if not joins_channels(op):
        return lower_concat_of_rows(op, target, around)
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
    families = find_families({number: channels for number, channels in enumerate(blocks) if number not in copied})
    if families:
        _mix(b, families, n, plane, target)
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


@dataclass(frozen=True)
class Family:
    """Mixtures number ``block``, ``block + step``, ... that take the same lanes, of blocks ``shifts`` apart."""

    block: int
    channels: Sequence[Channel]
    step: int = 1
    shifts: Sequence[int] = ()
    """For each channel, how far its block is from that of the mixture before."""
    count: int = 1

    def extended(self, number: int, channels: Sequence[Channel]) -> Family | None:
        """The family with one more mixture, if it goes on like the others."""
        lanes = [replace(channel, block=0) for channel in channels]
        if lanes != [replace(channel, block=0) for channel in self.channels]:
            return None
        last = [c.block + (self.count - 1) * shift for c, shift in zip(self.channels, self._shifts, strict=True)]
        shifts = [channel.block - before for channel, before in zip(channels, last, strict=True)]
        step = number - self.block - (self.count - 1) * self.step
        if self.count > 1 and (step, shifts) != (self.step, list(self.shifts)):
            return None
        return Family(self.block, self.channels, step, shifts, self.count + 1)

    @property
    def _shifts(self) -> Sequence[int]:
        return self.shifts or [0] * len(self.channels)

    def sources(self) -> list[tuple[Channel, int]]:
        """Each block that is loaded (as the channel of its first lane) with its shift, once."""
        pairs = zip(self.channels, self._shifts, strict=True)
        return list(dict.fromkeys((replace(channel, lane=0), shift) for channel, shift in pairs))

    def source_of(self, lane: int) -> tuple[Channel, int]:
        """What of :meth:`sources` a lane comes from."""
        return replace(self.channels[lane], lane=0), self._shifts[lane]


def find_families(mixtures: Mapping[int, Sequence[Channel]]) -> list[Family]:
    """Mixtures by block, put into as few families as following them in order gives."""
    families: list[Family] = []
    for number, channels in mixtures.items():
        for position, family in enumerate(families):
            if (longer := family.extended(number, channels)) is not None:
                families[position] = longer
                break
        else:
            families.append(Family(number, channels))
    return families


def _mix(b: KernelBuilder, families: Sequence[Family], images: int, plane: int, target: Target) -> None:
    """Put together the output blocks that take channels from several places.

    Each family is code of its own. The tiles of all of them are dealt to the cores in turn: the first core that takes
    part in one follows the last core of the one before.
    """
    sources = max(len(family.sources()) for family in families)
    room = target.ub // target.stages // (BLOCK_BYTES * (2 * sources + 5)) // C0
    cores, mixtures = b.kernel.block_count, sum(family.count for family in families)
    size = C0 * deal_evenly(ceil_div(plane, C0), room, ceil_div(cores, images * mixtures)).size
    parts = ceil_div(plane, size)
    before = 0
    for family in families:
        tiles = images * family.count * parts
        first = b.modulo(b.plus(b.core, -before % cores), cores)
        with b.loop(first, tiles, cores, stages=target.stages) as tile:
            image, turn, part = b.split(tile.counter, images, family.count, parts)
            place = Positions(image, b.times(part, size), size, None if plane % size == 0 else 0.0)
            _mixture(b, family, turn, place)
        before += tiles


@dataclass(frozen=True)
class Positions:
    """A run of positions of one image, and what those beyond the plane read as."""

    image: Index
    start: Index
    size: int
    fill: float | None


def _mixture(b: KernelBuilder, family: Family, turn: Index, place: Positions) -> None:
    """One output block at some positions."""
    size = place.size
    rows: dict[tuple[Channel, int], SSAValue] = {}
    for first, shift in family.sources():
        block = b.plus(b.times(turn, shift), first.block) if shift >= 0 else b.minus(first.block, b.times(turn, -shift))
        offsets, source = (place.image, block, place.start, 0), b.inputs[first.source]
        x = b.load(source, offsets, (1, 1, size, C0), place.fill, shape=(size, C0))
        rows[first, shift] = b.transpose(x)

    def run_of_rows(lane: int, count: int) -> SSAValue:
        if lane >= len(family.channels):
            return b.constant(0, (count, size), f16)
        return b.slice(rows[family.source_of(lane)], (family.channels[lane].lane, 0), (count, size))

    turns, classes = take_turns(family.channels)
    columns = [b.concat([run_of_rows(lane, count) for lane, count in runs]) for runs in classes]
    if turns > 1:
        shape = (C0 // turns, 1, size)
        together = b.concat([b.reshape(column, shape) for column in columns], axis=1)
        y = b.transpose(b.reshape(together, (C0, size)))
    else:
        y = b.transpose(columns[0])
    number = b.plus(b.times(turn, family.step), family.block)
    b.store(y, b.outputs[0], (place.image, number, place.start, 0), (1, 1, size, C0))


LaneRuns: TypeAlias = list[tuple[int, int]]
"""Runs of rows that lie next to each other in one source: the output lane of the first, and how many they are."""


def take_turns(channels: Sequence[Channel]) -> tuple[int, list[LaneRuns]]:
    """The number of turns g in which the lanes of a block consist of the fewest runs, and the runs of each turn.

    Lanes r, r + g, r + 2g, ... belong to turn r. Lanes beyond the channels are a source of their own.
    """
    choices = [(g, [_lane_runs(channels, range(r, C0, g)) for r in range(g)]) for g in (1, 2, 4, 8)]
    return min(choices, key=lambda choice: sum(map(len, choice[1])))


def _lane_runs(channels: Sequence[Channel], lanes: Sequence[int]) -> LaneRuns:
    """The runs of some lanes."""
    runs: LaneRuns = []
    for lane in lanes:
        first, count = runs[-1] if runs else (lane, 0)
        channel, start = (channels[i] if i < len(channels) else None for i in (lane, first))
        follows = channel is None and start is None
        if channel is not None and start is not None:
            follows = channel == replace(start, lane=start.lane + count)
        if count and follows:
            runs[-1] = (first, count + 1)
        else:
            runs.append((lane, 1))
    return runs
