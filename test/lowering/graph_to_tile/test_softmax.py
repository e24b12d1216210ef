"""Kernels of softmax give what `graph.softmax` means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import SoftmaxOp
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.softmax import lower_softmax

Check = Any
Value = Callable[..., SSAValue]


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


def test_other_axes_have_no_kernel(check: Check, value: Value) -> None:
    with pytest.raises(GeError, match="the axis is not the last"):
        lower_softmax(SoftmaxOp(value((4, 5)), 0), check.target)
