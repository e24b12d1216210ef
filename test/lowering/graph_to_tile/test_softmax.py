"""Kernels of softmax give what `graph.softmax` means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import SoftmaxOp
from ge.dialects.graph.capabilities import kernel_formats
from ge.dialects.graph.row_kernels import FRACTAL_ROW_ELEMENTS
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.softmax import lower_softmax

Check = Any
Value = Callable[..., SSAValue]

NZ = "FRACTAL_NZ"


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("shape", [(1, 300), (3, 197), (2, 5, 64), (16,), (1, 1), (40, 10), (7, 500), (33, 48)])
def test_rows(shape: tuple[int, ...], log: bool, check: Check, check_small: Check, value: Value) -> None:
    """Rows alone and 16 together, whole blocks and not; also where a maximum is far above the rest."""
    random = np.random.default_rng(0)
    for run, scale in ((check, 5), (check_small, 30)):
        outlined = run(SoftmaxOp(value(shape), -1, log=log), lower_softmax, random.standard_normal(shape) * scale)
        assert outlined.op_type == ("LogSoftmaxV2" if log else "SoftmaxV2")


def test_the_longest_row(check: Check, value: Value) -> None:
    check(SoftmaxOp(value((2, 8192)), -1), lower_softmax)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("shape", [(37, 48), (2, 5, 33), (1, 16), (5, 3), (2, 3, 33, 20)])
def test_rows_of_fractals(shape: tuple[int, ...], log: bool, check: Check, check_small: Check, value: Value) -> None:
    """In FRACTAL_NZ, where pad lanes hold rubbish; as tiles of one or of many groups of 16 rows."""
    random = np.random.default_rng(1)
    for run, scale in ((check, 5), (check_small, 30)):
        op = SoftmaxOp(value(shape, NZ), -1, log=log)
        run(op, lower_softmax, random.standard_normal(shape) * scale)
    kernel, inputs = cube_kernels.kernel_of(SoftmaxOp(value(shape, NZ), -1, log=log), cube_kernels.SMALL)
    cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


@pytest.mark.parametrize("shape", [(12, 40, 128), (3, 20, 197), (64, 49)])
def test_attention_in_fractals(shape: tuple[int, ...], check: Check, value: Value) -> None:
    check(SoftmaxOp(value(shape, NZ), -1), lower_softmax)
    kernel, inputs = cube_kernels.kernel_of(SoftmaxOp(value(shape, NZ), -1), cube_kernels.LARGE)
    cube_kernels.check(kernel, inputs, cube_kernels.LARGE)


@pytest.mark.parametrize(
    ("format", "shape"), [("ND", (3, 20)), ("ND", (1, 20)), ("ND", (2, 1001)), (NZ, (3, 20)), (NZ, (2, 700))]
)
def test_a_row_of_the_lowest_numbers(format: str, shape: tuple[int, int], check: Check, value: Value) -> None:
    """As of a mask that leaves nothing: what is beyond the end of the row has no share."""
    x = np.full(shape, -65504.0)
    x[1:, 3] = -65000
    check(SoftmaxOp(value(shape, format), -1), lower_softmax, x)


def test_the_longest_row_of_fractals(check: Check, check_small: Check, value: Value) -> None:
    op = SoftmaxOp(value((40, FRACTAL_ROW_ELEMENTS), NZ), -1)
    check(op, lower_softmax)
    assert [each.result for each in kernel_formats(op)] == ["ND", NZ]
    longer = SoftmaxOp(value((40, FRACTAL_ROW_ELEMENTS + 1)), -1)
    assert [each.result for each in kernel_formats(longer)] == ["ND"]
    with pytest.raises(GeError, match="16 rows of 768 elements do not fit"):
        lower_softmax(op, check_small.target)


def test_other_axes_have_no_kernel(check: Check, value: Value) -> None:
    with pytest.raises(GeError, match="the axis is not the last"):
        lower_softmax(SoftmaxOp(value((4, 5)), 0), check.target)
