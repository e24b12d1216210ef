"""Elementwise graph operations on tiles: the steps of a kernel, alone or after a convolution.

Each step gives what its operation gives, rounded to its own type: a fusion changes no bit. Functions of one element are
computed in float32, or in float16 where that gives the same (see `activations`); functions of two elements are those of
the vector unit on float16, which rounds once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import BinaryKind, BinaryOp, CastOp, UnaryOp
from ge.dialects.graph.base import tensor
from ge.dialects.graph.constants import constant_array
from ge.dialects.graph.fusing import tile_operands
from ge.dialects.tile.types import GmType, tile_type
from ge.lowering.graph_to_tile.activations import emit_activation, keeps_precision
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.maths.layouts import C0


def emit_steps(b: KernelBuilder, steps: Sequence[Operation], tiles: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """Write steps on tiles of what they take from outside; the tile of the last one."""
    return step_tiles(b, steps, tiles)[steps[-1].results[0]]


def step_tiles(
    b: KernelBuilder, steps: Sequence[Operation], tiles: Mapping[SSAValue, SSAValue]
) -> dict[SSAValue, SSAValue]:
    """Write steps on tiles of what they take from outside; these and the tiles of all steps."""
    known = dict(tiles)
    for step in steps:
        known[step.results[0]] = _emit_step(b, step, known)
    return known


def _emit_step(b: KernelBuilder, step: Operation, tiles: Mapping[SSAValue, SSAValue]) -> SSAValue:
    match step:
        case UnaryOp():
            return _unary(b, step, tiles[step.x])
        case CastOp():
            return b.cast(tiles[step.x], tensor(step.y).element_type)
        case BinaryOp():
            y = _binary(b, step, tiles)
            return y if step.activation is None else emit_activation(b, y, step.activation)
        case _:
            raise AssertionError(f"{step.name} is not elementwise")


def _unary(b: KernelBuilder, step: UnaryOp, x: SSAValue) -> SSAValue:
    if keeps_precision(step.function):
        return emit_activation(b, x, step.function)
    return b.cast(emit_activation(b, b.cast(x, f32), step.function), f16)


def _binary(b: KernelBuilder, step: BinaryOp, tiles: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """A function of two tiles, or of a tile and a constant number."""
    kind = step.kind.data
    a, c = tiles.get(step.a), tiles.get(step.b)
    if a is None and c is not None:
        return _with_number(b, kind, _number(step.a), c, number_first=True)
    if a is not None and c is None:
        return _with_number(b, kind, _number(step.b), a, number_first=False)
    assert a is not None and c is not None, "a function of two numbers has no space"
    return b.binary(str(kind), a, c)


def _number(value: SSAValue) -> float:
    array = constant_array(value)
    assert array is not None, "what is no tile is a constant"
    return float(array.reshape(()))


def _with_number(b: KernelBuilder, kind: BinaryKind, number: float, x: SSAValue, *, number_first: bool) -> SSAValue:
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
            constant = b.constant(number, (1,) * tile_type(x).rank, f16)
            return b.binary("div", constant, x) if number_first else b.binary("div", x, constant)


@dataclass(frozen=True)
class StepsCost:
    """What steps take of a core: vector operations, and bytes of the unified buffer for each lane."""

    operations: int
    operand_bytes: int
    inner_bytes: int
    """Of all values that live at once, beside operands and the result."""
    result_bytes: int

    @property
    def lane_bytes(self) -> int:
        """Bytes of everything."""
        return self.operand_bytes + self.inner_bytes + self.result_bytes


def steps_cost(steps: Sequence[Operation]) -> StepsCost:
    """Count what :func:`emit_steps` writes."""
    operands = tile_operands(steps)
    types = [GmType([C0], tensor(value).element_type) for value in operands]
    b = KernelBuilder("cost", types, [GmType([C0], tensor(steps[-1].results[0]).element_type)], 1)
    tiles = {value: b.load(source, [0], [C0]) for value, source in zip(operands, b.inputs, strict=True)}
    result = emit_steps(b, steps, tiles)
    block, loaded = b.kernel.body.block, {*tiles.values()}
    return StepsCost(
        operations=sum(value not in loaded for op in block.ops for value in op.results),
        operand_bytes=sum(type.element_bytes for type in types),
        inner_bytes=_live_bytes(block, {*loaded, result}),
        result_bytes=tile_type(result).element_bytes,
    )


def _live_bytes(block: Block, without: set[SSAValue]) -> int:
    """The most bytes per lane that the values of a straight-line block, `without` some, need at the same time."""
    number = {op: i for i, op in enumerate(block.ops)}
    spans = [
        (start, max((number[use.operation] for use in value.uses), default=start), tile_type(value).element_bytes)
        for op, start in number.items()
        for value in op.results
        if value not in without
    ]
    return max((sum(size for first, last, size in spans if first <= i <= last) for i in number.values()), default=0)
