"""`graph.unary`, `graph.binary` and `graph.cast` to tile kernels: runs of blocks, whatever the storage format.

An elementwise function sees the storage as P blocks of 16 lanes, or as a plain run of elements where a plain format
does not fill its last block. A broadcast operand is

* a scalar: a number in the kernel when it is constant, otherwise one element loaded by every tile;
* per channel ([1|N, C, 1, 1] in NC1HWC0): one block for all positions of a channel block;
* trailing ([..., L] in ND): one row of L elements for all rows.

Functions of one element are computed in float32, or in float16 where that gives the same (see `activations`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute, SSAValue

from ge.dialects.graph import ActivationAttr, BinaryKind, BinaryOp, CastOp, UnaryKind, UnaryOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.capabilities import broadcast_form
from ge.dialects.graph.constants import constant_array
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import gm_type
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.activations import activation_cost, emit_activation, keeps_precision
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel, storage_of
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import deal_evenly

SMALLEST_RUN = 64
"""Blocks below which a run is not shared among cores: 2 KiB, less than a transfer moves during its latency."""

F16_BLOCK, F32_BLOCK = 32, 64
"""Bytes of 16 lanes."""

HARMLESS = 1.0
"""What lanes beyond the end of a tensor read as: every function is finite there."""


# Runs of blocks


def run_shape(value: SSAValue) -> tuple[int, ...]:
    """The storage as P x 16, or as a run of elements when the last block is not full."""
    elements = math.prod(storage_of(value))
    return (elements // C0, C0) if elements % C0 == 0 else (elements,)


def load_run(b: KernelBuilder, source: SSAValue, start: Index, blocks: int) -> SSAValue:
    """``blocks`` blocks of a run, from block ``start``: blocks x 16."""
    if gm_type(source).rank == 2:
        return b.load(source, [start, 0], [blocks, C0], _fill(source, blocks))
    return b.load(source, [b.times(start, C0)], [blocks * C0], HARMLESS, shape=[blocks, C0])


def _fill(source: SSAValue, blocks: int) -> float | None:
    """Runs of equal length that cover the source end where it ends; others need a fill."""
    return None if gm_type(source).sizes[0] % blocks == 0 else HARMLESS


def store_run(b: KernelBuilder, value: SSAValue, target: SSAValue, start: Index, blocks: int) -> None:
    """Store what `load_run` loads."""
    if gm_type(target).rank == 2:
        b.store(value, target, [start, 0], [blocks, C0])
    else:
        b.store(value, target, [b.times(start, C0)], [blocks * C0])


def run_kernel(
    name: str,
    target: Target,
    inputs: Sequence[SSAValue],
    scalars: Sequence[SSAValue],
    output: SSAValue,
    bytes_per_block: int,
    compute: Callable[[KernelBuilder, Sequence[SSAValue], Sequence[SSAValue]], SSAValue],
) -> KernelBuilder:
    """A kernel that applies ``compute`` to the same run of all ``inputs``, and to the ``scalars``.

    ``bytes_per_block`` is what 16 lanes take in the unified buffer, which holds two runs.
    """
    blocks = ceil_div(math.prod(storage_of(output)), C0)
    deal = deal_evenly(blocks, target.ub // 2 // bytes_per_block, target.cores, SMALLEST_RUN)
    arguments = [memory_type(value, run_shape(value)) for value in inputs]
    arguments += [memory_type(value, (1,)) for value in scalars]
    b = KernelBuilder(name, arguments, [memory_type(output, run_shape(output))], deal.cores)
    with b.deal(deal.parts, target.stages) as number:
        start = b.named("start", b.times(number, deal.size))
        tiles = [load_run(b, source, start, deal.size) for source in b.inputs[: len(inputs)]]
        numbers = [b.load(source, [0], [1], shape=[1, 1]) for source in b.inputs[len(inputs) :]]
        store_run(b, compute(b, tiles, numbers), b.outputs[0], start, deal.size)
    return b


# Functions of one element


def lower_unary(op: UnaryOp, target: Target) -> Outlined:
    """The kernel of a function of one element."""
    function = op.function
    direct = keeps_precision(function)
    lane_bytes = 2 * F16_BLOCK + (F16_BLOCK if direct else F32_BLOCK * (1 + activation_cost(function).copies))

    def compute(b: KernelBuilder, tiles: Sequence[SSAValue], _: Sequence[SSAValue]) -> SSAValue:
        x = tiles[0] if direct else b.cast(tiles[0], f32)
        return b.cast(emit_activation(b, x, function), f16)

    b = run_kernel(str(function.kind), target, [op.x], [], op.y, lane_bytes, compute)
    return Outlined(b.kernel, [op.x], *unary_operator(function))


def unary_operator(function: ActivationAttr) -> tuple[str, dict[str, Attribute]]:
    """The operator of Ascend IR for a function."""
    match function.kind:
        case UnaryKind.CLIP if (function.alpha, function.beta) == (0.0, 6.0):
            return "Relu6", {}
        case UnaryKind.CLIP:
            return "ClipByValue", attributes(clip_value_min=function.alpha, clip_value_max=function.beta)
        case UnaryKind.LEAKY_RELU:
            return "LeakyRelu", attributes(negative_slope=function.alpha)
        case UnaryKind.ELU:
            return "Elu", attributes(alpha=function.alpha)
        case UnaryKind.CELU:
            return "Celu", attributes(alpha1=1.0, alpha2=function.alpha, alpha3=function.alpha)
        case UnaryKind.HARD_SIGMOID:
            return "HardSigmoid", attributes(alpha=function.alpha, beta=function.beta)
        case UnaryKind.SWISH:
            return "Swish", attributes(scale=function.alpha)
        case UnaryKind.GELU_TANH:
            return "Gelu", {}
        case UnaryKind.GELU:
            return "GeluV2", attributes(approximate="none")
        case _:
            return "".join(word.capitalize() for word in str(function.kind).split("_")), {}


def lower_cast(op: CastOp, target: Target) -> Outlined:
    """The kernel of a change between float16 and float32."""
    to = tensor(op.y).element_type

    def compute(b: KernelBuilder, tiles: Sequence[SSAValue], _: Sequence[SSAValue]) -> SSAValue:
        return b.cast(tiles[0], to)

    b = run_kernel("cast", target, [op.x], [], op.y, F16_BLOCK + F32_BLOCK, compute)
    return Outlined(b.kernel, [op.x], "Cast", attributes(dst_type=1 if to == f16 else 0))


# Functions of two elements

_OPERATORS = {
    BinaryKind.ADD: "Add",
    BinaryKind.SUB: "Sub",
    BinaryKind.MUL: "Mul",
    BinaryKind.DIV: "RealDiv",
    BinaryKind.MAX: "Maximum",
    BinaryKind.MIN: "Minimum",
}
"""Operators of Ascend IR; there is no kernel for powers."""


def lower_binary(op: BinaryOp, target: Target) -> Outlined:
    """The kernel of a function of two elements."""
    kind = op.kind.data
    if kind not in _OPERATORS:
        raise no_kernel(op, f"{kind} is not a function of the vector unit")
    forms = {operand: broadcast_form(shape_of(operand), shape_of(op.y)) for operand in (op.a, op.b)}
    if None in forms.values() or "same" not in forms.values():
        raise no_kernel(op, "the operands broadcast in a way that has no kernel")
    special = next((operand for operand, form in forms.items() if form != "same"), None)
    if special is not None and op.activation is not None:
        raise no_kernel(op, f"{op.activation.kind} after operands that broadcast")
    if special is None:
        b = _same(op, target)
    elif forms[special] == "scalar":
        number = constant_array(special)
        if number is not None:
            return _with_number(op, special, float(number.reshape(())), target)
        b = _with_scalar(op, special, target)
        full = op.b if special is op.a else op.a
        return Outlined(b.kernel, [full, special], _OPERATORS[kind])
    elif forms[special] == "channel":
        if layout_of(op.y.type) != "NC1HWC0":
            raise no_kernel(op, "channels that broadcast in a plain format")
        b = _per_channel(op, special, target)
    else:
        b = _trailing(op, special, target)
    return Outlined(b.kernel, [op.a, op.b], _OPERATORS[kind])


def _same(op: BinaryOp, target: Target) -> KernelBuilder:
    """Both operands lie alike; the activation is one that gives the same result on float16."""
    function = op.activation

    def compute(b: KernelBuilder, tiles: Sequence[SSAValue], _: Sequence[SSAValue]) -> SSAValue:
        y = b.binary(str(op.kind.data), tiles[0], tiles[1])
        return y if function is None else emit_activation(b, y, function)

    lane_bytes = (3 if function is None else 3 + activation_cost(function).copies) * F16_BLOCK
    return run_kernel(str(op.kind.data), target, [op.a, op.b], [], op.y, lane_bytes, compute)


def _with_scalar(op: BinaryOp, scalar: SSAValue, target: Target) -> KernelBuilder:
    """One operand is a single element that is known only when the kernel runs."""

    def compute(b: KernelBuilder, tiles: Sequence[SSAValue], numbers: Sequence[SSAValue]) -> SSAValue:
        operands = (numbers[0], tiles[0]) if scalar is op.a else (tiles[0], numbers[0])
        return b.binary(str(op.kind.data), *operands)

    full = op.b if scalar is op.a else op.a
    return run_kernel(str(op.kind.data), target, [full], [scalar], op.y, 2 * F16_BLOCK, compute)


def _with_number(op: BinaryOp, scalar: SSAValue, number: float, target: Target) -> Outlined:
    """One operand is a constant number."""
    kind, number_first = op.kind.data, scalar is op.a

    def compute(b: KernelBuilder, tiles: Sequence[SSAValue], _: Sequence[SSAValue]) -> SSAValue:
        x = tiles[0]
        match kind:
            case BinaryKind.ADD:
                return b.scalar("adds", x, number)
            case BinaryKind.SUB:
                return b.scalar("adds", b.unary("neg", x) if number_first else x, number if number_first else -number)
            case BinaryKind.MUL:
                return b.scalar("muls", x, number)
            case BinaryKind.MAX:
                return b.scalar("maxs", x, number)
            case BinaryKind.MIN:
                return b.scalar("mins", x, number)
            case _:
                constant = b.constant(number, (1, C0), f16)
                return b.binary("div", constant, x) if number_first else b.binary("div", x, constant)

    full = op.b if number_first else op.a
    b = run_kernel(str(kind), target, [full], [], op.y, 3 * F16_BLOCK, compute)
    return Outlined(b.kernel, [full], _OPERATORS[kind], attributes(value=number))


def _binary_builder(op: BinaryOp, shapes: dict[SSAValue, Sequence[int]], cores: int) -> KernelBuilder:
    """A kernel with both operands and the result under the given shapes."""
    arguments = [memory_type(operand, shapes[operand]) for operand in (op.a, op.b)]
    b = KernelBuilder(str(op.kind.data), arguments, [memory_type(op.y, shapes[op.y])], cores)
    b.name_arguments("a", "b", "y")
    return b


@dataclass(frozen=True)
class Grid:
    """A result seen as rows x columns x 16, cut into tiles of both."""

    rows: int
    columns: int


def _tile_grid(rows: int, columns: int, target: Target) -> Grid:
    """The sizes of tiles of a grid of blocks: whole rows as many as fit, or parts of one row."""
    blocks = target.ub // 2 // (3 * F16_BLOCK)
    if columns > blocks:
        return Grid(1, deal_evenly(columns, blocks, 1).size)
    deal = deal_evenly(rows, blocks // columns, target.cores, ceil_div(SMALLEST_RUN, columns))
    return Grid(deal.size, columns)


def _per_channel(op: BinaryOp, vector: SSAValue, target: Target) -> KernelBuilder:
    """One operand has one block for all positions of a channel block."""
    n, c1, height, width, _ = storage_of(op.y)
    plane = height * width
    images = shape_of(vector)[0] if len(shape_of(vector)) == 4 else 1
    grid = _tile_grid(c1, plane, target)
    tiles = (n, ceil_div(c1, grid.rows), ceil_div(plane, grid.columns))
    full = op.b if vector is op.a else op.a
    shapes: dict[SSAValue, Sequence[int]] = {
        full: (n, c1, plane, C0),
        vector: (images, c1, 1, C0),
        op.y: (n, c1, plane, C0),
    }
    b = _binary_builder(op, shapes, min(target.cores, math.prod(tiles)))
    with b.deal(math.prod(tiles), target.stages) as number:
        image, row, column = b.split(number, *tiles)
        row, column = b.times(row, grid.rows), b.times(column, grid.columns)
        offsets, sizes = (image, row, column, 0), (1, grid.rows, grid.columns, C0)
        fill = None if c1 % grid.rows == 0 and plane % grid.columns == 0 else HARMLESS
        fills = {vector: None if c1 % grid.rows == 0 else HARMLESS, full: fill}
        places = {vector: ((image if images > 1 else 0, row, 0, 0), (1, grid.rows, 1, C0)), full: (offsets, sizes)}
        loaded = [
            b.load(source, *places[operand], fills[operand], shape=places[operand][1][1:])
            for source, operand in zip(b.inputs, (op.a, op.b), strict=True)
        ]
        b.store(b.binary(str(op.kind.data), *loaded), b.outputs[0], offsets, sizes)
    return b


def _trailing(op: BinaryOp, vector: SSAValue, target: Target) -> KernelBuilder:
    """One operand is a row for all rows of a plain tensor."""
    length = math.prod(shape_of(vector))
    rows = math.prod(shape_of(op.y)) // length
    full = op.b if vector is op.a else op.a
    shapes: dict[SSAValue, Sequence[int]] = {full: (rows, length), vector: (1, length), op.y: (rows, length)}
    if length % C0 and rows > 1:
        return _ragged_rows(op, vector, shapes, target)
    blocks = _tile_grid(rows, ceil_div(length, C0), target)
    grid = Grid(blocks.rows, min(length, blocks.columns * C0))
    tiles = (ceil_div(length, grid.columns), ceil_div(rows, grid.rows))
    cores = min(target.cores, math.prod(tiles))
    b = _binary_builder(op, shapes, cores)
    sources = dict(zip((op.a, op.b), b.inputs, strict=True))
    vector_fill = None if length % grid.columns == 0 else HARMLESS
    kept = b.load(sources[vector], (0, 0), (1, length)) if grid.columns == length else None
    with b.deal(math.prod(tiles), target.stages) as number:
        column, row = b.split(number, *tiles)
        row, column = b.times(row, grid.rows), b.times(column, grid.columns)
        offsets, sizes = (row, column), (grid.rows, grid.columns)
        full_fill = vector_fill if rows % grid.rows == 0 else HARMLESS
        loaded = {full: b.load(sources[full], offsets, sizes, full_fill)}
        loaded[vector] = kept or b.load(sources[vector], (0, column), (1, grid.columns), vector_fill)
        b.store(b.binary(str(op.kind.data), loaded[op.a], loaded[op.b]), b.outputs[0], offsets, sizes)
    return b


def _ragged_rows(
    op: BinaryOp, vector: SSAValue, shapes: dict[SSAValue, Sequence[int]], target: Target
) -> KernelBuilder:
    """`_trailing` for rows that do not fill their last block.

    One core stores the rows one by one, and rows too long for one tile part by part, the last part first: what a store
    rounds up to is then written afterwards.
    """
    rows, length = shapes[op.y]
    room = target.ub // target.stages // (3 * F16_BLOCK)
    size = C0 * deal_evenly(ceil_div(length, C0), room, 1).size
    parts = ceil_div(length, size)
    b = _binary_builder(op, shapes, 1)
    sources = dict(zip((op.a, op.b), b.inputs, strict=True))
    kept = b.load(sources[vector], (0, 0), (1, size), HARMLESS) if parts == 1 else None
    full = op.b if vector is op.a else op.a
    with b.deal(rows * parts, target.stages) as number:
        row, part = b.split(number, rows, parts)
        column = b.times(b.minus(parts - 1, part), size)
        loaded = {full: b.load(sources[full], (row, column), (1, size), HARMLESS)}
        loaded[vector] = kept or b.load(sources[vector], (0, column), (1, size), HARMLESS)
        y = b.binary(str(op.kind.data), loaded[op.a], loaded[op.b])
        b.store(y, b.outputs[0], (row, column), (1, size))
    return b
