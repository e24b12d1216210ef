"""A local search for places: buffers are placed one after the other, and what is changed is in which order, and where.

The state is an order of the buffers, and for each the end of its gap that it goes to: the bottom, or the top, where the
gap above everything ends at a ceiling. Only with both ends can a search find, for instance, the best places for a
chain, whose buffers lie at the bottom and below the ceiling by turns. A step moves one buffer to the other end, or to
an earlier place of the order: one that lies at the peak, or one that is in its way. It is kept when the peak does not
rise. After a while without luck the search starts again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ge.maths.placement import Buffers, Indices

PATIENCE = 300
"""Steps after which the search starts again."""

MOST_STEPS = 3000
"""A search ends when it has looked at all neighbours of all buffers as often."""


@dataclass
class State:
    """An order of buffers, which of them go to the top of their gap, and the offsets that follow from that."""

    order: list[int]
    at_top: list[bool]
    offsets: list[int]
    peak: int


class LocalSearch:
    """A search for places of some of the buffers, the others left out of account; buffers are numbered from 0."""

    def __init__(self, buffers: Buffers, chosen: Indices, alignment: int, ceiling: int) -> None:
        self.sizes: list[int] = buffers.sizes[chosen].tolist()
        self.alignment = alignment
        self.ceiling = ceiling
        self.visits = 0
        """How many neighbours were looked at: what the search has cost, on any machine."""
        self.neighbours: list[list[int]] = []
        """For each buffer those that may share no memory with it."""
        for number, index in enumerate(chosen.tolist()):
            meeting: list[int] = np.flatnonzero(buffers.meets(index, chosen)).tolist()
            self.neighbours.append([each for each in meeting if each != number])

    def start(self, order: Sequence[int], at_top: Sequence[bool]) -> State:
        """The state of an order."""
        state = State([*order], [*at_top], [-1] * len(order), 0)
        placed = self._placed(state, 0, None)
        assert placed is not None, "without a limit every buffer finds a place"
        return placed

    def best(self, starts: Sequence[State], enough: int, effort: int) -> State:
        """The state of least peak that is found from some states, with an effort counted in visits.

        It ends as soon as a peak is no higher than ``enough``.
        """
        random = Random(0)
        starts = sorted(starts, key=lambda state: state.peak)
        best = starts[0]
        turn = 0
        once = sum(len(each) + 1 for each in self.neighbours)
        end = self.visits + min(effort, MOST_STEPS * once)
        while self.visits < end and best.peak > enough:
            state = starts[turn] if turn < len(starts) else random.choice(starts[:3])
            turn += 1
            for _ in range(PATIENCE):
                state = self._step(state, random) or state
                if state.peak < best.peak:
                    best = state
                if best.peak <= enough or self.visits >= end:
                    break
        return best

    def _step(self, state: State, random: Random) -> State | None:
        """A changed state; None when its peak would be higher."""
        sizes, offsets = self.sizes, state.offsets
        chosen = random.choice([i for i, offset in enumerate(offsets) if offset + sizes[i] == state.peak])
        if random.random() < 0.7 and self.neighbours[chosen]:
            chosen = random.choice(self.neighbours[chosen])
        position = state.order.index(chosen)
        changed = State(state.order, state.at_top, offsets, state.peak)
        if random.random() < 0.5:
            changed.at_top = [*state.at_top]
            changed.at_top[chosen] = not state.at_top[chosen]
            return self._placed(changed, position, state.peak)
        first = random.randrange(position + 1)
        changed.order = [*state.order]
        changed.order.insert(first, changed.order.pop(position))
        return self._placed(changed, first, state.peak)

    def _placed(self, state: State, first: int, limit: int | None) -> State | None:
        """The state with all buffers from a place of the order on placed anew; None when one ends beyond the limit."""
        sizes, offsets = self.sizes, [*state.offsets]
        later = state.order[first:]
        for index in later:
            offsets[index] = -1
        for index in later:
            around = self.neighbours[index]
            self.visits += len(around) + 1
            taken = sorted([(offsets[other], offsets[other] + sizes[other]) for other in around if offsets[other] >= 0])
            offset = self._place(taken, sizes[index], state.at_top[index])
            if limit is not None and offset + sizes[index] > limit:
                return None
            offsets[index] = offset
        peak = max((offset + size for offset, size in zip(offsets, sizes, strict=True)), default=0)
        return State(state.order, state.at_top, offsets, peak)

    def _place(self, taken: Sequence[tuple[int, int]], size: int, at_top: bool) -> int:
        """The offset in the tightest gap between what is taken (sorted); above everything where there is none."""
        alignment = self.alignment
        tightest, found, begin = self.ceiling + 1, -1, 0
        for start, end in taken:
            top = (start - size) // alignment * alignment
            if top >= begin and start - begin < tightest:
                tightest, found = start - begin, top if at_top else begin
            if end > begin:
                begin = -(-end // alignment) * alignment
        if found >= 0:
            return found
        return max(begin, (self.ceiling - size) // alignment * alignment) if at_top else begin
