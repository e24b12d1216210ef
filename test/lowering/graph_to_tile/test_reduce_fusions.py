"""Elementwise steps around reductions give, bit for bit, what kernels of their own give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import cube_kernels
import numpy as np
import pytest
from fused_kernels import as_tiles, check_bits, cycles_apart_and_joined, number, simulated
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import ActivationAttr, BinaryOp, CastOp, ReduceKind, ReduceOp, UnaryOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.fusion_limits import fusion_obstacle
from ge.ir.attributes import layout_of, with_layout
from ge.ir.constants import Array
from ge.lowering.graph_to_tile.outline import Target

Shape = tuple[int, ...]

ND, NZ, MAPS = "ND", "FRACTAL_NZ", "NC1HWC0"
LARGE = cube_kernels.LARGE
SMALL = replace(LARGE, cores=3, buffers={**LARGE.buffers, "ub": 1 << 17})
"""A chip that needs many tiles, and several parts."""

value = cube_kernels.value


def reduce(kind: ReduceKind | str, x: SSAValue, format: str, axes: Shape) -> ReduceOp:
    """A reduction with its result in the format that belongs to that of its operand."""
    op = ReduceOp(kind, x, axes)
    rows = format == NZ and axes == (len(shape_of(x)) - 1,)
    result, properties = with_layout(tensor(op.y), ND if rows else format), op.properties
    op.erase()
    return ReduceOp.create(operands=[x], properties=properties, result_types=[result])


def like(op: ReduceOp) -> SSAValue:
    """Another tensor of the shape and format of the result."""
    return value(shape_of(op.y), layout_of(op.y.type))


# Fusions: each gives steps in the order of a program

Case = Callable[[ReduceKind, Shape, str, Shape], list[Operation]]


def squares(kind: ReduceKind, shape: Shape, format: str, axes: Shape) -> list[Operation]:
    """tanh |reduce(x²) - 0.5|."""
    square = UnaryOp(value(shape, format), "square")
    anchor = reduce(kind, square.y, format, axes)
    shifted = BinaryOp("sub", anchor.y, number(0.5))
    positive = UnaryOp(shifted.y, "abs")
    return [square, anchor, shifted, positive, UnaryOp(positive.y, "tanh")]


def difference(kind: ReduceKind, shape: Shape, format: str, axes: Shape) -> list[Operation]:
    """reduce(relu(a - b)) of two tensors, and nothing after it."""
    total = BinaryOp("sub", value(shape, format), value(shape, format), activation=ActivationAttr("relu"))
    return [total, reduce(kind, total.y, format, axes)]


def epilogue(kind: ReduceKind, shape: Shape, format: str, axes: Shape) -> list[Operation]:
    """Nothing before; after it another tensor, which has a step of its own, and a scalar."""
    anchor = reduce(kind, value(shape, format), format, axes)
    other = UnaryOp(like(anchor), "swish")
    total = BinaryOp("add", anchor.y, other.y)
    return [other, anchor, total, BinaryOp("mul", total.y, value((1,)))]


def casts(kind: ReduceKind, shape: Shape, format: str, axes: Shape) -> list[Operation]:
    half = CastOp(value(shape, format, np.float32), f16)
    scaled = BinaryOp("mul", half.y, value((1, 1)))
    anchor = reduce(kind, scaled.y, format, axes)
    return [half, scaled, anchor, CastOp(anchor.y, f32)]


CASES: list[Case] = [squares, difference, epilogue, casts]

PLACES: list[tuple[str, Shape, Shape]] = [
    *[(ND, (70, 48), (1,)), (ND, (3, 2, 96), (2,)), (ND, (1, 1, 512), (2,)), (ND, (16, 16), (0, 1))],
    *[(ND, (70, 48), (0,)), (ND, (5, 7, 21), (1,)), (ND, (3, 200, 32), (1,)), (ND, (50, 2, 16), (1,))],
    *[(NZ, (37, 48), (1,)), (NZ, (3, 20, 64), (2,)), (NZ, (1, 32), (1,))],
    *[(NZ, (3, 20, 33), (1,)), (NZ, (4, 5, 20), (0,)), (MAPS, (2, 20, 5, 7), (2, 3)), (MAPS, (1, 33, 6, 4), (2,))],
]


@pytest.mark.parametrize("kind", [ReduceKind.MEAN, ReduceKind.MIN])
@pytest.mark.parametrize(("format", "shape", "axes"), PLACES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_bits(case: Case, format: str, shape: Shape, axes: Shape, kind: ReduceKind) -> None:
    check_bits(case(kind, shape, format, axes), Target(LARGE), as_tiles)


@pytest.mark.parametrize(("format", "shape", "axes"), PLACES[::2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_on_the_simulator(case: Case, format: str, shape: Shape, axes: Shape) -> None:
    """In strict mode, in many tiles."""
    check_bits(case(ReduceKind.SUM, shape, format, axes), Target(SMALL), simulated(SMALL))


def cancelling(operand: SSAValue, random: np.random.Generator, axis: int) -> Array:
    """Large numbers that cancel among small ones: what is lost on the way depends on the order of the sum."""
    shape = shape_of(operand)
    large = random.uniform(1e4, 6e4, shape[axis] // 4)
    numbers = np.concatenate([large, -large, random.standard_normal(shape[axis] - 2 * large.size)])
    lines = np.broadcast_to(numbers, (*shape[:axis], *shape[axis + 1 :], shape[axis]))
    return np.ascontiguousarray(np.moveaxis(random.permuted(lines, axis=-1), -1, axis).astype(np.float16))


@pytest.mark.parametrize(("shape", "axis"), [((20, 960), 1), ((480, 160), 0), ((1, 16320), 1)])
def test_parts_are_those_of_the_reduction_alone(shape: Shape, axis: int) -> None:
    """What comes in two parts alone comes in two parts with a step before it."""
    negative = UnaryOp(value(shape), "neg")
    steps: list[Operation] = [negative, reduce("mean", negative.y, ND, (axis,))]
    check_bits(steps, Target(LARGE), as_tiles, operand_of=partial(cancelling, axis=axis))


def test_joined_kernels_take_fewer_cycles() -> None:
    """√(mean x² + ε) of rows, also without the time that launches take; docs/fusion.md shows it."""
    x = value((1, 128, 512))
    square = BinaryOp("mul", x, x)
    mean = reduce("mean", square.y, ND, (2,))
    shifted = BinaryOp("add", mean.y, number(1e-3))
    apart, joined = cycles_apart_and_joined([square, mean, shifted, UnaryOp(shifted.y, "sqrt")])
    assert joined < 0.5 * apart


REFUSED: list[tuple[Callable[[], list[Operation]], str]] = []


def refused(reason: str) -> Callable[[Callable[[], list[Operation]]], None]:
    """Note steps that are no fusion."""
    return lambda make: REFUSED.append((make, reason))


@refused("something of what is beyond")
def ragged_rows() -> list[Operation]:
    return difference(ReduceKind.SUM, (5, 33), ND, (1,))


@refused("something of what is beyond")
def a_last_part_that_is_shorter() -> list[Operation]:
    return difference(ReduceKind.SUM, (20, 1000), ND, (1,))


@refused("do not fit")
def a_function_that_needs_room() -> list[Operation]:
    half = CastOp(value((20, 496), ND, np.float32), f16)
    total = BinaryOp("add", half.y, value((20, 496)))
    gelu = UnaryOp(total.y, "gelu")
    return [half, total, gelu, reduce("sum", gelu.y, ND, (1,))]


@refused("spreads in a way")
def rows_that_spread() -> list[Operation]:
    total = BinaryOp("add", value((20, 32)), value((32,)))
    return [total, reduce("sum", total.y, ND, (1,))]


@refused("spreads in a way")
def channels_that_spread() -> list[Operation]:
    total = BinaryOp("mul", value((1, 32, 4, 4), MAPS), value((1, 32, 1, 1), MAPS))
    return [total, reduce("sum", total.y, MAPS, (2, 3))]


@refused("share no kernel")
def two_reductions() -> list[Operation]:
    first = reduce("sum", value((20, 32, 16)), ND, (1,))
    return [first, reduce("max", first.y, ND, (0,))]


@refused("other shapes")
def what_is_combined_is_used_again() -> list[Operation]:
    anchor = reduce("max", value((16, 32)), ND, (0,))
    shifted = BinaryOp("sub", anchor.x, anchor.y)
    return [anchor, shifted]


@pytest.mark.parametrize(("make", "reason"), REFUSED, ids=lambda each: getattr(each, "__name__", None))
def test_what_is_no_fusion(make: Callable[[], list[Operation]], reason: str) -> None:
    assert reason in (fusion_obstacle(make(), LARGE.buffers["ub"]) or "")
