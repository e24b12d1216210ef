"""Kernels of slices, and of concatenations along any axis, give what the operations mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import ConcatOp, SliceOp
from ge.dialects.graph.capabilities import kernel_formats, obstacle
from ge.lowering.graph_to_tile.boxes import lower_slice
from ge.lowering.graph_to_tile.gather_channels import lower_concat

Check = Any
Value = Callable[..., SSAValue]
NZ = "FRACTAL_NZ"
BOTH = ["ND", NZ]


@pytest.mark.parametrize(
    ("shape", "axis", "start", "size", "formats"),
    [
        ((3, 1, 19, 48), 0, 1, 1, BOTH),
        ((19, 3, 48), 1, 2, 1, BOTH),
        ((2, 7, 5, 32), 2, 1, 3, BOTH),
        ((1, 37, 16), 1, 36, 1, BOTH),
        ((5, 8000), 0, 2, 2, BOTH),
        ((9, 4, 2, 8), 1, 1, 2, BOTH),
        ((6, 5, 20), 0, 1, 4, [NZ]),
        ((3, 5, 96), 2, 32, 48, BOTH),
        ((3, 5, 96), 2, 0, 16, BOTH),
        ((7, 5, 40), 2, 16, 24, [NZ]),
        ((7, 40), 1, 0, 32, [NZ]),
        ((3, 6, 8), 1, 2, 4, BOTH),
    ],
)
def test_slices(
    shape: tuple[int, ...],
    axis: int,
    start: int,
    size: int,
    formats: list[str],
    check: Check,
    check_small: Check,
    value: Value,
) -> None:
    assert [each.result for each in kernel_formats(SliceOp(value(shape), axis, start, size))] == formats
    for format in formats:
        for run in (check, check_small):
            run(SliceOp(value(shape, format), axis, start, size), lower_slice)
        kernel, inputs = cube_kernels.kernel_of(SliceOp(value(shape, format), axis, start, size), cube_kernels.SMALL)
        cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


@pytest.mark.parametrize(
    ("shapes", "axis", "formats"),
    [
        ([(1, 1, 48), (1, 19, 48)], 1, BOTH),
        ([(2, 5, 3, 32), (2, 5, 4, 32), (2, 5, 1, 32)], 2, BOTH),
        ([(3, 16), (2, 16)], 0, BOTH),
        ([(1, 2, 3, 4, 16), (1, 2, 5, 4, 16)], -3, BOTH),
        ([(5, 20), (3, 20)], 0, [NZ]),
        ([(2, 9, 32), (2, 9, 16), (2, 9, 48)], 2, BOTH),
        ([(2, 9, 32), (2, 9, 7)], -1, [NZ]),
    ],
)
def test_concatenations(
    shapes: list[tuple[int, ...]], axis: int, formats: list[str], check: Check, check_small: Check, value: Value
) -> None:
    def joined(format: str = "ND") -> ConcatOp:
        return ConcatOp([value(shape, format) for shape in shapes], axis)

    assert [each.result for each in kernel_formats(joined())] == formats
    for format in formats:
        for run in (check, check_small):
            run(joined(format), lower_concat)
        kernel, inputs = cube_kernels.kernel_of(joined(format), cube_kernels.SMALL)
        cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


def test_what_has_no_kernel(value: Value) -> None:
    reason = "1 elements after axis 1 do not fill blocks, nor do its parts"
    assert obstacle(SliceOp(value((4, 20)), 1, 8, 8)) == reason
    assert obstacle(SliceOp(value((20,)), 0, 3, 16)) is not None
    assert obstacle(ConcatOp([value((4, 20)), value((4, 20))], 1)) == reason
