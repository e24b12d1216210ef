"""What the lowering of one operation gives: a kernel, what it is launched on, and what the OM shows of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, f32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.graph import ConstantOp
from ge.dialects.graph.base import tensor
from ge.dialects.graph.capabilities import obstacle, takes_formats
from ge.dialects.tile.structure import KernelOp
from ge.dialects.tile.types import GmType
from ge.ir.attributes import block_lanes, layout_of
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.maths.layouts import C0, storage_shape
from ge.maths.tiling import Machine
from ge.targets.ascend.soc import Soc


@dataclass(frozen=True)
class Target:
    """What kernels are written for: the SoC, and how."""

    soc: Soc
    double_buffer: bool = True
    """Whether loops ask for double buffering."""
    search: bool = True
    """Whether tiles are those that cost least; the largest that fit otherwise."""
    most_cores: int = 0
    """The most AI Cores that a kernel takes; 0 is all that there are."""

    @property
    def stages(self) -> int:
        """The number of stages of loops that bring in tiles."""
        return 2 if self.double_buffer else 1

    @property
    def cores(self) -> int:
        """The number of AI Cores."""
        return min(self.soc.cores, self.most_cores or self.soc.cores)

    @property
    def ub(self) -> int:
        """Bytes of the unified buffer."""
        return self.soc.buffers["ub"]

    def machine(self, stride_w: int = 1) -> Machine:
        """The core as the search for tile sizes sees it, for windows that are ``stride_w`` positions apart."""
        soc = self.soc
        costs = soc.costs(warm=True)
        load, store, vector = soc.pipes["mte2"], soc.pipes["mte3"], soc.pipes["v"]
        return Machine(
            cores=self.cores,
            l1=soc.buffers["l1"],
            l0a=soc.buffers["l0a"],
            l0b=soc.buffers["l0b"],
            l0c=soc.buffers["l0c"],
            ub=soc.buffers["ub"],
            slab_rate=soc.l2_rate,
            weights_rate=soc.ddr_rate,
            transfer=max(load.overhead, store.overhead),
            latency=load.latency,
            window_rates=tuple(costs.load3d_rate("l0a", stride_w, rows) for rows in range(1, C0 + 2)),
            l0b_rate=costs.rate("l1->l0b"),
            l0c_rate=costs.rate("l0c->ub"),
            vector_rate=4 * costs.lanes("simple", "f32"),
            vector_latency=vector.overhead + vector.latency,
            store_rate=soc.ddr_rate,
        )


@dataclass
class Outlined:
    """One kernel run in place of a graph operation.

    The kernel is launched on ``inputs``; ``constants`` are new constants among them. ``op_type`` and ``op_attrs`` are
    the operator of Ascend IR that the kernel stands for.
    """

    kernel: KernelOp
    inputs: Sequence[SSAValue]
    op_type: str
    op_attrs: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    constants: Sequence[ConstantOp] = ()


Lowering: TypeAlias = Callable[[Any, Target], Outlined]
"""From a graph operation to its kernel. Raises GE4010 for a case without a kernel."""


def storage_of(value: SSAValue) -> tuple[int, ...]:
    """The storage shape of a graph value."""
    type = tensor(value)
    return storage_shape(layout_of(type), type.get_shape(), block_lanes(type))


def memory_type(value: SSAValue, shape: Sequence[int] | None = None) -> GmType:
    """The kernel argument for a graph value: its storage shape, or a regrouping of it."""
    return GmType(storage_of(value) if shape is None else shape, tensor(value).element_type)


def no_kernel(op: Operation, why: str) -> GeError:
    """The error of a case that no kernel covers."""
    types = ", ".join(str(operand.type) for operand in op.operands)
    return GeError("GE4010", f"{op.name} of ({types}): {why}", where(op))


def check_covered(op: Operation) -> None:
    """Raise GE4010 unless the operation, with the formats its values have now, is one that kernels are written for."""
    if (reason := obstacle(op)) is not None:
        raise no_kernel(op, reason)
    if not takes_formats(op):
        formats = ", ".join(layout_of(value.type) for value in (*op.operands, *op.results))
        raise no_kernel(op, f"no kernel takes the storage formats {formats}")


def attribute(value: int | float | bool | str | Sequence[int]) -> Attribute:
    """An operator attribute as the OM shows it."""
    match value:
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f32)
        case str():
            return StringAttr(value)
        case _:
            return DenseArrayBase.from_list(i64, list(value))


def attributes(**values: int | float | bool | str | Sequence[int]) -> dict[str, Attribute]:
    """Operator attributes as the OM shows them."""
    return {name: attribute(value) for name, value in values.items()}
