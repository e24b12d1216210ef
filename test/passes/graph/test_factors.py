"""Factors, divisors and weights that float16 does not hold: results that it holds are those of onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx_models import F16, ModelBuilder, assert_close, compile_to_graph, run_pass, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.graph import BinaryOp, Conv2DOp, HostOp, MatmulOp
from ge.dialects.graph.meaning import run_module
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.ascend.runtime import Runtime
from ge.tools.compilation import CompileOptions, compile_model

Network = Callable[[ModelBuilder, str], str]
SHAPE = (2, 3, 4, 5)


def product(number: float) -> Network:
    return lambda b, x: b.node("Mul", x, b.constant(number))


def quotient(number: float) -> Network:
    return lambda b, x: b.node("Div", x, b.constant(number))


def inverse(number: float) -> Network:
    return lambda b, x: b.node("Div", b.constant(number), b.node("Add", b.node("Abs", x), b.constant(number / 3e4)))


def of_channels(kind: str, *numbers: float) -> Network:
    """A number for each channel, to the left of a product, or for each element of one, to the right of a quotient."""

    def build(b: ModelBuilder, x: str) -> str:
        vector = np.reshape(numbers, (3, 1, 1))
        sides = (b.constant(vector), x) if kind == "Mul" else (x, b.constant(np.broadcast_to(vector, SHAPE)))
        return b.node("Relu", b.node(kind, *sides))

    return build


def convolution(*sizes: float, bias: float = 0.0) -> Network:
    """Filters of these sizes, and a bias, before a relu."""

    def build(b: ModelBuilder, x: str) -> str:
        w = b.random.standard_normal((len(sizes), 3, 1, 1)) * np.reshape(sizes, (-1, 1, 1, 1))
        return b.node("Relu", b.node("Conv", x, b.constant(w), b.weights(len(sizes), scale=bias)))

    return build


def matrix(scale: float, *, left: bool = False) -> Network:
    """A product with a constant matrix, to the right or to the left."""

    def build(b: ModelBuilder, x: str) -> str:
        if left:
            return b.node("Tanh", b.node("MatMul", b.weights(6, 2, scale=scale), b.node("Flatten", x)))
        return b.node("Tanh", b.node("MatMul", x, b.weights(5, 6, scale=scale)))

    return build


def of_constants(b: ModelBuilder, x: str) -> str:
    """A convolution of a constant, which nothing has folded, with large filters."""
    w = b.weights(3, 3, 1, 1, scale=1e5)
    return b.node("Mul", x, b.node("Conv", b.weights(*SHAPE, scale=1e-2), w))


CASES: dict[str, tuple[Network, float]] = {
    "1e5 x": (product(1e5), 0.1),
    "-3e7 x": (product(-3e7), 2e-4),
    "1e-6 x": (product(1e-6), 2e4),
    "1e-9 x": (product(1e-9), 2e4),
    "x / 1e6": (quotient(1e6), 2e4),
    "x / 3e-8": (quotient(3e-8), 5e-4),
    "1e5 / x": (inverse(1e5), 100.0),
    "1e-6 / x": (inverse(1e-6), 1e-3),
    "factors of channels": (of_channels("Mul", 2e5, 1.0, 0.0), 0.1),
    "divisors of channels": (of_channels("Div", 2e-6, 1.0, 3e5), 0.01),
    "large filters": (convolution(1e5, 1e6, 1.0), 0.01),
    "large filters and a bias": (convolution(1e5, 1e5, bias=1e3), 0.01),
    "small filters and a bias": (convolution(1e-6, 1e-7, bias=0.1), 2e4),
    "large matrix": (matrix(1e5), 1e-5),
    "small matrix": (matrix(1e-7), 2e4),
    "large matrix to the left": (matrix(1e5, left=True), 1e-5),
    "large filters over a constant": (of_constants, 1.0),
}
"""Networks, and the size of what goes in."""


@pytest.mark.parametrize("case", CASES)
def test_numbers_beyond_float16(case: str) -> None:
    network, scale = CASES[case]
    b = ModelBuilder()
    b.output(network(b, b.input("x", *SHAPE)))
    # What float16 makes of the input itself, below its normal numbers, is none of the constant.
    x = (b.random.standard_normal(SHAPE) * scale).astype(np.float16).astype(np.float32)
    model = b.build()
    graph = compile_to_graph(model, ["assign-precision"])
    assert not any(isinstance(op, HostOp) for op in graph.walk())
    assert_close(run_module(graph, {"x": x}), run_reference(model, {"x": x}), 2 * F16)


def test_on_the_device(tmp_path: Path) -> None:
    b = ModelBuilder()
    x = convolution(1e5, 1e-3, 1.0, bias=10.0)(b, b.input("x", *SHAPE))
    b.output(b.node("Mul", b.node("Mul", x, b.constant(1e-7)), b.constant(np.full((3, 1, 1), 1e6))))
    inputs = {"x": (b.random.standard_normal(SHAPE) * 0.01).astype(np.float32)}
    model = b.build()
    onnx.save(model, tmp_path / "m.onnx")
    program = compile_model(CompileOptions(tmp_path / "m.onnx", level=0))
    assert_close(dict(Runtime().load(model_bytes(program.module)).run(inputs)), run_reference(model, inputs), 2 * F16)


def scaled_convolution(b: ModelBuilder, x: str, weights: float, scale: float) -> str:
    w = b.constant(b.random.standard_normal((16, 3, 1, 1)) * weights, np.float16)
    return b.node("Mul", b.node("Conv", x, w), b.constant(np.full((16, 1, 1), scale), np.float16))


def normalised_convolution(b: ModelBuilder, x: str, weights: float, scale: float) -> str:
    w = b.constant(b.random.standard_normal((16, 3, 1, 1)) * weights, np.float16)
    return b.node("BatchNormalization", b.node("Conv", x, w), *statistics(b, 16, scale))


def convolution_of_normalised(b: ModelBuilder, x: str, weights: float, scale: float) -> str:
    w = b.constant(b.random.standard_normal((16, 3, 1, 1)) * weights, np.float16)
    return b.node("Conv", b.node("BatchNormalization", x, *statistics(b, 3, scale)), w)


def scaled_normalisation(b: ModelBuilder, x: str, weights: float, scale: float) -> str:
    y = b.node("BatchNormalization", x, *statistics(b, 3, scale))
    return b.node("Mul", y, b.constant(np.full((3, 1, 1), weights), np.float16))


def gemm(b: ModelBuilder, x: str, weights: float, scale: float) -> str:
    w = b.constant(b.random.standard_normal((60, 5)) * weights, np.float16)
    return b.node("Gemm", b.node("Flatten", x), w, alpha=scale)


def statistics(b: ModelBuilder, channels: int, scale: float) -> list[str]:
    """Scale, bias, mean and variance of a normalisation that multiplies by `scale`."""
    return [b.constant(np.full(channels, number), np.float16) for number in (scale, 0, 0, 1)]


@pytest.mark.parametrize(("weights", "scale", "size"), [(2e3, 60.0, 1e-4), (0.01, 1e-4, 1e4)])
@pytest.mark.parametrize(
    "network",
    [scaled_convolution, normalised_convolution, convolution_of_normalised, scaled_normalisation, gemm],
)
def test_constants_that_do_not_fit_are_not_joined(
    network: Callable[[ModelBuilder, str, float, float], str], weights: float, scale: float, size: float
) -> None:
    """Weights of float16 times a scale of float16 may be none, where all results are."""
    b = ModelBuilder()
    b.output(network(b, b.input("x", *SHAPE, dtype=onnx.TensorProto.FLOAT16), weights, scale))
    x = (b.random.standard_normal(SHAPE) * size).astype(np.float16)
    model = b.build()
    want = run_reference(_in_float32(model), {"x": x.astype(np.float32)})
    passes = ["fuse-conv-bn-relu", "fold-conv-bn", "batch-norm-to-conv", "assign-precision"]
    got = run_module(compile_to_graph(model, passes), {"x": x})
    assert_close({name: value.astype(np.float32) for name, value in got.items()}, want, 2 * F16)


def _in_float32(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with all of its float16 as float32."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for constant in wide.graph.initializer:
        constant.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(constant).astype(np.float32), constant.name))
    for value in (*wide.graph.input, *wide.graph.output):
        value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    del wide.graph.value_info[:]
    return wide


LEFT_ALONE: dict[str, Network] = {
    "held": product(65504.0),
    "a mask": product(-3.4e38),
    "a mask of 1e9": product(-1e9),
    "a channel that hardly counts": of_channels("Mul", 1.0, 1e-7, 0.5),
    "a divisor that hardly counts": of_channels("Div", 1.0, 1e6, 2.0),
    "infinite": product(np.inf),
    "zero": product(0.0),
    "a filter that hardly counts": convolution(1.0, 1e-8),
    "a sum": lambda b, x: b.node("Add", x, b.constant(1e5)),
}


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_left_alone(case: str) -> None:
    b = ModelBuilder()
    b.output(LEFT_ALONE[case](b, b.input("x", *SHAPE)))
    graph = compile_to_graph(b.build())
    before = _count(graph)
    run_pass(graph, "assign-precision")
    assert _count(graph) == before


def _count(module: ModuleOp) -> int:
    return sum(isinstance(op, BinaryOp | Conv2DOp | MatmulOp) for op in module.walk())
