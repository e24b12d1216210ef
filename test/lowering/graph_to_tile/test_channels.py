"""Kernels of concatenation and of any other choice of channels give what the graph operations mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cube_kernels
import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import ConcatOp, GatherChannelsOp
from ge.dialects.graph.capabilities import kernel_formats
from ge.lowering.graph_to_tile.gather_channels import (
    Copy,
    find_channels,
    find_copies,
    find_families,
    lower_concat,
    lower_gather_channels,
    take_turns,
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


@pytest.mark.parametrize("channels", [116, 96, 272])
@pytest.mark.parametrize("groups", [2, 3, 4, 8])
def test_shuffle(channels: int, groups: int, check: Check, check_small: Check, value: Value) -> None:
    size = -(-channels // groups)
    shuffled = [index for j in range(size * groups) if (index := size * (j % groups) + j // groups) < channels]
    for run in (check, check_small):
        run(GatherChannelsOp([value((2, channels, 5, 5), "NC1HWC0")], shuffled), lower_gather_channels)


def test_shuffled_halves(check: Check, value: Value) -> None:
    """The second half of a shuffle of two tensors, on the simulator, too."""
    indices = [58 * (j % 2) + j // 2 for j in range(58, 116)]
    outlined = check(GatherChannelsOp([value((1, 58, 7, 9), "NC1HWC0")] * 2, indices), lower_gather_channels)
    assert sum(op.name == "tile.for" for op in outlined.kernel.walk()) <= 3
    op = GatherChannelsOp([value((1, 58, 7, 9), "NC1HWC0"), value((1, 58, 7, 9), "NC1HWC0")], indices)
    kernel, inputs = cube_kernels.kernel_of(op, cube_kernels.LARGE)
    cube_kernels.check(kernel, inputs)


def test_reversed_blocks_go_backwards(check: Check, value: Value) -> None:
    """A family whose blocks become fewer from one turn to the next."""
    indices = [16 * (4 - block) + 15 - lane for block in range(5) for lane in range(16)]
    outlined = check(GatherChannelsOp([value((1, 80, 4, 4), "NC1HWC0")], indices), lower_gather_channels)
    assert sum(op.name == "tile.load" for op in outlined.kernel.walk()) == 1


def test_families_are_found() -> None:
    """A shuffle of 4 groups of 68 channels repeats every 4 blocks; lanes of one group move together."""
    indices = [68 * (j % 4) + j // 4 for j in range(272)]
    blocks = find_channels([272], indices)
    families = find_families(dict(enumerate(blocks)))
    assert [(family.block, family.step, family.count) for family in families] == [
        (0, 4, 5),
        (1, 4, 4),
        (2, 4, 4),
        (3, 4, 4),
    ]
    assert take_turns(blocks[0]) == (4, [[(0, 4)], [(1, 4)], [(2, 4)], [(3, 4)]])
    assert take_turns(find_channels([20], range(4, 20))[0]) == (1, [[(0, 12), (12, 4)]])
    assert take_turns(find_channels([20], [5, 6])[0]) == (1, [[(0, 2), (2, 14)]])


def test_copies_are_found() -> None:
    """Blocks 0 and 1 continue, block 2 starts at a lane, block 3 is part of a block, which is enough at the end."""
    indices = [*range(32, 64), *range(8, 24), *range(16, 20)]
    assert find_copies(find_channels([64], indices)) == [Copy(0, 2, 0, 2), Copy(0, 1, 3, 1)]
    assert find_copies(find_channels([16, 16], range(32))) == [Copy(0, 0, 0, 1), Copy(1, 0, 1, 1)]


def test_other_axes_are_rows(check: Check, value: Value) -> None:
    """Plain tensors, of which a kernel copies whole blocks."""
    op = ConcatOp([value((1, 16, 4, 4)), value((1, 16, 8, 4))], 2)
    assert [formats.result for formats in kernel_formats(op)] == ["ND", "FRACTAL_NZ"]
    check(op, lower_concat)
