"""Quantised models in integers, judged by onnxruntime: equal for scales that are powers of two, else within a step."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx_models import Array, ModelBuilder, branch, compile_to_graph, run_reference

from ge.dialects.graph import HostOp
from ge.dialects.graph.meaning import run_module

DEVICE = ("fuse-requantise", "fuse-quantise-conv", "assign-precision", "propagate-layout", "convert-graph-to-tile")


class QuantisedBuilder(ModelBuilder):
    """Models with quantised values; a quantised value is the name of a DequantizeLinear."""

    def quantised(self, x: str, scale: float, point: int, dtype: Any = np.uint8) -> str:
        """A float value, quantised and dequantised."""
        sides = [self.constant(scale), self.constant(point, dtype)]
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *sides), *sides)

    def filters(self, scale: Any, *shape: int, dtype: Any = np.int8, point: int | None = None, axis: int = 0) -> str:
        """Weights of 8 bits with one scale, or one for each output."""
        limits = np.iinfo(dtype)
        values = self.constant(self.random.integers(limits.min, limits.max + 1, shape), dtype)
        points = [] if point is None else [self.constant(np.full(np.shape(scale), point), dtype)]
        attributes: dict[str, Any] = {"axis": axis} if np.ndim(scale) else {}
        return self.node("DequantizeLinear", values, self.constant(scale), *points, **attributes)

    def bias(self, scale: Any, size: int) -> str:
        """A bias of int32."""
        values = self.constant(self.random.integers(-2000, 2000, size), np.int32)
        attributes: dict[str, Any] = {"axis": 0} if np.ndim(scale) else {}
        return self.node("DequantizeLinear", values, self.constant(scale), **attributes)


def compare(model: ModelProto, inputs: dict[str, Array], steps: int, *, integers: str) -> None:
    """Check the kernels against onnxruntime, without and with its own fusions; outputs are integers."""
    module = compile_to_graph(model, ("fuse-requantise",))
    names = [op.name.removeprefix("graph.") for op in module.walk()]
    assert integers in names, "it is not computed in integers"
    got = run_module(compile_to_graph(model, DEVICE), inputs)
    for want in (run_reference(model, inputs), run_optimised(model, inputs)):
        for name, expected in want.items():
            difference = np.abs(got[name].astype(np.int64) - expected.astype(np.int64))
            assert difference.max() <= steps, f"{name} is {difference.max()} steps off"
            assert len(np.unique(expected)) > 15, "nearly all results saturate, the test shows little"


def run_optimised(model: ModelProto, inputs: dict[str, Array]) -> dict[str, Array]:
    """What onnxruntime computes by default."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    results = cast("list[Array]", session.run(names, dict(inputs)))
    return dict(zip(names, results, strict=True))


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def finished(b: QuantisedBuilder, y: str, scale: float, point: int, dtype: Any = np.uint8) -> ModelProto:
    b.output(b.node("QuantizeLinear", y, b.constant(scale), b.constant(point, dtype)))
    return b.build()


CONVOLUTIONS: dict[str, dict[str, Any]] = {
    "plain": {"pads": [1, 1, 1, 1]},
    "strides": {"pads": [0, 1, 2, 1], "strides": [2, 1]},
    "groups": {"group": 2, "pads": [1, 1, 1, 1]},
    "depthwise": {"group": 6, "pads": [1, 1, 1, 1]},
}


@pytest.mark.parametrize("case", CONVOLUTIONS)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("relu", [False, True])
def test_conv(case: str, exact: bool, relu: bool) -> None:
    """Scales per channel; powers of two make ties, which show any other rounding."""
    attributes = CONVOLUTIONS[case]
    b = QuantisedBuilder(seed=1)
    x = b.quantised(b.input("x", 1, 6, 8, 10), 2.0**-5 if exact else 0.0312, 117)
    outputs, inner = 12, 6 // attributes.get("group", 1)
    scale = 2.0 ** -b.random.integers(7, 10, outputs) if exact else b.random.uniform(0.002, 0.01, outputs)
    scale = scale.astype(np.float32)
    w = b.filters(scale, outputs, inner, 3, 3, point=0)
    bias = b.bias((np.float32(2.0**-5 if exact else 0.0312) * scale).astype(np.float32), outputs)
    y = b.node("Conv", x, w, bias, **attributes)
    y = b.node("Relu", y) if relu else y
    model = finished(b, y, 2.0**-4 if exact else 0.071, 0 if relu else 121)
    compare(model, {"x": normal(2, 1, 6, 8, 10)}, 0 if exact else 1, integers="integer_conv2d")


def test_conv_of_signed_values_without_zero_points() -> None:
    b = QuantisedBuilder(seed=3)
    x = b.quantised(b.input("x", 2, 40, 6, 6), 2.0**-5, 0, np.int8)
    w = b.filters(2.0**-7, 33, 40, 1, 1)
    model = finished(b, b.node("Conv", x, w), 2.0**-2, -3, np.int8)
    compare(model, {"x": normal(4, 2, 40, 6, 6)}, 0, integers="integer_conv2d")


def test_conv_with_relu6_that_bounds_inside_of_the_type() -> None:
    b = QuantisedBuilder(seed=5)
    x = b.quantised(b.input("x", 1, 8, 6, 6), 2.0**-5, 128)
    w = b.filters(2.0**-7, 16, 8, 3, 3)
    y = b.node("Clip", b.node("Conv", x, w), b.constant(-1.0), b.constant(6.0))
    compare(finished(b, y, 2.0**-4, 100), {"x": normal(6, 1, 8, 6, 6)}, 0, integers="integer_conv2d")


@pytest.mark.parametrize("exact", [True, False])
def test_gemm_and_matmul(exact: bool) -> None:
    b = QuantisedBuilder(seed=7)
    x = b.quantised(b.input("x", 6, 64), 2.0**-5 if exact else 0.0302, 130)
    scale = (2.0 ** -b.random.integers(7, 10, 48) if exact else b.random.uniform(0.002, 0.01, 48)).astype(np.float32)
    y = b.node("Gemm", x, b.filters(scale, 48, 64), b.bias(2.0**-12, 48), transB=1)
    y = b.quantised(y, 2.0**-3 if exact else 0.131, 99)
    z = b.node("MatMul", y, b.filters(2.0**-8 if exact else 0.0051, 48, 20))
    compare(finished(b, z, 0.25, 110), {"x": normal(8, 6, 64)}, 0 if exact else 1, integers="integer_matmul")


def test_residual_block() -> None:
    """Convolutions, a sum with a relu, the largest of windows, a mean in float16, a reshape and a product.

    Planes of 7 x 7 are an odd number of bytes.
    """
    b = QuantisedBuilder(seed=9)
    x = b.quantised(b.input("x", 1, 3, 14, 14), 2.0**-5, 128)
    a = b.quantised(b.node("Relu", b.node("Conv", x, b.filters(2.0**-8, 32, 3, 3, 3), pads=[1] * 4)), 2.0**-6, 0)
    p = b.quantised(b.node("MaxPool", a, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 2.0**-6, 0)
    c = b.quantised(b.node("Conv", p, b.filters(2.0**-9, 32, 32, 3, 3), pads=[1] * 4), 2.0**-4, 128)
    s = b.quantised(b.node("Relu", b.node("Add", c, p)), 2.0**-4, 0)
    g = b.quantised(b.node("GlobalAveragePool", s), 2.0**-6, 0)
    f = b.quantised(b.node("Flatten", g), 2.0**-6, 0)
    y = b.node("Gemm", f, b.filters(2.0**-7, 32, 24), b.bias(2.0**-13, 24))
    model = finished(b, y, 2.0**-4, 128)
    inputs = {"x": normal(10, 1, 3, 14, 14)}
    compare(model, inputs, 1, integers="integer_add")
    assert not [op for op in compile_to_graph(model, DEVICE).walk() if isinstance(op, HostOp)]


def test_float_result() -> None:
    """A product that is not quantised again, and one of which a float has another reader."""
    b = QuantisedBuilder(seed=11)
    x = b.quantised(b.input("x", 4, 32), 2.0**-5, 128)
    y = b.node("MatMul", x, b.filters(2.0**-8, 32, 16))
    b.output(y, b.quantised(y, 0.25, 128))
    model, inputs = b.build(), {"x": normal(12, 4, 32)}
    got, want = run_module(compile_to_graph(model, DEVICE), inputs), run_reference(model, inputs)
    for name, expected in want.items():
        np.testing.assert_allclose(got[name], expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def floats_of(model: ModelProto) -> list[str]:
    return [op.name.removeprefix("graph.") for op in compile_to_graph(model).walk() if "integer" in op.name]


def test_left_as_floats() -> None:
    """What the integers cannot hold, or not say, is computed as before."""
    cases: dict[str, ModelProto] = {}

    def case(name: str, x_type: Any = np.uint8, **filters: Any) -> None:
        b = QuantisedBuilder(seed=13)
        x = b.quantised(b.input("x", 4, 32), 2.0**-5, 100 if x_type is np.uint8 else 0, x_type)
        b.output(b.node("MatMul", x, b.filters(filters.pop("scale", 2.0**-8), 32, 16, **filters)))
        cases[name] = b.build()

    case("weights with a zero point", point=3)
    case("unsigned weights", dtype=np.uint8, point=128)
    case("scales along the rows", scale=np.full(32, 2.0**-8, np.float32), axis=0)
    b = QuantisedBuilder(seed=14)
    b.output(b.node("MatMul", b.input("x", 4, 32), b.filters(2.0**-8, 32, 16)))
    cases["a float operand"] = b.build()
    b = QuantisedBuilder(seed=15)
    x, y = b.quantised(b.input("x", 4, 32), 2.0**-5, 100), b.quantised(b.input("w", 32, 16), 2.0**-5, 0, np.int8)
    b.output(b.node("MatMul", x, y))
    cases["weights that are computed"] = b.build()
    b = QuantisedBuilder(seed=16)
    x = b.quantised(b.input("x", 1, 70000), 2.0**-5, 0)
    w = b.node("DequantizeLinear", b.constant(np.full((70000, 2), -128), np.int8), b.constant(2.0**-8))
    b.output(b.node("MatMul", x, w))
    cases["sums beyond int32"] = b.build()
    b = QuantisedBuilder(seed=21)
    x = b.quantised(b.input("x", 16, 32), 2.0**-5, 100)
    b.output(b.node("Gemm", x, b.filters(2.0**-8, 32, 16), b.weights(16, 1)))
    cases["a bias for each row"] = b.build()
    for name, model in cases.items():
        assert floats_of(model) == [], name
        inputs = {
            value.name: normal(17, *(d.dim_value for d in value.type.tensor_type.shape.dim))
            for value in model.graph.input
        }
        got, want = run_module(compile_to_graph(model), inputs), run_reference(model, inputs)
        for output, expected in want.items():
            np.testing.assert_allclose(got[output], expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "int4", "uint4", "int16", "uint8", "int32"])
def test_constants_of_every_type(dtype: str) -> None:
    """What is scaled beforehand is what onnxruntime makes of it."""
    b = ModelBuilder(opset=21)
    values = np.array([[1, 2, 3, -4], [5, 6, 7, -1]]) if dtype[0] != "u" else np.array([[1, 2, 3, 4], [15, 6, 7, 0]])
    element = np.dtype(getattr(ml_dtypes, dtype, dtype))
    scaled = b.node("DequantizeLinear", b.constant(values, element), b.constant([0.5, 0.3]), axis=0)
    b.output(b.node("Add", b.input("x", 2, 4), scaled))
    model, inputs = b.build(), {"x": normal(20, 2, 4)}
    got, want = run_module(compile_to_graph(model), inputs), run_reference(model, inputs)
    for name, expected in want.items():
        np.testing.assert_allclose(got[name], expected, rtol=1e-6)


def test_quantised_types_that_stay_on_the_host() -> None:
    b = QuantisedBuilder(seed=18)
    x = b.input("x", 4, 32)
    b.output(b.node("QuantizeLinear", x, b.constant(0.5), b.constant(7, np.uint16)))
    b.output(b.node("QuantizeLinear", x, b.constant(np.full(32, 0.5)), b.constant(np.full(32, 7), np.int8), axis=1))
    b.opset = 21
    model, inputs = b.build(), {"x": normal(19, 4, 32)}
    got, want = run_module(compile_to_graph(model, DEVICE), inputs), run_reference(model, inputs)
    assert all(np.array_equal(got[name], expected) for name, expected in want.items())
    assert TensorProto.UINT16 in {value.type.tensor_type.elem_type for value in model.graph.output}


def test_scaled_constants_that_the_caller_and_subgraphs_read() -> None:
    b = QuantisedBuilder(seed=22)
    x = b.input("x", 2, 4)
    both = b.filters(2.0**-7, 2, 4)
    captured = branch("then", helper.make_node("Add", [x, both], ["sum"]))
    other = branch("else", helper.make_node("Identity", [x], ["same"]))
    choice = b.node("If", b.input("c", dtype=TensorProto.BOOL), then_branch=captured, else_branch=other)
    b.output(choice, both, b.node("MatMul", b.quantised(x, 0.5, 3), b.filters(2.0**-7, 4, 3)))
    model = b.build()
    inputs = {"x": normal(23, 2, 4), "c": np.array(True)}
    got, want = run_module(compile_to_graph(model), inputs), run_reference(model, inputs)
    for name, expected in want.items():
        np.testing.assert_allclose(got[name], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("size", "patch", "outputs"), [(64, 16, 40), (48, 8, 24)])
def test_patches_of_an_image(size: int, patch: int, outputs: int) -> None:
    """The rows under one tile of large patches are more than the chip quantises at once: they are quantised before."""
    b = QuantisedBuilder(seed=22)
    x = b.quantised(b.input("x", 1, 3, size, size), 2.0**-5, 128)
    y = b.node("Conv", x, b.filters(2.0**-9, outputs, 3, patch, patch), strides=[patch, patch])
    compare(finished(b, y, 2.0**-2, 100), {"x": normal(23, 1, 3, size, size)}, 0, integers="integer_conv2d")
