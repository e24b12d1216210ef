"""Import, text and export together: real models stay the same numbers, names and metadata."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx_models import ModelBuilder, run_reference
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge.dialects.onnx import Constant, constant_value
from ge.dialects.onnx.meaning import run_module
from ge.ir.attributes import WeightsAttr
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.printer import write_module
from ge.targets.onnx.canonical import same_model
from ge.targets.onnx.exporter import export_model, export_region, save_model
from ge.targets.onnx.importer import import_model

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"

MODELS = sorted([*LIGHT.glob("*.onnx"), *Path(os.environ.get("GE_MODELS", "/nonexistent")).glob("*.onnx")])
"""The models that come with the onnx package, and those in the folder GE_MODELS."""

SHAPES = {"pkg_ppocr_cls": {"x": [1, 3, 48, 192]}}


def feeds_of(model: onnx.ModelProto) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(0)
    constants = {tensor.name for tensor in model.graph.initializer}
    return {
        value.name: random.standard_normal([dim.dim_value for dim in value.type.tensor_type.shape.dim]).astype(
            helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        )
        for value in model.graph.input
        if value.name not in constants
    }


def through_text(module: ModuleOp, folder: Path) -> ModuleOp:
    path = folder / "module.mlir"
    write_module(module, path)
    return parse_module(path)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_real_model(path: Path, tmp_path: Path) -> None:
    module = import_model(path, SHAPES.get(path.stem))
    module.verify()
    exported = export_model(through_text(module, tmp_path))
    onnx.checker.check_model(exported, full_check=True)
    original = onnx.load(path)
    feeds = feeds_of(exported)
    got, want = run_reference(exported, feeds), run_reference(original, feeds)
    assert list(got) == list(want)
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value)
    check_names(original, exported)


def check_names(original: onnx.ModelProto, exported: onnx.ModelProto) -> None:
    constants = {node.output[0] for node in original.graph.node if node.op_type == "Constant"}
    before = {(node.name, tuple(node.output)) for node in original.graph.node if node.output[0] not in constants}
    after = {(node.name, tuple(node.output)) for node in exported.graph.node}
    assert {outputs for _, outputs in before} <= {outputs for _, outputs in after}
    assert {name for name, _ in before} <= {name for name, _ in after}
    tensors = {tensor.name for tensor in original.graph.initializer} | constants
    assert tensors <= {tensor.name for tensor in exported.graph.initializer}
    assert exported.producer_name == original.producer_name
    assert exported.graph.name == original.graph.name


def identity_model(names: list[str], dtype: Any = np.float32) -> onnx.ModelProto:
    """The sum of an input and of initializers of the given names, of which the i-th is all i + 1."""
    tensors = [numpy_helper.from_array(np.full(2, i + 1, dtype), name) for i, name in enumerate(names)]
    x = helper.make_tensor_value_info("input", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("output", TensorProto.FLOAT, [2])
    node = helper.make_node("Sum", ["input", *names], ["output"])
    return helper.make_model(
        helper.make_graph([node], "", [x], [y], tensors), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )


def test_names_that_text_cannot_have_stay_apart(tmp_path: Path) -> None:
    """Sanitised, most of these are the same."""
    names = ["1", "2", "-", "a-b", "a_b", "a/b", "a.b", "a b", "数", "卷积/权重", "a_b_1", "a_b_2", '"', "%a", "\\"]
    model = identity_model(names)
    module = through_text(import_model(model), tmp_path)
    exported = export_model(module)
    assert [tensor.name for tensor in exported.graph.initializer] == names
    for before, after in zip(model.graph.initializer, exported.graph.initializer, strict=True):
        np.testing.assert_array_equal(numpy_helper.to_array(after), numpy_helper.to_array(before))
    feeds: dict[str, NDArray[Any]] = {"input": np.zeros(2, np.float32)}
    np.testing.assert_array_equal(run_module(module, feeds)["output"], run_reference(model, feeds)["output"])


def test_metadata_survive(tmp_path: Path) -> None:
    model = identity_model(["w"])
    model.producer_name, model.producer_version, model.domain = "test", "1.2", "org.example"
    model.model_version, model.doc_string = 7, "a model\nof two lines"
    model.metadata_props.add(key="author", value="ä")
    model.graph.name, model.graph.doc_string = "g/1", "a graph"
    model.graph.node[0].name = "the sum"
    model.graph.node[0].doc_string = "a node"
    model.graph.node[0].metadata_props.add(key="scope", value="x.y")
    exported = export_model(through_text(import_model(model), tmp_path))
    for field in ("producer_name", "producer_version", "domain", "model_version", "doc_string", "ir_version"):
        assert getattr(exported, field) == getattr(model, field), field
    assert str(exported.metadata_props) == str(model.metadata_props)
    assert str(exported.opset_import) == str(model.opset_import)
    assert (exported.graph.name, exported.graph.doc_string) == ("g/1", "a graph")
    assert exported.graph.node[0] == model.graph.node[0]


def test_symbolic_dimensions_keep_their_names(tmp_path: Path) -> None:
    model = identity_model([])
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    exported = export_model(through_text(import_model(model), tmp_path))
    assert exported.graph.input[0] == model.graph.input[0]
    assert exported.graph.output[0] == model.graph.output[0]


def test_initializer_that_is_an_input_is_a_constant() -> None:
    model = identity_model(["w"])
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2]))
    module = import_model(model)
    np.testing.assert_array_equal(run_module(module, {"input": np.ones(2, np.float32)})["output"], [2, 2])
    (function,) = [op for op in module.ops if isinstance(op, FuncOp)]
    assert len(function.body.block.args) == 1
    assert same_model(export_model(module), model)


def test_outputs_that_are_inputs_constants_or_given_twice() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    nodes = [helper.make_node("Relu", ["x"], ["a"]), *(helper.make_node("Identity", [s], [s + "2"]) for s in "xaw")]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("a", "x2", "a2", "w2")]
    graph = helper.make_graph(nodes, "g", [x], outputs, [numpy_helper.from_array(np.ones(2, np.float32), "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    module = import_model(model)
    for identity in [op for op in module.walk() if op.name == "onnx.Identity"]:
        identity.results[0].replace_all_uses_with(identity.operands[0])
        identity.detach()
        identity.erase()
    exported = export_model(module)
    onnx.checker.check_model(exported, full_check=True)
    feeds: dict[str, NDArray[Any]] = {"x": np.array([-1, 2], np.float32)}
    got, want = run_reference(exported, feeds), run_reference(model, feeds)
    assert list(got) == list(want)
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value)


@pytest.mark.parametrize(
    "values",
    [
        np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45], np.float32),
        np.array([np.nan, -np.inf, 65504, 6e-8], np.float16),
        np.array([-np.inf], np.float32),
        np.array(-0.0),
        np.array([True, False]),
        np.array([2**63 - 1, -(2**63)]),
        np.array([2**64 - 1], np.uint64),
        np.array([1 + 2j, complex(np.nan, -0.0)], np.complex64),
        np.array(["a", "", "ä\n"], object),
        np.zeros((0, 3), np.int8),
        np.full(400, np.nan, np.float32),
        np.array([b % 256 for b in range(500)], np.uint8),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_constants_survive_bit_by_bit(values: NDArray[Any], tmp_path: Path) -> None:
    check_tensor(numpy_helper.from_array(values, "w"), tmp_path)


@pytest.mark.parametrize("name", ["BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2", "INT4", "UINT4", "FLOAT4E2M1", "UINT2"])
@pytest.mark.parametrize("count", [7, 1001])
def test_small_element_types_survive_bit_by_bit(name: str, count: int, tmp_path: Path) -> None:
    data_type = TensorProto.DataType.Value(name)
    dtype = helper.tensor_dtype_to_np_dtype(data_type)
    values = np.random.default_rng(0).integers(-8 if name == "INT4" else 0, 2, count).astype(dtype)
    tensor = numpy_helper.from_array(values, "w")
    assert tensor.data_type == data_type
    check_tensor(tensor, tmp_path)


def check_tensor(tensor: TensorProto, folder: Path) -> None:
    y = helper.make_tensor_value_info("y", tensor.data_type, list(tensor.dims))
    graph = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "g", [], [y], [tensor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)
    path = folder / "m.onnx"
    onnx.save(model, path)
    exported = export_model(through_text(import_model(path), folder))
    again = exported.graph.initializer[0]
    assert (again.data_type, list(again.dims)) == (tensor.data_type, list(tensor.dims))
    if tensor.data_type == TensorProto.STRING:
        assert list(again.string_data) == list(tensor.string_data)
    else:
        assert again.raw_data == tensor.raw_data


def test_weights_stay_in_the_file_of_the_model(tmp_path: Path) -> None:
    """Neither the module nor its text has a copy of them."""
    path = tmp_path / "model.onnx"
    weights = np.random.default_rng(0).standard_normal(5000).astype(np.float32)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [5000])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [5000])
    node = helper.make_node("Add", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", [x], [y], [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    module = import_model(path)
    constant = next(op for op in module.walk() if isinstance(op, Constant))
    literal = constant.attributes["value"]
    assert isinstance(literal, WeightsAttr)
    origin = literal.data.origin
    assert origin is not None
    assert origin.file == path.resolve()
    assert path.read_bytes()[origin.offset : origin.offset + literal.nbytes] == weights.tobytes()
    again = through_text(module, tmp_path)
    assert '#ge.weights<"model.onnx"' in (tmp_path / "module.mlir").read_text()
    assert [file.name for file in tmp_path.iterdir() if file.suffix not in (".onnx", ".mlir")] == []
    value = next(op for op in again.walk() if isinstance(op, Constant)).results[0]
    np.testing.assert_array_equal(constant_value(value), weights)


def test_save_model(tmp_path: Path) -> None:
    save_model(import_model(identity_model(["w"])), tmp_path / "out.onnx")
    feeds: dict[str, NDArray[Any]] = {"input": np.ones(2, np.float32)}
    np.testing.assert_array_equal(run_reference(onnx.load(tmp_path / "out.onnx"), feeds)["output"], [2, 2])


def test_export_of_some_operations() -> None:
    """Inputs and outputs are given; constants from outside come along."""
    builder = ModelBuilder()
    conv = builder.node("Conv", builder.input("x", 1, 2, 5, 5), builder.weights(3, 2, 3, 3))
    builder.output(builder.node("MaxPool", builder.node("Relu", conv), kernel_shape=[2, 2]))
    module = import_model(builder.build())
    first, second = (next(op for op in module.walk() if op.name == name) for name in ("onnx.Conv", "onnx.Relu"))
    model = export_region([first, second], [first.operands[0]], [second.results[0]])
    onnx.checker.check_model(model, full_check=True)
    feeds = feeds_of(model)
    assert list(feeds) == ["x0"]
    assert [len(model.graph.node), len(model.graph.initializer)] == [2, 1]
    assert run_reference(model, feeds)["y0"].shape == (1, 3, 3, 3)
    named = export_region([second], [second.operands[0]], [second.results[0]], ["a"], ["b"])
    assert (named.graph.input[0].name, named.graph.output[0].name) == ("a", "b")
    with pytest.raises(GeError, match="reads a value that is not among these operations"):
        export_region([second], [], [second.results[0]])
