"""What pipes know of each other by the flags between them.

A pair of flags hands on what its first pipe has run, and what it knows of others, to its second pipe. Time, in one
block, is the turn of the loop and the place in the text. A pair of a slot hands on from a turn to the next one with the
same slot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from ge.dialects.cube.spaces import Pipe
from ge.passes.cube.sync.flags import Pair, Sync
from ge.passes.cube.sync.hazards import Hazard


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


class Told(NamedTuple):
    """A pipe that has run something, or knows that it has been run, by a time."""

    pipe: Pipe
    time: Time


Known = dict[Pipe, Time]
"""When each pipe knows that something has been run."""


def spread(pairs: Iterable[Pair], start: Iterable[Told], slot: SSAValue | None, *, carried: bool) -> Known:
    """When each pipe is told, by `pairs` of one block, of what those in `start` have run or know.

    For a carried question the turn after is looked at, too: with `slot`, the next turn that has the same slot.
    """
    known: Known = {}
    told = list(start)
    here = [pair for pair in pairs if not pair.carried or (carried and pair.slot in (None, slot))]
    while told:
        pipe, since = told.pop()
        for pair in here:
            if pair.src is not pipe:
                continue
            turn = since.turn if Time(since.turn, pair.set_after, Phase.SET) >= since else since.turn + 1
            if turn > int(carried):
                continue
            learnt = Time(turn + int(pair.carried), pair.wait_before, Phase.WAIT)
            # The scalar unit issues all instructions: what it has waited for, all pipes have waited for.
            for learner in Pipe if pair.dst is Pipe.S else (pair.dst,):
                if learner not in known or learnt < known[learner]:
                    known[learner] = learnt
                    told.append(Told(learner, learnt))
    return known


class Knowledge:
    """Answers questions about the flags of a kernel, each once."""

    def __init__(self, sync: Sync) -> None:
        self._pairs: dict[Block, list[Pair]] = defaultdict(list)
        for pair in sync.pairs:
            self._pairs[pair.block].append(pair)
        self._meeting: dict[tuple[Block, bool], set[Pipe]] = defaultdict(set)
        """Pipes that meet in handshakes at the end, or at the start, of a branch."""
        for handshake in sync.handshakes:
            self._meeting[handshake.block, handshake.at_end] |= {handshake.src, handshake.dst}
        self._answers: dict[tuple[object, ...], Known] = {}

    def after(
        self, block: Block, start: frozenset[Told], slot: SSAValue | None = None, *, carried: bool = False
    ) -> Known:
        """When each pipe is told, by the flags of `block`; see `spread`."""
        key = (block, start, slot, carried)
        if key not in self._answers:
            self._answers[key] = spread(self._pairs[block], start, slot, carried=carried)
        return self._answers[key]

    def orders(self, hazard: Hazard) -> bool:
        """Whether the flags order a hazard inside one pipe, by way of another pipe.

        Looked at are the blocks from the source out to where source and sink meet, and from there in to the sink.
        """
        pipe = hazard.source.op.pipe
        outwards = hazard.source.levels[: hazard.depth - 1 : -1]
        inwards = hazard.sink.levels[hazard.depth :]
        sides = [(level.block, True) for level in outwards] + [(level.block, False) for level in inwards]
        if any(pipe in self._meeting.get(side, ()) for side in sides):
            return True
        told: set[Pipe] = set()
        for level in outwards:
            told |= set(self.after(level.block, _all({pipe, *told}, Time(0, level.number, Phase.SET))))
        start = _all({pipe, *told}, Time(0, hazard.start, Phase.SET))
        known = self.after(hazard.block, start, hazard.slot, carried=hazard.carried)
        told |= _by(known, Time(int(hazard.carried), hazard.end, Phase.WAIT))
        for level in inwards:
            known = self.after(level.block, _all(told, Time(0, -1, Phase.WAIT)))
            told |= _by(known, Time(0, level.number, Phase.WAIT))
        return pipe in told


def _all(pipes: Iterable[Pipe], time: Time) -> frozenset[Told]:
    return frozenset(Told(pipe, time) for pipe in pipes)


def _by(known: Known, time: Time) -> set[Pipe]:
    """The pipes that know by a time."""
    return {pipe for pipe, learnt in known.items() if learnt <= time}
