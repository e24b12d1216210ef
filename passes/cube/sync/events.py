"""Event numbers for flags: each ordered pair of pipes has a few, and a flag must be taken before it is raised again.

Pairs get numbers of their own while there are enough: one each, or two when they alternate with a slot. When there are
not,

1. a number serves several pairs of which each provably begins when the one before is over;
2. pairs of one block are merged: set after the later source, wait before the earlier sink;
3. a pair without a number becomes a `pipe_barrier` of all pipes before its sink.

All handshakes from one pipe to another share their two numbers: both pipes have passed one before they begin the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import scf
from xdsl.ir import Block, Operation

from ge.dialects.cube.spaces import Pipe
from ge.passes.cube.sync.flags import Handshake, Pair, Sync
from ge.passes.cube.sync.knowledge import Knowledge, Known, Phase, Time, Told


@dataclass(frozen=True)
class Numbered:
    """Flags with their (first) event numbers; of a handshake, the number of the way back is the second one."""

    pairs: tuple[tuple[Pair, int], ...]
    handshakes: tuple[tuple[Handshake, int, int], ...]
    unnumbered: tuple[Pair, ...]
    """Pairs for which no number is left."""


def number_events(sync: Sync, knowledge: Knowledge, limit: int) -> Numbered:
    """Give event numbers below `limit` to all flags of a kernel."""
    pairs: list[tuple[Pair, int]] = []
    unnumbered: list[Pair] = []
    first_free: dict[tuple[Pipe, Pipe], int] = {}
    handshakes: list[tuple[Handshake, int, int]] = []
    by_way: dict[tuple[Pipe, Pipe], tuple[int, int]] = {}
    for handshake in sync.handshakes:
        forth, back = (handshake.src, handshake.dst), (handshake.dst, handshake.src)
        if forth not in by_way:
            by_way[forth] = (first_free.get(forth, 0), first_free.get(back, 0))
            first_free |= {forth: by_way[forth][0] + 1, back: by_way[forth][1] + 1}
        handshakes.append((handshake, *by_way[forth]))
    order = _Order(knowledge)
    for way in dict.fromkeys((pair.src, pair.dst) for pair in sync.pairs):
        mine = [pair for pair in sync.pairs if (pair.src, pair.dst) == way]
        available = range(first_free.get(way, 0), limit)
        numbers = _color(order, mine, available)
        while numbers is None and (merged := _merge_two(mine)) is not None:
            mine = merged
            numbers = _color(order, mine, available)
        if numbers is None:
            mine, left = _split(mine, len(available))
            unnumbered += left
            numbers = _color(order, mine, available) or {}
        pairs += numbers.items()
    return Numbered(tuple(pairs), tuple(handshakes), tuple(unnumbered))


def width(pair: Pair) -> int:
    """How many numbers a pair takes."""
    return 1 if pair.slot is None else 2


def _color(order: _Order, pairs: Sequence[Pair], available: range) -> dict[Pair, int] | None:
    """A number for each pair, or None when there are too few."""
    numbers: dict[Pair, int] = {}
    if sum(map(width, pairs)) <= len(available):
        free = available.start
        for pair in pairs:
            numbers[pair] = free
            free += width(pair)
        return numbers
    holders: dict[int, list[Pair]] = {number: [] for number in available}
    for pair in pairs:
        places = (available[at : at + width(pair)] for at in range(len(available) - width(pair) + 1))
        place = next((place for place in places if _are_free(place, pair, holders, order)), None)
        if place is None:
            return None
        numbers[pair] = place.start
        for number in place:
            holders[number].append(pair)
    return numbers


def _are_free(numbers: range, pair: Pair, holders: Mapping[int, Sequence[Pair]], order: _Order) -> bool:
    """Whether a pair may have some numbers: it is apart from all that have them, of which the last ones are nearest."""
    return all(order.are_apart(pair, other) for number in numbers for other in reversed(holders[number]))


@dataclass(frozen=True)
class _Span:
    """From the first set to the last wait of a pair, in a block."""

    block: Block
    first: Time
    last: Time


class _Order:
    """Which pairs always begin when others are over. Answers are kept: the same questions come again and again."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._numbers: dict[Block, dict[Operation, int]] = {}
        self._spans: dict[Pair, dict[Block, _Span]] = {}
        self._apart: dict[tuple[Pair, Pair], bool] = {}

    def are_apart(self, a: Pair, b: Pair) -> bool:
        """Whether one of two pairs always begins when the other one is over."""
        if (a, b) not in self._apart:
            self._apart[a, b] = self._never_meet(a, b)
        return self._apart[a, b]

    def _never_meet(self, a: Pair, b: Pair) -> bool:
        spans, others = self._spans_of(a), self._spans_of(b)
        block = next((block for block in spans if block in others), None)
        if block is None:
            return False
        early, late = sorted((spans[block], others[block]), key=lambda span: span.first)
        return early.last < late.first and self._is_over(a, early, late)

    def _is_over(self, pair: Pair, early: _Span, late: _Span) -> bool:
        """Whether the source pipe knows, when `late` begins, that the destination pipe has passed `early`."""
        known = self._after(early, pair.dst, carried=False)
        if pair.src not in known or known[pair.src] >= late.first:
            return False
        if not any(isinstance(around.parent_op(), scf.ForOp | scf.IfOp) for around in _blocks_around(early.block)):
            return True
        again = self._after(late, pair.dst, carried=True)
        return pair.src in again and again[pair.src] < early.first._replace(turn=1)

    def _after(self, span: _Span, pipe: Pipe, *, carried: bool) -> Known:
        """When each pipe knows that `pipe` has passed the end of a span."""
        return self._knowledge.after(span.block, frozenset([Told(pipe, span.last)]), carried=carried)

    def _spans_of(self, pair: Pair) -> dict[Block, _Span]:
        """The spans of a pair in its block, if it is not carried, and in the blocks around it, innermost first."""
        if pair in self._spans:
            return self._spans[pair]
        spans: dict[Block, _Span] = {}
        around = outermost_loop(pair.block) if pair.carried else pair.block.parent_op()
        if not pair.carried:
            first, last = Time(0, pair.set_after, Phase.SET), Time(0, pair.wait_before, Phase.WAIT)
            spans[pair.block] = _Span(pair.block, first, last)
        while around is not None and (block := around.parent) is not None:
            number = self._number(block, around)
            first, last = Time(0, number, Phase.FIRST_SET), Time(0, number, Phase.LAST_WAIT)
            spans[block] = _Span(block, first, last)
            around = around.parent_op()
        self._spans[pair] = spans
        return spans

    def _number(self, block: Block, op: Operation) -> int:
        if block not in self._numbers:
            self._numbers[block] = {op: number for number, op in enumerate(block.ops)}
        return self._numbers[block][op]


def outermost_loop(block: Block) -> Operation:
    """The outermost loop around a block."""
    loops = [op for around in _blocks_around(block) if isinstance(op := around.parent_op(), scf.ForOp)]
    return loops[-1]


def _blocks_around(block: Block) -> Iterable[Block]:
    """A block, and those around it."""
    around: Block | None = block
    while around is not None:
        yield around
        parent = around.parent_op()
        around = None if parent is None else parent.parent


def _merge_two(pairs: Sequence[Pair]) -> list[Pair] | None:
    """`pairs` with two of them merged into one that implies both, the closest first; None when no two can be."""
    best: tuple[int, Pair, Pair, Pair] | None = None
    for position, a in enumerate(pairs):
        for b in pairs[:position]:
            merged = _merged(a, b)
            if merged is not None:
                moved = abs(a.set_after - b.set_after) + abs(a.wait_before - b.wait_before)
                if best is None or moved < best[0]:
                    best = (moved, a, b, merged)
    if best is None:
        return None
    _, a, b, merged = best
    return [merged, *(pair for pair in pairs if pair not in (a, b))]


def _merged(a: Pair, b: Pair) -> Pair | None:
    if a.block is not b.block or a.carried != b.carried:
        return None
    set_after, wait_before = max(a.set_after, b.set_after), min(a.wait_before, b.wait_before)
    if not a.carried and set_after >= wait_before:
        return None
    same = a.slot if a.slot is b.slot else None
    slot = same if a.carried else a.slot if a.slot is not None else b.slot
    return replace(a, set_after=set_after, wait_before=wait_before, slot=slot)


def _split(pairs: Sequence[Pair], room: int) -> tuple[list[Pair], list[Pair]]:
    """The pairs that get numbers, and those that do not: these are few, and do not hide transfers behind slots."""
    kept: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: (pair.slot is None, width(pair))):
        if width(pair) <= room:
            kept.append(pair)
            room -= width(pair)
    return kept, [pair for pair in pairs if pair not in kept]
