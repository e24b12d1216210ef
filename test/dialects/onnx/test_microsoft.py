"""The quantised operators of com.microsoft, and QLinearConv, against onnxruntime; integers must be equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from onnx_models import compile_to_graph

from ge.dialects.graph.meaning import run_module as run_graph
from ge.dialects.onnx.meaning import run_module
from ge.dialects.onnx.microsoft import DOMAIN, MEANINGS
from ge.ir.errors import GeError
from ge.targets.onnx.importer import import_model
from ge.tools.compile_options import CompileOptions
from ge.tools.precheck import precheck


def model_of(
    op_type: str,
    inputs: dict[str, Any],
    constants: dict[str, Any],
    outputs: int = 1,
    domain: str = DOMAIN,
    **attributes: Any,
) -> onnx.ModelProto:
    """One node; its operands are inputs or constants, in the order of both together by name."""
    order = sorted({**inputs, **constants})
    names = [name if {**inputs, **constants}[name] is not None else "" for name in order]
    results = ["y", "y_h", "y_c"][:outputs]
    node = helper.make_node(op_type, names, results, name="node", domain=domain, **attributes)
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    stored = [
        numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items() if value is not None
    ]
    graph = helper.make_graph([node], "test", declared, [onnx.ValueInfoProto(name=name) for name in results], stored)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def judged(model: onnx.ModelProto, inputs: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Each result with that of onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found = run_module(import_model(model), inputs)
    return list(zip(found.values(), session.run(list(found), inputs), strict=True))


def check(op_type: str, inputs: dict[str, Any], constants: dict[str, Any], **attributes: Any) -> None:
    for found, expected in judged(model_of(op_type, inputs, constants, **attributes), inputs):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        if expected.dtype.kind in "iu":
            np.testing.assert_array_equal(found, expected)
        else:
            bound = 1e-5 * (np.abs(expected).max(initial=0) + np.abs(expected))
            assert (np.abs(found - expected) <= bound).all(), np.abs(found - expected).max()


def levels(random: np.random.Generator, dtype: Any, *shape: int) -> Any:
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def scale(random: np.random.Generator, *shape: int) -> Any:
    return np.asarray(random.uniform(0.001, 0.05, shape), np.float32)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("zeros", [True, False], ids=["zeros", "symmetric"])
@pytest.mark.parametrize(
    ("a", "b"), [((2, 3, 17, 9), (2, 3, 17, 9)), ((4, 33), (1,)), ((1,), (4, 33)), ((5, 40), (40,))]
)
@pytest.mark.parametrize("op_type", ["QLinearAdd", "QLinearMul"])
def test_sums_and_products(op_type: str, a: tuple[int, ...], b: tuple[int, ...], zeros: bool, dtype: Any) -> None:
    random = np.random.default_rng(len(a) + 2 * zeros)
    for _ in range(5):
        inputs = {"a0": levels(random, dtype, *a), "b0": levels(random, dtype, *b)}
        constants: dict[str, Any] = {}
        for name in "abc":
            constants[f"{name}1"] = scale(random)
            constants[f"{name}2"] = levels(random, dtype) if zeros else dtype(0)
        check(op_type, inputs, {name: np.asarray(value) for name, value in constants.items()})


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    ("op_type", "alpha"), [("QLinearSigmoid", None), ("QLinearLeakyRelu", 0.1), ("QLinearLeakyRelu", None)]
)
def test_functions(op_type: str, alpha: float | None, dtype: Any) -> None:
    random = np.random.default_rng(5)
    every = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype).reshape(4, 64)
    for _ in range(20):
        constants = {
            "x1": scale(random), "x2": levels(random, dtype), "y1": scale(random), "y2": levels(random, dtype)
        }  # fmt: skip
        check(op_type, {"x0": every}, constants, **({} if alpha is None else {"alpha": alpha}))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("axis", "opset"), [(-1, 13), (1, 13), (0, 13), (1, 12), (2, 11)])
def test_softmax(axis: int, opset: int, dtype: Any) -> None:
    random = np.random.default_rng(7)
    for y_scale in (1 / 256, 1 / 100, 0.0051):
        constants = {
            "x1": scale(random), "x2": levels(random, dtype),
            "y1": np.float32(y_scale), "y2": dtype(np.iinfo(dtype).min + 3),
        }  # fmt: skip
        check("QLinearSoftmax", {"x0": levels(random, dtype, 3, 5, 40)}, constants, axis=axis, opset=opset)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat(axis: int, dtype: Any) -> None:
    random = np.random.default_rng(6)
    for same in (False, True):
        constants: dict[str, Any] = {"a1": scale(random), "a2": levels(random, dtype)}
        constants |= {f"{name}1": constants["a1"] if same else scale(random) for name in "bc"}
        constants |= {f"{name}2": constants["a2"] if same else levels(random, dtype) for name in "bc"}
        check("QLinearConcat", {f"{name}0": levels(random, dtype, 3, 3, 3) for name in "bc"}, constants, axis=axis)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("shape", [(2, 5, 7, 7), (1, 3, 4, 9), (1, 2, 1, 1)])
def test_global_average_pool(shape: tuple[int, ...], last: int, dtype: Any) -> None:
    random = np.random.default_rng(3)
    for _ in range(5):
        constants = {
            "x1": scale(random), "x2": levels(random, dtype), "y1": scale(random), "y2": levels(random, dtype)
        }  # fmt: skip
        check("QLinearGlobalAveragePool", {"x0": levels(random, dtype, *shape)}, constants, channels_last=last)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("columns", [1, 11])
@pytest.mark.parametrize("transposed", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("form", ["bias", "no bias", "float"])
def test_gemm(form: str, transposed: tuple[int, int], columns: int, dtype: Any) -> None:
    random = np.random.default_rng(9)
    trans_a, trans_b = transposed
    per_column = (columns,) if columns > 1 else ()
    a, b = (levels(random, dtype, 6, 40), levels(random, np.int8, 40, 11))
    constants: dict[str, Any] = {
        "a1": scale(random), "a2": levels(random, dtype),
        "b0": b.T.copy() if trans_b else b, "b1": scale(random, *per_column), "b2": np.zeros(per_column, np.int8),
        "c0": None if form == "no bias" else random.integers(-9000, 9000, (11,), np.int32),
    }  # fmt: skip
    if form != "float":
        constants |= {"y1": scale(random) * np.float32(30), "y2": levels(random, dtype)}
    check(
        "QGemm", {"a0": a.T.copy() if trans_a else a}, constants, transA=trans_a, transB=trans_b, alpha=0.5
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("channels", [1, 6])
@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("bias", [True, False])
def test_convolution(bias: bool, group: int, channels: int, dtype: Any) -> None:
    random = np.random.default_rng(2)
    per_channel = (channels,) if channels > 1 else ()
    constants: dict[str, Any] = {
        "a1": scale(random), "a2": levels(random, dtype),
        "b0": levels(random, np.int8, 6, 6 // group, 3, 2), "b1": scale(random, *per_channel),
        "b2": np.zeros(per_channel, np.int8), "c1": scale(random) * np.float32(40), "c2": levels(random, dtype),
    }  # fmt: skip
    if bias:
        constants["d0"] = random.integers(-9000, 9000, (6,), np.int32)
    cases: list[dict[str, Any]] = [
        {"pads": [1, 0, 2, 1], "strides": [2, 1]},
        {"dilations": [2, 3]},
        {"auto_pad": "SAME_UPPER"},
    ]
    for attributes in cases:
        inputs = {"a0": levels(random, dtype, 2, 6, 11, 9)}
        check("QLinearConv", inputs, constants, domain="", group=group, **attributes)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("form", ["plain", "all"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("per_column", [False, True])
def test_lstm(direction: str, form: str, dtype: Any, per_column: bool) -> None:
    random = np.random.default_rng(1)
    steps, batch, width, size = 5, 3, 7, 6
    count = 2 if direction == "bidirectional" else 1
    many = (count, 4 * size) if per_column else (count,)
    zero = np.full(many, 0 if dtype is np.int8 else 120, dtype)
    full = form == "all"
    floats = lambda *shape: random.standard_normal(shape).astype(np.float32)  # noqa: E731
    constants: dict[str, Any] = {
        "i01": levels(random, dtype, count, width, 4 * size),
        "i02": levels(random, dtype, count, size, 4 * size),
        "i03": floats(count, 8 * size) if full else None,
        "i04": np.array([5, 2, 3], np.int32) if full else None,
        "i05": floats(count, batch, size) if full else None,
        "i06": floats(count, batch, size) if full else None,
        "i07": floats(count, 3 * size) if full else None,
        "i08": scale(random, *many), "i09": zero, "i10": scale(random, *many), "i11": zero,
    }  # fmt: skip
    attributes = {"input_forget": 1, "clip": 2.5} if full else {}
    check("DynamicQuantizeLSTM", {"i00": floats(steps, batch, width)}, constants,
          outputs=3, direction=direction, hidden_size=size, **attributes)  # fmt: skip


def test_activations_without_a_meaning_are_refused() -> None:
    ones = np.ones((1, 4, 16), np.int8)
    one, zero = np.ones(1, np.float32), np.zeros(1, np.int8)
    constants: dict[str, Any] = {
        "i01": ones, "i02": ones, "i03": None, "i04": None, "i05": None, "i06": None, "i07": None,
        "i08": one, "i09": zero, "i10": one, "i11": zero,
    }  # fmt: skip
    x = np.ones((1, 1, 4), np.float32)
    model = model_of("DynamicQuantizeLSTM", {"i00": x}, constants, hidden_size=4, activations=["Elu", "Tanh", "Tanh"])
    with pytest.raises(GeError, match="activation elu") as error:
        run_module(import_model(model), {"i00": x})
    assert error.value.code == "GE6006"


def test_they_run_on_the_host_of_a_compiled_model() -> None:
    random = np.random.default_rng(4)
    inputs = {"a0": levels(random, np.uint8, 3, 5), "b0": levels(random, np.uint8, 3, 5)}
    constants = {
        f"{name}{i}": value for name in "abc" for i, value in ((1, scale(random)), (2, levels(random, np.uint8)))
    }
    model = model_of("QLinearAdd", inputs, constants)
    expected = judged(model, inputs)[0][1]
    found = run_graph(compile_to_graph(model), inputs)["y"]
    np.testing.assert_array_equal(found, expected)


def test_the_check_of_a_model_knows_them(tmp_path: Path) -> None:
    model = model_of("QGemm", {"a0": np.zeros((2, 3), np.uint8)}, {
        "a1": np.float32(1), "a2": np.uint8(0), "b0": np.zeros((3, 4), np.int8), "b1": np.float32(1), "b2": np.int8(0),
    })  # fmt: skip
    onnx.save(model, tmp_path / "model.onnx")
    assert not precheck(CompileOptions(tmp_path / "model.onnx")).errors


def test_every_meaning_is_tested() -> None:
    assert set(MEANINGS) == {
        *("DynamicQuantizeLSTM", "QGemm", "QLinearAdd", "QLinearConcat", "QLinearGlobalAveragePool"),
        *("QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid", "QLinearSoftmax"),
    }
