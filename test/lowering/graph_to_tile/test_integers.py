"""Kernels on 8-bit integers: exactly what the operations mean, on tiles and on the simulator in strict mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cube_kernels
import numpy as np
import pytest
from xdsl.dialects.builtin import f16, i8

from ge.dialects.graph import (
    ActivationAttr,
    DequantiseOp,
    IntegerAddOp,
    IntegerConv2DOp,
    IntegerMatmulOp,
    Pool2DOp,
    QuantiseOp,
    TransDataOp,
    UnaryKind,
)
from ge.dialects.graph.base import tensor
from ge.dialects.graph.capabilities import obstacle
from ge.dialects.graph.constants import constant
from ge.ir.attributes import ui8, with_layout
from ge.lowering.graph_to_tile.convolution import lower_conv2d
from ge.lowering.graph_to_tile.matmul import lower_matmul
from ge.lowering.graph_to_tile.outline import Target
from ge.lowering.graph_to_tile.pooling import lower_pool2d
from ge.lowering.graph_to_tile.quantisation import lower_dequantise, lower_integer_add, lower_quantise
from ge.lowering.graph_to_tile.trans_data import lower_trans_data
from ge.targets.ascend.soc import load_soc, soc_names

RELU = ActivationAttr(UnaryKind.RELU)
CLIP = ActivationAttr(UnaryKind.CLIP, 0.0, 60.0)


def operands(shape: Sequence[int], outputs: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Weights, bias and scales, such that most results are inside of 8 bits."""
    rng = np.random.default_rng(seed)
    w = rng.integers(-128, 128, shape).astype(np.int8)
    bias = rng.integers(-9000, 9000, outputs).astype(np.int32)
    depth = int(np.prod(shape)) // outputs
    scale = rng.uniform(0.2, 1.0, outputs).astype(np.float32) / np.float32(depth**0.5 * 100)
    return constant(w, "FRACTAL_Z").y, constant(bias).y, constant(scale).y


def convolution(value: Any, x: Sequence[int], w: Sequence[int], source: Any, target: Any, **fields: Any) -> Any:
    """A convolution of `x` by constants."""
    return IntegerConv2DOp(value(x, "NC1HWC0", source), *operands(w, w[0]), target, **fields)


CASES: dict[str, Any] = {
    "3x3": ((1, 40, 9, 11), (48, 40, 3, 3), {"pads": (1, 1, 1, 1)}),
    "strided": ((2, 3, 14, 15), (20, 3, 5, 3), {"pads": (2, 1, 2, 1), "strides": (2, 2)}),
    "1x1": ((1, 70, 6, 7), (100, 70, 1, 1), {}),
    "dilated": ((1, 32, 12, 12), (33, 32, 3, 3), {"dilations": (2, 2), "pads": (2, 0, 1, 3)}),
    "grouped": ((1, 64, 8, 8), (64, 32, 3, 3), {"groups": 64, "group_merge": 32, "pads": (1, 1, 1, 1)}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("source", "target", "padding", "zero_point"),
    [(np.uint8, ui8, 131, 120), (np.int8, i8, -7, -128), (np.uint8, i8, 0, 3), (np.int8, f16, 5, 0)],
)
def test_convolution(
    case: str, source: Any, target: Any, padding: int, zero_point: int, check: Any, value: Any
) -> None:
    x, w, fields = CASES[case]
    op = convolution(value, x, w, source, target, padding=padding, zero_point=zero_point, **fields)
    check(op, lower_conv2d)
    if target != f16:
        assert len(np.unique(check.last_results[0])) > 40, "nearly all results saturate, the test shows little"


@pytest.mark.parametrize("case", ["3x3", "strided", "1x1"])
@pytest.mark.parametrize("activation", [RELU, CLIP])
def test_convolution_in_many_tiles(case: str, activation: ActivationAttr, check_small: Any, value: Any) -> None:
    x, w, fields = CASES[case]
    op = convolution(value, x, w, np.uint8, ui8, padding=131, zero_point=10, activation=activation, **fields)
    check_small(op, lower_conv2d)
    check_small.without_double_buffering()(op, lower_conv2d)


@pytest.mark.parametrize("case", ["3x3", "strided", "1x1", "grouped"])
@pytest.mark.parametrize("soc", [cube_kernels.LARGE, cube_kernels.SMALL], ids=["large", "small"])
def test_convolution_on_the_simulator(case: str, soc: Any) -> None:
    x, w, fields = CASES[case]
    op = convolution(cube_kernels.value, x, w, np.uint8, ui8, padding=131, zero_point=10, activation=RELU, **fields)
    kernel, arrays = cube_kernels.kernel_of(op, soc)
    cube_kernels.check(kernel, arrays, soc)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 512, 1000), (33, 40, 70), (100, 768, 48)])
@pytest.mark.parametrize("target", [ui8, i8, f16])
def test_matmul(m: int, k: int, n: int, target: Any, check: Any, value: Any) -> None:
    a = value((m, k), "FRACTAL_NZ", np.int8)
    op = IntegerMatmulOp(a, *operands((k, n), n), target, zero_point=0 if target == f16 else 9)
    check(op, lower_matmul)


def test_matrices_on_the_simulator() -> None:
    a = cube_kernels.value((2, 3, 20, 70), "FRACTAL_NZ", np.uint8)
    op = IntegerMatmulOp(a, *operands((70, 50), 50), i8, zero_point=-4)
    for soc in (cube_kernels.LARGE, cube_kernels.SMALL):
        kernel, arrays = cube_kernels.kernel_of(op, soc)
        cube_kernels.check(kernel, arrays, soc)


def test_extremes_do_not_round(check: Any, value: Any) -> None:
    """Sums of 2304 products of 255 and -128: 27 bits, of which float32 would lose three."""
    w = np.full((16, 256, 3, 3), -128, np.int8)
    bias = np.arange(16, dtype=np.int32) + 2304 * 255 * 128 - 8
    x = value((1, 256, 3, 3), "NC1HWC0", np.uint8)
    op = IntegerConv2DOp(
        x, constant(w, "FRACTAL_Z").y, constant(bias).y, constant(np.ones(16, np.float32)).y, i8, zero_point=0
    )
    check(op, lower_conv2d, np.full((1, 256, 3, 3), 255, np.uint8))
    assert check.last_results[0].reshape(-1)[:16].tolist() == list(range(-8, 8))


def test_ties_round_to_even(check: Any, value: Any) -> None:
    """Scales that are powers of two make ties, which decide how numbers are rounded, and the zero point must not."""
    w = np.zeros((32, 32, 1, 1), np.int8)
    w[:, 0] = 1
    x = value((1, 32, 1, 256), "NC1HWC0", np.uint8)
    op = IntegerConv2DOp(
        x,
        constant(w, "FRACTAL_Z").y,
        constant(np.full(32, -128, np.int32)).y,
        constant(np.full(32, 0.5, np.float32)).y,
        ui8,
        zero_point=101,
    )
    array = np.zeros((1, 32, 1, 256), np.uint8)
    array[:, 0] = np.arange(256)
    check(op, lower_conv2d, array)
    got = check.last_results[0].reshape(256, 32)[:, 0]
    assert got.tolist() == [round((q - 128) * 0.5) + 101 for q in range(256)]


QUANTISED = [
    ((1, 3, 20, 21), "ND", "NC1HWC0"),
    ((2, 40, 7, 7), "ND", "NC1HWC0"),
    ((1, 64, 5, 8), "NC1HWC0", "NC1HWC0"),
    ((2, 41, 7, 9), "NC1HWC0", "NC1HWC0"),
    ((1, 1000), "ND", "ND"),
    ((7, 64, 96), "ND", "ND"),
    ((3, 5), "ND", "ND"),
]


def quantisation(value: Any, shape: Sequence[int], source: str, result: str, dtype: Any, target: Any) -> QuantiseOp:
    op = QuantiseOp(value(shape, source, dtype), target, 0.0173, 100 if target == ui8 else -20)
    type = with_layout(tensor(op.y), result)
    return QuantiseOp.create(operands=[op.x], properties=dict(op.properties), result_types=[type])


@pytest.mark.parametrize(("shape", "source", "result"), QUANTISED)
@pytest.mark.parametrize(("dtype", "target"), [(np.float32, ui8), (np.float16, i8)])
def test_quantise(shape: Any, source: str, result: str, dtype: Any, target: Any, check: Any, value: Any) -> None:
    if dtype == np.float32 and source == "NC1HWC0":
        return
    check(quantisation(value, shape, source, result, dtype, target), lower_quantise)


@pytest.mark.parametrize(("shape", "source", "result"), QUANTISED)
@pytest.mark.parametrize("soc", [cube_kernels.LARGE, cube_kernels.SMALL], ids=["large", "small"])
def test_quantise_on_the_simulator(shape: Any, source: str, result: str, soc: Any) -> None:
    op = quantisation(cube_kernels.value, shape, source, result, np.float16, ui8)
    cube_kernels.check(*cube_kernels.kernel_of(op, soc), soc)


@pytest.mark.parametrize(
    ("shape", "format"), [((1, 70, 7, 7), "NC1HWC0"), ((2, 64, 4, 8), "NC1HWC0"), ((9, 110), "ND")]
)
@pytest.mark.parametrize("soc", [cube_kernels.LARGE, cube_kernels.SMALL], ids=["large", "small"])
def test_dequantise(shape: Any, format: str, soc: Any, check: Any, check_small: Any) -> None:
    op = DequantiseOp(cube_kernels.value(shape, format, np.uint8), f16, 0.031, 7)
    (check if soc is cube_kernels.LARGE else check_small)(op, lower_dequantise)
    cube_kernels.check(*cube_kernels.kernel_of(op, soc), soc)


@pytest.mark.parametrize(
    ("shape", "format"), [((1, 70, 7, 7), "NC1HWC0"), ((2, 3, 70), "FRACTAL_NZ"), ((9, 110), "ND")]
)
@pytest.mark.parametrize("soc", [cube_kernels.LARGE, cube_kernels.SMALL], ids=["large", "small"])
def test_add(shape: Any, format: str, soc: Any, check: Any, check_small: Any) -> None:
    a, b = (cube_kernels.value(shape, format, dtype) for dtype in (np.uint8, np.int8))
    op = IntegerAddOp(a, b, ui8, (0.031, 0.044, 0.05), (7, -100, 130))
    (check if soc is cube_kernels.LARGE else check_small)(op, lower_integer_add)
    cube_kernels.check(*cube_kernels.kernel_of(op, soc), soc)


MOVED = [
    ((1, 40, 6, 8), "NC1HWC0"),
    ((2, 70, 14, 14), "NC1HWC0"),
    ((3, 100, 1, 1), "NC1HWC0"),
    ((20, 100), "FRACTAL_NZ"),
    ((2, 5, 96), "FRACTAL_NZ"),
    ((1, 1000), "FRACTAL_NZ"),
]


@pytest.mark.parametrize(("shape", "format"), MOVED)
@pytest.mark.parametrize("packs", [True, False])
@pytest.mark.parametrize("soc", [cube_kernels.LARGE, cube_kernels.SMALL], ids=["large", "small"])
def test_trans_data(shape: Any, format: str, packs: bool, soc: Any, check: Any, check_small: Any) -> None:
    source, result = ("ND", format) if packs else (format, "ND")
    x = cube_kernels.value(shape, source, np.uint8)
    op = TransDataOp(x, with_layout(tensor(x), result))
    (check if soc is cube_kernels.LARGE else check_small)(op, lower_trans_data)
    cube_kernels.check(*cube_kernels.kernel_of(op, soc), soc)


def test_odd_planes_are_unpacked(check: Any) -> None:
    x = cube_kernels.value((2, 40, 7, 7), "NC1HWC0", np.int8)
    op = TransDataOp(x, with_layout(tensor(x), "ND"))
    check(op, lower_trans_data)
    cube_kernels.check(*cube_kernels.kernel_of(op, cube_kernels.LARGE))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    ("shape", "kernel", "strides", "pads"),
    [
        ((1, 70, 11, 12), (3, 3), (2, 2), (1, 1, 1, 1)),
        ((2, 32, 8, 8), (2, 2), (2, 2), (0, 0, 0, 0)),
        ((1, 40, 7, 7), (7, 7), (1, 1), (0, 0, 0, 0)),
    ],
)
@pytest.mark.parametrize("soc", [cube_kernels.LARGE, cube_kernels.SMALL], ids=["large", "small"])
def test_maximum(
    dtype: Any, shape: Any, kernel: Any, strides: Any, pads: Any, soc: Any, check: Any, check_small: Any
) -> None:
    x = cube_kernels.value(shape, "NC1HWC0", dtype)
    op = Pool2DOp(x, "max", kernel, strides=strides, pads=pads)
    cube_kernels.check(*cube_kernels.kernel_of(op, soc), soc)
    (check if soc is cube_kernels.LARGE else check_small)(op, lower_pool2d)


QUANTISING: dict[str, Any] = {
    "7x7": ((1, 3, 7, 16), (20, 3, 7, 7), {"pads": (3, 3, 3, 3), "strides": (2, 2)}),
    "3x3": ((2, 3, 7, 21), (32, 3, 3, 3), {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    "1 channel": ((1, 1, 9, 28), (20, 1, 5, 5), {}),
    "16 channels": ((1, 16, 8, 8), (16, 16, 3, 3), {"pads": (1, 0, 2, 1), "dilations": (2, 1)}),
    "patches": ((1, 3, 12, 16), (48, 3, 4, 4), {"strides": (4, 4)}),
}


@pytest.mark.parametrize("case", QUANTISING)
@pytest.mark.parametrize(("dtype", "x_type"), [(np.float32, ui8), (np.float16, i8)])
def test_convolution_that_quantises(case: str, dtype: Any, x_type: Any, check: Any) -> None:
    x, w, fields = QUANTISING[case]
    point = 117 if x_type == ui8 else -11
    quantises: dict[str, Any] = {"padding": point, "zero_point": 10, "x_scale": 0.021, "x_type": x_type}
    op = IntegerConv2DOp(cube_kernels.value(x, "ND", dtype), *operands(w, w[0]), ui8, **fields, **quantises)
    op = IntegerConv2DOp.create(
        operands=list(op.operands), properties=dict(op.properties), result_types=[with_layout(tensor(op.y), "NC1HWC0")]
    )
    check(op, lower_conv2d)
    assert len(np.unique(check.last_results[0])) > 40, "nearly all results saturate, the test shows little"
    kernel, arrays = cube_kernels.kernel_of(op, cube_kernels.LARGE)
    cube_kernels.check(kernel, arrays)


@pytest.mark.parametrize("soc", soc_names())
@pytest.mark.parametrize(("kernel", "stride", "channels"), [(7, 2, 3), (3, 1, 3), (3, 2, 16), (16, 16, 3), (2, 3, 1)])
def test_the_widest_image_that_a_convolution_quantises(kernel: int, stride: int, channels: int, soc: str) -> None:
    """Whatever has no obstacle has tiles that fit on every chip."""

    def convolution_of(width: int) -> IntegerConv2DOp:
        w = (16, channels, kernel, kernel)
        x = cube_kernels.value((1, channels, 40, width), "ND", np.float32)
        return IntegerConv2DOp(x, *operands(w, 16), ui8, strides=(stride, stride), x_scale=0.02, x_type=ui8)

    widths = [width for width in range(kernel, 1500, 7) if obstacle(convolution_of(width)) is None]
    assert widths, "none is quantised"
    op = convolution_of(widths[-1])
    blocks = with_layout(tensor(op.y), "NC1HWC0")
    op = IntegerConv2DOp.create(operands=list(op.operands), properties=dict(op.properties), result_types=[blocks])
    lower_conv2d(op, Target(load_soc(soc)))


def test_numbers_that_are_none(check: Any) -> None:
    """Infinities saturate, and NaN is the zero point; on tiles and on the simulator."""
    x = np.array([[np.nan, np.inf, -np.inf, 1e30, -1e30, 0.0, -0.0, 1e-40]], np.float32)
    op = QuantiseOp(cube_kernels.value(x.shape, "ND", np.float32), ui8, 0.5, 100)
    check(op, lower_quantise, x)
    assert check.last_results[0].tolist() == [100, 255, 0, 255, 0, 100, 100, 100]
    kernel, _ = cube_kernels.kernel_of(op, cube_kernels.LARGE)
    cube_kernels.check(kernel, [x])
