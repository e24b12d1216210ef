"""What users of such compilers complain about, in the group "precision"; each test has the rank in its name.

Ranks 7, 62 and 72, which are about precision modes, are in test_precision_modes.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx_models import ModelBuilder, compile_to_graph, run_reference
from optimised import check_optimised, count

from ge.dialects.graph.meaning import run_module as run_graph
from ge.dialects.onnx.meaning import run_module
from ge.targets.onnx.importer import import_model
from ge.tools import ge_opt
from ge.tools.agreement import compare

Array = NDArray[Any]

DEVICE = ["assign-precision", "merge-host", "propagate-layout"]

# 8


@pytest.mark.parametrize("level", [1.0, 1e3])
def test_needs_08_means_in_float16_are_summed_in_float32(level: float) -> None:
    """65536 values of about a thousand: their sum is far beyond what float16 holds, their mean is not."""
    b = ModelBuilder(seed=1)
    x = b.input("x", 256, 256)
    b.output(b.node("ReduceMean", x, axes=[1]))
    feeds = {"x": (level + b.random.standard_normal((256, 256))).astype(np.float32)}
    got = run_graph(compile_to_graph(b.build(), DEVICE), feeds)
    (mean,) = got.values()
    exact = feeds["x"].astype(np.float16).astype(np.float64).mean(axis=1, keepdims=True)
    assert np.isfinite(mean).all()
    assert (np.abs(mean - exact) <= 2**-10 * np.abs(exact)).all()


@pytest.mark.parametrize("kind", ["Softmax", "LayerNormalization"])
def test_needs_08_recognised_chains_in_float16_stay_finite(kind: str) -> None:
    """The primitive chains that exporters write, on values whose exponentials or squares leave float16."""
    b = ModelBuilder(seed=2)
    x = b.input("x", 4, 64, dtype=TensorProto.FLOAT16)

    def constant(value: float) -> str:
        return b.constant(value, np.float16)

    if kind == "Softmax":
        shifted = b.node("Sub", x, b.node("ReduceMax", x, axes=[-1]))
        e = b.node("Exp", shifted)
        b.output(b.node("Div", e, b.node("ReduceSum", e, b.constant([-1], np.int64))))
    else:
        centred = b.node("Sub", x, b.node("ReduceMean", x, axes=[-1]))
        variance = b.node("ReduceMean", b.node("Mul", centred, centred), axes=[-1])
        b.output(b.node("Div", centred, b.node("Sqrt", b.node("Add", variance, constant(1e-5)))))
    feeds = {"x": (100 + 40 * b.random.standard_normal((4, 64))).astype(np.float16)}
    found = check_optimised(b.build(), feeds, tolerance=4e-3)
    (value,) = run_reference(found, feeds).values()
    assert np.isfinite(value).all()


# 14

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5]


@pytest.mark.parametrize("size", [1, 4, 100, 101])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_needs_14_constants_that_are_not_finite_survive_text(dtype: Any, size: int, tmp_path: Path) -> None:
    tiny = np.finfo(dtype).tiny if dtype is not ml_dtypes.bfloat16 else ml_dtypes.finfo(dtype).tiny
    arrays = {
        "mixed": np.resize(np.array([*SPECIAL, float(tiny) / 2]), size).astype(dtype),
        **{f"splat{index}": np.full(size, value).astype(dtype) for index, value in enumerate(SPECIAL)},
    }
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    nodes = [helper.make_node("Identity", [name], [f"y_{name}"]) for name in arrays]
    outputs = [helper.make_tensor_value_info(f"y_{name}", tensors[0].data_type, [size]) for name in arrays]
    graph = helper.make_graph(nodes, "constants", [], outputs, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    ge_opt.run([str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.mlir")])
    ge_opt.run([str(tmp_path / "m.mlir"), "-o", str(tmp_path / "again.onnx")])
    again = {tensor.name: tensor for tensor in onnx.load(tmp_path / "again.onnx").graph.initializer}
    for name, array in arrays.items():
        assert numpy_helper.to_array(again[name]).tobytes() == array.tobytes(), name


# 16


@pytest.mark.parametrize("scale", [0.5, 0.25, 0.1])
@pytest.mark.parametrize("zero", [0, 3])
def test_needs_16_quantised_values_do_not_move_by_a_step(scale: float, zero: int) -> None:
    """Between quantise and dequantise, at ties of rounding: equal to the bit to what the model gives."""
    b = ModelBuilder(seed=4)
    x = b.input("x", 1, 2, 5, 5)
    s, z = b.constant(scale), b.constant(zero, np.int8)
    w = b.constant(b.random.integers(-3, 4, (3, 2, 3, 3)), np.int8)
    q = b.node("DequantizeLinear", b.node("QuantizeLinear", x, s, z), s, z)
    y = b.node("Conv", q, b.node("DequantizeLinear", w, b.constant(0.5), b.constant(0, np.int8)), pads=[1, 1, 1, 1])
    y = b.node("QuantizeLinear", b.node("Relu", y), b.constant(1.0), b.constant(0, np.int8))
    b.output(y, b.node("DequantizeLinear", y, b.constant(1.0), b.constant(0, np.int8)))
    feeds = {"x": (b.random.integers(-9, 10, (1, 2, 5, 5)) * scale / 2).astype(np.float32)}
    found = check_optimised(b.build(), feeds, tolerance=0)
    assert count(found)["QuantizeLinear"] == 2


# 17


def average(
    x: Array, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int], ceil: int, include: int
) -> Array:
    """AveragePool as the standard writes it, over two axes."""
    (top, left, bottom, right), round_ = pads, math.ceil if ceil else math.floor
    sizes: list[int] = []
    for size, k, s, begin, end in zip(x.shape[2:], kernel, strides, (top, left), (bottom, right), strict=True):
        out = round_((size + begin + end - k) / s) + 1
        if ceil and (out - 1) * s >= size + begin:  # a window that begins in the padding at the end is left out
            out -= 1
        sizes.append(out)
    y = np.zeros((*x.shape[:2], *sizes), np.float64)
    height, width = x.shape[2:]
    for i, j in np.ndindex(*sizes):
        rows = range(i * strides[0] - top, i * strides[0] - top + kernel[0])
        columns = range(j * strides[1] - left, j * strides[1] - left + kernel[1])
        inside = [(r, c) for r in rows for c in columns if 0 <= r < height and 0 <= c < width]
        padded = [(r, c) for r in rows for c in columns if -top <= r < height + bottom and -left <= c < width + right]
        total = sum(x[:, :, r, c].astype(np.float64) for r, c in inside)
        y[:, :, i, j] = total / len(padded if include else inside)
    return y.astype(np.float32)


GRID = list(itertools.product([0, 1], [0, 1], [(0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 0, 1)], [(1, 1), (2, 3)]))


@pytest.mark.parametrize("opset", [11, 19])
def test_needs_17_average_pool_divides_by_what_the_standard_says(opset: int) -> None:
    """By definition, of every combination; ceil_mode, padding that counts, uneven padding, and strides."""
    for ceil, include, pads, strides in GRID:
        b = ModelBuilder(opset=opset, seed=5)
        x = b.input("x", 1, 2, 7, 8)
        sizes: dict[str, Any] = {"kernel_shape": [3, 2], "pads": pads, "strides": strides}
        b.output(b.node("AveragePool", x, ceil_mode=ceil, count_include_pad=include, **sizes))
        model, feeds = b.build(), b.random_inputs()
        model.graph.output[0].type.tensor_type.ClearField("shape")  # that of the onnx package is wrong with ceil_mode
        del model.graph.value_info[:]
        want = average(feeds["x"], (3, 2), strides, pads, ceil, include)
        (got,) = run_module(import_model(model), feeds).values()
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=str((ceil, include, pads, strides)))


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_needs_17_average_pool_pads_by_itself_on_the_right_side(auto_pad: str) -> None:
    b = ModelBuilder(opset=19, seed=6)
    x = b.input("x", 1, 2, 7, 8)
    b.output(b.node("AveragePool", x, kernel_shape=[2, 3], strides=[2, 2], auto_pad=auto_pad))
    check_optimised(b.build(), b.random_inputs())


# 18

COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("scale", [2.5, 0.6])
def test_needs_18_resize_reads_where_the_standard_says(mode: str, coordinates: str, scale: float) -> None:
    """By definition and after all passes, against onnxruntime: scales that are no integers, up and down."""
    for nearest in NEAREST if mode == "nearest" else ("round_prefer_floor",):
        b = ModelBuilder(opset=19, seed=7)
        x = b.input("x", 1, 1, 5, 5)
        options: dict[str, Any] = {
            "mode": mode,
            "coordinate_transformation_mode": coordinates,
            "nearest_mode": nearest,
        }
        b.output(b.node("Resize", x, "", b.constant([1.0, 1.0, scale, scale]), **options))
        model, feeds = b.build(), b.random_inputs()
        check_optimised(model, feeds)
        ((got, want),) = zip(
            run_module(import_model(model), feeds).values(), run_reference(model, feeds).values(), strict=True
        )
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=f"{mode} {coordinates} {nearest}")


# 41


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_needs_41_scales_and_sizes_keep_their_type(mode: str) -> None:
    """A factor of 1.8181 in float16 is another one, with other sizes; so are the bounds of a slice beyond 2048."""
    b = ModelBuilder(opset=19, seed=8)
    x = b.input("x", 1, 3, 11, 4099)
    y = b.node("Slice", x, b.constant([2049], np.int64), b.constant([4097], np.int64), b.constant([3], np.int64))
    y = b.node("Resize", y, "", b.constant([1.0, 1.0, 1.8181, 0.25]), mode=mode)
    b.output(b.node("Relu", y))
    model, feeds = b.build(), b.random_inputs()
    want = run_reference(model, feeds)
    got = run_graph(compile_to_graph(model, DEVICE), feeds)
    assert [value.shape for value in got.values()] == [value.shape for value in want.values()]
    assert all(each.passed for each in compare(got, want, half=True))
    check_optimised(model, feeds)


# 46


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, None])
def test_needs_46_quantisation_per_channel_keeps_its_axis(axis: int, dtype: Any) -> None:
    """Of every type, and without a zero point, which makes it uint8: equal to the bit after all passes."""
    b = ModelBuilder(opset=19, seed=9)
    x = b.input("x", 3, 4, 5)
    size = (3, 4, 5)[axis]
    scales = b.constant(b.random.uniform(0.02, 0.1, size))
    zeros = [] if dtype is None else [b.constant(b.random.integers(0, 9, size), dtype)]
    q = b.node("QuantizeLinear", x, scales, *zeros, axis=axis)
    y = b.node(
        "DequantizeLinear", b.node("Transpose", q, perm=[1, 0, 2]), scales, *zeros, axis={0: 1, 1: 0, -1: 2}[axis]
    )
    b.output(b.node("Transpose", y, perm=[1, 0, 2]), b.node("Transpose", q, perm=[2, 1, 0]))
    model, feeds = b.build(), b.random_inputs()
    check_optimised(model, feeds, tolerance=0)
    got, want = run_module(import_model(model), feeds), run_reference(model, feeds)
    for name, value in want.items():
        assert got[name].dtype == value.dtype
        np.testing.assert_array_equal(got[name], value)
