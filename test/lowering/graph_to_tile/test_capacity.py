"""Kernels for the convolutions of real networks fit on the chip, and the check of that can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

from ge.dialects.graph import ActivationAttr, Conv2DOp, MatmulOp
from ge.dialects.graph.constants import constant
from ge.ir.constants import Array
from ge.lowering.graph_to_tile.convolution import lower_conv2d
from ge.lowering.graph_to_tile.matmul import lower_matmul
from ge.maths.group_merge import merge_count

Check = Any
Value = Callable[..., SSAValue]

# fmt: off
CONVOLUTIONS: dict[str, list[tuple[int, int, int, int, int, int, int]]] = {
    "resnet50": [
        (3, 224, 64, 7, 2, 3, 1), (64, 56, 64, 1, 1, 0, 1), (64, 56, 64, 3, 1, 1, 1), (64, 56, 256, 1, 1, 0, 1),
        (256, 56, 64, 1, 1, 0, 1), (256, 56, 128, 1, 1, 0, 1), (128, 56, 128, 3, 2, 1, 1), (128, 28, 512, 1, 1, 0, 1),
        (256, 56, 512, 1, 2, 0, 1), (512, 28, 128, 1, 1, 0, 1), (128, 28, 128, 3, 1, 1, 1),
        (512, 28, 256, 1, 1, 0, 1), (256, 28, 256, 3, 2, 1, 1), (256, 14, 1024, 1, 1, 0, 1),
        (512, 28, 1024, 1, 2, 0, 1), (1024, 14, 256, 1, 1, 0, 1), (256, 14, 256, 3, 1, 1, 1),
        (1024, 14, 512, 1, 1, 0, 1), (512, 14, 512, 3, 2, 1, 1), (512, 7, 2048, 1, 1, 0, 1),
        (1024, 14, 2048, 1, 2, 0, 1), (2048, 7, 512, 1, 1, 0, 1), (512, 7, 512, 3, 1, 1, 1),
    ],
    "mobilenet_v2": [
        (3, 224, 32, 3, 2, 1, 1), (32, 112, 32, 3, 1, 1, 32), (32, 112, 16, 1, 1, 0, 1), (16, 112, 96, 1, 1, 0, 1),
        (96, 112, 96, 3, 2, 1, 96), (96, 56, 24, 1, 1, 0, 1), (24, 56, 144, 1, 1, 0, 1), (144, 56, 144, 3, 1, 1, 144),
        (144, 56, 24, 1, 1, 0, 1), (144, 56, 144, 3, 2, 1, 144), (144, 28, 32, 1, 1, 0, 1), (32, 28, 192, 1, 1, 0, 1),
        (192, 28, 192, 3, 1, 1, 192), (192, 28, 32, 1, 1, 0, 1), (192, 28, 192, 3, 2, 1, 192),
        (192, 14, 64, 1, 1, 0, 1), (64, 14, 384, 1, 1, 0, 1), (384, 14, 384, 3, 1, 1, 384), (384, 14, 64, 1, 1, 0, 1),
        (384, 14, 96, 1, 1, 0, 1), (96, 14, 576, 1, 1, 0, 1), (576, 14, 576, 3, 1, 1, 576), (576, 14, 96, 1, 1, 0, 1),
        (576, 14, 576, 3, 2, 1, 576), (576, 7, 160, 1, 1, 0, 1), (160, 7, 960, 1, 1, 0, 1),
        (960, 7, 960, 3, 1, 1, 960), (960, 7, 160, 1, 1, 0, 1), (960, 7, 320, 1, 1, 0, 1), (320, 7, 1280, 1, 1, 0, 1),
    ],
    "efficientnet_b4": [
        (3, 380, 48, 3, 2, 1, 1), (48, 190, 48, 3, 1, 1, 48), (48, 1, 12, 1, 1, 0, 1), (12, 1, 48, 1, 1, 0, 1),
        (48, 190, 24, 1, 1, 0, 1), (24, 190, 24, 3, 1, 1, 24), (24, 1, 6, 1, 1, 0, 1), (6, 1, 24, 1, 1, 0, 1),
        (24, 190, 24, 1, 1, 0, 1), (24, 190, 144, 1, 1, 0, 1), (144, 190, 144, 3, 2, 1, 144), (144, 1, 6, 1, 1, 0, 1),
        (6, 1, 144, 1, 1, 0, 1), (144, 95, 32, 1, 1, 0, 1), (32, 95, 192, 1, 1, 0, 1), (192, 95, 192, 3, 1, 1, 192),
        (192, 1, 8, 1, 1, 0, 1), (8, 1, 192, 1, 1, 0, 1), (192, 95, 32, 1, 1, 0, 1), (192, 95, 192, 5, 2, 2, 192),
        (192, 48, 56, 1, 1, 0, 1), (56, 48, 336, 1, 1, 0, 1), (336, 48, 336, 5, 1, 2, 336), (336, 1, 14, 1, 1, 0, 1),
        (14, 1, 336, 1, 1, 0, 1), (336, 48, 56, 1, 1, 0, 1), (336, 48, 336, 3, 2, 1, 336), (336, 24, 112, 1, 1, 0, 1),
        (112, 24, 672, 1, 1, 0, 1), (672, 24, 672, 3, 1, 1, 672), (672, 1, 28, 1, 1, 0, 1), (28, 1, 672, 1, 1, 0, 1),
        (672, 24, 112, 1, 1, 0, 1), (672, 24, 672, 5, 1, 2, 672), (672, 24, 160, 1, 1, 0, 1),
        (160, 24, 960, 1, 1, 0, 1), (960, 24, 960, 5, 1, 2, 960), (960, 1, 40, 1, 1, 0, 1), (40, 1, 960, 1, 1, 0, 1),
        (960, 24, 160, 1, 1, 0, 1), (960, 24, 960, 5, 2, 2, 960), (960, 12, 272, 1, 1, 0, 1),
        (272, 12, 1632, 1, 1, 0, 1), (1632, 12, 1632, 5, 1, 2, 1632), (1632, 1, 68, 1, 1, 0, 1),
        (68, 1, 1632, 1, 1, 0, 1), (1632, 12, 272, 1, 1, 0, 1), (1632, 12, 1632, 3, 1, 1, 1632),
        (1632, 12, 448, 1, 1, 0, 1), (448, 12, 2688, 1, 1, 0, 1), (2688, 12, 2688, 3, 1, 1, 2688),
        (2688, 1, 112, 1, 1, 0, 1), (112, 1, 2688, 1, 1, 0, 1), (2688, 12, 448, 1, 1, 0, 1),
        (448, 12, 1792, 1, 1, 0, 1),
    ],
    "vgg19": [
        (3, 224, 64, 3, 1, 1, 1), (64, 224, 64, 3, 1, 1, 1), (64, 112, 128, 3, 1, 1, 1), (128, 112, 128, 3, 1, 1, 1),
        (128, 56, 256, 3, 1, 1, 1), (256, 56, 256, 3, 1, 1, 1), (256, 28, 512, 3, 1, 1, 1),
        (512, 28, 512, 3, 1, 1, 1), (512, 14, 512, 3, 1, 1, 1),
    ],
    "densenet121": [
        (3, 224, 64, 7, 2, 3, 1), (64, 56, 128, 1, 1, 0, 1), (128, 56, 32, 3, 1, 1, 1), (96, 56, 128, 1, 1, 0, 1),
        (128, 56, 128, 1, 1, 0, 1), (160, 56, 128, 1, 1, 0, 1), (192, 56, 128, 1, 1, 0, 1),
        (224, 56, 128, 1, 1, 0, 1), (256, 56, 128, 1, 1, 0, 1), (128, 28, 128, 1, 1, 0, 1), (128, 28, 32, 3, 1, 1, 1),
        (160, 28, 128, 1, 1, 0, 1), (192, 28, 128, 1, 1, 0, 1), (224, 28, 128, 1, 1, 0, 1),
        (256, 28, 128, 1, 1, 0, 1), (288, 28, 128, 1, 1, 0, 1), (320, 28, 128, 1, 1, 0, 1),
        (352, 28, 128, 1, 1, 0, 1), (384, 28, 128, 1, 1, 0, 1), (416, 28, 128, 1, 1, 0, 1),
        (448, 28, 128, 1, 1, 0, 1), (480, 28, 128, 1, 1, 0, 1), (512, 28, 256, 1, 1, 0, 1),
        (256, 14, 128, 1, 1, 0, 1), (128, 14, 32, 3, 1, 1, 1), (288, 14, 128, 1, 1, 0, 1), (320, 14, 128, 1, 1, 0, 1),
        (352, 14, 128, 1, 1, 0, 1), (384, 14, 128, 1, 1, 0, 1), (416, 14, 128, 1, 1, 0, 1),
        (448, 14, 128, 1, 1, 0, 1), (480, 14, 128, 1, 1, 0, 1), (512, 14, 128, 1, 1, 0, 1),
        (544, 14, 128, 1, 1, 0, 1), (576, 14, 128, 1, 1, 0, 1), (608, 14, 128, 1, 1, 0, 1),
        (640, 14, 128, 1, 1, 0, 1), (672, 14, 128, 1, 1, 0, 1), (704, 14, 128, 1, 1, 0, 1),
        (736, 14, 128, 1, 1, 0, 1), (768, 14, 128, 1, 1, 0, 1), (800, 14, 128, 1, 1, 0, 1),
        (832, 14, 128, 1, 1, 0, 1), (864, 14, 128, 1, 1, 0, 1), (896, 14, 128, 1, 1, 0, 1),
        (928, 14, 128, 1, 1, 0, 1), (960, 14, 128, 1, 1, 0, 1), (992, 14, 128, 1, 1, 0, 1),
        (1024, 14, 512, 1, 1, 0, 1), (512, 7, 128, 1, 1, 0, 1), (128, 7, 32, 3, 1, 1, 1), (544, 7, 128, 1, 1, 0, 1),
        (576, 7, 128, 1, 1, 0, 1), (608, 7, 128, 1, 1, 0, 1), (640, 7, 128, 1, 1, 0, 1), (672, 7, 128, 1, 1, 0, 1),
        (704, 7, 128, 1, 1, 0, 1), (736, 7, 128, 1, 1, 0, 1), (768, 7, 128, 1, 1, 0, 1), (800, 7, 128, 1, 1, 0, 1),
        (832, 7, 128, 1, 1, 0, 1), (864, 7, 128, 1, 1, 0, 1), (896, 7, 128, 1, 1, 0, 1), (928, 7, 128, 1, 1, 0, 1),
        (960, 7, 128, 1, 1, 0, 1), (992, 7, 128, 1, 1, 0, 1), (1024, 1, 1000, 1, 1, 0, 1),
    ],
}
# fmt: on
"""Channels, height, output channels, kernel, stride, padding and groups of each different convolution."""

ACTIVATIONS = {"mobilenet_v2": ActivationAttr("clip", 0.0, 6.0), "efficientnet_b4": ActivationAttr("swish")}
RELU = ActivationAttr("relu")


@pytest.mark.parametrize("network", CONVOLUTIONS)
def test_convolutions_of_networks(network: str, check: Check, value: Value) -> None:
    """Every convolution has tiles within the buffers, and most cores have work where there is enough."""
    for channels, size, outputs, kernel, stride, pad, groups in CONVOLUTIONS[network]:
        merge = merge_count(channels, outputs, groups)
        weights = constant(np.zeros((outputs, channels // groups * merge, kernel, kernel), np.float16), "FRACTAL_Z").y
        op = Conv2DOp(
            value((1, channels, size, size), "NC1HWC0"),
            weights,
            constant(np.zeros(outputs, np.float32)).y,
            strides=(stride, stride),
            pads=(pad,) * 4,
            groups=groups,
            group_merge=merge,
            activation=ACTIVATIONS.get(network, RELU),
        )
        for run in (check, check.without_double_buffering()):
            outlined = lower_conv2d(op, run.target)
            run.check_capacity(outlined)
            assert outlined.kernel.block_count >= 6 or size * size * outputs < 40 * 40 * 16


def test_the_check_can_fail(check: Check, value: Value, filters: Callable[[Array], SSAValue]) -> None:
    """A kernel written for a chip does not fit on one with less of any memory that it fills."""
    random = np.random.default_rng(0)
    op = Conv2DOp(
        value((1, 256, 56, 56), "NC1HWC0"),
        filters(random.standard_normal((256, 256, 3, 3))),
        pads=(1, 1, 1, 1),
        activation=ActivationAttr("gelu"),
    )
    outlined = lower_conv2d(op, check.target)
    soc = check.target.soc
    for place in ("l1", "l0a", "l0b", "l0c", "ub"):
        smaller = replace(check.target, soc=replace(soc, buffers={**soc.buffers, place: soc.buffers[place] // 16}))
        with pytest.raises(AssertionError):
            replace(check, target=smaller).check_capacity(outlined)


def test_matrix_products_of_transformers(check: Check, value: Value) -> None:
    for a, b in [((1, 197, 768), (768, 3072)), ((12, 197, 64), (12, 64, 197)), ((8, 512, 1024), (1024, 1024))]:
        outlined = lower_matmul(MatmulOp(value(a, "FRACTAL_NZ"), value(b, "FRACTAL_NZ")), check.target)
        check.check_capacity(outlined)
        assert outlined.kernel.block_count == 8
