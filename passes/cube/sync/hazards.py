"""Hazards: pairs of instructions that touch the same bytes, at least one writing, and so must run in order.

For each pair, in the order of the text, there can be

* a *forward* hazard: the earlier one before the later one. It covers all turns: what comes after the second
  instruction on its pipe, in this turn or a later one, is after the first instruction of this turn;
* a *carried* hazard for a loop around both: the later (or the same) instruction in one turn before the earlier one in a
  later turn. The innermost loop that brings it about covers those around it.

Not hazards: two writes to device memory, which a kernel must keep apart itself (docs/levels.md); and what follows an
access of the scalar unit, which has landed before the scalar unit issues anything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, SSAValue

from ge.dialects.cube.spaces import Pipe
from ge.passes.cube.sync.accesses import Touch, is_visible, meet_later, meet_now, ranges_meet, touches
from ge.passes.cube.sync.structure import Site


@dataclass(frozen=True)
class Hazard:
    """`source` before `sink`. They meet in the block that is number `depth` - 1 of the levels of both.

    With `slot`, only accesses to the same copy of a buffer are ordered: turns for which `slot` has the same value.
    """

    source: Site
    sink: Site
    depth: int
    carried: bool
    slot: SSAValue | None

    @property
    def block(self) -> Block:
        """The block in which the two are ordered."""
        return self.source.levels[self.depth - 1].block

    @property
    def start(self) -> int:
        """The number in `block` of the operation that is, or contains, the source."""
        return self.source.levels[self.depth - 1].number

    @property
    def end(self) -> int:
        """The number in `block` of the operation that is, or contains, the sink."""
        return self.sink.levels[self.depth - 1].number


def hazards(sites: Sequence[Site]) -> list[Hazard]:
    """All hazards between the instructions of a kernel."""
    found: list[Hazard] = []
    earlier_touches: dict[object, list[tuple[Site, Touch]]] = defaultdict(list)
    for later in sites:
        own = touches(later.op)
        for touch in own:
            earlier_touches[_memory(touch)].append((later, touch))
        for earlier, meetings in _meetings(own, earlier_touches).items():
            if earlier is not later and earlier.op.pipe is not Pipe.S:
                found += _forward(earlier, later, meetings)
            if later.op.pipe is not Pipe.S:
                found += _carried(later, earlier, [(b, a) for a, b in meetings])
    return found


Meetings = Sequence[tuple[Touch, Touch]]
"""Accesses of a source and of a sink."""


def _memory(touch: Touch) -> object:
    """What two accesses must share to meet: the memory of a core, or the argument in device memory."""
    return touch.buffer if touch.alloc is None else touch.alloc.space


def _meetings(
    own: Sequence[Touch], earlier_touches: Mapping[object, Sequence[tuple[Site, Touch]]]
) -> dict[Site, list[tuple[Touch, Touch]]]:
    """For each instruction that may touch the same bytes, in order, the accesses that do, one of the two writing."""
    found: dict[Site, list[tuple[Touch, Touch]]] = {}
    for touch in own:
        in_device_memory = touch.alloc is None
        for site, other in earlier_touches[_memory(touch)]:
            if not (touch.writes or other.writes) or (in_device_memory and touch.writes and other.writes):
                continue
            if touch.buffer is other.buffer or ranges_meet(touch.placed_range, other.placed_range):
                found.setdefault(site, []).append((other, touch))
    return dict(sorted(found.items(), key=lambda item: item[0].order))


def _forward(source: Site, sink: Site, meetings: Meetings) -> Iterator[Hazard]:
    depth = source.common_depth(sink)
    block = source.levels[depth - 1].block
    loops = [loop for _, loop in _common_loops(source, depth)]
    real = [(a, b) for a, b in meetings if meet_now(a, b) or any(meet_later(a, b, loop) for loop in loops)]
    if real:
        slots = [slot for a, b in real if (slot := _slot(a, b, block)) is not None]
        yield Hazard(source, sink, depth, carried=False, slot=slots[0] if slots else None)


def _carried(source: Site, sink: Site, meetings: Meetings) -> Iterator[Hazard]:
    """For each meeting the innermost loop that brings it about: its flags hold for the loops around it, too."""
    depth = source.common_depth(sink)
    loops = _common_loops(source, depth)
    for level, loop in loops:
        real = [(a, b) for a, b in meetings if meet_later(a, b, loop)]
        meetings = [meeting for meeting in meetings if meeting not in real]
        if not real:
            continue
        at = depth if level == loops[0][0] else level
        block = source.levels[at - 1].block
        slots = {_alternating(a, b, block, loop) for a, b in real}
        slot = slots.pop() if len(slots) == 1 else None
        yield Hazard(source, sink, at, carried=True, slot=slot)
        if slot is None:
            return


def _common_loops(site: Site, depth: int) -> list[tuple[int, scf.ForOp]]:
    """The loops around the first `depth` blocks, innermost first, each with the number of blocks down to its body."""
    found: list[tuple[int, scf.ForOp]] = []
    for level in range(depth, 0, -1):
        loop = site.levels[level - 1].block.parent_op()
        if isinstance(loop, scf.ForOp):
            found.append((level, loop))
    return found


def _slot(a: Touch, b: Touch, block: Block) -> SSAValue | None:
    """The value that chooses the same copy for both accesses, when it is known in `block`."""
    slot = a.offset.slot
    if slot is None or a.buffer is not b.buffer or slot is not b.offset.slot or not is_visible(slot, block):
        return None
    return slot


def _alternating(a: Touch, b: Touch, block: Block, loop: scf.ForOp) -> SSAValue | None:
    """That value, when it changes from turn to turn of `loop`."""
    slot = _slot(a, b, block)
    outside = loop.parent
    return None if slot is None or outside is None or is_visible(slot, outside) else slot
