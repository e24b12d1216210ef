"""What a `graph.fusion` is made of: which operations may be its steps, and how they lie around its anchor.

A fusion is

1. elementwise steps (unary, binary, cast) *before* the anchor, which make its first operand;
2. at most one *anchor*: an operation that is more than a function of each element. :data:`ANCHORS` lists them;
3. elementwise steps *after* it, which take its result while that is on the chip.

The steps before an anchor are all on one *space*, the shape and storage format of its first operand; those after it on
that of the result. An operand from outside has the shape of the space, or spreads over it as a scalar, as one block per
channel (NC1HWC0) or as one matrix for all matrices (FRACTAL_NZ); around an anchor of rows as a row or as matrices, in
both formats; without an anchor in any way. See :func:`ge.dialects.graph.capabilities.broadcast_form`. Only the last
step is seen outside, so nothing outside can lie between two steps, and there can be no cycle.

What one kernel can hold of this is in :mod:`ge.dialects.graph.fusion_limits`.

A further anchor is a line in :data:`ANCHORS`, and one in `ge.lowering.graph_to_tile.fusion` for its kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.compute import BinaryOp, Conv2DOp, MatmulOp, UnaryOp
from ge.dialects.graph.movement import CastOp, ConcatOp, SliceOp, TransDataOp, TransposeOp
from ge.dialects.graph.normalization import LayerNormOp, SoftmaxOp
from ge.dialects.graph.program import ConstantOp, FusionOp
from ge.dialects.graph.reduction import ReduceOp
from ge.dialects.graph.row_tiles import ROW_KERNELS, RowKernel


@dataclass(frozen=True)
class Anchor:
    """What a kernel can do around an operation that is more than a function of each element."""

    before: bool = False
    """Whether elementwise steps may make its first operand."""
    after: bool = True
    """Whether elementwise steps may follow it."""
    spreads: bool = True
    """Whether operands of the steps may spread in other ways than as scalars."""
    rows: RowKernel | None = None
    """What its kernel keeps of rows, when it goes along whole rows; None for others."""


ANCHORS: Mapping[type[Operation], Anchor] = {
    Conv2DOp: Anchor(),
    MatmulOp: Anchor(),
    SoftmaxOp: Anchor(before=True, rows=ROW_KERNELS[SoftmaxOp]),
    LayerNormOp: Anchor(before=True, rows=ROW_KERNELS[LayerNormOp]),
    ReduceOp: Anchor(before=True, spreads=False),
    TransposeOp: Anchor(before=True, spreads=False),
    SliceOp: Anchor(before=True, spreads=False),
    ConcatOp: Anchor(spreads=False),
    TransDataOp: Anchor(before=True, spreads=False),
}
"""What may be a step once."""

ELEMENTWISE = (UnaryOp, BinaryOp, CastOp)
"""What may be any other step."""


def is_step(op: Operation) -> bool:
    """Whether an operation may be a step of a fusion, as far as its kind goes."""
    return isinstance(op, ELEMENTWISE) or type(op) in ANCHORS


@dataclass(frozen=True)
class Around:
    """The steps of a fusion around its anchor; those of a fusion without one are all after it."""

    before: Sequence[Operation]
    """What the anchor is computed from, in order."""
    anchor: Operation | None
    after: Sequence[Operation]
    """All others, in order."""

    @classmethod
    def of(cls, steps: Iterable[Operation]) -> Around:
        """Look for the anchor of `steps`, which are in an order in which they can be computed."""
        steps = list(steps)
        anchor = next((step for step in steps if type(step) in ANCHORS), None)
        if anchor is None:
            return cls((), None, steps)
        needed = set(anchor.operands)
        for step in reversed(steps):
            if not needed.isdisjoint(step.results):
                needed.update(step.operands)
        before = [step for step in steps if step is not anchor and not needed.isdisjoint(step.results)]
        return cls(before, anchor, [step for step in steps if step is not anchor and step not in before])

    @classmethod
    def alone(cls, anchor: Operation) -> Around:
        """An anchor without steps around it."""
        return cls((), anchor, ())

    @property
    def steps(self) -> list[Operation]:
        """All of them, in the order of the kernel."""
        return [*self.before, *([] if self.anchor is None else [self.anchor]), *self.after]

    @property
    def elementwise(self) -> list[Operation]:
        """All but the anchor."""
        return [*self.before, *self.after]

    @property
    def result(self) -> SSAValue:
        """The one value that is seen outside."""
        return self.steps[-1].results[0]

    @property
    def rule(self) -> Anchor:
        """What its kernel can do around the anchor; without an anchor, anything."""
        return Anchor() if self.anchor is None else ANCHORS[type(self.anchor)]

    @property
    def operands(self) -> list[SSAValue]:
        """What elementwise steps load."""
        results = () if self.anchor is None else self.anchor.results
        return [value for value in tile_operands(self.elementwise) if value not in results]

    @property
    def kept(self) -> list[SSAValue]:
        """What steps before the anchor load or compute, and steps after it read again."""
        known = {*tile_operands(self.before), *(step.results[0] for step in self.before)}
        return [value for value in tile_operands(self.after) if value in known]


def outside_operands(steps: Sequence[Operation]) -> list[SSAValue]:
    """The values that steps take from outside, in the order of their first use."""
    inside = {result for step in steps for result in step.results}
    return list(dict.fromkeys(value for step in steps for value in step.operands if value not in inside))


def tile_operands(steps: Sequence[Operation]) -> list[SSAValue]:
    """Of :func:`outside_operands` those that a kernel has to load: all but constant numbers, which are in its code."""
    loaded = {value for step in steps for value in step.operands if value is not number_of(step)}
    return [value for value in outside_operands(steps) if value in loaded]


def number_of(step: Operation) -> SSAValue | None:
    """The operand of a function of two elements that is a constant of one element, when the other one is not."""
    if not isinstance(step, BinaryOp):
        return None
    first, second = (isinstance(side.owner, ConstantOp) and math.prod(shape_of(side)) == 1 for side in step.operands)
    return None if first == second else step.a if first else step.b


def unfolded(op: FusionOp) -> list[Operation]:
    """Copies of the steps of a fusion, on the operands of the fusion instead of the arguments of its region.

    They are in no block; :func:`discard` gives them up.
    """
    values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.inputs, strict=True))
    return [step.clone(values) for step in op.steps]


def discard(steps: Sequence[Operation]) -> None:
    """Give up copies made by :func:`unfolded`, so that they are no users of anything."""
    for step in reversed(steps):
        step.erase()
