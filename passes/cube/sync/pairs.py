"""Pairs of flags: for each hazard between two pipes a set_flag after its source and a wait_flag before its sink.

Both go into the block where source and sink meet, so that they run equally often. For a carried hazard the wait of the
first turn needs a flag, which is set before the outermost loop, and the flag of the last turn is taken after that loop.

Where source or sink is under a condition that the other is not under, the flags go there, too: set and wait next to
each other, at the end or at the start of the branch, and back the other way, so that both pipes meet (a *handshake*).

Pairs that other pairs of the block imply are left out (`knowledge.py`), those that reach furthest first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from xdsl.ir import Block

from ge.passes.cube.sync.flags import Handshake, Pair, Sync
from ge.passes.cube.sync.hazards import Hazard
from ge.passes.cube.sync.knowledge import Phase, Time, Told, spread


def order(hazards: Sequence[Hazard]) -> Sync:
    """The flags that order all hazards between pipes, without those that others imply."""
    across = [hazard for hazard in hazards if hazard.source.op.pipe is not hazard.sink.op.pipe]
    wanted = dict.fromkeys(pair_of(hazard) for hazard in across if handshake_of(hazard) is None)
    by_block: dict[Block, list[Pair]] = defaultdict(list)
    for pair in _without_duplicates(wanted):
        by_block[pair.block].append(pair)
    for block, pairs in by_block.items():
        by_block[block] = _without_implied(pairs)
    handshakes: dict[Handshake, None] = {}
    for hazard in across:
        handshake = handshake_of(hazard)
        if handshake is not None and not _implies(by_block[hazard.block], pair_of(hazard)):
            handshakes[handshake] = None
    return Sync(tuple(pair for pairs in by_block.values() for pair in pairs), tuple(handshakes))


def _without_implied(pairs: list[Pair]) -> list[Pair]:
    """Pairs of one block without those that the others imply."""
    for pair in sorted(pairs, key=lambda pair: -pair.reach):
        others = [other for other in pairs if other is not pair]
        if _implies(others, pair):
            pairs = others
    return pairs


def handshake_of(hazard: Hazard) -> Handshake | None:
    """The handshake that orders a hazard of which one side is under a condition of its own."""
    src, dst = hazard.source.op.pipe, hazard.sink.op.pipe
    branch = hazard.source.branch_below(hazard.depth)
    if branch is not None:
        return Handshake(src, dst, branch, at_end=True)
    branch = hazard.sink.branch_below(hazard.depth)
    return None if branch is None else Handshake(src, dst, branch, at_end=False)


def pair_of(hazard: Hazard) -> Pair:
    """The pair that orders a hazard."""
    return Pair(
        hazard.source.op.pipe,
        hazard.sink.op.pipe,
        hazard.block,
        hazard.start,
        hazard.end,
        hazard.carried,
        hazard.slot,
    )


def _without_duplicates(pairs: Iterable[Pair]) -> Iterable[Pair]:
    """Of pairs at the same places, keep one: forward with a slot if any has one, carried without if any has none."""
    best: dict[tuple[object, ...], Pair] = {}
    for pair in pairs:
        key = (pair.src, pair.dst, pair.block, pair.set_after, pair.wait_before, pair.carried)
        if key not in best or (pair.slot is None) == pair.carried:
            best[key] = pair
    return best.values()


def _implies(pairs: Iterable[Pair], pair: Pair) -> bool:
    slot = pair.slot if pair.carried else None
    start = Told(pair.src, Time(0, pair.set_after, Phase.SET))
    known = spread(pairs, [start], slot, carried=pair.carried)
    return pair.dst in known and known[pair.dst] <= Time(int(pair.carried), pair.wait_before, Phase.WAIT)
