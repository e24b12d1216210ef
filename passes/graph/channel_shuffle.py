"""The pass `channel-shuffle`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import ConcatOp, GatherChannelsOp, ReshapeOp, TransposeOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.shapes import Shape
from ge.ir.rewriting import apply_rules, replace, rewrite_rule
from ge.maths.layouts import C0, ceil_div
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain

NAME = "channel-shuffle"


@dataclass(frozen=True)
class ChannelShufflePass(ModulePass):
    """Express what only moves channels as `graph.gather_channels`, and join such operations.

    Rewritten:

    1. reshape [N, C, H, W] → [N, g, C/g, H, W], transpose that permutes only the middle, reshape back;
    2. gather_channels of a concat along channels, or of a gather_channels, when nothing else uses the inner one but
       gathers: the outer one reads from the operands of the inner. A gather is kept in between where its users would
       read more blocks of 16 channels than they do now, as along a chain of shuffles;
    3. inputs of which no channel is used are dropped.

    Left alone: a transpose that moves the batch or the pixels, a reshape that does not go back to the shape it came
    from, and intermediate values with other users.
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [shuffle, join, drop_unused])


@rewrite_rule(ReshapeOp)
def shuffle(op: ReshapeOp) -> bool:
    """Case 1, at its last operation."""
    transpose = op.x.owner
    if not isinstance(transpose, TransposeOp) or not isinstance(split := transpose.x.owner, ReshapeOp):
        return False
    shape = shape_of(op.y)
    if len(shape) != 4 or shape_of(split.x) != shape:
        return False
    order = _channel_order(shape, shape_of(split.y), transpose.perm.get_values())
    if order is None:
        return False
    new = GatherChannelsOp([split.x], order)
    replace_chain([split, transpose, op], [new])
    report.fused(NAME, f"Fuse Reshape + Transpose + Reshape -> ChannelShuffle({len(order)})", new)
    return True


def _channel_order(shape: Shape, split: Shape, perm: Sequence[int]) -> list[int] | None:
    """Where the channels of the result come from, if `perm` of `split` permutes the channels of [N, C, H, W] only."""
    ends = [end for end in range(2, len(split) + 1) if math.prod(split[1:end]) == shape[1]]
    if split[0] != shape[0] or not ends:
        return None
    end = ends[0]
    middle = perm[1:end]
    outside = [*perm[:1], *perm[end:]]
    if outside != [0, *range(end, len(split))] or sorted(middle) != list(range(1, end)):
        return None
    channels = np.arange(shape[1]).reshape(split[1:end])
    return [int(channel) for channel in channels.transpose([axis - 1 for axis in middle]).reshape(-1)]


@rewrite_rule(GatherChannelsOp)
def join(op: GatherChannelsOp) -> bool:
    """Case 2, one operand at a time."""
    for position, value in enumerate(op.xs):
        inner = value.owner
        if not isinstance(inner, ConcatOp | GatherChannelsOp) or not _only_gathered(inner.y):
            continue
        if isinstance(inner, ConcatOp) and inner.axis.value.data % len(shape_of(inner.y)) != 1:
            continue
        if isinstance(inner, GatherChannelsOp) and not _pays(inner):
            continue
        xs, indices = _read_through(op.xs, op.indices.get_values(), position, inner)
        replace_chain([inner, op], [GatherChannelsOp(xs, indices)])
        return True
    return False


def _only_gathered(value: SSAValue) -> bool:
    return all(isinstance(use.operation, GatherChannelsOp) for use in value.uses)


def _pays(inner: GatherChannelsOp) -> bool:
    """Whether fewer blocks are moved when all users of `inner` read from its operands.

    A channel is read with the 15 others of its block, so that channels from everywhere cost more than a tensor in
    between that holds them in order.
    """
    before = blocks_read(inner.xs, inner.indices.get_values()) + ceil_div(shape_of(inner.y)[1], C0)
    after = 0
    for user in {use.operation for use in inner.y.uses}:
        assert isinstance(user, GatherChannelsOp), "asked for values that are only gathered"
        xs, indices = list[SSAValue](user.xs), list(user.indices.get_values())
        before += blocks_read(xs, indices)
        for position in reversed([i for i, x in enumerate(user.xs) if x is inner.y]):
            xs, indices = _read_through(xs, indices, position, inner)
        after += blocks_read(xs, indices)
    return after <= before


def blocks_read(xs: Sequence[SSAValue], indices: Sequence[int]) -> int:
    """Blocks of 16 channels that a gather reads, one by one for each block of its result."""
    places = [(x, channel // C0) for x in xs for channel in range(shape_of(x)[1])]
    blocks = [{places[index] for index in indices[start : start + C0]} for start in range(0, len(indices), C0)]
    return sum(map(len, blocks))


def _read_through(
    xs: Sequence[SSAValue], indices: Sequence[int], position: int, inner: ConcatOp | GatherChannelsOp
) -> tuple[list[SSAValue], list[int]]:
    """What to gather from where when operand `position`, which `inner` makes, gives way to the operands of `inner`."""
    before = sum(shape_of(x)[1] for x in xs[:position])
    width, inner_width = shape_of(inner.y)[1], sum(shape_of(x)[1] for x in inner.xs)
    source = range(width) if isinstance(inner, ConcatOp) else inner.indices.get_values()
    through: list[int] = []
    for index in indices:
        if index < before:
            through.append(index)
        elif index < before + width:
            through.append(before + source[index - before])
        else:
            through.append(index - width + inner_width)
    return [*xs[:position], *inner.xs, *xs[position + 1 :]], through


@rewrite_rule(GatherChannelsOp)
def drop_unused(op: GatherChannelsOp) -> bool:
    """Case 3."""
    start, kept, moved = 0, list[SSAValue](), dict[int, int]()
    taken = set(op.indices.get_values())
    for x in op.xs:
        channels = range(start, start + shape_of(x)[1])
        start = channels.stop
        if not taken.isdisjoint(channels):
            offset = len(moved)
            moved.update((channel, offset + i) for i, channel in enumerate(channels))
            kept.append(x)
    if len(kept) == len(op.xs):
        return False
    replace(op, GatherChannelsOp(kept, [moved[index] for index in op.indices.get_values()]))
    return True
