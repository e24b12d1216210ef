"""Kernels of pooling give what `graph.pool2d` means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import Pool2DOp
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.pooling import lower_pool2d

Check = Any
Value = Callable[..., SSAValue]


@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize("seed", range(16))
def test_random_windows(seed: int, kind: str, check: Check, check_small: Check, value: Value) -> None:
    random = np.random.default_rng(seed)
    kernel = tuple(int(k) for k in random.integers(1, 5, 2))
    pads = tuple(int(random.integers(0, kernel[i % 2])) for i in range(4))
    shape = (int(random.integers(1, 3)), int(random.integers(1, 60)), *(int(s) for s in random.integers(5, 20, 2)))
    op = Pool2DOp(
        value(shape, "NC1HWC0"),
        kind,
        kernel,
        strides=tuple(int(s) for s in random.integers(1, 4, 2)),
        pads=pads,
        ceil_mode=bool(random.integers(2)),
        count_include_pad=bool(random.integers(2)),
    )
    (check_small if seed % 2 else check)(op, lower_pool2d)


@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize("shape", [(1, 16, 7, 7), (2, 40, 5, 9), (1, 20, 30, 30), (1, 16, 1, 1), (1, 160, 3, 3)])
def test_whole_planes(shape: tuple[int, ...], kind: str, check: Check, check_small: Check, value: Value) -> None:
    for run in (check, check_small):
        run(Pool2DOp(value(shape, "NC1HWC0"), kind, shape[2:]), lower_pool2d)


def test_large_feature_maps_fit(check: Check, value: Value) -> None:
    for shape, kernel in [
        ((1, 64, 224, 224), (3, 3)),
        ((1, 32, 190, 190), (190, 190)),
        ((4, 16, 64, 500), (5, 5)),
        ((1, 16, 8, 9000), (2, 1)),
        ((1, 16, 90, 90), (55, 55)),
    ]:
        outlined = lower_pool2d(Pool2DOp(value(shape, "NC1HWC0"), "average", kernel), check.target)
        check.check_capacity(outlined)


@pytest.mark.parametrize("kind", ["max", "average"])
def test_rows_too_wide_for_one_tile(kind: str, check_small: Check, value: Value) -> None:
    """Tiles are parts of a row: the columns of padding, and the counts, are those of the part."""
    x = value((1, 20, 5, 300), "NC1HWC0")
    check_small(Pool2DOp(x, kind, (3, 4), strides=(2, 3), pads=(1, 2, 1, 1)), lower_pool2d)
    check_small(Pool2DOp(x, kind, (2, 2)), lower_pool2d)


def test_counts_become_constants_only_where_windows_differ(check: Check, value: Value) -> None:
    x = value((1, 16, 8, 8), "NC1HWC0")
    inside = lower_pool2d(Pool2DOp(x, "average", (2, 2), strides=(2, 2)), check.target)
    padded = lower_pool2d(Pool2DOp(x, "average", (3, 3), pads=(1, 1, 1, 1)), check.target)
    counted = lower_pool2d(Pool2DOp(x, "average", (3, 3), pads=(1, 1, 1, 1), count_include_pad=True), check.target)
    assert [len(outlined.inputs) for outlined in (inside, padded, counted)] == [1, 3, 1]


def test_dilated_windows_have_no_kernel(check: Check, value: Value) -> None:
    with pytest.raises(GeError, match="the window is dilated"):
        lower_pool2d(Pool2DOp(value((1, 16, 8, 8), "NC1HWC0"), "max", (2, 2), dilations=(2, 2)), check.target)
