"""`insert-sync`: order the instructions of different pipes, and dependent ones of one pipe.

For every hazard (`sync/hazards.py`) there is afterwards a set_flag and wait_flag, or a pipe_barrier, or a chain of
others that implies it; docs/synchronisation.md explains how. Left alone are

* kernels that have flags already;
* instructions that touch different bytes, or only read: they get nothing.

Buffers that share bytes by their places (`plan-buffers`) are kept apart, too, so places must be final before this pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.cube.instructions.sync import FlagInstruction
from ge.dialects.cube.kernel import CubeKernelOp
from ge.passes.cube.sync.barriers import barriers
from ge.passes.cube.sync.emit import Writer
from ge.passes.cube.sync.events import number_events
from ge.passes.cube.sync.hazards import hazards
from ge.passes.cube.sync.knowledge import Knowledge
from ge.passes.cube.sync.nearest import nearest
from ge.passes.cube.sync.pairs import order
from ge.passes.cube.sync.structure import sites
from ge.targets.ascend.soc import Soc, load_soc


@dataclass(frozen=True)
class InsertSync(ModulePass):
    """Order the instructions of different pipes, and dependent ones of one pipe, by flags and barriers."""

    name = "insert-sync"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.walk():
            if isinstance(kernel, CubeKernelOp):
                synchronise(kernel, load_soc(kernel.soc.data))


def synchronise(kernel: CubeKernelOp, soc: Soc) -> None:
    """Order the instructions of one kernel."""
    if any(isinstance(op, FlagInstruction) for op in kernel.walk()):
        return
    found = nearest(hazards(sites(kernel)))
    sync = order(found)
    knowledge = Knowledge(sync)
    numbered = number_events(sync, knowledge, soc.event_ids)
    Writer(kernel).write(numbered, barriers(kernel, found, knowledge))
