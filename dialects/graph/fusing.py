"""What fits into one kernel: which operations may be the steps of a `graph.fusion`.

A fusion is, in this order,

1. at most one *anchor*, a convolution or matrix product, whose result the other steps take while it is on the chip;
2. elementwise operations (unary, binary, cast), all on one *space*: the shape and storage format of the result.

An operand from outside has the shape of the space, or spreads over it as a scalar, as one block per channel (NC1HWC0),
as one row for all rows (ND) or as one matrix for all matrices (FRACTAL_NZ); see
:func:`ge.dialects.graph.capabilities.broadcast_form`. Only the last step is seen outside, so nothing outside can lie
between two steps, and there can be no cycle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from xdsl.dialects.builtin import f16
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.capabilities import broadcast_form, obstacle, takes_formats
from ge.dialects.graph.compute import BinaryOp, Conv2DOp, MatmulOp, UnaryOp
from ge.dialects.graph.movement import CastOp
from ge.dialects.graph.program import ConstantOp, FusionOp
from ge.ir.attributes import layout_of
from ge.maths.layouts import C0, storage_shape

ANCHORS = (Conv2DOp, MatmulOp)
"""What may be the first step, and no other."""

ELEMENTWISE = (UnaryOp, BinaryOp, CastOp)
"""What may be any step."""

MAX_OPERANDS = 8
"""Operands of elementwise steps from outside: each has buffers of its own on the chip, and addresses to keep."""

MAX_STEPS = 32
"""Steps of a fusion: their code has to fit beside that of other kernels."""

MAX_FUNCTION_BYTES = 32
"""Bytes of one lane that the most demanding function holds at once: eight float32 values."""


def fusion_obstacle(steps: Sequence[Operation]) -> str | None:
    """Why `steps`, in program order, cannot be one kernel, as the end of a sentence; None if they can."""
    first, last = steps[0], steps[-1]
    elementwise = steps[1:] if isinstance(first, ANCHORS) else steps
    if len(steps) > MAX_STEPS:
        return f"it has more than {MAX_STEPS} steps"
    for step in steps:
        if not isinstance(step, (*ELEMENTWISE, *ANCHORS)):
            return f"{step.name} is no step of a fusion"
        if (reason := obstacle(step)) is not None:
            return reason
        if not takes_formats(step):
            return "no kernel takes its storage formats"
    if any(isinstance(step, ANCHORS) for step in elementwise):
        return "a convolution or matrix product is the first step, if any"
    if any(not isinstance(step, CastOp) and tensor(step.results[0]).element_type != f16 for step in steps):
        return "a step does not compute on float16"
    if any(_space(step.results[0]) != _space(last.results[0]) for step in steps):
        return "steps have other shapes or storage formats"
    inner = {step.results[0] for step in steps[:-1]}
    if elementwise is not steps and any(step.results[0] in first.operands for step in steps):
        return "the anchor takes the result of another step"
    if any(use.operation not in steps for value in inner for use in value.uses):
        return "a value between them has other users"
    return _operands_obstacle(elementwise, last.results[0], anchored=elementwise is not steps)


def _space(value: SSAValue) -> tuple[tuple[int, ...], str]:
    return shape_of(value), layout_of(value.type)


def _operands_obstacle(steps: Sequence[Operation], result: SSAValue, *, anchored: bool) -> str | None:
    """What is wrong with the operands that elementwise steps take from outside."""
    operands = tile_operands(steps)
    if len(operands) - anchored > MAX_OPERANDS:
        return f"it has more than {MAX_OPERANDS} operands"
    rows: set[int] = set()
    for value in operands:
        form = broadcast_form(shape_of(value), shape_of(result))
        if form is None:
            return "an operand spreads in a way that has no kernel"
        if form == "trailing":
            rows.add(math.prod(storage_shape(layout_of(value.type), shape_of(value))))
            if anchored and math.prod(shape_of(value)) != math.prod(shape_of(result)[-2:]):
                return "an operand is not one matrix for all"
    if rows and (len(rows) > 1 or rows.pop() % C0):
        return "rows that spread have other lengths, or do not fill blocks"
    return None


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


def lane_bytes(steps: Sequence[Operation]) -> int:
    """Bytes that one lane takes on the chip at most: all operands and results, and what a function needs inside.

    An anchor has a function of its own.
    """
    elementwise = [step for step in steps if not isinstance(step, ANCHORS)]
    values = chain(outside_operands(elementwise), (step.results[0] for step in elementwise))
    functions = 1 if elementwise == list(steps) else 2
    return functions * MAX_FUNCTION_BYTES + sum(2 if tensor(value).element_type == f16 else 4 for value in values)


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
