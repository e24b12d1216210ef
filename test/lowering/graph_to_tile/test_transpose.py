"""Kernels of transpositions give what `graph.transpose` means, as tiles and on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import TransposeOp
from ge.dialects.graph.capabilities import obstacle
from ge.dialects.graph.movement_kernels import joined_axes
from ge.lowering.graph_to_tile.transpose import lower_transpose

Check = Any
Value = Callable[..., SSAValue]

CASES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((19, 12, 64), (1, 0, 2)),
    ((1, 19, 1, 3, 48), (3, 1, 2, 0, 4)),
    ((2, 3, 19, 32), (2, 0, 1, 3)),
    ((1, 2, 7, 2, 7, 32), (0, 1, 3, 2, 4, 5)),
    ((4, 9, 3, 2, 16), (2, 0, 3, 1, 4)),
    ((3, 2, 4112), (1, 0, 2)),
    ((2, 3, 19, 32), (0, 1, 3, 2)),
    ((2, 3, 32, 19), (0, 1, 3, 2)),
    ((3, 5, 7), (0, 2, 1)),
    ((33, 200), (1, 0)),
    ((1, 48, 20), (0, 2, 1)),
    ((1, 5, 40, 3), (0, 2, 3, 1)),
]


@pytest.mark.parametrize(("shape", "perm"), CASES)
def test_transpositions(
    shape: tuple[int, ...], perm: tuple[int, ...], check: Check, check_small: Check, value: Value
) -> None:
    for run in (check, check_small):
        op = TransposeOp(value(shape), perm)
        assert obstacle(op) is None
        run(op, lower_transpose)
    kernel, inputs = cube_kernels.kernel_of(TransposeOp(value(shape), perm), cube_kernels.SMALL)
    cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


def test_what_has_no_kernel(value: Value) -> None:
    reason = "it moves elements of rows in another way than by transposing matrices"
    assert obstacle(TransposeOp(value((3, 4, 15)), (1, 0, 2))) == reason
    assert obstacle(TransposeOp(value((3, 4, 5)), (2, 1, 0))) == reason
    assert obstacle(TransposeOp(value((48, 1)), (1, 0))) == "it moves nothing: it is a reshape"


def test_dimensions_that_stay_together() -> None:
    assert joined_axes((1, 8, 7, 8, 7, 96), (0, 1, 3, 2, 4, 5)) == ((8, 7, 8, 672), (0, 2, 1, 3))
    assert joined_axes((2, 3, 4), (0, 1, 2)) == ((24,), (0,))
    assert joined_axes((5, 1, 4), (2, 1, 0)) == ((5, 4), (1, 0))
    assert joined_axes((1, 1), (1, 0)) == ((1,), (0,))
