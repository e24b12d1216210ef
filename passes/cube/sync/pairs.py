"""Pairs of flags: for each hazard between two pipes a set_flag after its source and a wait_flag before its sink.

Both go into the block where source and sink meet, so that they run equally often. For a carried hazard the wait of the
first turn needs a flag, which is set before the outermost loop, and the flag of the last turn is taken after that loop.

Where source or sink is under a condition that the other is not under, the flags go there, too: set and wait next to
each other, at the end or at the start of the branch, and back the other way, so that both pipes meet (a *handshake*).

Pairs that other pairs imply are left out. To find those, we ask when each pipe at the latest knows that the source has
run: time is (turn, number of the operation in the block, before or after it), and every pair hands on what its first
pipe knows. Pairs of a slot order turns with the same slot only, so they help hazards without slot in one turn only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from ge.dialects.cube.spaces import Pipe
from ge.passes.cube.sync.hazards import Hazard


@dataclass(frozen=True)
class Pair:
    """set_flag after operation `set_after` of `block`, wait_flag before operation `wait_before`; see `Hazard`."""

    src: Pipe
    dst: Pipe
    block: Block
    set_after: int
    wait_before: int
    carried: bool
    slot: SSAValue | None

    @property
    def reach(self) -> int:
        """How many operations lie between set and wait: the fewer, the more the pair implies."""
        return self.wait_before - self.set_after + (1 << 20 if self.carried else 0)


@dataclass(frozen=True)
class Handshake:
    """Two pipes wait for each other at the end, or at the start, of a branch."""

    src: Pipe
    dst: Pipe
    block: Block
    at_end: bool


class Phase(IntEnum):
    """What stands around an operation, in the order in which it is written."""

    FIRST_SET = 0
    """Before a loop: flags for the first turn."""
    WAIT = 1
    SET = 2
    """After the operation."""
    LAST_WAIT = 3
    """After a loop: for the flags of the last turn."""


class Time(NamedTuple):
    """A place in the order of a block: the turn of its loop, the operation, and what stands around it."""

    turn: int
    number: int
    phase: Phase


@dataclass(frozen=True)
class Sync:
    """The flags of a kernel."""

    pairs: tuple[Pair, ...]
    handshakes: tuple[Handshake, ...]


def order(hazards: Sequence[Hazard]) -> Sync:
    """The flags that order all hazards between pipes, without those that others imply."""
    across = [hazard for hazard in hazards if hazard.source.op.pipe is not hazard.sink.op.pipe]
    wanted = dict.fromkeys(pair_of(hazard) for hazard in across if handshake_of(hazard) is None)
    kept = list(_without_duplicates(wanted))
    for pair in sorted(kept, key=lambda pair: -pair.reach):
        others = [other for other in kept if other is not pair]
        if _implies(others, pair):
            kept = others
    branching = [hazard for hazard in across if handshake_of(hazard) is not None]
    handshakes = dict.fromkeys(handshake_of(hazard) for hazard in branching if not _implies(kept, pair_of(hazard)))
    return Sync(tuple(kept), tuple(handshake for handshake in handshakes if handshake is not None))


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


def _implies(pairs: Sequence[Pair], pair: Pair) -> bool:
    slot = pair.slot if pair.carried else None
    start = Told(pair.src, Time(0, pair.set_after, Phase.SET))
    known = knowledge(pairs, pair.block, [start], slot, carried=pair.carried)
    return pair.dst in known and known[pair.dst] <= Time(int(pair.carried), pair.wait_before, Phase.WAIT)


def is_ordered(sync: Sync, hazard: Hazard) -> bool:
    """Whether the flags order a hazard inside one pipe, by way of another pipe.

    Looked at are the blocks from the source out to where source and sink meet, and from there in to the sink.
    """
    pipe = hazard.source.op.pipe
    if any(_passes(handshake, hazard) for handshake in sync.handshakes):
        return True
    told: set[Pipe] = set()
    for level in reversed(hazard.source.levels[hazard.depth :]):
        after = Time(0, level.number, Phase.SET)
        told |= set(knowledge(sync.pairs, level.block, _tell(pipe, told, after), None, carried=False))
    start = _tell(pipe, told, Time(0, hazard.start, Phase.SET))
    known = knowledge(sync.pairs, hazard.block, start, hazard.slot, carried=hazard.carried)
    told |= {other for other, time in known.items() if time <= Time(int(hazard.carried), hazard.end, Phase.WAIT)}
    for level in hazard.sink.levels[hazard.depth :]:
        start = [Told(other, Time(0, -1, Phase.WAIT)) for other in told]
        known = knowledge(sync.pairs, level.block, start, None, carried=False)
        told |= {other for other, time in known.items() if time <= Time(0, level.number, Phase.WAIT)}
    return pipe in told


def _passes(handshake: Handshake, hazard: Hazard) -> bool:
    """Whether the pipe of a hazard takes part in a handshake on its way."""
    site = hazard.source if handshake.at_end else hazard.sink
    inside = any(level.block is handshake.block for level in site.levels[hazard.depth :])
    return inside and hazard.source.op.pipe in (handshake.src, handshake.dst)


class Told(NamedTuple):
    """A pipe that has run something, or knows that it has been run, by a time."""

    pipe: Pipe
    time: Time


def _tell(source: Pipe, told: Iterable[Pipe], time: Time) -> list[Told]:
    return [Told(pipe, time) for pipe in {source, *told}]


def knowledge(
    pairs: Sequence[Pair], block: Block, start: Sequence[Told], slot: SSAValue | None, *, carried: bool
) -> dict[Pipe, Time]:
    """When each pipe is told, by the pairs of `block`, of what those in `start` have run or know.

    For a carried question the turn after is looked at, too: with `slot`, the next turn that has the same slot.
    """
    known: dict[Pipe, Time] = {}
    here = [
        pair for pair in pairs if pair.block is block and (not pair.carried or (carried and pair.slot in (None, slot)))
    ]
    changed = True
    while changed:
        changed = False
        for pair in here:
            times = [told.time for told in start if told.pipe is pair.src]
            times += [known[pair.src]] if pair.src in known else []
            if not times:
                continue
            since = min(times)
            turn = since.turn if Time(since.turn, pair.set_after, Phase.SET) >= since else since.turn + 1
            if turn > int(carried):
                continue
            learnt = Time(turn + int(pair.carried), pair.wait_before, Phase.WAIT)
            # The scalar unit issues all instructions: what it has waited for, all pipes have waited for.
            for learner in Pipe if pair.dst is Pipe.S else (pair.dst,):
                if learner not in known or learnt < known[learner]:
                    known[learner] = learnt
                    changed = True
    return known
