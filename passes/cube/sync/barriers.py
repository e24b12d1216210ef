"""Hazards inside one pipe: a pipe starts its instructions in order, but the next may start before one has landed.

A `pipe_barrier` goes before the sink of such a hazard, or before the loop that the sink is in and the source is not,
unless

* the hardware orders the two itself (`Instruction.pipelined_after`: mmad after mmad on one large accumulator);
* flags order them by way of another pipe, as when a transfer fills a buffer that was read since it was filled before;
* another barrier of the pipe lies between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Block

from ge.dialects.cube.instructions.sync import PipeBarrier
from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.cube.spaces import Pipe
from ge.passes.cube.sync.hazards import Hazard
from ge.passes.cube.sync.pairs import Sync, is_ordered
from ge.passes.cube.sync.structure import Level


@dataclass(frozen=True)
class Barrier:
    """A pipe_barrier before operation `before` of `block`."""

    pipe: Pipe
    block: Block
    before: int


def barriers(kernel: CubeKernelOp, hazards: Sequence[Hazard], sync: Sync) -> list[Barrier]:
    """The barriers that a kernel needs besides those that it has."""
    present = list(_present(kernel))
    unordered = [hazard for hazard in hazards if _is_unordered(hazard, present, sync)]
    added: list[Barrier] = []
    for hazard in sorted(unordered, key=lambda hazard: (hazard.carried, hazard.sink.order)):
        if not _is_between(added, hazard):
            added.append(Barrier(hazard.sink.op.pipe, hazard.block, hazard.end))
    for barrier in list(added):
        others = [other for other in added if other is not barrier]
        if all(_is_between(others, hazard) for hazard in unordered):
            added = others
    return added


def _is_unordered(hazard: Hazard, present: Sequence[Barrier], sync: Sync) -> bool:
    """Whether a hazard is inside one pipe, and nothing orders it yet."""
    source, sink = hazard.source.op, hazard.sink.op
    if source.pipe is not sink.pipe or sink.pipelined_after(source):
        return False
    return not _is_between(present, hazard) and not is_ordered(sync, hazard)


def _present(kernel: CubeKernelOp) -> Iterable[Barrier]:
    """The barriers that are in the kernel already."""
    for op in kernel.walk():
        if isinstance(op, PipeBarrier) and op.parent is not None:
            number = next(number for number, other in enumerate(op.parent.ops) if other is op)
            for pipe in Pipe if op.holds_all else (op.pipe,):
                yield Barrier(pipe, op.parent, number)


def _is_between(candidates: Iterable[Barrier], hazard: Hazard) -> bool:
    """Whether a barrier of the pipe lies on every way from source to sink."""
    meeting = hazard.depth - 1
    after = hazard.source.levels[meeting:]
    before = hazard.sink.levels[meeting:]
    for barrier in candidates:
        if barrier.pipe is not hazard.sink.op.pipe:
            continue
        follows = any(_same(barrier, level) and barrier.before > level.number for level in after)
        precedes = any(_same(barrier, level) and barrier.before <= level.number for level in before)
        at_meeting = barrier.block is hazard.block and not hazard.carried
        if (follows and precedes) if at_meeting else (follows or precedes):
            return True
    return False


def _same(barrier: Barrier, level: Level) -> bool:
    return barrier.block is level.block
