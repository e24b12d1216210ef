"""Integers beyond float16 are scaled in float32, however the model writes that; what fits stays on the device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import F16, Array, ModelBuilder, assert_close, branch, compile_to_graph, run_pass, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.graph import BinaryOp, HostOp, MatmulOp
from ge.dialects.graph.meaning import run_module

DEVICE = ("merge-host", "propagate-layout", "autofuse", "convert-graph-to-tile")

Network = Callable[[ModelBuilder, str], str]
"""Makes numbers [8, 16] of ordinary size of integers [8, 16]."""


def floats(m: ModelBuilder, integers: str) -> str:
    return m.node("Cast", integers, to=TensorProto.FLOAT)


def scale(m: ModelBuilder) -> str:
    """A number that the host does not know, and float16 does not have."""
    return m.node("Mul", m.input("scale", 1), m.constant(1e-3))


def reshaped(m: ModelBuilder, sums: str) -> str:
    shape = m.constant([16, 8], np.int64)
    scaled = m.node("Mul", m.node("Reshape", floats(m, sums), shape), scale(m))
    return m.node("Reshape", scaled, m.constant([8, 16], np.int64))


def transposed(m: ModelBuilder, sums: str) -> str:
    y = m.node("Transpose", floats(m, sums), perm=[1, 0])
    return m.node("Transpose", m.node("Mul", scale(m), y), perm=[1, 0])


def unsqueezed(m: ModelBuilder, sums: str) -> str:
    axes = m.constant([0], np.int64)
    y = m.node("Mul", m.node("Unsqueeze", floats(m, sums), axes), scale(m))
    return m.node("Squeeze", y, axes)


def added(m: ModelBuilder, sums: str) -> str:
    zero_point = floats(m, m.input("zero_point", 8, 1, dtype=TensorProto.INT32))
    y = m.node("Neg", m.node("Sub", zero_point, m.node("Add", floats(m, sums), m.constant(3.0))))
    return m.node("Mul", y, scale(m))


def cut_and_joined(m: ModelBuilder, sums: str) -> str:
    left, right = (m.node("Slice", floats(m, sums), *_window(m, i), name=f"part{i}") for i in (0, 8))
    return m.node("Mul", m.node("Concat", right, left, axis=1), scale(m))


def _window(m: ModelBuilder, start: int) -> list[str]:
    return [m.constant([each], np.int64) for each in (start, start + 8, 1)]


def chosen_on_the_host(m: ModelBuilder, sums: str) -> str:
    rows = m.constant([7, 6, 5, 4, 3, 2, 1, 0], np.int64)
    return m.node("Mul", m.node("Gather", floats(m, sums), rows, axis=0), scale(m))


def of_an_unusual_operator(m: ModelBuilder, sums: str) -> str:
    return m.node("Mul", m.node("ThresholdedRelu", floats(m, sums), alpha=5.0), scale(m))


def used_by_several(m: ModelBuilder, sums: str) -> str:
    """By two scales, and as an output, which is the integer."""
    x = floats(m, sums)
    m.output(x)
    return m.node("Sub", m.node("Mul", x, scale(m)), m.node("Div", m.node("Neg", x), m.constant(3e3)))


def two_factors(m: ModelBuilder, sums: str) -> str:
    """The first product is still beyond float16."""
    return m.node("Mul", m.node("Mul", floats(m, sums), m.input("a", 1)), m.constant(1e-3))


def two_factors_of_two_sizes(m: ModelBuilder, sums: str) -> str:
    """The first product is below float16, and what is between the products moves elements only."""
    y = m.node("Transpose", m.node("Mul", floats(m, sums), m.constant(1e-12)), perm=[1, 0])
    return m.node("Transpose", m.node("Div", y, m.constant(1e-9)), perm=[1, 0])


def divided(m: ModelBuilder, sums: str) -> str:
    return m.node("Div", floats(m, sums), m.constant(1000.0 + np.arange(16)))


def clipped(m: ModelBuilder, sums: str) -> str:
    y = m.node("Clip", m.node("Relu", floats(m, sums)), m.constant(0.0), m.constant(500_000.0))
    return m.node("Mul", m.node("Abs", y), scale(m))


def over_a_count(m: ModelBuilder, sums: str) -> str:
    count = m.node("ReduceMax", floats(m, sums), keepdims=1)
    return m.node("Mul", floats(m, sums), m.node("Reciprocal", m.node("Sqrt", m.node("Mul", count, count))))


def by_weights(m: ModelBuilder, sums: str) -> str:
    return m.node("MatMul", floats(m, sums), m.weights(16, 16, scale=1e-6))


def of_a_branch(m: ModelBuilder, sums: str) -> str:
    cast = helper.make_node("Cast", [sums], ["cast"], to=TensorProto.FLOAT)
    other = helper.make_node("Cast", [sums], ["other"], to=TensorProto.FLOAT)
    condition = m.node("Greater", m.node("ReduceSum", m.input("c", 1), keepdims=0), m.constant(0.0))
    y = m.node("If", condition, then_branch=branch("then", cast), else_branch=branch("else", other))
    return m.node("Mul", y, scale(m))


def with_a_scale_that_others_use(m: ModelBuilder, sums: str) -> str:
    """The scale is made of two numbers that float16 has, and is used by the device, too."""
    small = m.node("Mul", m.input("a", 1, 1), m.constant(1e-6), name="small")
    left = m.node("MatMul", m.node("Mul", m.input("x", 8, 16), small), m.weights(16, 16))
    return m.node("Add", m.node("Mul", floats(m, sums), small), left)


LARGE: list[Network] = [
    *(reshaped, transposed, unsqueezed, added, cut_and_joined, chosen_on_the_host, two_factors),
    *(of_an_unusual_operator, used_by_several),
    *(two_factors_of_two_sizes, divided, clipped, over_a_count, by_weights, of_a_branch, with_a_scale_that_others_use),
]


def assigned(m: ModelBuilder, y: str) -> ModuleOp:
    """The numbers on their way through a matrix product, which the device computes."""
    m.output(m.node("MatMul", m.node("Add", y, m.weights(16)), m.weights(16, 16, scale=0.1), name="last"))
    module = compile_to_graph(m.build())
    run_pass(module, "assign-precision")
    return module


def check_numbers(m: ModelBuilder, module: ModuleOp, inputs: dict[str, Array]) -> None:
    want = run_reference(m.build(), inputs)
    for name in DEVICE:
        run_pass(module, name)
    assert_close(run_module(module, inputs), want, F16)


@pytest.mark.parametrize("network", LARGE)
@pytest.mark.parametrize(("type", "bound"), [(TensorProto.INT32, 1_000_000), (TensorProto.INT64, 1 << 20)])
def test_large_integers(network: Network, type: int, bound: int) -> None:
    """They, and what is made of them, are never float16 before they are scaled; the last product is."""
    m = ModelBuilder()
    module = assigned(m, network(m, m.input("sums", 8, 16, dtype=type)))
    (last,) = [op for op in module.walk() if isinstance(op, MatmulOp) and "last" in str(op.location)]
    assert "xf16>" in str(last.results[0].type)
    inputs = m.random_inputs()
    for name, value in inputs.items():
        integer = value.dtype.kind == "i"
        inputs[name] = (
            m.random.integers(-bound, bound, value.shape).astype(value.dtype) if integer else abs(value) + 0.5
        )
    check_numbers(m, module, inputs)


@pytest.mark.parametrize("type", [TensorProto.INT16, TensorProto.UINT16])
def test_integers_of_16_bits(type: int) -> None:
    """They end at 65535, and float16 has one of 32 of the last ones: of their differences nothing would be left."""
    m = ModelBuilder()
    pixels = floats(m, m.input("pixels", 8, 16, dtype=type))
    module = assigned(m, m.node("Sub", pixels, floats(m, m.input("others", 8, 16, dtype=type))))
    dtype = helper.tensor_dtype_to_np_dtype(type)
    top = np.iinfo(dtype).max
    inputs = {name: m.random.integers(top - 9, top, (8, 16)).astype(dtype) for name in ("pixels", "others")}
    check_numbers(m, module, inputs)


def sum_of_bytes(m: ModelBuilder) -> str:
    """Up to 4080."""
    total = m.node("ReduceSum", floats(m, m.input("x", 8, 16, 16, dtype=TensorProto.UINT8)), axes(m), keepdims=0)
    return m.node("Sub", total, floats(m, m.input("y", 8, 16, dtype=TensorProto.INT16)))


def squares_of_bytes(m: ModelBuilder) -> str:
    """Up to a million."""
    total = m.node("ReduceSumSquare", floats(m, m.input("x", 8, 16, 16, dtype=TensorProto.INT8)), axes=[2], keepdims=0)
    return m.node("Mul", total, m.constant(1e-3))


def bytes_and_a_constant(m: ModelBuilder) -> str:
    """float16 has one of 32 numbers there; what the bytes are otherwise used for is the device's."""
    x = m.node("Sub", floats(m, m.input("x", 8, 16, dtype=TensorProto.UINT8)), m.constant(3.0))
    y = m.node("Add", m.node("Add", x, m.constant(40000.0)), m.constant(-40000.0))
    return m.node("Add", y, m.node("MatMul", m.node("Mul", x, m.constant(0.01)), m.weights(16, 16)))


def axes(m: ModelBuilder) -> str:
    return m.constant([2], np.int64)


@pytest.mark.parametrize("network", [sum_of_bytes, squares_of_bytes, bytes_and_a_constant])
def test_bytes_that_become_large(network: Callable[[ModelBuilder], str]) -> None:
    m = ModelBuilder()
    module = assigned(m, network(m))
    (x, *others) = m.random_inputs().items()
    top = np.iinfo(x[1].dtype).max
    inputs = {x[0]: m.random.integers(top - 9, top, x[1].shape).astype(x[1].dtype)}
    check_numbers(m, module, inputs | {name: np.full_like(value, 4050) for name, value in others})


def bytes_(m: ModelBuilder) -> str:
    return m.node("Mul", floats(m, m.input("x", 8, 16, dtype=TensorProto.UINT8)), m.constant(0.01))


def sums_of_bytes(m: ModelBuilder) -> str:
    a, b = (floats(m, m.input(name, 8, 16, dtype=TensorProto.INT8)) for name in "ab")
    return m.node("Mul", m.node("Add", m.node("Sub", a, b), m.constant(128.0)), m.constant(0.01))


def truths(m: ModelBuilder) -> str:
    """A mask, as attention takes it: its large constant is no integer that the model computes."""
    mask = floats(m, m.input("mask", 8, 16, dtype=TensorProto.BOOL))
    return m.node("Mul", m.node("Sub", m.constant(1.0), mask), m.constant(-10000.0))


def a_known_constant(m: ModelBuilder) -> str:
    """Beyond what float16 has of whole numbers, but no number of the model is near it."""
    return m.node("Max", m.node("Min", m.input("x", 8, 16), m.constant(100_001.0)), m.constant(-100_001.0))


def half_in_the_model(m: ModelBuilder) -> str:
    half = m.node("Cast", m.input("n", 8, 16, dtype=TensorProto.INT32), to=TensorProto.FLOAT16)
    return m.node("Cast", m.node("Mul", half, m.constant(0.01, np.float16)), to=TensorProto.FLOAT)


@pytest.mark.parametrize("network", [bytes_, sums_of_bytes, truths, a_known_constant, half_in_the_model])
def test_what_fits_stays_on_the_device(network: Callable[[ModelBuilder], str]) -> None:
    m = ModelBuilder()
    module = assigned(m, network(m))
    on_host = {inner.name for op in module.walk() if isinstance(op, HostOp) for inner in op.body.walk()}
    assert on_host <= {"onnx.Cast", "graph.yield"}
    assert any(isinstance(op, BinaryOp) for op in module.walk())
    inputs = {name: np.where(value > 0, 1, 0).astype(value.dtype) for name, value in m.random_inputs().items()}
    check_numbers(m, module, inputs)


def test_only_products_follow_a_product() -> None:
    """A bias, and a matrix product of what was scaled once, are the device's."""
    m = ModelBuilder()
    scaled = m.node("Mul", floats(m, m.input("sums", 8, 16, dtype=TensorProto.INT32)), m.constant(1e-6))
    module = assigned(m, m.node("MatMul", scaled, m.weights(16, 16)))
    assert sum(isinstance(op, MatmulOp) for op in module.walk()) == 2
    on_host = [inner.name for op in module.walk() if isinstance(op, HostOp) for inner in op.body.ops]
    assert [name for name in on_host if name not in ("onnx.Constant", "graph.yield")] == ["onnx.Cast", "onnx.Mul"]
    inputs = {"sums": m.random.integers(-1_000_000, 1_000_000, (8, 16)).astype(np.int32)}
    check_numbers(m, module, inputs)
