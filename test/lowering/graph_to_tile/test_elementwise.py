"""Kernels of elementwise functions give what the graph operations mean, in every format and way to broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import SSAValue

from ge.dialects.graph import ActivationAttr, BinaryKind, BinaryOp, CastOp, UnaryKind, UnaryOp
from ge.dialects.graph.constants import constant
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.activations import activation_cost, keeps_precision
from ge.lowering.graph_to_tile.elementwise import lower_binary, lower_cast, lower_unary

Check = Any
Value = Callable[..., SSAValue]

SHAPES = [((2, 32, 5, 5), "NC1HWC0"), ((7, 9), "ND"), ((3, 5, 32), "FRACTAL_NZ"), ((700, 33), "ND")]

POSITIVE = {UnaryKind.SQRT, UnaryKind.RSQRT, UnaryKind.LOG, UnaryKind.RECIPROCAL, UnaryKind.POWER}
"""Functions that are tested where they are finite."""

PARAMETERS: dict[UnaryKind, list[tuple[float, ...]]] = {
    UnaryKind.CLIP: [(0.0, 6.0), (-1.0, 0.5), (-1.0, float("inf")), (float("-inf"), 2.0)],
    UnaryKind.LEAKY_RELU: [(0.1,), (-0.5,), (3.0,)],
    UnaryKind.ELU: [(1.0,), (0.3,)],
    UnaryKind.CELU: [(1.0,), (2.0,)],
    UnaryKind.SWISH: [(1.0,), (1.702,)],
    UnaryKind.SQUARE: [(1.0,), (0.5,)],
    UnaryKind.POWER: [(0.75,), (-2.0,)],
}
FUNCTIONS = [(kind, parameters) for kind in UnaryKind for parameters in PARAMETERS.get(kind, [()])]


@pytest.mark.parametrize(("kind", "parameters"), FUNCTIONS)
def test_functions_of_one_element(
    kind: UnaryKind, parameters: tuple[float, ...], check: Check, check_small: Check, value: Value
) -> None:
    random = np.random.default_rng(0)
    for number, (shape, format) in enumerate(SHAPES):
        x = random.standard_normal(shape) * 4
        x = np.abs(x) + 0.1 if kind in POSITIVE else x
        op = UnaryOp(value(shape, format), kind, *parameters)
        (check_small if number % 2 else check)(op, lower_unary, x)


@pytest.mark.parametrize("kind", [kind for kind in UnaryKind if kind not in POSITIVE | {UnaryKind.EXP}])
def test_functions_far_from_zero(kind: UnaryKind, check: Check, value: Value) -> None:
    """Large arguments overflow nowhere on the way."""
    x = np.array([-60000, -1000, -100, -20, -1e-3, -0.0, 0, 1e-4, 20, 100, 1000, 60000])
    if kind in (UnaryKind.SQUARE, UnaryKind.SELU):
        x = np.clip(x, -200, 200)
    check(UnaryOp(value((12,)), kind), lower_unary, x)


def test_cost_of_functions() -> None:
    assert activation_cost(ActivationAttr("relu")).operations == 1
    swish = activation_cost(ActivationAttr("swish"))
    assert (swish.operations, swish.copies) == (5, 2)
    assert not keeps_precision(ActivationAttr("leaky_relu", -1.0))


@pytest.mark.parametrize("kind", [kind for kind in BinaryKind if kind is not BinaryKind.POW])
@pytest.mark.parametrize(
    ("a", "b", "format"),
    [
        ((2, 32, 5, 5), (2, 32, 5, 5), "NC1HWC0"),
        ((2, 32, 15, 50), (2, 32, 1, 1), "NC1HWC0"),
        ((1, 32, 1, 1), (2, 32, 5, 5), "NC1HWC0"),
        ((5, 37), (5, 37), "ND"),
        ((5, 7), (7,), "ND"),
        ((64,), (50, 64), "ND"),
        ((3, 999), (999,), "ND"),
        ((1, 6400), (6400,), "ND"),
        ((3, 50, 64), (50, 64), "ND"),
        ((1,), (5, 9), "ND"),
        ((3, 5), (), "ND"),
        ((40, 48), (40, 48), "FRACTAL_NZ"),
        ((64, 100), (64, 1), "ND"),
        ((1, 37), (19, 1), "ND"),
        ((3, 1), (3, 2500), "ND"),
        ((33, 1), (33, 48), "ND"),
        ((3, 32, 5, 7), (32, 1, 1), "ND"),
        ((2, 1, 1, 40), (2, 3, 17, 40), "ND"),
        ((2, 1, 7, 1, 9), (5, 1, 4, 9), "ND"),
        ((40, 3), (40, 1), "ND"),
        ((5, 1, 1), (7,), "ND"),
        ((1, 1, 1), (7,), "ND"),
        ((200, 33), (33,), "ND"),
    ],
)
def test_functions_of_two_elements(
    kind: BinaryKind,
    a: tuple[int, ...],
    b: tuple[int, ...],
    format: str,
    check: Check,
    check_small: Check,
    value: Value,
) -> None:
    random = np.random.default_rng(1)
    arrays = [random.uniform(0.1, 3, shape) * random.choice([-1, 1], shape) for shape in (a, b)]
    for run in (check, check_small):
        run(BinaryOp(kind, value(a, format), value(b, format)), lower_binary, *arrays)


@pytest.mark.parametrize("kind", [kind for kind in BinaryKind if kind is not BinaryKind.POW])
@pytest.mark.parametrize("number_first", [False, True])
def test_constant_numbers(kind: BinaryKind, number_first: bool, check: Check, value: Value) -> None:
    x, number = value((4, 33)), constant(np.array([2.5], np.float16)).y
    op = BinaryOp(kind, *((number, x) if number_first else (x, number)))
    outlined = check(op, lower_binary, np.random.default_rng(2).uniform(0.5, 3, (4, 33)))
    assert list(outlined.inputs) == [x]


@pytest.mark.parametrize("function", [ActivationAttr("relu"), ActivationAttr("clip", 0.0, 1.0)])
def test_fused_activations(function: ActivationAttr, check: Check, check_small: Check, value: Value) -> None:
    for run in (check, check_small):
        shape = (2, 32, 9, 9)
        run(BinaryOp("sub", value(shape, "NC1HWC0"), value(shape, "NC1HWC0"), activation=function), lower_binary)


def test_what_has_no_kernel(check: Check, value: Value) -> None:
    with pytest.raises(GeError, match="not a function of the vector unit"):
        lower_binary(BinaryOp("pow", value((4,)), value((4,))), check.target)
    with pytest.raises(GeError, match="relu after operands that broadcast"):
        lower_binary(BinaryOp("add", value((4, 8)), value((8,)), activation=ActivationAttr("relu")), check.target)


@pytest.mark.parametrize("shape", [(7, 50), (64, 64)])
def test_casts(shape: tuple[int, int], check: Check, value: Value) -> None:
    check(CastOp(value(shape), f32), lower_cast)
    large: Array = np.random.default_rng(3).standard_normal(shape) * 1e5
    check(CastOp(value(shape, dtype=np.float32), f16), lower_cast, large)
