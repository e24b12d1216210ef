"""Kernels that change the storage format keep every element, and no store spoils what another wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import TransDataOp
from ge.dialects.graph.base import tensor
from ge.dialects.graph.movement_kernels import keeps_bytes
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.trans_data import lower_trans_data

Check = Any
Value = Callable[..., SSAValue]

SHAPES = [
    ((1, 3, 32, 32), "NC1HWC0"),
    ((2, 20, 7, 7), "NC1HWC0"),
    ((1, 40, 60, 60), "NC1HWC0"),
    ((1, 17, 37, 90), "NC1HWC0"),
    ((2, 32, 1, 1), "NC1HWC0"),
    ((3, 33, 1, 1), "NC1HWC0"),
    ((5, 9), "FRACTAL_NZ"),
    ((1, 1000), "FRACTAL_NZ"),
    ((40, 64), "FRACTAL_NZ"),
    ((3, 50, 24), "FRACTAL_NZ"),
    ((2, 3, 7, 100), "FRACTAL_NZ"),
    ((2, 50, 37), "FRACTAL_NZ"),
    ((2, 50, 16), "FRACTAL_NZ"),
    ((2, 2100), "FRACTAL_NZ"),
]


@pytest.mark.parametrize(("shape", "format"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_there_and_back(
    shape: tuple[int, ...], format: str, dtype: type[np.floating], check: Check, check_small: Check, value: Value
) -> None:
    plain, packed = value(shape, dtype=dtype), value(shape, format)
    for run in (check, check_small):
        outlined = run(TransDataOp(plain, tensor(packed)), lower_trans_data)
        assert not np.isnan(run.last_results[0]).any()
        run(TransDataOp(packed, tensor(plain)), lower_trans_data)
        assert outlined.op_type == "TransData"


def test_pad_lanes_are_zero(check: Check, value: Value) -> None:
    for shape, format in [((1, 20, 6, 6), "NC1HWC0"), ((9, 20), "FRACTAL_NZ")]:
        check(TransDataOp(value(shape), tensor(value(shape, format))), lower_trans_data)
        assert (check.last_results[0][:, 1, :, 4:] == 0).all()


def test_views(value: Value) -> None:
    """What keeps its bytes needs no kernel."""
    cases = [
        ((2, 32, 1, 1), "NC1HWC0", np.float16, True),
        ((2, 33, 1, 1), "NC1HWC0", np.float16, False),
        ((2, 32, 1, 2), "NC1HWC0", np.float16, False),
        ((1, 32), "FRACTAL_NZ", np.float16, True),
        ((9, 16), "FRACTAL_NZ", np.float16, True),
        ((9, 32), "FRACTAL_NZ", np.float16, False),
        ((1, 32), "FRACTAL_NZ", np.float32, False),
    ]
    for shape, format, dtype, expected in cases:
        assert keeps_bytes(TransDataOp(value(shape, dtype=dtype), tensor(value(shape, format)))) is expected


def test_between_packed_formats_there_is_no_kernel(check: Check, value: Value) -> None:
    op = TransDataOp(value((1, 16, 4, 4), "NC1HWC0"), tensor(value((1, 16, 4, 4), "FRACTAL_NZ")))
    with pytest.raises(GeError, match="NC1HWC0 to FRACTAL_NZ"):
        lower_trans_data(op, check.target)
