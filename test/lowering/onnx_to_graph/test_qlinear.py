"""Operators on quantised values, with onnxruntime as judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx_models import Array, ModelBuilder, compile_to_graph, run_pass, run_reference

from ge.dialects.graph import HostOp
from ge.dialects.graph.meaning import run_module

DEVICE = ("fuse-requantise", "fuse-quantise-conv", "assign-precision", "propagate-layout", "convert-graph-to-tile")


class QLinearBuilder(ModelBuilder):
    """Models of operators that take each value with its scale and zero point."""

    def side(self, value: str, scale: Any, point: int, dtype: Any = np.uint8) -> list[str]:
        """A value, its scale, its zero point."""
        points = np.full(np.shape(scale), point)
        return [value, self.constant(scale), self.constant(points, dtype)]

    def quantised(self, x: str, scale: float, point: int) -> str:
        return self.node("QuantizeLinear", *self.side(x, scale, point))

    def typed(self, *outputs: tuple[str, tuple[int, ...]]) -> ModelProto:
        """The model with operators of com.microsoft, whose outputs have no shapes but these."""
        values = [helper.make_tensor_value_info(name, TensorProto.UINT8, shape) for name, shape in outputs]
        graph = helper.make_graph(self._nodes, "test", self._inputs, values, self._constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def weights8(self, *shape: int) -> str:
        return self.constant(self.random.integers(-128, 128, shape), np.int8)


def compare(model: ModelProto, inputs: dict[str, Array], steps: int, hosts: int = 0) -> None:
    """Check the kernels against onnxruntime; outputs are integers."""
    module = compile_to_graph(model, DEVICE)
    assert sum(isinstance(op, HostOp) for op in module.walk()) == hosts
    got = run_module(module, inputs)
    for name, expected in run_reference(model, inputs).items():
        difference = np.abs(got[name].astype(np.int64) - expected.astype(np.int64))
        assert difference.max() <= steps, f"{name} is {difference.max()} steps off"
        assert len(np.unique(expected)) > 15, "nearly all results saturate, the test shows little"


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("group", [1, 2, 8])
@pytest.mark.parametrize("bias", [False, True])
def test_conv_pool_and_reshape(group: int, bias: bool) -> None:
    """Exact for any scale: onnxruntime, too, scales the exact sum once. 8 of them are those of a depthwise one."""
    b = QLinearBuilder(seed=group)
    x = b.quantised(b.input("x", 1, 8, 7, 9), 0.031, 117)
    scale = b.random.uniform(0.002, 0.01, 16).astype(np.float32)
    addends = [b.constant(b.random.integers(-3000, 3000, 16), np.int32)] if bias else []
    w = b.side(b.weights8(16, 8 // group, 3, 3), scale, 0, np.int8)
    output = b.side("", 0.071, 121)[1:]
    y = b.node("QLinearConv", *b.side(x, 0.031, 117), *w, *output, *addends, group=group, pads=[1, 1, 1, 1])
    b.output(b.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), b.node("Flatten", y))
    compare(b.build(), {"x": normal(2, 1, 8, 7, 9)}, 0)


def test_matmul() -> None:
    b = QLinearBuilder(seed=3)
    a = b.quantised(b.input("a", 6, 64), 0.03, 130)
    w = b.side(b.weights8(64, 40), 0.005, 0, np.int8)
    b.output(b.node("QLinearMatMul", *b.side(a, 0.03, 130), *w, *b.side("", 0.2, 99)[1:]))
    compare(b.build(), {"a": normal(4, 6, 64)}, 0)


def test_left_to_the_host() -> None:
    """Weights with a zero point, unsigned weights, and those that are computed."""
    b = QLinearBuilder(seed=5)
    a = b.quantised(b.input("a", 6, 64), 0.03, 130)
    left, output = b.side(a, 0.03, 130), b.side("", 0.2, 99)[1:]
    unsigned = b.constant(b.random.integers(0, 256, (64, 20)), np.uint8)
    for w in (b.side(b.weights8(64, 20), 0.005, 3, np.int8), b.side(unsigned, 0.005, 120), b.side(a, 0.005, 120)):
        w[0] = b.node("Transpose", a, perm=[1, 0]) if w[0] == a else w[0]
        b.output(b.node("QLinearMatMul", *left, *w, *output))
    compare(b.build(), {"a": normal(6, 6, 64)}, 0, hosts=1)


def test_operators_of_microsoft() -> None:
    b = QLinearBuilder(seed=7)
    x = b.quantised(b.input("x", 1, 32, 6, 6), 0.031, 117)
    y = b.quantised(b.input("y", 1, 32, 6, 6), 0.044, 100)
    result = b.side("", 0.05, 130)[1:]
    total = b.node("QLinearAdd", *b.side(x, 0.031, 117), *b.side(y, 0.044, 100), *result, domain="com.microsoft")
    mean_of = b.side(total, 0.05, 130)
    mean = b.node("QLinearGlobalAveragePool", *mean_of, *b.side("", 0.005, 120)[1:], domain="com.microsoft")
    model = b.typed((total, (1, 32, 6, 6)), (mean, (1, 32, 1, 1)))
    compare(model, {"x": normal(8, 1, 32, 6, 6), "y": normal(9, 1, 32, 6, 6)}, 1)


def test_sums_of_odd_planes_with_what_the_host_has_made() -> None:
    """49 bytes do not fill blocks: the sum is plain, and what convolves it stays on the host."""
    b = QLinearBuilder(seed=10)
    x, g = b.quantised(b.input("x", 1, 32, 14, 14), 0.031, 117), b.quantised(b.input("g", 1, 32, 7, 7), 0.031, 117)
    scale = b.random.uniform(0.002, 0.01, 32).astype(np.float32)

    def convolved(value: list[str], **attributes: Any) -> list[str]:
        w = b.side(b.weights8(32, 32, 3, 3), scale, 0, np.int8)
        y = b.node("QLinearConv", *value, *w, *b.side("", 0.09, 121)[1:], pads=[1, 1, 1, 1], **attributes)
        return b.side(y, 0.09, 121)

    a = convolved(b.side(x, 0.031, 117), strides=[2, 2])
    gate = b.node("QLinearSigmoid", *b.side(g, 0.031, 117), *b.side("", 1 / 256, 0)[1:], domain="com.microsoft")
    total = b.node("QLinearAdd", *a, *b.side(gate, 1 / 256, 0), *b.side("", 0.1, 120)[1:], domain="com.microsoft")
    y, *_ = convolved(b.side(total, 0.1, 120))
    model = b.typed((y, (1, 32, 7, 7)))
    compare(model, {"x": normal(1, 1, 32, 14, 14), "g": normal(2, 1, 32, 7, 7)}, 1, hosts=3)
    run_pass(compile_to_graph(model, DEVICE), "convert-tile-to-cube")
