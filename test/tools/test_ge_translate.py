"""ge-translate: model files to text and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from ge.tools import ge_opt, ge_translate

SMALL_OM_MODULE = Path(__file__).resolve().parents[1] / "targets" / "ascend" / "om" / "inputs" / "small.mlir"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of one convolution with a large and a small constant, and names in another script."""
    weight = np.random.default_rng(0).standard_normal((8, 4, 3, 3)).astype(np.float32)
    bias = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 1, -1], np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["输入", "w", "b"], ["y"], "卷积/1", pads=[1, 1, 1, 1])],
        "图",
        [helper.make_tensor_value_info("输入", TensorProto.FLOAT, [1, 4, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 8, 8])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    return path


def load(path: Path) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(path.read_bytes())


def initializers(path: Path) -> dict[str, bytes]:
    return {each.name: numpy_helper.to_array(each).tobytes() for each in load(path).graph.initializer}


@pytest.mark.parametrize("weights", [[], ["--inline-weights"]], ids=["side file", "inline"])
def test_a_model_survives_text(model: Path, weights: list[str]) -> None:
    text, back = model.with_name("model.mlir"), model.with_name("back.onnx")
    ge_translate.run(["--onnx-to-mlir", str(model), *weights, "-o", str(text)])
    ge_translate.run(["--mlir-to-onnx", str(text), "-o", str(back)])
    onnx.checker.check_model(load(back), full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert initializers(back) == initializers(model)
    (node,) = [node for node in load(back).graph.node if node.op_type == "Conv"]
    assert (node.name, node.input[0]) == ("卷积/1", "输入")


def test_text_refers_to_the_constants_of_the_model(model: Path) -> None:
    text = model.with_name("model.mlir")
    ge_translate.run(["--onnx-to-mlir", str(model), "-o", str(text)])
    assert '#ge.weights<"model.onnx", ' in text.read_text(encoding="utf-8")
    assert not model.with_name("model.weights").exists()


def test_ge_opt_reads_and_writes_models(model: Path) -> None:
    back = model.with_name("back.onnx")
    ge_opt.run([str(model), "-o", str(back)])
    assert initializers(back) == initializers(model)


def test_an_om_file_survives_text(tmp_path: Path) -> None:
    """Text to .om, by ge-opt and by ge-translate, and back: the same bytes, the same text."""
    first, second, text = tmp_path / "first.om", tmp_path / "second.om", tmp_path / "text.mlir"
    ge_opt.run([str(SMALL_OM_MODULE), "-o", str(first)])
    ge_translate.run(["--om-to-mlir", str(first), "-o", str(text)])
    ge_translate.run(["--mlir-to-om", str(text), "-o", str(second)])
    assert first.read_bytes() == second.read_bytes()
    ge_opt.run([str(second), "--inline-weights", "-o", str(tmp_path / "again.mlir")])
    assert "om.model @small" in (tmp_path / "again.mlir").read_text(encoding="utf-8")


def test_a_missing_model_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        ge_translate.main(["--onnx-to-mlir", str(tmp_path / "no.onnx")])
    assert stop.value.code == 1
    assert "no.onnx': No such file or directory [GE1001]" in capsys.readouterr().err


def test_a_broken_model_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(SystemExit) as stop:
        ge_translate.main(["--onnx-to-mlir", str(tmp_path / "broken.onnx")])
    assert stop.value.code == 1
    assert "error: " in (message := capsys.readouterr().err)
    assert "[GE1" in message
    assert "Traceback" not in message
