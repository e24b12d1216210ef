"""How long a kernel takes, without running it."""

from __future__ import annotations

from collections.abc import Sequence

from ge.dialects.cube.kernel import CubeKernelOp
from ge.targets.ascend.simulator.program import Program, Variant
from ge.targets.ascend.soc import Soc

COUNT = Variant(computes=False)


class Estimator:
    """Counts the cycles of one planned kernel: those that :func:`launch` reports, because no data changes them."""

    def __init__(self, kernel: CubeKernelOp, soc: Soc) -> None:
        self._program = Program(kernel, soc)
        self._known: dict[tuple[bool, ...], int] = {}

    def cycles(self, warm: Sequence[bool] = ()) -> int:
        """Cycles of the slowest core. ``warm`` says for each argument whether it is in the L2 cache."""
        count = self._program.arguments
        cached = (*warm, *[False] * (count - len(warm)))
        if cached not in self._known:
            run = self._program.function(COUNT)
            arguments = (*[0] * count, *cached, None, None)
            self._known[cached] = max(int(run(None, core, *arguments)[0]) for core in range(self._program.blocks))
        return self._known[cached]
