"""Every operator with a form at the graph level computes what onnxruntime computes, over its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from onnx_models import ModelBuilder, check
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.graph import HostOp


def on_host(module: ModuleOp) -> list[str]:
    """The ONNX operators that run on the host."""
    hosts = [op for op in module.walk() if isinstance(op, HostOp)]
    return [
        op.name.removeprefix("onnx.") for host in hosts for op in host.body.block.ops if op.name.startswith("onnx.")
    ]


def check_one(op_type: str, shapes: Sequence[Sequence[int]], constants: Sequence[Any] = (), **attributes: Any) -> None:
    """One node on random inputs of `shapes` and on `constants`; it must not end up on the host."""
    model = ModelBuilder(opset=attributes.pop("opset", 22))
    inputs = [model.input(f"x{i}", *shape) for i, shape in enumerate(shapes)]
    names = [model.constant(value, np.int64 if value.dtype.kind == "i" else np.float32) for value in constants]
    model.output(model.node(op_type, *inputs, *names, **attributes))
    assert on_host(check(model)) == []


CONVOLUTIONS = [
    {"pads": [1, 1, 1, 1]},
    {"pads": [0, 1, 2, 3], "strides": [2, 1]},
    {"dilations": [2, 3], "pads": [2, 3, 2, 3]},
    {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {"auto_pad": "SAME_LOWER", "strides": [2, 3]},
    {"auto_pad": "VALID"},
    {},
]


@pytest.mark.parametrize("attributes", CONVOLUTIONS)
@pytest.mark.parametrize("group", [1, 2, 6])
@pytest.mark.parametrize("bias", [False, True])
def test_conv(attributes: dict[str, Any], group: int, bias: bool) -> None:
    random = np.random.default_rng(0)
    constants = [random.standard_normal((12, 6 // group, 3, 3)), random.standard_normal(12)][: 1 + bias]
    check_one("Conv", [(2, 6, 9, 11)], constants, group=group, **attributes)


def test_conv_1d() -> None:
    random = np.random.default_rng(0)
    constants = [random.standard_normal((8, 3, 5)), random.standard_normal(8)]
    check_one("Conv", [(2, 3, 20)], constants, pads=[1, 2], strides=[2])


def test_conv_of_computed_weights() -> None:
    check_one("Conv", [(1, 3, 8, 8), (4, 3, 3, 3)])


@pytest.mark.parametrize(
    ("pads", "value", "own"),
    [((0, 0, 1, 2, 0, 0, 3, 4), None, None), ((0, 0, 1, 1, 0, 0, 1, 1), 0.0, [1, 0, 0, 1])],
)
def test_pad_before_conv(pads: Sequence[int], value: float | None, own: list[int] | None) -> None:
    model = ModelBuilder()
    x, amount = model.input("x", 1, 3, 8, 8), model.constant(pads, np.int64)
    padded = model.node("Pad", x, amount, *([] if value is None else [model.constant(value)]))
    attributes: dict[str, Any] = {} if own is None else {"pads": own}
    model.output(model.node("Conv", padded, model.weights(4, 3, 3, 3), **attributes))
    assert on_host(check(model)) == []


@pytest.mark.parametrize(("pads", "value"), [((0, 0, 1, 1, 0, 0, 1, 1), 1.0), ((0, 1, 1, 1, 0, 0, 1, 1), None)])
def test_pad_that_is_not_zeros_around_feature_maps(pads: Sequence[int], value: float | None) -> None:
    model = ModelBuilder()
    x, amount = model.input("x", 1, 2, 8, 8), model.constant(pads, np.int64)
    padded = model.node("Pad", x, amount, *([] if value is None else [model.constant(value)]))
    model.output(model.node("Conv", padded, model.weights(4, 2 + pads[1], 3, 3)))
    assert on_host(check(model)) == ["Constant"] * (1 + (value is not None)) + ["Pad"]


POOLS = [
    {"kernel_shape": [2, 2], "strides": [2, 2]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
    {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [0, 1, 2, 0]},
    {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER", "strides": [2, 2]},
    {"kernel_shape": [5, 4], "auto_pad": "VALID"},
]


@pytest.mark.parametrize("attributes", POOLS)
@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_max_pool(attributes: dict[str, Any], ceil_mode: int) -> None:
    check_one("MaxPool", [(2, 3, 10, 13)], ceil_mode=ceil_mode, **attributes)


@pytest.mark.parametrize("attributes", POOLS)
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("count_include_pad", [0, 1])
def test_average_pool(attributes: dict[str, Any], ceil_mode: int, count_include_pad: int) -> None:
    check_one("AveragePool", [(2, 3, 10, 13)], ceil_mode=ceil_mode, count_include_pad=count_include_pad, **attributes)


def test_dilated_max_pool() -> None:
    check_one("MaxPool", [(1, 3, 12, 12)], kernel_shape=[3, 3], dilations=[2, 1], strides=[1, 2])


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
def test_pool_1d(op_type: str) -> None:
    check_one(op_type, [(2, 3, 20)], kernel_shape=[3], pads=[1, 1], strides=[2])


@pytest.mark.parametrize("op_type", ["GlobalAveragePool", "GlobalMaxPool"])
@pytest.mark.parametrize("shape", [(2, 3, 7, 5), (2, 3, 9), (1, 2, 3, 4, 5)])
def test_global_pool(op_type: str, shape: Sequence[int]) -> None:
    check_one(op_type, [shape])


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [[2, 3], [-1, -2]])
def test_mean_of_feature_maps(keepdims: int, axes: list[int]) -> None:
    check_one("ReduceMean", [(2, 5, 4, 6)], [np.array(axes)], keepdims=keepdims)
    check_one("ReduceMax", [(2, 5, 4, 6)], [np.array(axes)], keepdims=keepdims)


UNARY = ["Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs", "HardSwish", "Erf", "Softplus", "Softsign", "Mish", "Identity"]


@pytest.mark.parametrize("op_type", UNARY)
def test_unary(op_type: str) -> None:
    check_one(op_type, [(2, 3, 4, 5)])


@pytest.mark.parametrize(
    ("op_type", "attributes"),
    [
        ("LeakyRelu", {}),
        ("LeakyRelu", {"alpha": 0.3}),
        ("Elu", {"alpha": 1.5}),
        ("Selu", {}),
        ("Selu", {"alpha": 1.2, "gamma": 0.7}),
        ("Celu", {"alpha": 2.0}),
        ("HardSigmoid", {}),
        ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}),
        ("Gelu", {}),
        ("Gelu", {"approximate": "tanh"}),
    ],
)
def test_unary_with_parameters(op_type: str, attributes: dict[str, Any]) -> None:
    check_one(op_type, [(2, 3, 4, 5)], **attributes)


@pytest.mark.parametrize("op_type", ["Log", "Sqrt", "Reciprocal"])
def test_unary_of_positive_values(op_type: str) -> None:
    model = ModelBuilder()
    model.output(model.node(op_type, model.node("Abs", model.input("x", 3, 4))))
    assert on_host(check(model)) == []


@pytest.mark.parametrize(("low", "high"), [(0.0, 6.0), (None, 0.5), (-0.5, None), (None, None), (1.0, -1.0)])
def test_clip(low: float | None, high: float | None) -> None:
    model = ModelBuilder()
    names = ["" if bound is None else model.constant(bound) for bound in (low, high)]
    model.output(model.node("Clip", model.input("x", 3, 4), *names))
    assert on_host(check(model)) == []


def test_clip_with_a_computed_bound() -> None:
    model = ModelBuilder()
    model.output(model.node("Clip", model.input("x", 3, 4), model.input("low")))
    assert on_host(check(model)) == ["Clip"]


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
@pytest.mark.parametrize(
    "shapes",
    [[(2, 3, 4), (2, 3, 4)], [(2, 3, 4), ()], [(1,), (2, 3)], [(2, 3, 4, 5), (3, 1, 1)], [(4, 1), (3, 1, 5)]],
)
def test_binary(op_type: str, shapes: list[tuple[int, ...]]) -> None:
    check_one(op_type, shapes)


@pytest.mark.parametrize("op_type", ["Sum", "Max", "Min", "Mean"])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_variadic(op_type: str, count: int) -> None:
    check_one(op_type, [(2, 3), (3,), (1, 3), (2, 1), ()][:count])


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.5, 1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_power(exponent: float, dtype: type) -> None:
    if dtype is np.int64 and exponent != int(exponent):
        exponent = 2.0
    model = ModelBuilder()
    x = model.node("Abs", model.input("x", 3, 4))
    model.output(model.node("Pow", x, model.constant(exponent, dtype)))
    assert on_host(check(model)) == []


@pytest.mark.parametrize("slope", [(), (3,), (3, 1, 1)])
def test_prelu(slope: tuple[int, ...]) -> None:
    check_one("PRelu", [(2, 3, 4, 3)], [np.full(slope, 0.3)])


@pytest.mark.parametrize(
    ("a", "b"),
    [((4, 5), (5, 6)), ((2, 3, 4, 5), (5, 6)), ((2, 3, 4, 5), (2, 3, 5, 6)), ((1, 4, 5), (3, 5, 2)), ((5,), (5, 6)),
     ((4, 5), (5,)), ((5,), (5,))],
)  # fmt: skip
def test_matmul(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    check_one("MatMul", [a, b])
    check_one("MatMul", [a], [np.random.default_rng(0).standard_normal(b)])


@pytest.mark.parametrize(("trans_a", "trans_b"), list(product([0, 1], [0, 1])))
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 1.0), (1.0, 2.0), (0.25, 0.5), (2.0, 0.0)])
@pytest.mark.parametrize("c", [None, (), (1,), (6,), (1, 6), (4, 6), (4, 1)])
@pytest.mark.parametrize("constant", [False, True])
def test_gemm(trans_a: int, trans_b: int, alpha: float, beta: float, c: tuple[int, ...] | None, constant: bool) -> None:
    random = np.random.default_rng(0)
    a, b = (5, 4) if trans_a else (4, 5), (6, 5) if trans_b else (5, 6)
    others = [b] if c is None else [b, c]
    attributes: dict[str, Any] = {"transA": trans_a, "transB": trans_b, "alpha": alpha, "beta": beta}
    if constant:
        check_one("Gemm", [a], [random.standard_normal(shape) for shape in others], **attributes)
    else:
        check_one("Gemm", [a, *others], **attributes)


def test_gemm_folds_constants_into_one_matmul() -> None:
    model = ModelBuilder()
    x, w, c = model.input("x", 4, 5), model.weights(6, 5), model.weights(1, 6)
    model.output(model.node("Gemm", x, w, c, transB=1, alpha=0.5, beta=2.0))
    names = [op.name for op in check(model, "dce").walk() if op.name.startswith("graph.")]
    assert names == ["graph.constant", "graph.constant", "graph.matmul"]


@pytest.mark.parametrize(("axis", "bias"), [(-1, True), (2, False), (1, True), (-2, False)])
def test_layer_normalization(axis: int, bias: bool) -> None:
    random, shape = np.random.default_rng(0), (2, 3, 4)
    vectors = [random.standard_normal(shape[axis:]), random.standard_normal(shape[axis:])][: 1 + bias]
    check_one("LayerNormalization", [shape], vectors, axis=axis, epsilon=1e-3)


def test_layer_normalizations_that_stay_on_the_host() -> None:
    """The mean is asked for; scale and bias have other shapes than the rows."""
    model = ModelBuilder()
    y = model.node("LayerNormalization", model.input("x", 3, 8), model.weights(8), model.weights(8), outputs=2)
    z = model.node("LayerNormalization", "x", model.weights(1), model.weights(8))
    model.output(y, f"{y}_1", z)
    assert sorted(on_host(check(model)))[-2:] == ["LayerNormalization"] * 2


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize(("shape", "axis"), [((3, 7), 1), ((2, 3, 7), -1), ((2, 5, 3), 1), ((2, 5, 1, 1), 1)])
def test_softmax(op_type: str, shape: Sequence[int], axis: int) -> None:
    check_one(op_type, [shape], axis=axis)


@pytest.mark.parametrize("size", [1, 3, 5])
def test_lrn(size: int) -> None:
    check_one("LRN", [(2, 7, 4, 4)], size=size, alpha=0.3, beta=0.6, bias=1.5)


@pytest.mark.parametrize("shape", [(2, 5, 3, 4), (2, 5)])
def test_batch_norm(shape: Sequence[int]) -> None:
    model = ModelBuilder()
    model.output(model.node("BatchNormalization", model.input("x", *shape), *model.statistics(5), epsilon=1e-3))
    assert on_host(check(model)) == []


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat(axis: int) -> None:
    shapes = [[2, 3, 4], [2, 3, 4], [2, 3, 4]]
    shapes[1][axis] = 5
    check_one("Concat", shapes, axis=axis)


@pytest.mark.parametrize(
    ("starts", "ends", "axes", "steps"),
    [
        ([1], [4], [1], None),
        ([-3], [2**63 - 1], [-3], None),
        ([0], [100], [1], [2]),
        ([-1], [-100], [1], [-1]),
        ([-1], [-(2**63)], [1], [-2]),
        ([0, 1], [2, 3], None, None),
        ([0, 0, 0], [2, 100, 100], [1, 2, 3], None),
    ],
)
def test_slice_of_channels(starts: list[int], ends: list[int], axes: list[int] | None, steps: list[int] | None) -> None:
    model = ModelBuilder()
    bounds = [model.constant(value, np.int64) for value in (starts, ends)]
    rest = ["" if value is None else model.constant(value, np.int64) for value in (axes, steps)]
    model.output(model.node("Slice", model.input("x", 2, 6, 3, 4), *bounds, *rest))
    assert on_host(check(model)) == []


@pytest.mark.parametrize(
    ("starts", "ends", "axes", "steps"),
    [([1], [3], [2], [1]), ([0, 1], [1, 3], [0, 3], [1, 1]), ([1], [9], [3], [2]), ([-3], [-1], [2], [1])],
)
def test_slice_of_other_dimensions(starts: list[int], ends: list[int], axes: list[int], steps: list[int]) -> None:
    """Runs of positions, and every second one of all."""
    model = ModelBuilder()
    bounds = [model.constant(value, np.int64) for value in (starts, ends, axes, steps)]
    model.output(model.node("Slice", model.input("x", 2, 6, 3, 4), *bounds))
    assert on_host(check(model)) == []


@pytest.mark.parametrize(("starts", "ends", "steps"), [([-1], [-9], [-1]), ([0], [4], [3]), ([1], [7], [3])])
def test_slice_that_stays_on_the_host(starts: list[int], ends: list[int], steps: list[int]) -> None:
    """Backwards, and with gaps that do not divide the dimension or leave something out."""
    model = ModelBuilder()
    bounds = [model.constant(value, np.int64) for value in (starts, ends, [2], steps)]
    model.output(model.node("Slice", model.input("x", 2, 6, 4 if starts == [0] else 9, 4), *bounds))
    assert "Slice" in on_host(check(model))


@pytest.mark.parametrize(("indices", "axis"), [(2, 0), (-1, 2), ([1, 2], 1), ([-2, -1], 0), ([[0]], 1)])
def test_gather_of_positions_that_follow_each_other(indices: Any, axis: int) -> None:
    model = ModelBuilder()
    model.output(model.node("Gather", model.input("x", 3, 4, 5), model.constant(indices, np.int64), axis=axis))
    assert on_host(check(model)) == ([] if np.ndim(indices) < 2 else ["Constant", "Gather"])


@pytest.mark.parametrize("indices", [[2, 1], [0, 2], [0, 0], [-1, 0]])
def test_other_gathers_stay_on_the_host(indices: list[int]) -> None:
    model = ModelBuilder()
    model.output(model.node("Gather", model.input("x", 3, 4, 5), model.constant(indices, np.int64), axis=1))
    assert on_host(check(model)) == ["Constant", "Gather"]


@pytest.mark.parametrize(
    ("op_type", "shape", "constants", "attributes"),
    [
        ("Reshape", (2, 3, 4), [np.array([0, -1])], {}),
        ("Reshape", (2, 3, 4), [np.array([6, 2, 2])], {}),
        ("Flatten", (2, 3, 4), [], {}),
        ("Flatten", (2, 3, 4), [], {"axis": 2}),
        ("Squeeze", (2, 1, 4, 1), [np.array([1])], {}),
        ("Squeeze", (2, 1, 4, 1), [], {}),
        ("Unsqueeze", (2, 3), [np.array([0, 3])], {}),
        ("Transpose", (2, 3, 4), [], {}),
        ("Transpose", (2, 3, 4), [], {"perm": [1, 0, 2]}),
        ("Transpose", (2, 3, 1, 1), [], {"perm": [0, 2, 3, 1]}),
    ],
)
def test_regrouping(op_type: str, shape: Sequence[int], constants: list[Any], attributes: dict[str, Any]) -> None:
    check_one(op_type, [shape], constants, **attributes)


def test_dropout_is_gone_at_inference() -> None:
    model = ModelBuilder()
    model.output(model.node("Dropout", model.node("Relu", model.input("x", 3, 4)), model.constant(0.5)))
    assert [op.name for op in check(model).walk() if op.name.startswith("graph.")] == ["graph.unary"]


@pytest.mark.parametrize(("source", "target"), [(np.float16, TensorProto.FLOAT), (np.float32, TensorProto.FLOAT16)])
def test_cast(source: type, target: int) -> None:
    model = ModelBuilder()
    code = TensorProto.FLOAT16 if source is np.float16 else TensorProto.FLOAT
    model.output(model.node("Cast", model.input("x", 3, 4, dtype=code), to=target))
    assert on_host(check(model)) == []


HOSTED: list[Callable[[ModelBuilder], str]] = [
    lambda m: m.node("Resize", m.input("x", 1, 2, 4, 4), "", m.constant([1, 1, 2, 2])),
    lambda m: m.node("ReduceProd", m.input("x", 2, 3, 4), axes=[1]),
    lambda m: m.node("Pow", m.node("Abs", m.input("x", 3, 4)), m.input("y", 3, 4)),
    lambda m: m.node("Add", m.input("x", 3, dtype=TensorProto.INT64), m.constant([1], np.int64)),
    lambda m: m.node("Conv", m.input("x", 1, 2, 4, 4, 4), m.weights(3, 2, 2, 2, 2)),
    lambda m: m.node("Add", m.input("x", 3, dtype=TensorProto.DOUBLE), m.constant([1.0], np.float64)),
    lambda m: m.node("Cast", m.input("x", 3), to=TensorProto.INT32),
]


def test_what_a_rule_has_begun_and_not_finished_uses_nothing() -> None:
    """A slice of two axes, of which the second goes backwards: the passes after it see no part of it."""
    model = ModelBuilder()
    x = model.node("Relu", model.input("x", 2, 3, 8))
    bounds = ([0, -1], [1, -100], [0, 2], [1, -1])
    model.output(model.node("Slice", x, *(model.constant(each, np.int64) for each in bounds)))
    assert "Slice" in on_host(check(model, "assign-precision"))


@pytest.mark.parametrize("build", HOSTED)
def test_what_has_no_form_runs_on_the_host(build: Callable[[ModelBuilder], str]) -> None:
    model = ModelBuilder()
    model.output(build(model))
    assert [name for name in on_host(check(model)) if name != "Constant"] != []


def test_max_pool_with_indices_runs_on_the_host() -> None:
    model = ModelBuilder()
    model.node("MaxPool", model.input("x", 1, 2, 6, 6), name="y", outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    model.output("y", "y_1")
    assert on_host(check(model)) == ["MaxPool"]
