"""`plan-buffers`: a place for every buffer of a kernel.

For each memory, the first of these that fits:

1. every buffer has bytes of its own: nothing waits for another buffer to become free;
2. buffers that are not live at the same time share bytes;
3. as 2, with one copy less of a buffer that has two, until it fits: first of those that no transfer fills from
   outside, whose copies hide least, then of those in the outermost loops, whose copies hide it least often, and of
   these the largest.

Otherwise GE4021 names the memory and the largest buffers. A kernel whose buffers have places already is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from ge.dialects.cube.instruction import Instruction
from ge.dialects.cube.kernel import AllocOp, CubeKernelOp
from ge.dialects.cube.spaces import Pipe, Space
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.maths.intervals import Interval
from ge.maths.placement import Placement, place
from ge.passes.cube.addresses import use_first_copy
from ge.passes.cube.lifetimes import Lifetime, lifetimes, loop_depth
from ge.targets.ascend.soc import Soc, load_soc


@dataclass(frozen=True)
class PlanBuffers(ModulePass):
    """Give every buffer of a kernel a place in its memory; drop second copies where they do not fit."""

    name = "plan-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.walk():
            if isinstance(kernel, CubeKernelOp):
                plan(kernel, load_soc(kernel.soc.data))


def plan(kernel: CubeKernelOp, soc: Soc) -> None:
    """Place the buffers of one kernel."""
    live = lifetimes(kernel)
    for space in Space:
        allocs = [alloc for alloc in live if alloc.space is space]
        if any(alloc.place is None for alloc in allocs):
            _plan_space(kernel, soc, space, allocs, live)


def _plan_space(
    kernel: CubeKernelOp, soc: Soc, space: Space, allocs: Sequence[AllocOp], live: dict[AllocOp, Lifetime]
) -> None:
    capacity, alignment = soc.buffers[space], soc.alignment[space]
    apart = place([Interval(0, 0, alloc.total_bytes) for alloc in allocs], alignment)
    shared = apart
    while min(apart.peak, shared.peak) > capacity:
        shared = _place_by_lifetime(allocs, live, alignment)
        if shared.peak <= capacity:
            break
        doubled = [alloc for alloc in allocs if alloc.copy_count > 1]
        if not doubled:
            raise _too_small(kernel, space, allocs, shared.peak, capacity)
        _take_one_copy(max(doubled, key=_expendable))
        live = lifetimes(kernel)
        apart = place([Interval(0, 0, alloc.total_bytes) for alloc in allocs], alignment)
    chosen = apart if apart.peak <= capacity else shared
    for alloc, offset in zip(allocs, chosen.offsets, strict=True):
        alloc.set_place(offset)


def _place_by_lifetime(allocs: Sequence[AllocOp], live: dict[AllocOp, Lifetime], alignment: int) -> Placement:
    intervals = [Interval(live[alloc].start, live[alloc].end, alloc.total_bytes) for alloc in allocs]
    return place(intervals, alignment)


def _expendable(alloc: AllocOp) -> tuple[bool, int, int]:
    """How little is lost when a buffer has one copy: what no transfer fills, then the outermost loops, then by size."""
    users = [use.operation for use in alloc.result.uses]
    writers = [op for op in users if isinstance(op, Instruction) and alloc.result in op.written_buffers()]
    transfers = [op for op in writers if op.PIPE in (Pipe.MTE1, Pipe.MTE2)]
    return not transfers, -max(map(loop_depth, writers), default=0), alloc.copy_bytes


def _take_one_copy(alloc: AllocOp) -> None:
    """Leave one copy of a buffer, which all turns of the loop use."""
    for user in {use.operation for use in alloc.result.uses}:
        if isinstance(user, Instruction):
            use_first_copy(user, alloc)
    alloc.copies = IntegerAttr(1, i64)


def _too_small(kernel: CubeKernelOp, space: Space, allocs: Sequence[AllocOp], needed: int, capacity: int) -> GeError:
    largest = sorted(allocs, key=lambda alloc: -alloc.total_bytes)[:3]
    names = ", ".join(f"%{alloc.result.name_hint or '?'} ({alloc.total_bytes} bytes)" for alloc in largest)
    return GeError(
        "GE4021",
        f"kernel '{kernel.sym_name.data}' needs {needed} bytes of {space}, there are {capacity}; largest: {names}",
        where(kernel),
    )
