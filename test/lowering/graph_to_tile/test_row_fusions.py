"""Elementwise steps around softmax and normalisations of rows give, bit for bit, what kernels of their own give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cube_kernels
import numpy as np
import pytest
from fused_kernels import as_tiles, check_bits, cycles_apart_and_joined, number, simulated
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import ActivationAttr, BinaryOp, CastOp, LayerNormOp, SoftmaxOp, UnaryOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.fusion_limits import MAX_OPERANDS, fusion_obstacle
from ge.lowering.graph_to_tile.outline import Target

Check = Any
Shape = tuple[int, ...]
Rows = Callable[[SSAValue], SoftmaxOp | LayerNormOp]
Case = Callable[[Shape, str, Rows], list[Operation]]
"""The steps of a fusion on tensors of a shape and format, around softmax or a normalisation."""

ND, NZ = "ND", "FRACTAL_NZ"
LARGE = cube_kernels.LARGE
SMALL = replace(LARGE, cores=3, buffers={**LARGE.buffers, "ub": 1 << 16})
"""A chip that needs many tiles."""

value = cube_kernels.value


def layer_norm(x: SSAValue) -> LayerNormOp:
    length = shape_of(x)[-1]
    random = np.random.default_rng(length)
    vectors = (cube_kernels.vector(random.standard_normal(length)) for _ in range(2))
    return LayerNormOp(x, *vectors, epsilon=1e-5)


def softmax(x: SSAValue) -> SoftmaxOp:
    return SoftmaxOp(x, -1)


# Fusions: each gives steps in the order of a program


def masked_scores(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    """x / 8 + mask, one matrix for all, and the rows of that; x · 0.125 where a division is not for pad lanes."""
    kind, factor = ("div", 8.0) if format == ND else ("mul", 0.125)
    scaled = BinaryOp(kind, value(shape, format), number(factor))
    total = BinaryOp("add", scaled.y, value(shape[-2:], format))
    return [scaled, total, rows(total.y)]


def matrices_in_turn(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    """A matrix for each head, the same for all windows, before and after."""
    total = BinaryOp("add", value((1, *shape[1:]), format), value(shape, format))
    anchor = rows(total.y)
    return [total, anchor, BinaryOp("mul", anchor.y, value(shape[1:], format))]


def residual(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    total = BinaryOp("add", value(shape, format), value(shape, format), activation=ActivationAttr("relu"))
    return [total, rows(total.y)]


def epilogue(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    """Scale, shift and activation after the rows, and a tensor that has a step of its own first."""
    other = UnaryOp(value(shape, format), "abs")
    anchor = rows(value(shape, format))
    scaled = BinaryOp("mul", anchor.y, number(-3.0))
    shifted = BinaryOp("sub", value((1,)), scaled.y)
    return [other, anchor, scaled, shifted, BinaryOp("max", shifted.y, other.y)]


def rows_as_operands(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    scaled = BinaryOp("mul", value(shape, format), value(shape[-1:], format))
    anchor = rows(scaled.y)
    return [scaled, anchor, BinaryOp("add", anchor.y, value((1, shape[-1]), format))]


def read_again(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    """(rows(s)·s + a) where s = a + b: values from before are read after."""
    a = value(shape, format)
    total = BinaryOp("add", a, value(shape, format))
    anchor = rows(total.y)
    product = BinaryOp("mul", anchor.y, total.y)
    return [total, anchor, product, BinaryOp("add", product.y, a)]


def own_operand_again(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    anchor = rows(value(shape, format))
    return [anchor, BinaryOp("add", anchor.y, anchor.x)]


def casts(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    half = CastOp(value(shape, format, np.float32), f16)
    anchor = rows(half.y)
    swish = UnaryOp(anchor.y, "swish")
    return [half, anchor, swish, CastOp(swish.y, f32)]


def logarithm(shape: Shape, format: str) -> list[Operation]:
    bounded = UnaryOp(value(shape, format), ActivationAttr("clip", -50, 60000))
    anchor = SoftmaxOp(bounded.y, -1, log=True)
    return [bounded, anchor, UnaryOp(anchor.y, "neg")]


CASES: list[Case] = [masked_scores, matrices_in_turn, residual, epilogue, read_again, own_operand_again, casts]


def shapes(case: Case, length: int) -> list[Shape]:
    """Rows of a length: one, a few, many, in images of less and more than 16."""
    leading = [(1, 3, 20), (2, 3, 16), (2, 1, 2)] if case in IN_MATRICES else [(1,), (5,), (70,)]
    return [(*each, length) for each in leading]


IN_MATRICES = (masked_scores, matrices_in_turn)


@pytest.mark.parametrize("length", [1, 15, 16, 17, 128])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("format", [ND, NZ])
def test_softmax(format: str, case: Case, length: int) -> None:
    for seed, shape in enumerate(shapes(case, length)):
        check_bits(case(shape, format, softmax), Target(LARGE), as_tiles, seed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize(("format", "length"), [(ND, 15), (ND, 16), (ND, 33), (ND, 240), (NZ, 16), (NZ, 240)])
def test_layer_norm(format: str, length: int, case: Case) -> None:
    for seed, shape in enumerate(shapes(case, length)):
        if length % 16 == 0 or shape[:-1] != (1,):
            check_bits(case(shape, format, layer_norm), Target(LARGE), as_tiles, seed)


@pytest.mark.parametrize(("rows", "length"), [(softmax, 1), (softmax, 33), (layer_norm, 33), (layer_norm, 128)])
def test_operands_that_are_rows(rows: Rows, length: int) -> None:
    check_bits(rows_as_operands((70, length), ND, rows), Target(LARGE), as_tiles)


@pytest.mark.parametrize(("rows", "length"), [(softmax, 1000), (softmax, 1008), (layer_norm, 1008)])
@pytest.mark.parametrize("case", [*CASES, rows_as_operands], ids=lambda case: case.__name__)
def test_rows_one_at_a_time(case: Case, rows: Rows, length: int) -> None:
    """Rows of which 16 do not fit; one that does not fill blocks has limits."""
    for seed, shape in enumerate([(1, 2, 3, length), (1, 1, 1, length)]):
        if length % 16 == 0 or shape[:-1] == (1, 1, 1):
            check_bits(case(shape, ND, rows), Target(LARGE), as_tiles, seed)


@pytest.mark.parametrize(("format", "length"), [(ND, 17), (ND, 1000), (NZ, 17), (NZ, 128)])
def test_logarithms(format: str, length: int) -> None:
    check_bits(logarithm((2 if length < 1000 else 1, 1, length), format), Target(LARGE), as_tiles)
    if length < 1000:
        check_bits(logarithm((2, 20, length), format), Target(SMALL), simulated(SMALL))


@pytest.mark.parametrize(("format", "rows"), [(ND, softmax), (NZ, softmax), (NZ, layer_norm)])
@pytest.mark.parametrize(
    "case", [masked_scores, matrices_in_turn, epilogue, read_again, casts], ids=lambda case: case.__name__
)
def test_on_the_simulator(format: str, case: Case, rows: Rows) -> None:
    """In strict mode, in many tiles."""
    check_bits(case((1, 3, 20, 17 if rows is softmax else 32), format, rows), Target(SMALL), simulated(SMALL))


def test_rows_as_operands_on_the_simulator() -> None:
    check_bits(rows_as_operands((3, 20, 33), ND), Target(SMALL), simulated(SMALL))


# What it is good for


def biased_windows(shape: Shape, format: str, rows: Rows = softmax) -> list[Operation]:
    """A matrix for each head, the same for all windows."""
    biased = BinaryOp("add", value(shape, format), value((1, *shape[1:]), format))
    return [biased, rows(biased.y)]


@pytest.mark.parametrize(
    ("case", "shape", "format", "rows"),
    [
        (masked_scores, (1, 12, 128, 128), NZ, softmax),
        (biased_windows, (64, 3, 49, 49), NZ, softmax),
        (residual, (1, 128, 768), NZ, layer_norm),
        (residual, (1, 56, 56, 96), ND, layer_norm),
    ],
)
def test_joined_kernels_take_fewer_cycles(case: Case, shape: Shape, format: str, rows: Rows) -> None:
    """Also without the time that launches take; docs/fusion.md shows them."""
    apart, joined = cycles_apart_and_joined(case(shape, format, rows))
    assert joined < 0.8 * apart


# What is no fusion


def obstacle_of(steps: list[Operation], ub: int = LARGE.buffers["ub"]) -> str:
    Block(list(steps))
    return fusion_obstacle(steps, ub) or ""


def test_what_rows_do_not_take() -> None:
    first = softmax(value((40, 64)))
    assert obstacle_of([first, softmax(first.y)]) == "graph.softmax and graph.softmax share no kernel"

    total = BinaryOp("add", value((40, 64)), value((40, 64)))
    Block([UnaryOp(total.y, "abs")])
    assert obstacle_of([total, softmax(total.y)]) == "a value between them has other users"

    row = UnaryOp(value((64,)), "tanh")
    scaled = BinaryOp("mul", value((40, 64)), row.y)
    assert obstacle_of([row, scaled, softmax(scaled.y)]) == "steps have other shapes or storage formats"

    other_axis = SoftmaxOp(value((40, 64)), 0)
    assert obstacle_of([other_axis, UnaryOp(other_axis.y, "abs")]) == "the axis is not the last"

    column = BinaryOp("mul", value((40, 64)), value((40, 1)))
    assert obstacle_of([column, softmax(column.y)]) == "an operand spreads in a way that has no kernel"
    channels = BinaryOp("mul", value((1, 3, 40, 64)), value((1, 3, 1, 1)))
    assert obstacle_of([channels, softmax(channels.y)]) == "an operand spreads in a way that has no kernel"


@pytest.mark.parametrize("more", [0, 1])
def test_the_most_operands(more: int) -> None:
    """Before and after the rows together."""
    steps: list[Operation] = [BinaryOp("add", value((40, 64)), value((40, 64)))]
    for _ in range(MAX_OPERANDS - 3):
        steps.append(BinaryOp("add", steps[-1].results[0], value((40, 64))))
    rows = softmax(steps[-1].results[0])
    steps += [rows, BinaryOp("add", rows.y, value((40, 64)))]
    if more:
        steps.append(BinaryOp("add", steps[-1].results[0], value((40, 64))))
    assert obstacle_of(steps) == (f"it has more than {MAX_OPERANDS} operands" if more else "")


@pytest.mark.parametrize(
    ("step", "stays"), [("log", False), ("reciprocal", False), ("exp", False), ("tanh", True), ("square", True)]
)
def test_what_is_beyond_the_end_of_rows_stays_finite(step: str, stays: bool) -> None:
    """Before rows that do not fill blocks; behind them, and where they do, any function will do."""
    for length, anchor in [(33, softmax), (33, layer_norm), (48, softmax)]:
        before = UnaryOp(value((40, length)), step)
        obstacle = obstacle_of([before, anchor(before.y)])
        assert ("could become infinite" in obstacle) == (length == 33 and not stays), obstacle
    rows = softmax(value((40, 33)))
    assert obstacle_of([rows, UnaryOp(rows.y, step)]) == ""


@pytest.mark.parametrize(("divisor", "stays"), [(8.0, True), (0.0, False), (None, False)])
def test_divisions_beyond_the_end_of_rows(divisor: float | None, stays: bool) -> None:
    other = value((40, 33)) if divisor is None else number(divisor)
    quotient = BinaryOp("div", value((40, 33)), other)
    assert ("could become infinite" not in obstacle_of([quotient, softmax(quotient.y)])) == stays


@pytest.mark.parametrize("format", [ND, NZ])
def test_rows_and_steps_that_do_not_fit_together(format: str) -> None:
    """Sixteen rows of a softmax alone do; one at a time they would be summed in another order.

    Where two tiles fit alone, so that one is loaded while the other is computed, they are to fit with the steps.
    """

    def with_function(kind: str, length: int) -> list[Operation]:
        rows = softmax(value((40, length), format))
        return [rows, UnaryOp(rows.y, kind)]

    assert obstacle_of(with_function("relu", 768)) == ""
    assert obstacle_of(with_function("gelu", 768)).endswith("the steps need do not fit on the chip")
    assert obstacle_of(with_function("gelu", 384)).endswith("the steps need do not fit twice, as they do alone")
    assert obstacle_of(with_function("gelu", 768), ub=1 << 20) == ""
    check_bits(residual((40, 768), format, layer_norm), Target(LARGE), as_tiles)


def test_rows_that_one_core_stores() -> None:
    """It would do the steps alone that all cores share: those that take long, or take one row after another."""

    def with_function(kind: str, shape: Shape, format: str = ND) -> str:
        rows = softmax(value(shape, format))
        return obstacle_of([rows, UnaryOp(rows.y, kind)])

    alone = "one core stores rows of {} elements, and would do the steps alone"
    assert with_function("gelu", (40, 100)) == alone.format(100) and with_function("swish", (40, 100)) == ""
    assert with_function("relu", (40, 1000)) == alone.format(1000) and with_function("relu", (1, 1000)) == ""
    assert with_function("gelu", (40, 96)) == with_function("gelu", (40, 100), NZ) == ""


def test_a_kernel_says_what_it_is_made_of() -> None:
    outlined = check_bits(epilogue((40, 64), ND), Target(LARGE), as_tiles)
    assert outlined.op_type == "SoftmaxV2"
    assert str(outlined.op_attrs["fused_ops"]) == '"SoftmaxV2, Abs, Mul, Sub, Maximum"'
    assert outlined.kernel.block_count == 3 and len(outlined.inputs) == 3
