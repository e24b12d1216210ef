"""Kernels of normalisations of rows give what `graph.layer_norm` means, as tiles and on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import LayerNormOp
from ge.dialects.graph.capabilities import obstacle
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.layer_norm import lower_layer_norm

Check = Any
Value = Callable[..., SSAValue]
Constant = Callable[[Array], SSAValue]


def norm(value: Value, vector: Constant, *shape: int) -> LayerNormOp:
    random = np.random.default_rng(3)
    scale, bias = (vector(random.standard_normal(shape[-1]) + offset) for offset in (1, 0))
    return LayerNormOp(value(shape), scale, bias, 1e-6)


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
