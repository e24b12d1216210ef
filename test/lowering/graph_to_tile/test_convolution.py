"""Kernels of convolutions give what `graph.conv2d` means: many small shapes, on a large and on a tiny chip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import ActivationAttr, Conv2DOp
from ge.dialects.tile.types import tile_type
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.convolution import lower_conv2d
from ge.maths.group_merge import merge_count, merge_weights

Check = Any
Value = Callable[..., SSAValue]
Constant = Callable[[Array], SSAValue]


def random_case(seed: int) -> dict[str, Any]:
    """Sizes and parameters of a random convolution that gives at least one output position."""
    random = np.random.default_rng(seed)
    kernel = tuple(int(k) for k in random.choice([1, 2, 3, 5], 2))
    dilations = tuple(int(d) for d in random.choice([1, 1, 2], 2))
    pads = [int(random.integers(0, kernel[i % 2] * dilations[i % 2])) for i in range(4)]
    spans = [(kernel[i] - 1) * dilations[i] + 1 for i in range(2)]
    sizes = [int(random.integers(max(1, spans[i] - pads[i] - pads[i + 2]), 16)) for i in range(2)]
    return {
        "x": (int(random.integers(1, 3)), int(random.integers(1, 70)), *sizes),
        "w": (int(random.integers(1, 90)), *kernel),
        "strides": tuple(int(s) for s in random.choice([1, 1, 2, 3], 2)),
        "pads": tuple(pads),
        "dilations": dilations,
        "activation": [None, "relu", "clip", "swish", "gelu", "leaky_relu"][int(random.integers(6))],
        "biased": bool(random.integers(2)),
    }


@pytest.mark.parametrize("seed", range(40))
def test_random_convolutions(
    seed: int, check: Check, check_small: Check, value: Value, filters: Constant, vector: Constant
) -> None:
    case, random = random_case(seed), np.random.default_rng(seed)
    outputs, *kernel = case["w"]
    w = random.standard_normal((outputs, case["x"][1], *kernel)) / np.sqrt(case["x"][1] * np.prod(kernel))
    bias = vector(random.standard_normal(outputs)) if case["biased"] else None
    activation = ActivationAttr(case["activation"]) if case["activation"] not in (None, "clip") else None
    if case["activation"] == "clip":
        activation = ActivationAttr("clip", 0.0, 1.5)
    parameters = {name: case[name] for name in ("strides", "pads", "dilations")}
    op = Conv2DOp(value(case["x"], "NC1HWC0"), filters(w), bias, activation=activation, **parameters)
    (check_small if seed % 2 else check)(op, lower_conv2d)


@pytest.mark.parametrize(
    ("channels", "outputs", "groups"),
    [(32, 32, 32), (40, 40, 40), (48, 96, 48), (32, 64, 2), (24, 24, 3), (64, 32, 4), (20, 30, 10), (96, 96, 6)],
)
def test_groups(
    channels: int, outputs: int, groups: int, check: Check, check_small: Check, value: Value, filters: Constant
) -> None:
    random = np.random.default_rng(groups)
    merge = merge_count(channels, outputs, groups)
    w = random.standard_normal((outputs, channels // groups, 3, 3)) / 5
    for run in (check, check_small):
        x = value((2, channels, 9, 7), "NC1HWC0")
        weights = filters(merge_weights(w, groups, merge))
        op = Conv2DOp(x, weights, pads=(1, 1, 1, 1), groups=groups, group_merge=merge)
        outlined = run(op, lower_conv2d)
        assert outlined.op_type == ("DepthwiseConv2D" if groups == channels else "Conv2D")


def test_groups_that_share_blocks_have_no_kernel(check: Check, value: Value, filters: Constant) -> None:
    op = Conv2DOp(value((1, 24, 5, 5), "NC1HWC0"), filters(np.ones((24, 8, 1, 1))), groups=3)
    with pytest.raises(GeError, match=r"GE4010.*do not fill blocks of 16"):
        lower_conv2d(op, check.target)


def test_weights_of_a_large_window_come_piece_by_piece(
    check_small: Check, value: Value, filters: Constant, vector: Constant
) -> None:
    random = np.random.default_rng(0)
    op = Conv2DOp(
        value((1, 20, 12, 10), "NC1HWC0"),
        filters(random.standard_normal((40, 20, 9, 9)) / 40),
        vector(random.standard_normal(40)),
        pads=(4, 4, 4, 4),
    )
    outlined = check_small(op, lower_conv2d)
    loads = [o for o in outlined.kernel.walk() if o.name == "tile.load" and o.operands[0].name_hint == "w"]
    assert loads and all(tile_type(load.results[0]).sizes[0] < 81 for load in loads)


def test_without_double_buffering(check: Check, value: Value, filters: Constant) -> None:
    op = Conv2DOp(value((1, 32, 14, 14), "NC1HWC0"), filters(np.full((32, 32, 3, 3), 0.01)), pads=(1, 1, 1, 1))
    outlined = check.without_double_buffering()(op, lower_conv2d)
    assert "stages" not in str(outlined.kernel)


def test_saturation(check: Check, value: Value, filters: Constant) -> None:
    """Sums beyond float16 saturate; the accumulator itself does not."""
    op = Conv2DOp(value((1, 16, 4, 4), "NC1HWC0"), filters(np.full((16, 16, 1, 1), 100.0)))
    check(op, lower_conv2d, np.full((1, 16, 4, 4), 60000.0))


def test_operator_of_the_om(check: Check, value: Value, filters: Constant) -> None:
    op = Conv2DOp(value((1, 16, 8, 8), "NC1HWC0"), filters(np.ones((16, 16, 3, 3))), strides=(1, 2), pads=(0, 1, 2, 3))
    outlined = lower_conv2d(op, check.target)
    assert outlined.op_type == "Conv2D"
    shown = {name: str(attr) for name, attr in outlined.op_attrs.items()}
    assert "1, 1, 1, 2" in shown["strides"]
    assert "0, 2, 1, 3" in shown["pads"]
