"""Elementwise steps around movements of elements give, bit for bit, what kernels of their own give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cube_kernels
import numpy as np
import pytest
from fused_kernels import as_tiles, check_bits, cycles_apart_and_joined, number, simulated
from xdsl.dialects.builtin import TensorType, f16, f32
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import ActivationAttr, BinaryOp, CastOp, ConcatOp, SliceOp, TransDataOp, TransposeOp, UnaryOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.fusion_limits import fusion_obstacle
from ge.ir.attributes import layout_of, with_layout
from ge.lowering.graph_to_tile.outline import Target

Shape = tuple[int, ...]
Movement = Callable[[SSAValue], TransposeOp | SliceOp | ConcatOp | TransDataOp]

ND, NZ, MAPS = "ND", "FRACTAL_NZ", "NC1HWC0"
LARGE = cube_kernels.LARGE
SMALL = replace(LARGE, cores=3, buffers={**LARGE.buffers, "ub": 1 << 14})
"""A chip that needs many tiles."""

value = cube_kernels.value


def like(other: SSAValue) -> SSAValue:
    """Another tensor of the same shape and format."""
    return value(shape_of(other), layout_of(other.type))


# Fusions: each gives steps in the order of a program

Case = Callable[[Movement, SSAValue], list[Operation]]


def after(move: Movement, x: SSAValue) -> list[Operation]:
    """Another tensor where the elements come to lie, with a step of its own, and a scalar."""
    anchor = move(x)
    other = UnaryOp(like(anchor.y), "abs")
    total = BinaryOp("add", anchor.y, other.y)
    scaled = BinaryOp("mul", total.y, value((1,)))
    return [other, anchor, total, scaled, UnaryOp(scaled.y, "tanh")]


def before(move: Movement, x: SSAValue) -> list[Operation]:
    """A difference of two tensors where the elements come from."""
    total = BinaryOp("sub", x, like(x), activation=ActivationAttr("relu"))
    scaled = BinaryOp("mul", total.y, number(-3.0))
    return [total, scaled, move(scaled.y)]


def both(move: Movement, x: SSAValue) -> list[Operation]:
    half = CastOp(value(shape_of(x), layout_of(x.type), np.float32), f16)
    shifted = BinaryOp("add", half.y, value((1, 1)))
    anchor = move(shifted.y)
    largest = BinaryOp("max", anchor.y, like(anchor.y))
    return [half, shifted, anchor, largest, CastOp(largest.y, f32)]


CASES: list[Case] = [after, before, both]

TRANSPOSITIONS: list[tuple[Shape, Shape]] = [
    *[((40, 48), (1, 0)), ((3, 37, 50), (0, 2, 1)), ((2, 16, 16), (0, 2, 1))],
    *[((5, 3, 48), (1, 0, 2)), ((2, 3, 4, 32), (0, 2, 1, 3)), ((2, 2, 2, 16), (1, 2, 0, 3)), ((2, 3, 512), (1, 0, 2))],
]

CONCATENATIONS = [(ND, (5, 48), 1), (ND, (3, 32), 0), (NZ, (20, 32), 1), (NZ, (20, 20), 0)]

SLICES: list[tuple[str, Shape, int, int, int]] = [
    *[(ND, (5, 48), 1, 16, 32), (ND, (48, 33), 0, 16, 16), (ND, (3, 40, 16), 1, 7, 21)],
    *[(NZ, (37, 64), 1, 16, 48), (NZ, (37, 20), 0, 3, 9), (NZ, (4, 20, 40), 2, 32, 8)],
]


@pytest.mark.parametrize(("shape", "perm"), TRANSPOSITIONS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_transpositions(case: Case, shape: Shape, perm: Shape) -> None:
    def steps() -> list[Operation]:
        return case(lambda x: TransposeOp(x, perm), value(shape))

    check_bits(steps(), Target(LARGE), as_tiles)
    check_bits(steps(), Target(SMALL), simulated(SMALL), seed=2)


@pytest.mark.parametrize(("format", "shape", "axis", "start", "size"), SLICES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_slices(case: Case, format: str, shape: Shape, axis: int, start: int, size: int) -> None:
    def steps() -> list[Operation]:
        return case(lambda x: SliceOp(x, axis, start, size), value(shape, format))

    check_bits(steps(), Target(LARGE), as_tiles)
    check_bits(steps(), Target(SMALL), simulated(SMALL), seed=2)


@pytest.mark.parametrize(("format", "shape", "axis"), CONCATENATIONS)
def test_concatenations(format: str, shape: Shape, axis: int) -> None:
    def steps() -> list[Operation]:
        return after(lambda x: ConcatOp([x, like(x), x], axis), value(shape, format))

    check_bits(steps(), Target(LARGE), as_tiles)
    check_bits(steps(), Target(SMALL), simulated(SMALL), seed=2)


CONVERSIONS: list[tuple[str, str, Shape]] = [
    *[(ND, MAPS, (2, 32, 5, 7)), (MAPS, ND, (2, 32, 5, 7)), (MAPS, ND, (1, 20, 4, 8)), (MAPS, ND, (1, 20, 1, 1))],
    *[(ND, NZ, (37, 48)), (ND, NZ, (2, 2, 160)), (NZ, ND, (37, 48)), (NZ, ND, (3, 5, 20)), (NZ, ND, (2, 320))],
]

PADDED: list[tuple[str, str, Shape]] = [(ND, MAPS, (2, 20, 5, 7)), (ND, NZ, (37, 20)), (ND, NZ, (3, 100))]


@pytest.mark.parametrize(
    ("case", "source", "result", "shape"),
    [*((case, *each) for case in CASES for each in CONVERSIONS), *((after, *each) for each in PADDED)],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_conversions(case: Case, source: str, result: str, shape: Shape) -> None:
    def steps() -> list[Operation]:
        return case(lambda x: TransDataOp(x, with_layout(tensor(x), result)), value(shape, source))

    check_bits(steps(), Target(LARGE), as_tiles)
    check_bits(steps(), Target(SMALL), simulated(SMALL), seed=2)


def test_a_conversion_of_the_element_type() -> None:
    x = value((37, 48), dtype=np.float32)
    steps = after(lambda x: TransDataOp(x, with_layout(TensorType(f16, (37, 48)), NZ)), x)
    check_bits(steps, Target(LARGE), as_tiles)
    check_bits(steps, Target(SMALL), simulated(SMALL))


def a_third(shape: Shape) -> list[Operation]:
    """One of three heads of a product, scaled."""
    anchor = SliceOp(value((1, 3, *shape), NZ), 1, 0, 1)
    return [anchor, BinaryOp("mul", anchor.y, number(0.125))]


def residual(shape: Shape) -> list[Operation]:
    """The result of a product in plain format, and another tensor."""
    x = value(shape, NZ)
    anchor = TransDataOp(x, with_layout(tensor(x), ND))
    return [anchor, BinaryOp("add", anchor.y, value(shape))]


def turned(shape: Shape) -> list[Operation]:
    """A sum, transposed."""
    total = BinaryOp("add", value(shape), value(shape))
    return [total, TransposeOp(total.y, (1, 0))]


@pytest.mark.parametrize(
    ("make", "shape"),
    [(a_third, (12, 128, 64)), (residual, (3136, 96)), (turned, (512, 768))],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_joined_kernels_take_fewer_cycles(make: Callable[[Shape], list[Operation]], shape: Shape) -> None:
    """Also without the time that launches take; docs/fusion.md shows them."""
    apart, joined = cycles_apart_and_joined(make(shape))
    assert joined < 0.9 * apart


REFUSED: list[tuple[Callable[[], list[Operation]], str]] = []


def refused(reason: str) -> Callable[[Callable[[], list[Operation]]], None]:
    """Note steps that are no fusion."""
    return lambda make: REFUSED.append((make, reason))


@refused("read as it lies")
def its_own_operand_again() -> list[Operation]:
    """The result may lie where an operand lay that was read at the same place: here it is read at two."""
    anchor = TransposeOp(value((32, 32)), (1, 0))
    return [anchor, BinaryOp("add", anchor.y, anchor.x)]


@refused("read as it lies")
def an_operand_of_a_step_before_again() -> list[Operation]:
    x = value((32, 32))
    total = BinaryOp("add", x, like(x))
    anchor = TransposeOp(total.y, (1, 0))
    return [total, anchor, BinaryOp("mul", anchor.y, x)]


@refused("spreads in a way")
def rows_that_spread() -> list[Operation]:
    anchor = TransposeOp(value((32, 48)), (1, 0))
    return [anchor, BinaryOp("add", anchor.y, value((32,)))]


@refused("result of another step")
def steps_before_a_concatenation() -> list[Operation]:
    double = UnaryOp(value((4, 32)), "relu")
    return [double, ConcatOp([double.y, value((4, 32))], 0)]


@refused("in lanes")
def channels() -> list[Operation]:
    anchor = ConcatOp([value((1, 16, 4, 4), MAPS), value((1, 16, 4, 4), MAPS)], 1)
    return [anchor, UnaryOp(anchor.y, "relu")]


@refused("pad lanes are zero")
def steps_before_pad_lanes() -> list[Operation]:
    shifted = BinaryOp("add", value((20, 20)), number(1.0))
    return [shifted, TransDataOp(shifted.y, with_layout(tensor(shifted.y), NZ))]


@refused("is no kernel")
def a_view() -> list[Operation]:
    anchor = TransDataOp(value((1, 32)), with_layout(tensor(value((1, 32))), NZ))
    return [anchor, UnaryOp(anchor.y, "relu")]


@refused("does not compute on float16")
def a_conversion_to_float32() -> list[Operation]:
    anchor = TransDataOp(value((20, 32), NZ), TensorType(f32, (20, 32)))
    return [anchor, CastOp(anchor.y, f16)]


@refused("share no kernel")
def two_movements() -> list[Operation]:
    first = SliceOp(value((40, 32)), 0, 0, 32)
    return [first, TransposeOp(first.y, (1, 0))]


@pytest.mark.parametrize(("make", "reason"), REFUSED, ids=lambda each: getattr(each, "__name__", None))
def test_what_is_no_fusion(make: Callable[[], list[Operation]], reason: str) -> None:
    assert reason in (fusion_obstacle(make(), LARGE.buffers["ub"]) or "")
