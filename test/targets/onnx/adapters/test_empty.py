"""What adapters write in the place of a node is right for tensors without elements, too: a 0 in a shape is a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper
from onnx_models import F32, assert_close, run_pass, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

Array = NDArray[Any]

random = np.random.default_rng(0)


def f32(*shape: int) -> Array:
    return random.standard_normal(shape).astype(np.float32)


def open_model(op_type: str, opset: int, feeds: Mapping[str, Array], known: str = "", **attributes: Any) -> ModelProto:
    """A model of one node, of whose inputs only the ranks are known; of the input ``known`` the last size, too."""
    inputs: list[onnx.ValueInfoProto] = []
    for name, value in feeds.items():
        sizes: list[int | str] = [f"{name}_{axis}" for axis in range(value.ndim)]
        if name == known:
            sizes[-1] = value.shape[-1]
        inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), sizes))
    node = helper.make_node(op_type, list(feeds), ["y"], name="the_node", **attributes)
    graph = helper.make_graph([node], "test", inputs, [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)


def check(model: ModelProto, feeds: Mapping[str, Array], want: Mapping[str, Array], *targets: int | None) -> None:
    """The models that come of one, each for an opset, give what is wanted, and so does its module after passes."""
    module = import_model(model)
    check_exported(module, feeds, want, *targets)
    assert_close(run_module(module, dict(feeds)), want, F32)
    for name in ("infer-shapes", "fold-shape-ops", "merge-reshape", "unflatten-softmax", "eliminate-identity"):
        run_pass(module, name)
    assert_close(run_module(module, dict(feeds)), want, F32)


def check_exported(
    module: ModuleOp, feeds: Mapping[str, Array], want: Mapping[str, Array], *targets: int | None
) -> None:
    for target in targets:
        exported = export_model(module, target)
        onnx.checker.check_model(exported, full_check=True)
        assert_close(run_reference(exported, feeds), want, F32)


SHAPES = [(2, 3, 4), (0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 3, 0), (2, 0, 0), (0, 0, 0)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
def test_softmax_over_several_axes(op_type: str, axis: int) -> None:
    for shape in SHAPES:
        feeds = {"x": f32(*shape)}
        model = open_model(op_type, 11, feeds, axis=axis)
        check(model, feeds, run_reference(model, feeds), None, 11, 13)


@pytest.mark.filterwarnings("ignore")
def test_softmax_of_a_value_of_unknown_rank() -> None:
    """As in models without stated types: nothing tells that the last axis alone is meant."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["a", "b", "c"])
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Softmax", ["r"], ["y"], axis=2)]
    graph = helper.make_graph(nodes, "test", [x], [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)
    for shape in SHAPES:
        feeds = {"x": f32(*shape)}
        check(model, feeds, run_reference(model, feeds), None, 11, 13)


def test_sizes_that_are_known_need_no_newer_opset() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 4])
    node = helper.make_node("Softmax", ["x"], ["y"], axis=1)
    graph = helper.make_graph([node], "test", [x], [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)
    model = export_model(import_model(model))
    assert [entry.version for entry in model.opset_import] == [13]
    assert [node.op_type for node in model.graph.node] == ["Shape", "Flatten", "Softmax", "Reshape"]
    for batch in (2, 0):
        assert run_reference(model, {"x": f32(batch, 3, 4)})["y"].shape == (batch, 3, 4)


@pytest.mark.filterwarnings("ignore")
def test_batch_normalization_of_features() -> None:
    for shape in SHAPES:
        x = f32(*shape)
        s = {name: np.abs(f32(*shape[1:])) + 0.5 for name in ("scale", "bias", "mean", "var")}
        model = open_model("BatchNormalization", 7, {"x": x, **s}, spatial=0)
        want = (x - s["mean"]) / np.sqrt(s["var"] + 1e-5) * s["scale"] + s["bias"]
        check(model, {"x": x, **s}, {"y": want}, None, 11, 13)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("batch", [1, 2])
def test_gather_nd_with_batches(batch: int) -> None:
    for shape in [*SHAPES, (2, 3, 4, 5), (2, 3, 4, 0), (2, 3, 0, 5), (0, 3, 0, 5)]:
        for count in (0, 2):
            if len(shape) < batch + 2 or (count and 0 in (*shape[:batch], shape[batch])):
                continue
            feeds = {"x": f32(*shape), "i": np.zeros((*shape[:batch], count, 1), np.int64)}
            model = open_model("GatherND", 12, feeds, known="i", batch_dims=batch)
            want = feeds["x"][(*[slice(None)] * batch, np.zeros(count, np.int64))]
            check_exported(import_model(model), feeds, {"y": want}, None, 11)


@pytest.mark.filterwarnings("ignore")
def test_average_pool_with_dilations() -> None:
    for shape in [(2, 3, 8), (0, 3, 8), (2, 0, 8)]:
        feeds = {"x": f32(*shape)}
        model = open_model("AveragePool", 19, feeds, kernel_shape=[2], dilations=[2])
        check(model, feeds, {"y": (feeds["x"][..., :-2] + feeds["x"][..., 2:]) / 2}, 11, 18)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.uint8])
def test_reshape_to_a_computed_shape(dtype: Any) -> None:
    for old, new in [((2, 6), (3, 4)), ((0, 6), (3, 0)), ((2, 0), (0, 5)), ((0, 6), (4, 0))]:
        feeds = {"x": np.ones(old, dtype), "s": np.array(new)}
        model = open_model("Reshape", 14, feeds, known="s", allowzero=1)
        check(model, feeds, {"y": np.ones(new, dtype)}, None, 11, 13)


def test_reshape_of_texts_to_a_computed_shape_is_refused() -> None:
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.STRING, ["a", "b"]),
        helper.make_tensor_value_info("s", TensorProto.INT64, [2]),
    ]
    node = helper.make_node("Reshape", ["x", "s"], ["y"], name="the_node", allowzero=1)
    graph = helper.make_graph([node], "test", inputs, [onnx.ValueInfoProto(name="y")])
    module = import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8))
    with pytest.raises(GeError, match="size 0 cannot be told") as error:
        export_model(module, 13)
    assert error.value.code == "GE1021"
