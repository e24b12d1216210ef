"""Kernels of concatenation and of any other choice of channels give what the graph operations mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import ConcatOp, GatherChannelsOp
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.gather_channels import (
    Copy,
    find_channels,
    find_copies,
    lower_concat,
    lower_gather_channels,
)

Check = Any
Value = Callable[..., SSAValue]


@pytest.mark.parametrize(
    ("n", "channels", "height", "width"),
    [
        (1, [16, 32], 7, 7),
        (2, [32, 48, 20], 5, 5),
        (1, [24, 40], 9, 9),
        (1, [16, 80], 60, 60),
        (2, [3, 5], 4, 4),
        (1, [272], 3, 3),
    ],
)
def test_concat(
    n: int, channels: list[int], height: int, width: int, check: Check, check_small: Check, value: Value
) -> None:
    for run in (check, check_small):
        xs = [value((n, c, height, width), "NC1HWC0") for c in channels]
        run(ConcatOp(xs, 1), lower_concat)


@pytest.mark.parametrize("seed", range(10))
def test_random_channels(seed: int, check: Check, check_small: Check, value: Value) -> None:
    random = np.random.default_rng(seed)
    plane = [int(size) for size in random.integers(1, 12, 2)]
    channels = [int(c) for c in random.integers(1, 50, random.integers(1, 4))]
    n = int(random.integers(1, 3))
    xs = [value((n, c, *plane), "NC1HWC0") for c in channels]
    indices = [int(i) for i in random.integers(0, sum(channels), random.integers(1, 60))]
    (check_small if seed % 2 else check)(GatherChannelsOp(xs, indices), lower_gather_channels)


def test_shuffle(check: Check, value: Value) -> None:
    shuffled = [58 * (j % 2) + j // 2 for j in range(116)]
    check(GatherChannelsOp([value((1, 116, 7, 7), "NC1HWC0")], shuffled), lower_gather_channels)


def test_copies_are_found() -> None:
    """Blocks 0 and 1 continue, block 2 starts at a lane, block 3 is part of a block, which is enough at the end."""
    indices = [*range(32, 64), *range(8, 24), *range(16, 20)]
    assert find_copies(find_channels([64], indices)) == [Copy(0, 2, 0, 2), Copy(0, 1, 3, 1)]
    assert find_copies(find_channels([16, 16], range(32))) == [Copy(0, 0, 0, 1), Copy(1, 0, 1, 1)]


def test_other_axes_have_no_kernel(check: Check, value: Value) -> None:
    with pytest.raises(GeError, match="does not join the channels"):
        lower_concat(ConcatOp([value((1, 16, 4, 4), "NC1HWC0")] * 2, 2), check.target)
