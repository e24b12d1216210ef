"""Writing flags and barriers into a kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ge.dialects.cube.instructions.sync import PipeBarrier, SetFlag, WaitFlag
from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.cube.spaces import ALL_PIPES
from ge.passes.cube.sync.barriers import Barrier
from ge.passes.cube.sync.events import Numbered, outermost_loop, width
from ge.passes.cube.sync.flags import Handshake, Pair


class Writer:
    """Collects operations to insert after and before those of a kernel, and inserts them."""

    def __init__(self, kernel: CubeKernelOp) -> None:
        self._entry = kernel.body.block
        self._ops = {block: list(block.ops) for op in kernel.walk() for region in op.regions for block in region.blocks}
        """The operations of each block, by the numbers that they had before anything was inserted."""
        self._after: dict[Operation, list[Operation]] = defaultdict(list)
        self._before: dict[Operation, list[Operation]] = defaultdict(list)
        self._events: dict[tuple[SSAValue, int], SSAValue] = {}

    def write(self, numbered: Numbered, barriers: Sequence[Barrier]) -> None:
        """Insert all flags and barriers."""
        for pair, event in numbered.pairs:
            self._pair(pair, event)
        for pair in numbered.unnumbered:
            self._before[self._ops[pair.block][pair.wait_before]].append(PipeBarrier(pipe=ALL_PIPES))
        for barrier in barriers:
            self._before[self._ops[barrier.block][barrier.before]].append(PipeBarrier(pipe=barrier.pipe))
        for op, new in self._after.items():
            _insert(sorted(new, key=_rank), InsertPoint.after(op), op)
        for op, new in self._before.items():
            _insert(sorted(new, key=_rank), InsertPoint.before(op), op)
        for handshake, forth, back in numbered.handshakes:
            self._handshake(handshake, forth, back)

    def _pair(self, pair: Pair, event: int) -> None:
        ops = self._ops[pair.block]
        number = event if pair.slot is None else self._event(pair.slot, event)
        self._after[ops[pair.set_after]].append(SetFlag(src=pair.src, dst=pair.dst, event=number))
        self._before[ops[pair.wait_before]].append(WaitFlag(src=pair.src, dst=pair.dst, event=number))
        if pair.carried:
            loop = outermost_loop(pair.block)
            for copy in range(width(pair)):
                self._before[loop].append(SetFlag(src=pair.src, dst=pair.dst, event=event + copy))
                self._after[loop].append(WaitFlag(src=pair.src, dst=pair.dst, event=event + copy))

    def _event(self, slot: SSAValue, first: int) -> SSAValue:
        """The event number for a slot: `first` for copy 0."""
        if first == 0:
            return slot
        if (slot, first) not in self._events:
            assert isinstance(slot.owner, Operation), "a slot is a remainder"
            number = arith.ConstantOp(IntegerAttr(first, IndexType()))
            number.result.name_hint = f"c{first}"
            Builder(InsertPoint.at_start(self._entry)).insert(number)
            total = Builder(InsertPoint.after(slot.owner)).insert(arith.AddiOp(slot, number.result))
            self._events[slot, first] = total.result
        return self._events[slot, first]

    def _handshake(self, handshake: Handshake, forth: int, back: int) -> None:
        """The flags of a handshake."""
        src, dst = handshake.src, handshake.dst
        place = self._ops[handshake.block][-1 if handshake.at_end else 0]
        flags = [
            SetFlag(src=src, dst=dst, event=forth),
            WaitFlag(src=src, dst=dst, event=forth),
            SetFlag(src=dst, dst=src, event=back),
            WaitFlag(src=dst, dst=src, event=back),
        ]
        _insert(flags, InsertPoint.before(place), place)


def _rank(op: Operation) -> int:
    """At one place, flags are set first, then waited for, and barriers come last."""
    return 2 if isinstance(op, PipeBarrier) else 1 if isinstance(op, WaitFlag) else 0


def _insert(new: Sequence[Operation], point: InsertPoint, near: Operation) -> None:
    for op in new:
        op.location = near.location
    Builder(point).insert(list(new))
