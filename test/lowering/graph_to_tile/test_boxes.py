"""Kernels of slices, and of concatenations along any axis, give what the operations mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import ConcatOp, SliceOp
from ge.dialects.graph.capabilities import obstacle
from ge.lowering.graph_to_tile.boxes import lower_slice
from ge.lowering.graph_to_tile.gather_channels import lower_concat

Check = Any
Value = Callable[..., SSAValue]


@pytest.mark.parametrize(
    ("shape", "axis", "start", "size"),
    [
        ((3, 1, 19, 48), 0, 1, 1),
        ((19, 3, 48), 1, 2, 1),
        ((2, 7, 5, 32), 2, 1, 3),
        ((1, 37, 16), 1, 36, 1),
        ((5, 8000), 0, 2, 2),
        ((9, 4, 2, 8), 1, 1, 2),
    ],
)
def test_slices(
    shape: tuple[int, ...], axis: int, start: int, size: int, check: Check, check_small: Check, value: Value
) -> None:
    for run in (check, check_small):
        op = SliceOp(value(shape), axis, start, size)
        assert obstacle(op) is None
        run(op, lower_slice)
    kernel, inputs = cube_kernels.kernel_of(SliceOp(value(shape), axis, start, size), cube_kernels.SMALL)
    cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


@pytest.mark.parametrize(
    ("shapes", "axis"),
    [
        ([(1, 1, 48), (1, 19, 48)], 1),
        ([(2, 5, 3, 32), (2, 5, 4, 32), (2, 5, 1, 32)], 2),
        ([(3, 16), (2, 16)], 0),
        ([(1, 2, 3, 4, 16), (1, 2, 5, 4, 16)], -3),
    ],
)
def test_concatenations(
    shapes: list[tuple[int, ...]], axis: int, check: Check, check_small: Check, value: Value
) -> None:
    for run in (check, check_small):
        op = ConcatOp([value(shape) for shape in shapes], axis)
        assert obstacle(op) is None
        run(op, lower_concat)
    kernel, inputs = cube_kernels.kernel_of(ConcatOp([value(shape) for shape in shapes], axis), cube_kernels.SMALL)
    cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


def test_what_has_no_kernel(value: Value) -> None:
    assert obstacle(SliceOp(value((4, 20)), 1, 0, 16)) == "1 elements after axis 1 do not fill blocks"
    assert obstacle(ConcatOp([value((4, 20)), value((4, 20))], 0)) == "20 elements after axis 0 do not fill blocks"
