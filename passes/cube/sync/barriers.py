"""Hazards inside one pipe: a pipe starts its instructions in order, but the next may start before one has landed.

A `pipe_barrier` goes before the sink of such a hazard, or before the loop that the sink is in and the source is not,
unless

* the hardware orders the two itself (`Instruction.pipelined_after`: mmad after mmad on one large accumulator);
* flags order them by way of another pipe, as when a transfer fills a buffer that was read since it was filled before;
* another barrier of the pipe lies between them.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Block

from ge.dialects.cube.instructions.sync import PipeBarrier
from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.cube.spaces import Pipe
from ge.passes.cube.sync.hazards import Hazard
from ge.passes.cube.sync.knowledge import Knowledge


@dataclass(frozen=True)
class Barrier:
    """A pipe_barrier before operation `before` of `block`."""

    pipe: Pipe
    block: Block
    before: int


def barriers(kernel: CubeKernelOp, hazards: Sequence[Hazard], knowledge: Knowledge) -> list[Barrier]:
    """The barriers that a kernel needs besides those that it has."""
    present = _ByPlace(_present(kernel))
    unordered = [hazard for hazard in hazards if _is_unordered(hazard, present, knowledge)]
    added = _ByPlace(())
    for hazard in sorted(unordered, key=lambda hazard: (hazard.carried, hazard.sink.order)):
        if not any(added.between(hazard)):
            added.add(Barrier(hazard.sink.op.pipe, hazard.block, hazard.end))
    return _without_unneeded(list(added), [set(added.between(hazard)) for hazard in unordered])


def _without_unneeded(barriers: list[Barrier], choices: Sequence[set[Barrier]]) -> list[Barrier]:
    """Barriers without those that others make up for; of each of `choices`, one must stay."""
    wanted: dict[Barrier, list[set[Barrier]]] = defaultdict(list)
    for choice in choices:
        for barrier in choice:
            wanted[barrier].append(choice)
    kept: list[Barrier] = []
    for barrier in barriers:
        if all(len(choice) > 1 for choice in wanted[barrier]):
            for choice in wanted[barrier]:
                choice.discard(barrier)
        else:
            kept.append(barrier)
    return kept


def _is_unordered(hazard: Hazard, present: _ByPlace, knowledge: Knowledge) -> bool:
    """Whether a hazard is inside one pipe, and nothing orders it yet."""
    source, sink = hazard.source.op, hazard.sink.op
    if source.pipe is not sink.pipe or sink.pipelined_after(source):
        return False
    return not any(present.between(hazard)) and not knowledge.orders(hazard)


def _present(kernel: CubeKernelOp) -> Iterable[Barrier]:
    """The barriers that are in the kernel already."""
    for op in kernel.walk():
        if isinstance(op, PipeBarrier) and op.parent is not None:
            number = next(number for number, other in enumerate(op.parent.ops) if other is op)
            for pipe in Pipe if op.holds_all else (op.pipe,):
                yield Barrier(pipe, op.parent, number)


class _ByPlace:
    """Barriers, found by the hazards that they order."""

    def __init__(self, barriers: Iterable[Barrier]) -> None:
        self._numbers: dict[tuple[Pipe, Block], list[int]] = defaultdict(list)
        """For each pipe and block, the operations before which there is a barrier, in order."""
        self._all: list[Barrier] = []
        for barrier in barriers:
            self.add(barrier)

    def __iter__(self) -> Iterator[Barrier]:
        return iter(self._all)

    def add(self, barrier: Barrier) -> None:
        """Add a barrier."""
        insort(self._numbers[barrier.pipe, barrier.block], barrier.before)
        self._all.append(barrier)

    def between(self, hazard: Hazard) -> Iterator[Barrier]:
        """The barriers that lie on every way from source to sink."""
        pipe, block = hazard.sink.op.pipe, hazard.block
        if hazard.carried:
            yield from self._range(pipe, block, hazard.start, None)
            yield from self._range(pipe, block, None, hazard.end)
        else:
            yield from self._range(pipe, block, hazard.start, hazard.end)
        for level in hazard.source.levels[hazard.depth :]:
            yield from self._range(pipe, level.block, level.number, None)
        for level in hazard.sink.levels[hazard.depth :]:
            yield from self._range(pipe, level.block, None, level.number)

    def _range(self, pipe: Pipe, block: Block, after: int | None, upto: int | None) -> Iterator[Barrier]:
        """The barriers after operation `after` and before operation `upto`."""
        numbers = self._numbers.get((pipe, block), [])
        first = 0 if after is None else bisect_right(numbers, after)
        last = len(numbers) if upto is None else bisect_right(numbers, upto)
        for number in numbers[first:last]:
            yield Barrier(pipe, block, number)
