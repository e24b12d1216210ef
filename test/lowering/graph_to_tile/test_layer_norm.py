"""Kernels of normalisations of rows give what `graph.layer_norm` means, as tiles and on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import LayerNormOp
from ge.dialects.graph.capabilities import kernel_formats, obstacle
from ge.dialects.graph.row_kernels import FRACTAL_ROW_ELEMENTS
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.layer_norm import lower_layer_norm

Check = Any
Value = Callable[..., SSAValue]
Constant = Callable[[Array], SSAValue]


def norm(value: Value, vector: Constant, *shape: int, format: str = "ND") -> LayerNormOp:
    random = np.random.default_rng(3)
    scale, bias = (vector(random.standard_normal(shape[-1]) + offset) for offset in (1, 0))
    return LayerNormOp(value(shape, format), scale, bias, 1e-6)


@pytest.mark.parametrize("shape", [(5, 32), (2, 37, 48), (40, 21), (3, 7, 9), (1, 64), (33, 16)])
def test_small_rows(shape: tuple[int, ...], check: Check, check_small: Check, value: Value, vector: Constant) -> None:
    for run in (check, check_small):
        run(norm(value, vector, *shape), lower_layer_norm)
    kernel, inputs = cube_kernels.kernel_of(norm(value, vector, *shape), cube_kernels.SMALL)
    cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


@pytest.mark.parametrize("shape", [(37, 768), (9, 1024), (2, 8192)])
def test_rows_of_transformers(shape: tuple[int, ...], check: Check, value: Value, vector: Constant) -> None:
    """Sixteen at once, or one that is too long for that."""
    check(norm(value, vector, *shape), lower_layer_norm)
    assert obstacle(norm(value, vector, *shape)) is None


@pytest.mark.parametrize("shape", [(5, 32), (2, 37, 48), (1, 48), (33, 16), (3, 2, 17, 32)])
def test_rows_of_fractals(
    shape: tuple[int, ...], check: Check, check_small: Check, value: Value, vector: Constant
) -> None:
    for run in (check, check_small):
        run(norm(value, vector, *shape, format="FRACTAL_NZ"), lower_layer_norm)
    for soc in (cube_kernels.SMALL, cube_kernels.LARGE):
        kernel, inputs = cube_kernels.kernel_of(norm(value, vector, *shape, format="FRACTAL_NZ"), soc)
        cube_kernels.check(kernel, inputs, soc)


def test_the_longest_row_of_fractals(check: Check, check_small: Check, value: Value, vector: Constant) -> None:
    check(norm(value, vector, 37, FRACTAL_ROW_ELEMENTS, format="FRACTAL_NZ"), lower_layer_norm)
    for length, formats in ((FRACTAL_ROW_ELEMENTS, ["ND", "FRACTAL_NZ"]), (1024, ["ND"]), (72, ["ND"])):
        assert [each.result for each in kernel_formats(norm(value, vector, 37, length))] == formats
    with pytest.raises(GeError, match="16 rows of 768 elements do not fit"):
        lower_layer_norm(norm(value, vector, 37, 768, format="FRACTAL_NZ"), check_small.target)


def test_needs_8_rows_far_from_zero(check: Check, value: Value, vector: Constant) -> None:
    """Sums of squares of numbers around 1000 are far beyond float16; a row of equal numbers has no deviation."""
    x = np.random.default_rng(0).uniform(900, 1100, (20, 64))
    x[3] = 1000
    check(norm(value, vector, 20, 64), lower_layer_norm, x)


def test_what_has_no_kernel(check_small: Check, value: Value, vector: Constant) -> None:
    assert obstacle(norm(value, vector, 1, 20)) == "a single row does not fill blocks"
    assert obstacle(norm(value, vector, 4, 1001)) == "a row is longer than 512"
    assert obstacle(norm(value, vector, 4, 16000)) == "a row is longer than 8192"
    computed = LayerNormOp(value((4, 32)), value((32,), dtype=np.float32), vector(np.ones(32)))
    assert obstacle(computed) == "scale and bias are not constant"
    with pytest.raises(GeError, match="does not fit into the unified buffer"):
        lower_layer_norm(norm(value, vector, 4, 4096), check_small.target)
