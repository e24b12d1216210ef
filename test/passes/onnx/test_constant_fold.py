"""Folding computes as the runtime does, or leaves the operation to it (need 5), and inflates no model (need 52)."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx_models import ModelBuilder, run_pass, run_reference

from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

Array = NDArray[Any]

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

NAN_LAST = [0.0, -0.0, 1.5, -1.5, 2.5, -2.5, 0.5, 255.7, -1.9, 1e-45, 1e30, -1e30, 3e9, 1e19, np.inf, -np.inf, np.nan]


def hostile(dtype: str) -> Array:
    """Numbers on which implementations differ: NaN, infinities, halves, the ends of the range, beyond 2^53."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return np.array(NAN_LAST).astype(kind)
    ends = np.iinfo(kind)
    small = [0, 1, 2, 3, 7, 10, 5] if kind.kind == "u" else [0, 1, -1, 2, -3, 7, -7]
    large = [ends.min, ends.max, ends.max - 1, ends.min + 1, ends.max // 2 + 1]
    return np.array(small + large + ([2**53 + 1] if kind.itemsize == 8 else []), kind)


def check_folding(nodes: list[tuple[str, list[Array], dict[str, Any]]]) -> list[str]:
    """Fold nodes on constants and compare all results in onnxruntime; the operators that were left to it."""
    builder = ModelBuilder(opset=20)
    builder.input("x", 1)
    for op_type, arrays, attributes in nodes:
        inputs = [builder.constant(array, array.dtype) for array in arrays]
        builder.output(builder.node(op_type, *inputs, **attributes))
    model = builder.build()
    feeds: dict[str, Array] = {"x": np.zeros(1, np.float32)}
    want = run_reference(model, feeds)
    module = import_model(model)
    run_pass(module, "constant-fold")
    got = run_reference(export_model(module), feeds)
    for name, expected in want.items():
        assert (got[name].shape, got[name].dtype) == (expected.shape, expected.dtype)
        tolerance = {2: 2e-3, 4: 2e-6}.get(expected.dtype.itemsize, 1e-14) if expected.dtype.kind == "f" else 0
        np.testing.assert_allclose(got[name], expected, rtol=tolerance, atol=1e-44 if tolerance else 0)
    return [
        op.name.removeprefix("onnx.")
        for op in module.walk()
        if op.name.startswith("onnx.") and op.name != "onnx.Constant"
    ]


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Max", "Min", "Equal", "Less", "GreaterOrEqual"])
def test_need_5_element_by_element(op_type: str) -> None:
    pairs = [(hostile(dtype), np.roll(hostile(dtype), 5)) for dtype in (*FLOATS, *INTEGERS) if "16" not in dtype]
    assert check_folding([(op_type, list(pair), {}) for pair in pairs]) == []


@pytest.mark.parametrize(("op_type", "fmod"), [("Div", 0), ("Mod", 0), ("Mod", 1)])
def test_need_5_division_of_negative_and_large_integers(op_type: str, fmod: int) -> None:
    attributes = {"fmod": 1} if fmod else {}
    nodes = []
    for dtype in ("int32", "int64", "uint32", "uint64"):
        divisor = np.roll(hostile(dtype), 5)
        divisor[(divisor == 0) | (divisor == np.array(-1).astype(dtype))] = 3
        nodes.append((op_type, [hostile(dtype), divisor], attributes))
    assert check_folding(nodes) == []


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS])
def test_need_5_casts(source: str) -> None:
    targets = (*FLOATS, *INTEGERS, "bool")
    nodes = [
        ("Cast", [hostile(source)], {"to": onnx.helper.np_dtype_to_tensor_dtype(np.dtype(target))})
        for target in targets
    ]
    left = check_folding(nodes)
    assert left == (["Cast"] * len(INTEGERS) if source in FLOATS else []), "NaN is no integer"


@pytest.mark.parametrize(
    "op_type", ["ArgMax", "ArgMin", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceL1"]
)
def test_need_5_reductions(op_type: str) -> None:
    """Of numbers; with a NaN at the end, and of integers that overflow or are not exact in float64, they are left."""
    numbers = [hostile(dtype)[:10] for dtype in ("float32", "float64")]
    assert check_folding([(op_type, [array], {}) for array in numbers]) == []
    assert check_folding([(op_type, [hostile("float32")], {})]) == [op_type]
    integers = [hostile(dtype) for dtype in ("int32", "int64")]
    left = check_folding([(op_type, [array], {}) for array in integers])
    assert left == ([] if op_type.startswith("Arg") else [op_type, op_type])
    assert check_folding([(op_type, [array[:7]], {}) for array in integers]) == []


def test_need_5_zero_sizes_and_infinity_times_zero() -> None:
    empty, infinite = np.zeros((0, 3), np.float32), np.array([np.inf, -np.inf, np.nan], np.float32)
    nodes: list[tuple[str, list[Array], dict[str, Any]]] = [
        ("Relu", [empty], {}),
        ("Concat", [empty, np.ones((2, 3), np.float32)], {"axis": 0}),
        ("MatMul", [np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)], {}),
        ("Mul", [infinite, np.zeros(3, np.float32)], {}),
        ("MatMul", [infinite, np.zeros((3, 2), np.float32)], {}),
    ]
    assert check_folding(nodes) == []
    assert check_folding([("ReduceMean", [empty], {})]) == ["ReduceMean"]


def test_need_5_integers_divided_by_zero_are_left() -> None:
    """Runtimes stop there, or do not; the model is not run."""
    builder = ModelBuilder()
    builder.input("x", 1)
    one, zero = builder.constant([1], np.int64), builder.constant([0], np.int64)
    low, minus = builder.constant([-(2**63)], np.int64), builder.constant([-1], np.int64)
    for a, b in ((one, zero), (low, minus)):
        builder.output(builder.node("Div", a, b))
    module = import_model(builder.build())
    run_pass(module, "constant-fold")
    assert [op.name for op in module.walk()].count("onnx.Div") == 2


def test_need_52_large_splats_stay_small() -> None:
    builder = ModelBuilder()
    x = builder.input("x", 1000)
    shape = builder.constant([300, 1, 1000], np.int64)
    value = onnx.numpy_helper.from_array(np.array([2.0], np.float32))
    splat = builder.node("Neg", builder.node("ConstantOfShape", shape, value=value))
    builder.output(builder.node("ReduceMax", builder.node("Add", x, splat), keepdims=0))
    model, feeds = builder.build(), builder.random_inputs()
    module = import_model(model)
    for name in ("infer-shapes", "constant-fold", "fold-splats", "onnx-dce"):
        run_pass(module, name)
    exported = export_model(module)
    assert exported.ByteSize() < 2000
    assert [node.op_type for node in exported.graph.node] == ["ConstantOfShape", "Add", "ReduceMax"]
    want = run_reference(model, feeds)
    for name, value in run_reference(exported, feeds).items():
        np.testing.assert_array_equal(value, want[name])


def test_what_runtimes_do_otherwise() -> None:
    """NaN in a quantisation, infinities that meet an absent bound or zero, averages and powers of integers, nothing."""
    odd, one = np.array([[1.5, np.inf, -np.inf, np.nan]], np.float32), np.array(1, np.float32)
    scales = np.array([1, 1.5], np.float32)
    empty = np.zeros(0, np.float32)
    nodes: list[tuple[str, list[Array], dict[str, Any]]] = [
        ("QuantizeLinear", [odd, one, np.array(0, np.int8)], {}),
        ("DynamicQuantizeLinear", [odd], {"outputs": 3}),
        ("Clip", [odd[:, :3], one], {}),
        ("Clip", [odd, one, np.array(np.nan, np.float32)], {}),
        ("PRelu", [np.zeros((1, 4), np.float32), odd], {}),
        ("Resize", [odd, empty, scales], {"mode": "linear"}),
        ("Resize", [np.array([[3, -4]], np.int32), empty, scales], {"mode": "linear"}),
        ("Pow", [np.array([2**62 + 1, 3]), np.array([1, 2])], {}),
        ("ReduceLogSumExp", [np.array([-np.inf, -np.inf], np.float32)], {}),
        ("Range", [one, -one, odd[0, 2]], {}),
        ("ScatterElements", [odd, np.array([[3]]), np.array([[1]], np.float32)], {"axis": 1, "reduction": "max"}),
    ]
    assert check_folding(nodes) == [op_type for op_type, _, _ in nodes]
    settled: list[tuple[str, list[Array], dict[str, Any]]] = [
        ("QuantizeLinear", [odd[:, :3] * 1e10, one, np.array(0, np.int8)], {}),
        ("Clip", [odd[:, :3], -one, one], {}),
        ("Resize", [odd, empty, scales], {"mode": "nearest"}),
        ("Pow", [np.array([7, 3]), np.array([1, 2])], {}),
    ]
    assert check_folding(settled) == []
