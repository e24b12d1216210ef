"""The pass `share-cores`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects.graph import HostOp
from ge.dialects.graph.base import int_attr
from ge.dialects.graph.program import CORES, ONE_STREAM_CYCLES, main_function
from ge.ir.rewrite_log import logger
from ge.ir.rewriting import permit
from ge.lowering.graph_to_tile.convert_graph_to_tile import ConvertGraphToTilePass, is_launched
from ge.lowering.tile_to_cube.convert import ConvertTileToCube
from ge.maths.core_sharing import share_cores
from ge.maths.streams import Task
from ge.passes.cube.insert_sync import InsertSync
from ge.passes.cube.plan_buffers import PlanBuffers
from ge.passes.graph.assign_precision import has_formats
from ge.passes.graph.program_time import ProgramTime, program_time
from ge.targets.ascend.estimate_cycles import EstimateCyclesPass
from ge.targets.ascend.soc import load_soc

SHARES = (1, 2, 4)
"""Parts of the chip that a kernel may get: all cores, half of them, a quarter."""


@dataclass(frozen=True)
class ShareCoresPass(ModulePass):
    """Choose how many cores each kernel takes, so that kernels of independent branches run side by side.

    The kernels are made for all cores, half and a quarter of them, and the simulator counts their cycles; of these, the
    choice is kept that takes the least time (:mod:`ge.maths.core_sharing`).

    1. An operation whose kernel is to take fewer cores gets the note `graph.cores`, for `convert-graph-to-tile`.
    2. The function gets the note `graph.one_stream_cycles`: what the program takes without streams and sharing.

    Left alone: operations that nothing may run beside, work of the host, and operations that have the note already; a
    module without storage formats, which has no kernels yet. Where no choice saves time, no operation gets a note.
    """

    name = "share-cores"

    soc: str = "Ascend310P3"
    """The SoC that kernels are written for."""
    double_buffer: bool = True
    search_tiles: bool = True
    """As for `convert-graph-to-tile`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        main = main_function(op)
        if not has_formats(main):
            return
        work = [each for each in main.body.block.ops if isinstance(each, HostOp) or is_launched(each)]
        soc = load_soc(self.soc)
        counts = sorted({max(1, soc.cores // share) for share in SHARES}, reverse=True)
        times = [self._time(ctx, op, len(work), cores) for cores in counts]
        main.attributes[ONE_STREAM_CYCLES] = int_attr(times[0].cycles_in_one_stream)
        choices = [
            self._choices(each, tasks) for each, *tasks in zip(work, *(time.tasks for time in times), strict=True)
        ]
        chosen = share_cores(choices, times[0].machine)
        for each, choice in zip(work, chosen, strict=True):
            if choice and permit(self.name, each):
                each.attributes[CORES] = int_attr(counts[choice])
        logger.info("%d of %d kernels leave cores to others", sum(map(bool, chosen)), len(work))

    def _choices(self, op: Operation, tasks: Sequence[Task]) -> Sequence[Task]:
        """What a task may take: what is left alone has no choice."""
        return tasks[:1] if isinstance(op, HostOp) or CORES in op.attributes else tasks

    def _time(self, ctx: Context, module: ModuleOp, count: int, cores: int) -> ProgramTime:
        """The tasks of the program when its kernels take so many cores."""
        trial = module.clone()
        for op in main_function(trial).body.block.ops:
            if is_launched(op) and CORES not in op.attributes:
                op.attributes[CORES] = int_attr(cores)
        kernels = ConvertGraphToTilePass(self.soc, self.double_buffer, self.search_tiles)
        for each in (kernels, ConvertTileToCube(self.soc), PlanBuffers(), InsertSync(), EstimateCyclesPass()):
            each.apply(ctx, trial)
        time = program_time(main_function(trial), load_soc(self.soc))
        assert len(time.tasks) == count, "each operation becomes one task"
        return time
