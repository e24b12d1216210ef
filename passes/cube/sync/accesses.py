"""What an instruction touches, and whether two instructions touch the same bytes, now or in a later turn of a loop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, SSAValue

from ge.dialects.cube.fields import Address, Integer
from ge.dialects.cube.instruction import Access, Instruction
from ge.dialects.cube.kernel import AllocOp, root_alloc
from ge.dialects.cube.scalars import constant_value
from ge.passes.cube.addresses import Offset, offset_of

MOST_RUNS = 16
"""Accesses of more parts than this count as one run from the first to the last byte."""


@dataclass(frozen=True)
class Touch:
    """Bytes that an instruction reads or writes: `runs`, relative to `offset` in a buffer.

    Without `runs`, it may be all of the buffer.
    """

    buffer: SSAValue
    alloc: AllocOp | None
    offset: Offset
    runs: tuple[Access, ...] | None
    writes: bool

    @cached_property
    def extent(self) -> tuple[int, int]:
        """First byte and the one after the last, relative to `offset`. Only where `runs` are known."""
        assert self.runs is not None
        return min(run.start for run in self.runs), max(run.end for run in self.runs)

    @cached_property
    def placed_range(self) -> tuple[int, int] | None:
        """The bytes of its memory that it may touch, in any turn; None before planning, and in device memory."""
        if self.alloc is None or self.alloc.place is None:
            return None
        start, end = 0, self.alloc.total_bytes
        if self.runs is not None and not self.offset.terms:
            low, high = self.extent
            start, end = self.offset.constant + low, self.offset.constant + high
            end += self.alloc.copy_bytes if self.offset.slot is not None else 0
        return self.alloc.place + start, self.alloc.place + end


def touches(op: Instruction) -> list[Touch]:
    """What an instruction reads and writes."""
    footprint = _footprint(op)
    found: list[Touch] = []
    for field in op.address_fields():
        buffer, position = op.address(field.name)
        alloc = root_alloc(buffer)
        offset = offset_of(position, alloc)
        for writes, touched in ((False, op.read_buffers()), (True, op.written_buffers())):
            runs = None if footprint is None else tuple(footprint[field.name, writes])
            if buffer in touched and runs != ():
                found.append(Touch(buffer, alloc, offset, runs, writes))
    return found


def _footprint(op: Instruction) -> dict[tuple[str, bool], list[Access]] | None:
    """The accesses of each address field, relative to the address, or None when they depend on run-time values."""
    numbers = [op.field(field.name) for field in op.FIELDS if isinstance(field, Integer)]
    if any(isinstance(number, SSAValue) for number in numbers):
        return None
    starts = {
        field.name: position
        for field in op.FIELDS
        if isinstance(field, Address) and isinstance(position := op.address(field.name)[1], int)
    }
    found: dict[tuple[str, bool], list[Access]] = defaultdict(list)
    for access in op.accesses(lambda value: 0):
        start = access.start - starts.get(access.field, 0)
        found[access.field, access.write].append(
            Access(access.field, start, access.length, access.bursts, access.stride, access.write, access.space)
        )
    return defaultdict(list, {key: _at_most(runs) for key, runs in found.items()})


def _at_most(runs: list[Access]) -> list[Access]:
    if len(runs) <= MOST_RUNS:
        return runs
    start, end = min(run.start for run in runs), max(run.end for run in runs)
    return [Access(runs[0].field, start, end - start, write=runs[0].write, space=runs[0].space)]


# Whether two touches meet.


def meet_now(a: Touch, b: Touch) -> bool:
    """Whether two accesses may touch the same bytes in the same turn of all loops that are around both."""
    if a.buffer is not b.buffer:
        return ranges_meet(a.placed_range, b.placed_range) and _same_space(a, b)
    if a.offset.slot is not b.offset.slot or a.offset.terms != b.offset.terms or a.runs is None or b.runs is None:
        return True
    return _runs_meet(a.runs, b.runs, b.offset.constant - a.offset.constant)


def meet_later(a: Touch, b: Touch, loop: scf.ForOp) -> bool:
    """Whether `a` in one turn of `loop` and `b` in a later one may touch the same bytes.

    For accesses to the same copy of a buffer with copies, turns that use the same copy are meant.
    """
    if a.buffer is not b.buffer:
        return ranges_meet(a.placed_range, b.placed_range) and _same_space(a, b)
    if a.offset.slot is not b.offset.slot or a.offset.terms != b.offset.terms or a.runs is None or b.runs is None:
        return True
    counter, step = loop.body.block.args[0], constant_value(loop.step)
    stride = a.offset.terms.get(counter, 0)
    spread = [_spread(term, factor, loop) for term, factor in a.offset.terms.items() if term is not counter]
    if not isinstance(step, int) or None in spread:
        return True
    wobble = sum(width for width in spread if width is not None)
    if stride == wobble == 0:
        return _runs_meet(a.runs, b.runs, b.offset.constant - a.offset.constant)
    (a_low, a_high), (b_low, b_high) = a.extent, b.extent
    shift = b.offset.constant - a.offset.constant + stride * step
    ahead = b_low + shift - wobble >= a_high
    behind = b_high + shift + wobble <= a_low
    return stride == 0 or not (ahead if stride > 0 else behind)


def is_visible(value: SSAValue, block: Block) -> bool:
    """Whether a value is defined in `block`, or in a block around it."""
    defined_in = value.owner if isinstance(value.owner, Block) else value.owner.parent
    around: Block | None = block
    while around is not None and around is not defined_in:
        parent = around.parent_op()
        around = None if parent is None else parent.parent
    return around is not None


def _same_space(a: Touch, b: Touch) -> bool:
    return a.alloc is not None and b.alloc is not None and a.alloc.space is b.alloc.space


def ranges_meet(a: tuple[int, int] | None, b: tuple[int, int] | None) -> bool:
    """Whether two ranges of bytes share one; what is not placed (None) shares none."""
    return a is not None and b is not None and a[0] < b[1] and b[0] < a[1]


def _runs_meet(a: Sequence[Access], b: Sequence[Access], shift: int) -> bool:
    """Whether runs of bytes meet when those of `b` are moved by `shift`."""
    return any(_run_meets(x, y, shift) for x in a for y in b)


def _run_meets(a: Access, b: Access, shift: int) -> bool:
    if not (a.start < b.end + shift and b.start + shift < a.end):
        return False
    strides = {run.stride for run in (a, b) if run.bursts > 1}
    if len(strides) != 1:
        return True
    stride = strides.pop()
    if stride <= 0 or a.length > stride or b.length > stride:
        return True
    apart = (b.start + shift - a.start) % stride
    return apart < a.length or apart + b.length > stride


def _spread(term: SSAValue, factor: int, loop: scf.ForOp) -> int | None:
    """How far apart two values of a term of an offset can be, in two turns of `loop`; None if that is not known."""
    outside = loop.parent
    if outside is not None and is_visible(term, outside):
        return 0
    inner = term.owner.parent_op() if isinstance(term, BlockArgument) else None
    if not isinstance(inner, scf.ForOp):
        return None
    bounds = [constant_value(bound) for bound in (inner.lb, inner.ub, inner.step)]
    numbers = [bound for bound in bounds if isinstance(bound, int)]
    if len(numbers) < 3 or not (turns := range(*numbers)):
        return None
    return (turns[-1] - turns[0]) * abs(factor)
