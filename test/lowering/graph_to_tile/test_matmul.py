"""Kernels of matrix products give what `graph.matmul` means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import ActivationAttr, MatmulOp
from ge.dialects.graph.capabilities import obstacle
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.matmul import lower_matmul

Check = Any
Value = Callable[..., SSAValue]
NZ = "FRACTAL_NZ"
Constant = Callable[[Array], SSAValue]


@pytest.mark.parametrize("seed", range(24))
def test_random_products(
    seed: int, check: Check, check_small: Check, value: Value, filters: Constant, vector: Constant
) -> None:
    """Weights that are constant, one matrix for all, or one matrix each; with and without bias and activation."""
    random = np.random.default_rng(seed)
    batch = tuple(int(n) for n in random.integers(1, 4, random.integers(0, 3)))
    m, k, n = (int(size) for size in random.integers(1, 80, 3))
    match seed % 3:
        case 0:
            b = filters(random.standard_normal((k, n)) / np.sqrt(k))
        case 1:
            b = value((k, n), "FRACTAL_NZ")
        case _:
            b = value((*batch, k, n), "FRACTAL_NZ")
    bias = vector(random.standard_normal(n)) if random.integers(2) else None
    activation = [None, ActivationAttr("relu"), ActivationAttr("tanh")][int(random.integers(3))]
    op = MatmulOp(value((*batch, m, k), "FRACTAL_NZ"), b, bias, activation=activation)
    outlined = (check_small if seed % 2 else check)(op, lower_matmul)
    assert outlined.op_type == ("BatchMatMulV2" if batch else "MatMulV2")


@pytest.mark.parametrize("seed", range(12))
def test_random_products_with_a_transpose(seed: int, check: Check, check_small: Check, value: Value) -> None:
    """Pad lanes of both operands hold rubbish, and so do rows beyond the last one."""
    random = np.random.default_rng(seed)
    batch = tuple(int(n) for n in random.integers(1, 4, random.integers(0, 3)))
    m, k, n = int(random.integers(1, 80)), 16 * int(random.integers(1, 5)), int(random.integers(1, 80))
    b = value((n, k) if seed % 3 == 0 else (*batch, n, k), NZ)

    def product() -> MatmulOp:
        return MatmulOp(value((*batch, m, k), NZ), b, transpose_b=True, activation=ActivationAttr("tanh"))

    outlined = (check_small if seed % 2 else check)(product(), lower_matmul)
    assert str(outlined.op_attrs["adj_x2" if batch else "transpose_x2"]) == "true"
    kernel, inputs = cube_kernels.kernel_of(product(), cube_kernels.SMALL)
    cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


def test_what_cannot_be_transposed(value: Value, filters: Constant) -> None:
    a = value((4, 20), NZ)
    assert "20 columns" in (obstacle(MatmulOp(a, value((8, 20), NZ), transpose_b=True)) or "")
    weights = filters(np.ones((16, 20)))
    assert obstacle(MatmulOp(a, weights, transpose_b=True)) == "a constant is transposed"


def test_leading_dimensions_that_broadcast_have_no_kernel(check: Check, value: Value) -> None:
    op = MatmulOp(value((2, 3, 4, 16), "FRACTAL_NZ"), value((3, 16, 8), "FRACTAL_NZ"))
    with pytest.raises(GeError, match="the leading dimensions broadcast"):
        lower_matmul(op, check.target)


def test_the_largest_layer_of_vgg(check: Check, value: Value) -> None:
    """25088 x 4096 weights take many turns over K, and fit."""
    op = MatmulOp(value((1, 25088), "FRACTAL_NZ"), value((25088, 4096), "FRACTAL_NZ"))
    outlined = lower_matmul(op, check.target)
    check.check_capacity(outlined)
