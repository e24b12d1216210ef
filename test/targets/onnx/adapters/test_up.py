"""Models of older opsets mean the same after import: what the tests of ``targets/onnx/test_opsets.py`` leave out."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_models import F32, assert_close, run_reference

from ge.dialects.onnx import OPSET
from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

Array = NDArray[Any]

random = np.random.default_rng(0)


def f32(*shape: int) -> Array:
    return random.standard_normal(shape).astype(np.float32)


def one_node(op_type: str, opset: int, feeds: dict[str, Array], outputs: int = 1, **attributes: Any) -> ModelProto:
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, list(feeds), results, name="the_node", **attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in feeds.items()
    ]
    graph = helper.make_graph([node], "test", inputs, [onnx.ValueInfoProto(name=name) for name in results])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


A, B, PER_CHANNEL = f32(2, 3, 4, 5), f32(3, 4), f32(3)
FLAGS = random.random((2, 3)) > 0.5, random.random(2) > 0.5

LEGACY: list[tuple[str, int, dict[str, Array], dict[str, Any], Array]] = [
    # in-place hints
    ("Abs", 1, {"x": A}, {"consumed_inputs": [0]}, np.abs(A)),
    ("Sum", 1, {"x": A, "y": A}, {"consumed_inputs": [0]}, A + A),
    ("Selu", 1, {"x": A}, {}, np.where(A > 0, 1.0507 * A, 1.0507 * 1.6732 * (np.exp(A) - 1))),
    # broadcasting
    ("Add", 1, {"x": A, "y": B}, {"broadcast": 1, "axis": 1}, A + B[:, :, None]),
    ("Mul", 6, {"x": A, "y": PER_CHANNEL}, {"broadcast": 1, "axis": -3}, A * PER_CHANNEL[:, None, None]),
    ("Sub", 6, {"x": A, "y": f32(1)}, {"broadcast": 1}, np.array([])),
    ("Pow", 1, {"x": np.abs(A), "y": B}, {"broadcast": 1, "axis": 1}, np.abs(A) ** B[:, :, None]),
    ("And", 1, {"x": FLAGS[0], "y": FLAGS[1]}, {"broadcast": 1, "axis": 0}, FLAGS[0] & FLAGS[1][:, None]),
    ("Less", 1, {"x": A, "y": B}, {"broadcast": 1, "axis": 1}, B[:, :, None] > A),
    ("PRelu", 1, {"x": A, "y": PER_CHANNEL}, {}, np.where(A < 0, A * PER_CHANNEL[:, None, None], A)),
    # other forms
    ("Cast", 1, {"x": A}, {"to": "INT32"}, A.astype(np.int32)),
    ("Concat", 1, {"x": A, "y": A}, {}, np.concatenate([A, A], 1)),
    ("Pad", 1, {"x": f32(2, 3)}, {"paddings": [0, 1, 0, 0], "value": 0.0}, np.array([])),
    ("Reshape", 1, {"x": A}, {"shape": [6, -1], "consumed_inputs": [0]}, A.reshape(6, 20)),
    ("GlobalLpPool", 1, {"x": A}, {"p": 2.0}, np.sqrt((A**2).sum((2, 3), keepdims=True))),
    ("Upsample", 1, {"x": A}, {"height_scale": 2.0, "width_scale": 2.0, "mode": "nearest"},
     A.repeat(2, 2).repeat(2, 3)),
    ("Dropout", 6, {"x": A}, {"is_test": 1}, A),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("op_type", "opset", "feeds", "attributes", "want"), LEGACY, ids=[f"{case[0]}-{case[1]}" for case in LEGACY]
)
def test_operators_from_before_opset_7(
    op_type: str, opset: int, feeds: dict[str, Array], attributes: dict[str, Any], want: Array
) -> None:
    if op_type == "Sub":
        want = feeds["x"] - feeds["y"]
    if op_type == "Pad":
        want = np.pad(feeds["x"], [(0, 0), (1, 0)])
    module = import_model(one_node(op_type, opset, feeds, **attributes))
    module.verify()
    got = run_reference(export_model(module, 11), feeds)
    assert_close(got, {"y0": want.astype(got["y0"].dtype)}, F32)


def test_tile_of_opset_1_repeats_one_axis() -> None:
    x = f32(2, 3)
    model = one_node("Tile", 1, {"x": x, "tiles": np.array([2], np.float32), "axis": np.array([1], np.float32)})
    model.graph.initializer.extend(
        numpy_helper.from_array(np.array([value], np.float32), name) for name, value in (("tiles", 2), ("axis", 1))
    )
    assert_close(run_module(import_model(model), {"x": x}), {"y0": np.tile(x, [1, 2])}, F32)


def test_split_of_opset_1_has_lengths_as_an_input() -> None:
    x = f32(5, 2)
    model = one_node("Split", 1, {"x": x, "split": np.array([2, 3], np.float32)}, outputs=2, axis=0)
    model.graph.initializer.append(numpy_helper.from_array(np.array([2, 3], np.float32), "split"))
    assert_close(run_module(import_model(model), {"x": x}), {"y0": x[:2], "y1": x[2:]}, F32)


@pytest.mark.parametrize("op_type", ["RNN", "GRU", "LSTM"])
def test_recurrent_operators_lose_their_output_flag(op_type: str) -> None:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op_type]
    feeds = {"x": f32(5, 1, 3), "w": f32(1, 4 * gates, 3), "r": f32(1, 4 * gates, 4)}
    older = one_node(op_type, 3 if op_type == "GRU" else 1, feeds, 2, hidden_size=4, output_sequence=1)
    newer = one_node(op_type, 7, feeds, 2, hidden_size=4)
    assert_close(run_module(import_model(older), feeds), run_reference(newer, feeds), F32)


def test_misspelt_direction_of_the_first_gru() -> None:
    feeds = {"x": f32(5, 1, 3), "w": f32(1, 12, 3), "r": f32(1, 12, 4)}
    older = one_node("GRU", 1, feeds, 2, hidden_size=4, direction="foward")
    newer = one_node("GRU", 7, feeds, 2, hidden_size=4)
    assert_close(run_module(import_model(older), feeds), run_reference(newer, feeds), F32)


# BatchNormalization


def statistics(*shape: int) -> dict[str, Array]:
    return {name: np.abs(f32(*shape)) + 0.5 for name in ("scale", "bias", "mean", "var")}


def test_batch_normalization_of_features() -> None:
    x, s = f32(2, 3, 4), statistics(3, 4)
    model = one_node("BatchNormalization", 7, {"x": x, **s}, spatial=0)
    want = (x - s["mean"]) / np.sqrt(s["var"] + 1e-5) * s["scale"] + s["bias"]
    assert_close(run_module(import_model(model), {"x": x, **s}), {"y0": want}, F32)


def test_batch_normalization_trains_when_it_has_more_outputs() -> None:
    x, s = f32(2, 3, 4), statistics(3)
    model = one_node("BatchNormalization", 9, {"x": x, **s}, 3, momentum=0.8)
    mean, var = x.mean((0, 2)), x.var((0, 2))
    y = (x - mean[:, None]) / np.sqrt(var[:, None] + 1e-5) * s["scale"][:, None] + s["bias"][:, None]
    want = {"y0": y, "y1": s["mean"] * 0.8 + mean * 0.2, "y2": s["var"] * 0.8 + var * 0.2}
    got = run_module(import_model(model), {"x": x, **s})
    assert_close(got, {name: value.astype(np.float32) for name, value in want.items()}, 1e-4)


def test_training_of_features_is_refused() -> None:
    model = one_node("BatchNormalization", 7, {"x": f32(2, 3, 4), **statistics(3, 4)}, 5, spatial=0)
    with pytest.raises(GeError, match=r"(?s)GE1016.*features of their own.*the_node"):
        import_model(model)


def test_group_normalization_of_an_unknown_number_of_channels() -> None:
    feeds = {"x": f32(1, 4, 3), "scale": f32(2), "bias": f32(2)}
    model = one_node("GroupNormalization", 18, feeds, num_groups=2)
    want = run_reference(model, feeds)
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "channels"
    assert_close(run_module(import_model(model), feeds), want, F32)


# Given up


@pytest.mark.parametrize("opset", [9, 13])
def test_scatter_means_scatter_elements_also_where_it_is_deprecated(opset: int) -> None:
    feeds = {"x": f32(3, 3), "i": np.array([[0, 1, 2]]), "u": f32(1, 3)}
    want = run_reference(one_node("ScatterElements", 13, feeds), feeds)
    assert_close(run_module(import_model(one_node("Scatter", opset, feeds)), feeds), want, F32)


def test_half_pixels_of_tensorflow() -> None:
    feeds = {"x": f32(1, 1, 2, 2), "roi": f32(0), "scales": np.array([1, 1, 2, 1.5], np.float32)}
    given: dict[str, Any] = {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"}
    model = one_node("Resize", 11, feeds, **given)
    assert_close(run_module(import_model(model), feeds), run_reference(model, feeds), F32)
    given["nearest_mode"] = "ceil"
    with pytest.raises(GeError, match=r"(?s)GE1016.*tf_half_pixel_for_nn.*the_node"):
        import_model(one_node("Resize", 11, feeds, **given))


def test_saved_statistics_of_training_are_refused() -> None:
    model = one_node("BatchNormalization", 9, {"x": f32(2, 3), **statistics(3)}, 5)
    with pytest.raises(GeError, match=r"(?s)GE1016.*saved_mean.*the_node"):
        import_model(model)


# Scan


def scan_model(lengths: bool, backward: bool = False) -> ModelProto:
    """A Scan of opset 8 that adds up a sequence of vectors: x is [batch, steps, 2], the state [batch, 2]."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("s", "v", "t", "o")]
    add = helper.make_node("Add", ["s", "v"], ["t"])
    copy = helper.make_node("Identity", ["t"], ["o"])
    body = helper.make_graph([add, copy], "body", values[:2], values[2:])
    directions: dict[str, Any] = {"directions": [1]} if backward else {}
    inputs = ["lens" if lengths else "", "s0", "x"]
    node = helper.make_node("Scan", inputs, ["end", "sums"], name="scan", body=body, num_scan_inputs=1, **directions)
    infos = [
        helper.make_tensor_value_info("s0", TensorProto.FLOAT, [3, 2]),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4, 2]),
        *([helper.make_tensor_value_info("lens", TensorProto.INT64, [3])] if lengths else []),
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("end", "sums")]
    graph = helper.make_graph([node], "test", infos, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=8)


@pytest.mark.parametrize("backward", [False, True])
def test_scan_over_batches(backward: bool) -> None:
    feeds = {"s0": f32(3, 2), "x": f32(3, 4, 2)}
    steps = feeds["x"][:, ::-1] if backward else feeds["x"]
    sums = (feeds["s0"][:, None] + np.cumsum(steps, 1)).astype(np.float32)
    module = import_model(scan_model(False, backward))
    assert_close(run_module(module, feeds), {"end": sums[:, -1], "sums": sums}, F32)
    assert_close(run_reference(export_model(module, 11), feeds), {"end": sums[:, -1], "sums": sums}, F32)


def test_scan_over_batches_with_lengths() -> None:
    lengths = np.array([4, 1, 2])
    feeds = {"s0": f32(3, 2), "x": f32(3, 4, 2), "lens": lengths}
    sums = (feeds["s0"][:, None] + np.cumsum(feeds["x"], 1)).astype(np.float32)
    got = run_module(import_model(scan_model(True)), feeds)
    np.testing.assert_allclose(got["end"], sums[range(3), lengths - 1], rtol=1e-5)
    for batch, length in enumerate(lengths):
        np.testing.assert_allclose(got["sums"][batch, :length], sums[batch, :length], rtol=1e-5)


def test_scan_backwards_with_lengths_is_refused() -> None:
    with pytest.raises(GeError, match=r"(?s)GE1016.*backwards.*'scan'"):
        import_model(scan_model(True, backward=True))


# Header-only edits


@pytest.mark.parametrize(
    ("op_type", "opset", "feeds", "attributes", "why"),
    [
        ("Gelu", 19, {"x": f32(2)}, {}, "Gelu does not exist at opset 19, first at 20"),
        ("GridSample", 16, {"x": f32(1, 1, 2, 2), "g": f32(1, 1, 1, 2)}, {"mode": "linear"}, "mode = 'linear'"),
        ("GridSample", 20, {"x": f32(1, 1, 2, 2), "g": f32(1, 1, 1, 2)}, {"mode": "bilinear"}, "mode = 'bilinear'"),
        ("ReduceMean", 13, {"x": f32(2), "a": np.array([0])}, {}, "has at most 1 inputs, not 2, at opset 13"),
        ("ReduceMean", 18, {"x": f32(2)}, {"axes": [0]}, "has no attribute 'axes' at opset 18"),
        ("Split", 13, {"x": f32(2)}, {"num_outputs": 1}, "has no attribute 'num_outputs' at opset 13"),
        ("Unsqueeze", 13, {"x": f32(2)}, {"axes": [0]}, "has no attribute 'axes' at opset 13"),
        ("Unsqueeze", 11, {"x": f32(2)}, {}, "needs an attribute 'axes' at opset 11"),
        ("Resize", 12, {"x": f32(2)}, {}, "needs an input 'roi' at opset 12"),
        ("Pad", 18, {"x": f32(2), "p": np.array([1, 1])}, {"mode": "wrap"}, "mode = 'wrap'"),
        ("Cast", 5, {"x": f32(2)}, {"to": 1}, "another type of attribute 'to'"),
        ("Split", 18, {"x": f32(2)}, {}, "an input 'split' or an attribute 'num_outputs' at opset 18"),
    ],
)
def test_what_is_not_legal_at_the_declared_opset_is_detected(
    op_type: str, opset: int, feeds: dict[str, Array], attributes: dict[str, Any], why: str
) -> None:
    with pytest.raises(GeError, match="GE1017") as error:
        import_model(one_node(op_type, opset, feeds, **attributes))
    assert why in str(error.value)
    assert "node 'the_node'" in str(error.value)


# Functions


def with_function(opset: int, function_opset: int) -> ModelProto:
    """A model of one opset that calls a function of another: Clip(ReduceMean(x) over axis 1) at opset 6 or 18."""
    if function_opset < 11:
        nodes = [
            helper.make_node("ReduceMean", ["a"], ["m"], axes=[1]),
            helper.make_node("Clip", ["m"], ["b"], min=-0.1, max=0.1),
        ]
    else:
        nodes = [
            helper.make_node("Constant", [], ["axes"], value_ints=[1]),
            helper.make_node("ReduceMean", ["a", "axes"], ["m"]),
            helper.make_node("Constant", [], ["low"], value_float=-0.1),
            helper.make_node("Constant", [], ["high"], value_float=0.1),
            helper.make_node("Clip", ["m", "low", "high"], ["b"]),
        ]
    imports = [helper.make_opsetid("", function_opset)]
    function = helper.make_function("local", "clipped_mean", ["a"], ["b"], nodes, imports)
    call = helper.make_node("clipped_mean", ["x"], ["c"], domain="local", name="call")
    soft = helper.make_node("Softmax", ["c"], ["y"], axis=0, name="soft")
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, n]) for name, n in (("x", 3), ("y", 1))]
    graph = helper.make_graph([call, soft], "test", infos[:1], infos[1:])
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, functions=[function], ir_version=8)


@pytest.mark.parametrize(("opset", "function_opset"), [(13, 10), (18, 10), (13, 18), (OPSET, 18), (18, 18), (12, 18)])
def test_functions_of_another_opset_than_the_model(opset: int, function_opset: int) -> None:
    x = f32(2, 3)
    clipped = np.clip(x.mean(1, keepdims=True), -0.1, 0.1)
    exponential = np.exp(clipped)
    want = exponential / exponential.sum(0 if opset >= 13 else None, keepdims=True)  # all axes from 0 on before 13
    module = import_model(with_function(opset, function_opset))
    assert_close(run_module(module, {"x": x}), {"y": want}, F32)
