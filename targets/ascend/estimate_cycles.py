"""The pass `estimate-cycles`."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable

from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.graph import LaunchOp, ViewOp
from ge.dialects.graph.base import int_attr
from ge.dialects.om.values import value_bytes
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import where
from ge.targets.ascend.runtime.launch import L2Cache, Window
from ge.targets.ascend.simulator.estimate import Estimator
from ge.targets.ascend.soc import load_soc


@dataclass(frozen=True)
class EstimateCyclesPass(ModulePass):
    """Write how many cycles each launch of a device program takes, as the simulator counts them: `cycles 4405`.

    1. A launch of a planned `cube.kernel` is counted without running it, on the chip that the kernel was written for.
       An argument is in the L2 cache when it is among the last ones used, in the order of the program.
    2. Other launches are left alone, and so is work of the host, of whose speed nothing is known.
    """

    name = "estimate-cycles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                _estimate(program)


def _estimate(program: FuncOp) -> None:
    estimators: dict[CubeKernelOp, Estimator] = {}
    caches: dict[str, L2Cache] = {}
    places = _Places()
    for op in body_of(program).ops:
        match op:
            case ViewOp():
                places.windows[op.y] = places.window(op.x)
            case LaunchOp():
                kernel = SymbolTable.lookup_symbol(op, op.kernel)
                if isinstance(kernel, CubeKernelOp):
                    soc = load_soc(kernel.soc.data)
                    if kernel not in estimators:
                        estimators[kernel] = Estimator(kernel, soc)
                    cache = caches.setdefault(soc.name, L2Cache(soc.l2_bytes))
                    used = [places.window(value) for value in (*op.operands, *op.results)]
                    if len(used) != len(kernel.body.block.args):
                        what = f"{op.kernel} has {len(kernel.body.block.args)} arguments, the launch gives {len(used)}"
                        raise GeError("GE3002", what, where(op))
                    if (
                        needed := sum(size for _, size in {*used})
                    ) > soc.memory_bytes:  # many steps to count, for nothing
                        what = f"{op.kernel} needs {needed} bytes at once, {soc.name} has {soc.memory_bytes}"
                        raise GeError("GE4022", what, where(op))
                    op.cycles = int_attr(estimators[kernel].cycles([cache.holds(window) for window in used]))
                    for window in used:
                        cache.use(window)
            case _:
                pass


@dataclass
class _Places:
    """Where values lie for the cache: each behind the one before, because memory is not planned yet."""

    windows: dict[SSAValue, Window] = field(default_factory=dict[SSAValue, Window])
    end: int = 0

    def window(self, value: SSAValue) -> Window:
        """The place of a value."""
        if value not in self.windows:
            size = value_bytes(value.type) or 0
            self.windows[value] = (self.end, size)
            self.end += size
        return self.windows[value]
