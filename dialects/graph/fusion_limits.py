"""What one kernel can hold: the one definition of which steps can be a `graph.fusion`, and what they take of a chip."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeAlias

from xdsl.dialects.builtin import f16
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph.attributes import UnaryKind
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.capabilities import (
    UNSAFE_ON_PADDING,
    BroadcastForm,
    broadcast_form,
    obstacle,
    takes_formats,
)
from ge.dialects.graph.compute import BinaryOp, UnaryOp
from ge.dialects.graph.constants import constant_array
from ge.dialects.graph.fusing import ANCHORS, Around, is_step, number_of, outside_operands, tile_operands
from ge.dialects.graph.movement import CastOp, ConcatOp, SliceOp, TransDataOp, TransposeOp
from ge.dialects.graph.movement_kernels import joins_channels, keeps_bytes
from ge.dialects.graph.reduction import ReduceOp
from ge.dialects.graph.reduction_kernels import LANE_BYTES, ReduceTiles, room_for_elements
from ge.dialects.graph.row_tiles import NUMBERS_BYTES, RowKernel, RowTiles
from ge.ir.attributes import layout_of
from ge.maths.layouts import ceil_div, storage_shape

MAX_OPERANDS = 8
"""Operands of elementwise steps from outside: each has buffers of its own on the chip, and addresses to keep."""

MAX_STEPS = 32
"""Steps of a fusion: their code has to fit beside that of other kernels."""

MAX_FUNCTION_BYTES = 24
"""Bytes of one lane that the most demanding function holds at once, beside operand and result: six float32 values."""

FUNCTION_BYTES = 12
"""The same of other functions: three float32 values."""

SIMPLE_BYTES = 4
"""The same of a function of two elements with its own activation, and of one on float16: two float16 values."""

DEMANDING = frozenset({UnaryKind.ERF, UnaryKind.GELU, UnaryKind.MISH})
"""The functions that hold the most: error functions, and one with two quotients."""

ON_FLOAT16 = frozenset({UnaryKind.IDENTITY, UnaryKind.NEG, UnaryKind.ABS, UnaryKind.RELU, UnaryKind.CLIP})
"""Functions that kernels apply to float16: they change no more than the sign, or pick one of two numbers."""


def fusion_obstacle(steps: Sequence[Operation], ub: int) -> str | None:
    """Why `steps`, in an order in which they can be computed, cannot be one kernel; None if they can.

    It is the end of a sentence. `ub` are the bytes of the unified buffer of a core.
    """
    if len(steps) > MAX_STEPS:
        return f"it has more than {MAX_STEPS} steps"
    anchors = [step for step in steps if type(step) in ANCHORS]
    if len(anchors) > 1:
        return f"{anchors[0].name} and {anchors[1].name} share no kernel"
    for step in steps:
        if not is_step(step):
            return f"{step.name} is no step of a fusion"
        if (reason := obstacle(step)) is not None:
            return reason
        if not takes_formats(step):
            return "no kernel takes its storage formats"
    if any(not isinstance(step, CastOp) and tensor(step.results[0]).element_type != f16 for step in steps):
        return "a step does not compute on float16"
    around = Around.of(steps)
    return _order_obstacle(around) or _operands_obstacle(around) or _tiles_obstacle(around, ub)


def _order_obstacle(around: Around) -> str | None:
    """What is wrong with how the steps follow each other."""
    anchor, steps = around.anchor, around.steps
    if anchor is not None:
        made = {step.results[0] for step in around.before}
        if made and (not around.rule.before or not made.isdisjoint(anchor.operands[1:])):
            return "the anchor takes the result of another step"
        if around.after and not around.rule.after:
            return f"nothing follows {anchor.name} in its kernel"
        if any(_space(step.results[0]) != _space(anchor.operands[0]) for step in around.before):
            return "steps have other shapes or storage formats"
    if any(_space(step.results[0]) != _space(around.result) for step in steps[len(around.before) :]):
        return "steps have other shapes or storage formats"
    inner = {step.results[0] for step in steps[:-1]}
    if any(use.operation not in steps for value in inner for use in value.uses):
        return "a value between them has other users"
    return None


def _space(value: SSAValue) -> tuple[tuple[int, ...], str]:
    return shape_of(value), layout_of(value.type)


def _operands_obstacle(around: Around) -> str | None:
    """What is wrong with the operands that elementwise steps take from outside."""
    if len(around.operands) > MAX_OPERANDS:
        return f"it has more than {MAX_OPERANDS} operands"
    for steps in (around.before, around.after):
        for value in tile_operands(steps):
            result = steps[-1].results[0]
            form = broadcast_form(shape_of(value), shape_of(result))
            if form is None or not _spreads(around, form, layout_of(result.type)):
                return "an operand spreads in a way that has no kernel"
            in_product = around.anchor is not None and around.rule.rows is None
            if in_product and form == "trailing" and math.prod(shape_of(value)) != math.prod(shape_of(result)[-2:]):
                return "an operand is not one matrix for all"
    return None


def _spreads(around: Around, form: BroadcastForm, format: str) -> bool:
    """Whether a kernel can spread an operand over steps in a storage format; without an anchor, in every form."""
    match form:
        case "same" | "scalar":
            return True
        case "channel":
            return around.rule.spreads and (around.anchor is None or format == "NC1HWC0")
        case "trailing":
            return around.rule.spreads
        case "repeated":
            return around.anchor is None


def _tiles_obstacle(around: Around, ub: int) -> str | None:
    """Why the kernel of an anchor has no tiles for steps around it; those of a product are looked for."""
    match around.anchor:
        case ReduceOp() as op:
            return _reduction_obstacle(op, around, ub)
        case TransposeOp() | SliceOp() | ConcatOp() | TransDataOp() as op:
            return _movement_obstacle(op, around)
        case _:
            return None if around.rule.rows is None else _rows_obstacle(around, ub)


def _reduction_obstacle(op: ReduceOp, around: Around, ub: int) -> str | None:
    """What is wrong with the elementwise steps around a reduction."""
    tiles = ReduceTiles.of(op, ub)
    if tiles is None:
        return "no kernel takes its storage formats"
    if around.before and tiles.length % tiles.part:
        return "steps would make something of what is beyond the elements that are combined"
    if around.elementwise and tiles.smallest > reduce_room(around, tiles, ub):
        return f"{tiles.smallest} elements and what the steps need do not fit on the chip"
    return None


def _movement_obstacle(op: TransposeOp | SliceOp | ConcatOp | TransDataOp, around: Around) -> str | None:
    """What is wrong with the elementwise steps around a movement."""
    if isinstance(op, TransDataOp) and around.elementwise and keeps_bytes(op):
        return "a conversion that keeps the bytes is no kernel"
    if isinstance(op, TransDataOp) and around.before and _pads(op.y):
        return "steps would make something of what is beyond the end, where pad lanes are zero"
    if isinstance(op, ConcatOp) and around.elementwise and joins_channels(op):
        return "channels are put together in lanes"
    moved = set(tile_operands(around.before) or op.operands)
    if any(value in moved and math.prod(shape_of(value)) > 1 for value in tile_operands(around.after)):
        return "an operand is moved, and read as it lies, too"
    return None


def _pads(value: SSAValue) -> bool:
    """Whether there are lanes in the storage of a value that hold no element."""
    return math.prod(storage_shape(layout_of(value.type), shape_of(value))) > math.prod(shape_of(value))


def moved_lane_bytes(around: Around) -> int:
    """Bytes that one lane takes while the elementwise steps around a movement are computed."""
    return max(_bytes_of_steps(around.before), _bytes_of_steps(around.after))


def reduce_room(around: Around, tiles: ReduceTiles, ub: int) -> int:
    """The elements that the kernel of a reduction can have at once in a unified buffer of `ub` bytes.

    What the steps before it need is gone when its own work begins, and that when the steps after it do theirs: on one
    element for each part of many.
    """
    after = ceil_div(_bytes_of_steps(around.after), tiles.part)
    return room_for_elements(ub, max(_bytes_of_steps(around.before), LANE_BYTES, after))


def _rows_obstacle(around: Around, ub: int) -> str | None:
    """What is wrong with the elementwise steps around an anchor of rows."""
    rows = row_tiles(around)
    if rows.is_ragged and not all(map(_is_finite_beyond, around.before)):
        return "what is beyond the end of a row could become infinite before the rows are summed"
    if not around.elementwise:
        return None
    together = rows_together(around, ub)
    in_order = rows.is_ragged and not rows.fractal and rows.rows > 1
    if in_order and (
        together == 1 or any(isinstance(step, UnaryOp) and step.kind in DEMANDING for step in around.steps)
    ):
        return f"one core stores rows of {rows.length} elements, and would do the steps alone"
    elements = together * rows.padded
    assert around.anchor is not None, "an anchor of rows"
    copies = 2 if 2 * elements <= row_room(Around.alone(around.anchor), ub) else 1
    if copies * elements > row_room(around, ub):
        often = "twice, as they do alone" if copies == 2 else "on the chip"
        return f"{together} rows of {rows.length} elements and what the steps need do not fit {often}"
    return None


def _is_finite_beyond(step: Operation) -> bool:
    """Whether a step makes finite numbers of the harmless ones that are beyond the end of rows."""
    match step:
        case UnaryOp():
            return step.kind not in UNSAFE_ON_PADDING
        case BinaryOp():
            return step.kind.data not in UNSAFE_ON_PADDING or _divides_by_number(step)
        case _:
            return True


def _divides_by_number(step: BinaryOp) -> bool:
    number = constant_array(step.b) if number_of(step) is step.b else None
    return number is not None and bool(number.reshape(()) != 0)


def row_tiles(around: Around) -> RowTiles:
    """The rows that an anchor of rows reads."""
    assert around.anchor is not None, "an anchor of rows"
    return RowTiles.of(around.anchor.operands[0])


def rows_together(around: Around, ub: int) -> int:
    """The rows that a kernel has at once (in FRACTAL_NZ: a divisor of them): those that its anchor alone would have."""
    assert around.rule.rows is not None, "an anchor of rows"
    return row_tiles(around).together(ub, around.rule.rows)


LaneBytes: TypeAlias = Callable[[Sequence[Operation]], int]
"""Bytes that one lane takes while elementwise steps are computed: all operands and results, and what is inside."""


def row_room(around: Around, ub: int, lane_bytes: LaneBytes | None = None) -> int:
    """The elements of rows that a kernel can have at once in a unified buffer of `ub` bytes.

    The bytes of a lane are known to the lowering, and less than what is reckoned with here.
    """
    assert around.rule.rows is not None, "an anchor of rows"
    if not around.elementwise:
        return row_tiles(around).room(ub, around.rule.rows)
    kernel = _row_kernel(around, around.rule.rows, lane_bytes or _bytes_of_steps)
    return row_tiles(around).room(ub - NUMBERS_BYTES, kernel)


def is_vector(operand: SSAValue) -> bool:
    """Whether an operand of elementwise steps is one row for all rows of a plain tensor, or a scalar."""
    shape = shape_of(operand)
    return layout_of(operand.type) != "FRACTAL_NZ" and math.prod(shape) == (shape[-1] if shape else 1)


def _row_kernel(around: Around, alone: RowKernel, lane_bytes: LaneBytes) -> RowKernel:
    """What a kernel keeps with the steps around an anchor, which keeps something `alone`.

    What steps load and compute before the anchor is gone when its own work begins, unless steps after it read it again.
    Rows that are operands are loaded once, as are the limits of rows that do not fill blocks.
    """
    spread = {operand for operand in around.operands if shape_of(operand) != shape_of(around.result)}
    vectors = {operand for operand in spread if is_vector(operand)}

    def of_steps(steps: Sequence[Operation]) -> int:
        return lane_bytes(steps) - _bytes_of(vectors.intersection(tile_operands(steps)))

    kept = _bytes_of(value for value in around.kept if value not in vectors)
    lanes = (of_steps(around.before) + kept, alone.lane_bytes + kept, of_steps(around.after))
    limits = 2 if row_tiles(around).is_ragged else 0
    return RowKernel(max(lanes), alone.vector_bytes + _bytes_of(vectors) + limits)


def _bytes_of_steps(steps: Sequence[Operation]) -> int:
    """Bytes that one lane takes while elementwise steps are computed, at most."""
    values = chain(tile_operands(steps), (step.results[0] for step in steps))
    return _bytes_of(values) + max(map(inner_bytes, steps), default=0)


def inner_bytes(step: Operation) -> int:
    """Bytes that an elementwise step holds of one lane at most, beside its operands and its result."""
    if not isinstance(step, UnaryOp) or step.kind in ON_FLOAT16:
        return SIMPLE_BYTES
    return MAX_FUNCTION_BYTES if step.kind in DEMANDING else FUNCTION_BYTES


def _bytes_of(values: Iterable[SSAValue]) -> int:
    return sum(2 if tensor(value).element_type == f16 else 4 for value in values)


def lane_bytes(steps: Sequence[Operation]) -> int:
    """Bytes that one lane takes on the chip at most: all operands and results, and what a function needs inside.

    An anchor has a function of its own.
    """
    elementwise = [step for step in steps if type(step) not in ANCHORS]
    values = chain(outside_operands(elementwise), (step.results[0] for step in elementwise))
    functions = 1 if elementwise == list(steps) else 2
    return functions * MAX_FUNCTION_BYTES + _bytes_of(values)
