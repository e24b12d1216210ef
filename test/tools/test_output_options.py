"""--out_nodes and --output_type: the numbers of what is returned instead, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx_models import ModelBuilder
from refusals import check_refused

from ge import Runtime
from ge.targets.ascend.om.file import OmFile
from ge.tools import ge_compiler

Array = NDArray[Any]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two branches: conv -> relu -> pool, and one that nothing needs when only the first is an output."""
    builder = ModelBuilder()
    x = builder.input("x", 1, 3, 8, 8)
    conv = builder.node("Conv", x, builder.weights(4, 3, 3, 3, scale=0.3), name="conv")
    relu = builder.node("Relu", conv, name="relu")
    builder.output(builder.node("GlobalAveragePool", relu, name="pool"))
    branch = builder.node("Conv", x, builder.weights(16, 3, 3, 3), name="branch")
    builder.output(builder.node("ArgMax", branch, name="best", axis=1))
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(builder.build(), path)
    return path


def compiled(model: Path, folder: Path, *options: str) -> Path:
    path = folder / "model.om"
    ge_compiler.run([f"--model={model}", f"--output={path}", "--report=none", *options])
    return path


def reference(model: Path, inputs: dict[str, Array], *names: str) -> list[Array]:
    proto = onnx.load(model)
    known = {output.name for output in proto.graph.output}
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return [np.asarray(value) for value in session.run(list(names), inputs)]


def inputs() -> dict[str, Array]:
    return {"x": np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)}


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_values_inside_become_the_outputs(model: Path, tmp_path: Path, level: str) -> None:
    file = compiled(model, tmp_path, "--out_nodes=relu:0;pool", level)
    outputs = Runtime().run(file, inputs())
    assert list(outputs) == ["relu", "pool"]
    for name, want in zip(outputs, reference(model, inputs(), *outputs), strict=True):
        np.testing.assert_allclose(outputs[name], want, rtol=1e-3, atol=1e-3 * np.abs(want).max())
    assert not [op.name for op in OmFile.open(str(file)).operators if "branch" in op.name or "best" in op.name]


@pytest.mark.parametrize(
    ("types", "dtypes"),
    [
        ("FP16", [np.float16, np.float16]),
        ("FP32", [np.float32, np.float32]),
        ("INT8", [np.int8, np.int8]),
        ("UINT64", [np.uint64, np.uint64]),
        ("DOUBLE", [np.float64, np.float64]),
        ("relu:0:FP16;best:INT32", [np.float16, np.int32]),
        ("best:0:FP32", [np.float32, np.float32]),
    ],
)
def test_outputs_have_the_types_asked_for(model: Path, tmp_path: Path, types: str, dtypes: Sequence[type]) -> None:
    outputs = Runtime().run(compiled(model, tmp_path, "--out_nodes=relu:0;best:0", f"--output_type={types}"), inputs())
    assert [value.dtype for value in outputs.values()] == list(map(np.dtype, dtypes))
    for (name, value), want in zip(outputs.items(), reference(model, inputs(), *outputs), strict=True):
        atol = 1.0 if value.dtype.kind in "iu" else 1e-3 * np.abs(want).max()  # rounding may cross a whole number
        np.testing.assert_allclose(value.astype(float), want.astype(float), rtol=1e-3, atol=atol, err_msg=name)


def test_comparing_knows_the_other_outputs(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [f"--model={model}", f"--output={tmp_path}/m", "--compare", "--out_nodes=relu:0", "--output_type=FP16"]
    ge_compiler.run(arguments)
    assert "onnxruntime" in capsys.readouterr().out


def test_an_input_that_is_an_output_too(tmp_path: Path) -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="relu")], "g", [x], [y, x])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "model.onnx")
    value = np.array([-1.0, 0.5, 2.0, -3.5], np.float32)
    outputs = Runtime().run(compiled(tmp_path / "model.onnx", tmp_path, "--output_type=FP16"), {"x": value})
    assert [each.dtype for each in outputs.values()] == [np.float16, np.float16]
    assert (outputs["x"] == value).all() and (outputs["y"] == np.maximum(value, 0)).all()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--out_nodes=rellu:0"], "GE2040", "near it are 'relu:0'"),
        (["--out_nodes=relu:1"], "GE2040", "has no output 1"),
        (["--out_nodes=x"], "GE2040", "'x'"),
        (["--out_nodes=relu:0;relu"], "GE2040", "named before"),
        (["--output_type=FP8"], "GE2041", "'FP8'"),
        (["--output_type=relu:0:FP16"], "GE2003", "without --out_nodes"),
        (["--out_nodes=relu", "--output_type=conv:0:FP16"], "GE2040", "'conv:0' is no output"),
    ],
)
def test_what_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str], code: str, words: str
) -> None:
    check_refused(model, tmp_path, capsys, options, code, words)
