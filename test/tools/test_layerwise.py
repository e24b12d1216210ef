"""Comparing an OM file with its model operator by operator: a planted error is found where it is."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx_models import ModelBuilder

from ge.ir.errors import GeError
from ge.targets.ascend.om.writer import write_module
from ge.tools import ge_run, reference
from ge.tools.agreement import Tolerance
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions
from ge.tools.execute import OmExecutable
from ge.tools.layerwise import Layer, LayerReport, compare_layers, first_diverging
from ge.tools.reference import run_nodes

X = np.random.default_rng(3).standard_normal((1, 16, 8, 8)).astype(np.float32)


def network() -> onnx.ModelProto:
    """Two blocks with a residual connection each, a branch that joins by Concat, and a classifier."""
    builder = ModelBuilder()
    y = builder.input("x", 1, 16, 8, 8)
    for block in ("a", "b"):
        left = builder.node("Relu", _conv(builder, y, f"{block}/conv1"), name=f"{block}/relu1")
        left = _conv(builder, left, f"{block}/conv2")
        y = builder.node("Relu", builder.node("Add", left, y, name=f"{block}/add"), name=f"{block}/relu2")
    y = builder.node("Concat", y, _conv(builder, y, "side"), axis=1, name="concat")
    y = builder.node("Flatten", builder.node("GlobalAveragePool", y, name="pool"), name="flatten")
    weights = [builder.weights(32, 10, scale=0.2), builder.constant(builder.random.standard_normal(10), name="fc/bias")]
    builder.output(builder.node("Gemm", y, *weights, name="fc"))
    return builder.build()


def _conv(builder: ModelBuilder, x: str, name: str) -> str:
    bias = builder.constant(builder.random.standard_normal(16), name=f"{name}/bias")
    return builder.node("Conv", x, builder.weights(16, 16, 3, 3, scale=0.1), bias, pads=[1] * 4, name=name)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(network(), path)
    return path


def wrong(model: Path, bias: str, folder: Path) -> Path:
    """An OM file of the model with another value in a bias."""
    proto = onnx.load(model)
    for tensor in proto.graph.initializer:
        if tensor.name == bias:
            value = numpy_helper.to_array(tensor).copy()
            value[1] += 1
            tensor.CopyFrom(numpy_helper.from_array(value, bias))
    onnx.save(proto, folder / "wrong.onnx")
    return compiled(folder / "wrong.onnx", folder)


def compiled(path: Path, folder: Path) -> Path:
    write_module(compile_model(CompileOptions(path)).module, folder / "model.om")
    return folder / "model.om"


def report_of(om: Path, model: Path, tolerance: Tolerance | None = None) -> LayerReport:
    return compare_layers(OmExecutable(om, False).model, str(model), {"x": X}, tolerance)


def test_every_operator_of_a_right_file_agrees(model: Path, tmp_path: Path) -> None:
    report = report_of(compiled(model, tmp_path), model)
    assert report.first is None and all(each.passed for each in report.agreements)
    assert not [layer.node for layer in report.layers if layer.differs]
    compared = {layer.node for layer in report.layers if layer.agreement is not None}
    assert {"a/relu1", "a/relu2", "b/relu1", "b/relu2", "side", "flatten", "fc"} <= compared


@pytest.mark.parametrize(
    ("bias", "node"),
    [
        ("a/conv1/bias", "a/relu1"),
        ("a/conv2/bias", "a/relu2"),
        ("b/conv1/bias", "b/relu1"),
        ("b/conv2/bias", "b/relu2"),
        ("side/bias", "side"),
        ("fc/bias", "fc"),
    ],
)
def test_a_wrong_bias_is_found_at_its_node(model: Path, tmp_path: Path, bias: str, node: str) -> None:
    report = report_of(wrong(model, bias, tmp_path), model)
    assert report.first is not None and report.first.node == node
    assert bias.removesuffix("/bias") in report.first.point.nodes
    before = report.layers[: report.layers.index(report.first)]
    assert not any(layer.differs for layer in before)


def test_the_table_and_the_file_say_it(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    om, x, table = wrong(model, "b/conv1/bias", tmp_path), tmp_path / "x.npy", tmp_path / "layers.csv"
    np.save(x, X)
    with pytest.raises(GeError) as error:
        ge_run.run([str(om), "--input", str(x), "--compare", str(model), "--layerwise", f"--csv={table}"])
    assert error.value.code == "GE6008"
    shown = capsys.readouterr().out
    assert "first diverging operator: b/relu1 (Conv2D, from b/conv1, b/relu1)" in shown
    rows = {row["node"]: row for row in csv.DictReader(table.open())}
    assert rows["a/relu2"]["verdict"] == "agrees" and rows["b/relu1"]["verdict"] == "DIFFERS"
    assert rows["b/relu1"]["nodes"] == "b/conv1 b/relu1" and rows["b/relu1"]["dtype"] == "float16"
    assert rows["b/relu1"]["shape"] == "1x16x8x8" and float(rows["b/relu1"]["max error"]) > 0.5


def test_a_difference_that_reaches_no_output_is_none(model: Path, tmp_path: Path) -> None:
    report = report_of(wrong(model, "a/conv1/bias", tmp_path), model)
    assert first_diverging(report.layers, []) is None


def test_what_agrees_stops_the_search(model: Path, tmp_path: Path) -> None:
    om = wrong(model, "fc/bias", tmp_path)
    executable = OmExecutable(om, False)
    report = compare_layers(executable.model, str(model), {"x": X})
    early = next(number for number, layer in enumerate(report.layers) if layer.node == "a/relu1")
    layers = list(report.layers)
    layers[early] = _failed(layers[early])
    first = first_diverging(layers, executable.model.output_values)
    assert first is not None and first.node == "fc"


def _failed(layer: Layer) -> Layer:
    assert layer.agreement is not None
    return replace(layer, agreement=replace(layer.agreement, passed=False))


def test_a_tolerance_of_the_user_counts_for_every_operator(model: Path, tmp_path: Path) -> None:
    om = compiled(model, tmp_path)
    strict = report_of(om, model, Tolerance(1e-7))
    assert any(layer.differs for layer in strict.layers) and strict.first is not None
    assert not any(layer.differs for layer in report_of(om, model, Tolerance(0, 1)).layers)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--layerwise"], "GE2008"),
        (["--csv=x.csv", "--compare={model}"], "GE2008"),
        (["--rtol=1e-3"], "GE2008"),
        (["--rtol=-1", "--compare={model}"], "GE2006"),
        (["--layerwise", "--compare=x.mlir"], "GE2006"),
    ],
)
def test_options_without_what_they_need_are_refused(model: Path, tmp_path: Path, options: list[str], code: str) -> None:
    with pytest.raises(GeError) as error:
        ge_run.run([str(tmp_path / "model.om"), *(option.replace("{model}", str(model)) for option in options)])
    assert error.value.code == code


@pytest.mark.parametrize("names", ["all", "a/relu1,b/*"])
def test_values_are_written_under_the_names_of_nodes(
    model: Path, tmp_path: Path, names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: dict[str, Any] = {}
    for number, file in enumerate((compiled(model, tmp_path), model)):
        folder = tmp_path / f"dump{number}"
        ge_run.run([str(file), "--random-input", f"--dump={names}", f"--dump_dir={folder}"])
        shown[file.suffix] = {path.name: np.load(path) for path in folder.glob("*.npy")}
        listed = dict(line.split("\t") for line in (folder / "names.txt").read_text().splitlines())
        assert set(listed) == set(shown[file.suffix]) and listed["a_relu1.npy"] == "a/relu1"
        assert f"wrote {len(shown[file.suffix])} values to {folder}" in capsys.readouterr().out
    for name in ("a_relu1.npy", "b_relu1.npy", "b_relu2.npy"):
        om, definition = shown[".om"][name], shown[".onnx"][name]
        assert om.shape == definition.shape and om.dtype == np.float16 and definition.dtype == np.float32
        assert np.abs(om.astype(np.float32) - definition).max() <= 4e-3 * np.abs(definition).max()
    assert ("pool.npy" in shown[".onnx"]) is (names == "all")


def test_a_name_that_nothing_has_is_one_error(model: Path, tmp_path: Path) -> None:
    for file in (model, compiled(model, tmp_path)):
        with pytest.raises(GeError, match="'c/\\*'") as error:
            ge_run.run([str(file), "--random-input", "--dump=c/*"])
        assert error.value.code == "GE6012"


def test_nodes_have_the_same_values_by_definition(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a/conv1", "a/relu2", "concat", "fc", "not there"]
    fast = run_nodes(str(model), {"x": X}, names)
    monkeypatch.setattr(reference, "_with_outputs", lambda *_: None)
    slow = run_nodes(str(model), {"x": X}, names)
    assert "onnxruntime" in fast.runner and "onnx level" in slow.runner
    assert list(fast.outputs) == list(slow.outputs) == ["fc"]
    assert list(fast.nodes) == list(slow.nodes) == names[:-1]
    for name in names[:-1]:
        (a,), (b,) = fast.nodes[name], slow.nodes[name]
        assert np.abs(a - b).max() <= 1e-5 * np.abs(b).max()


def test_nodes_that_share_a_name_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "_with_outputs", lambda *_: None)  # onnxruntime refuses such models
    builder = ModelBuilder()
    x = builder.node("Relu", builder.input("x", 2, 3), name="one")
    builder.output(builder.node("Neg", x, name="two"))
    proto = builder.build()
    for node in proto.graph.node:
        node.name = "same"
    onnx.save(proto, tmp_path / "model.onnx")
    run = run_nodes(str(tmp_path / "model.onnx"), {"x": np.ones((2, 3), np.float32)}, ["same"])
    assert not run.nodes and run.outputs["two"].tolist() == [[-1] * 3] * 2


def test_steps_that_the_model_does_not_take_have_no_verdict(tmp_path: Path) -> None:
    """A variance is computed from differences, whose squares are not those of the model."""
    builder = ModelBuilder(opset=18)
    x, axis = builder.node("MatMul", builder.input("x", 1, 32, 64), builder.constant(np.eye(64))), (1,)
    square = builder.node("Mul", x, x, name="square")
    means = [builder.node("ReduceMean", each, builder.constant(axis, np.int64), keepdims=1) for each in (square, x)]
    variance = builder.node("Sub", means[0], builder.node("Mul", means[1], means[1]), name="variance")
    builder.output(builder.node("Sqrt", variance), means[1])
    onnx.save(builder.build(), tmp_path / "model.onnx")
    executable = OmExecutable(compiled(tmp_path / "model.onnx", tmp_path), False)
    inputs = {"x": np.random.default_rng(0).standard_normal((1, 32, 64)).astype(np.float32)}
    report = compare_layers(executable.model, str(tmp_path / "model.onnx"), inputs)
    assert all(each.passed for each in report.agreements)
    assert not [layer.node for layer in report.layers if layer.differs]
    assert any("square" in layer.point.nodes for layer in report.layers)
