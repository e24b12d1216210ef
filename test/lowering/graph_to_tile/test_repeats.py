"""Operands that repeat in any way: fusions give, bit for bit, what kernels of their own give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cube_kernels
import numpy as np
import pytest
from fused_kernels import as_tiles, check_bits, simulated
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation

from ge.dialects.graph import BinaryOp, CastOp, UnaryOp
from ge.lowering.graph_to_tile.elementwise import lower_binary
from ge.lowering.graph_to_tile.outline import Target

LARGE = cube_kernels.LARGE
SMALL = replace(LARGE, cores=3, buffers={**LARGE.buffers, "ub": 1 << 14})
"""A chip that needs many tiles."""

NZ = "FRACTAL_NZ"
value = cube_kernels.value
Case = Callable[[int, int], list[Operation]]
"""The steps of a fusion on 2 images of some rows of a length."""


def column(rows: int, length: int) -> list[Operation]:
    """(x - m) · s, with a number for each row and a scalar, as float32."""
    difference = BinaryOp("sub", value((2, rows, length)), value((2, rows, 1)))
    product = BinaryOp("mul", difference.y, value((1,)))
    return [difference, product, CastOp(product.y, f32)]


def outer_product(rows: int, length: int) -> list[Operation]:
    """|r · c| of a row for each image and a column for all, less another row."""
    product = BinaryOp("mul", value((2, 1, length)), value((rows, 1)))
    size = UnaryOp(product.y, "abs")
    return [product, size, BinaryOp("sub", value((length,)), size.y)]


def every_way(rows: int, length: int) -> list[Operation]:
    """Operands along each dimension, and across each, in turn."""
    steps: list[Operation] = [BinaryOp("max", value((2, rows, length)), value((2, 1, 1)))]
    for shape in ((rows, 1), (2, 1, length), (1, length), (rows, length), (2, rows, 1)):
        steps.append(BinaryOp("add", steps[-1].results[0], value(shape)))
    return steps


def matrices(rows: int, length: int) -> list[Operation]:
    """Windows and heads in FRACTAL_NZ: a matrix for all, for each head, and for each window."""
    steps: list[Operation] = [BinaryOp("add", value((2, 3, rows, length), NZ), value((rows, length), NZ))]
    for shape in ((3, rows, length), (2, 1, rows, length), (1, 1, 1, 1)):
        steps.append(BinaryOp("mul", value(shape, NZ if shape[-1] > 1 else "ND"), steps[-1].results[0]))
    return steps


@pytest.mark.parametrize("case", [column, outer_product, every_way, matrices], ids=lambda case: case.__name__)
@pytest.mark.parametrize(("rows", "length"), [(37, 100), (16, 48), (3, 17), (20, 24), (5, 1300), (3, 1296), (40, 7)])
def test_fusions(case: Case, rows: int, length: int) -> None:
    check_bits(case(rows, length), Target(LARGE), as_tiles)
    check_bits(case(rows, length), Target(SMALL), simulated(SMALL))


@pytest.mark.parametrize("length", [24, 100, 128, 5000])
@pytest.mark.parametrize("hostile", [np.nan, np.inf, -np.inf, 0.0])
def test_what_is_wrong_with_a_row_stays_there(length: int, hostile: float) -> None:
    """A number divides its row only."""
    x, divisor = value((50, length)), value((50, 1))
    kernel = lower_binary(BinaryOp("div", x, divisor), Target(LARGE)).kernel
    random = np.random.default_rng(0)
    rows = random.standard_normal((50, length)).astype(np.float16)
    numbers = random.uniform(0.5, 2, (50, 1)).astype(np.float16)
    numbers[[7, 49]] = hostile
    (got,) = cube_kernels.simulate(cube_kernels.lowered(kernel), kernel, [rows, numbers.reshape(-1)]).outputs
    others = np.setdiff1d(np.arange(50), [7, 49])
    with np.errstate(all="ignore"):
        want = rows.astype(np.float32) / numbers.astype(np.float32)
    cube_kernels.assert_close(got[others], want[others].astype(np.float16))
    assert np.isnan(hostile) == np.isnan(got[[7, 49]]).all()
