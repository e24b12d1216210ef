"""Kernels of reductions give what `graph.reduce` means, and their instructions what they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import ReduceKind, ReduceOp
from ge.dialects.graph.base import tensor
from ge.dialects.graph.capabilities import kernel_formats
from ge.dialects.graph.row_kernels import FRACTAL_ROW_ELEMENTS
from ge.ir.attributes import with_layout
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.reduce import lower_reduce

Check = Any
Value = Callable[..., SSAValue]
Shape = tuple[int, ...]

ND, NZ, MAPS = "ND", "FRACTAL_NZ", "NC1HWC0"

CASES: list[tuple[str, Shape, Shape]] = [
    *[(ND, shape, (len(shape) - 1,)) for shape in ((33, 48), (3, 197), (2, 5, 7), (16, 16), (2, 1500))],
    *[(ND, shape, tuple(range(len(shape)))) for shape in ((300,), (4, 3, 5), (1, 512), (7,), (2, 1, 4096))],
    *[(ND, (6, 40), (0,)), (ND, (2, 3, 1), (0,)), (ND, (5, 3, 21), (1,)), (ND, (4, 30, 2, 16), (1, 2))],
    *[(ND, (3, 2, 500), (1,)), (ND, (700, 20), (0,)), (ND, (700, 32), (0,)), (ND, (50, 2, 16), (1,))],
    *[(NZ, (37, 48), (1,)), (NZ, (32, 16), (1,)), (NZ, (3, 20, 48), (2,)), (NZ, (2, 3, 16, 32), (3,))],
    *[(NZ, (37, 48), (0,)), (NZ, (3, 20, 33), (0,)), (NZ, (3, 20, 33), (1,)), (NZ, (2, 3, 4, 5), (0, 1))],
    *[
        (MAPS, (2, 20, 5, 7), (2, 3)),
        (MAPS, (1, 33, 6, 4), (2,)),
        (MAPS, (2, 3, 6, 4), (3,)),
        (MAPS, (4, 17, 3, 2), (0,)),
    ],
]


def reduction(value: Value, kind: ReduceKind, format: str, shape: Shape, axes: Shape) -> ReduceOp:
    """A reduction with its result in the format that belongs to that of its operand."""
    op = ReduceOp(kind, value(shape, format), axes)
    result = ND if format == NZ and axes == (len(shape) - 1,) else format
    assert (format, result) in [(each.operands[0], each.result) for each in kernel_formats(op)]
    return ReduceOp.create(
        operands=op.operands, properties=op.properties, result_types=[with_layout(tensor(op.y), result)]
    )


@pytest.mark.parametrize("kind", [*ReduceKind])
@pytest.mark.parametrize(("format", "shape", "axes"), CASES)
def test_every_way(
    kind: ReduceKind, format: str, shape: Shape, axes: Shape, check: Check, check_small: Check, value: Value
) -> None:
    """In one tile and in many; sums and minima on instructions, too."""
    op = reduction(value, kind, format, shape, axes)
    outlined = check(op, lower_reduce)
    assert outlined.op_type.startswith("SquareSum" if kind is ReduceKind.SUM_SQUARE else "Reduce")
    check_small(op, lower_reduce)
    if kind in (ReduceKind.SUM, ReduceKind.MIN):
        soc = cube_kernels.SMALL if kind is ReduceKind.SUM else cube_kernels.LARGE
        kernel, inputs = cube_kernels.kernel_of(op, soc)
        cube_kernels.check(kernel, inputs, soc)


def test_the_longest_rows(check: Check, check_small: Check, value: Value) -> None:
    """Rows of any length come in parts; those of fractals lie in the unified buffer as a whole."""
    check(reduction(value, ReduceKind.MEAN, ND, (2, 100000), (1,)), lower_reduce)
    check(reduction(value, ReduceKind.MAX, ND, (100001,), (0,)), lower_reduce)
    longest = reduction(value, ReduceKind.SUM, NZ, (40, FRACTAL_ROW_ELEMENTS), (1,))
    check(longest, lower_reduce)
    with pytest.raises(GeError, match="16 rows of 768 elements do not fit"):
        lower_reduce(longest, check_small.target)


@pytest.mark.parametrize(
    ("format", "shape", "axes"), [(ND, (40, 40), (1,)), (ND, (40, 40), (0,)), (NZ, (40, 48), (1,))]
)
@pytest.mark.parametrize("kind", [*ReduceKind])
def test_hostile_numbers(kind: ReduceKind, format: str, shape: Shape, axes: Shape, check: Check, value: Value) -> None:
    """Largest and lowest numbers, of both signs: what is beyond the end of rows has no share, and sums saturate."""
    x = np.random.default_rng(5).choice([-65504.0, 65504.0, 60000.0, -0.0, 1e-7], shape)
    x[:, 3] = x[7] = -65504
    x[:, 9] = x[11] = 65504
    check(reduction(value, kind, format, shape, axes), lower_reduce, x)


def test_other_elements_have_no_kernel(check: Check, value: Value) -> None:
    with pytest.raises(GeError, match="do not follow each other"):
        lower_reduce(ReduceOp("sum", value((2, 3, 4)), (0, 2)), check.target)
    with pytest.raises(GeError, match="do not follow each other"):
        lower_reduce(ReduceOp("sum", value((2, 3, 4, 5), MAPS), (1,)), check.target)
