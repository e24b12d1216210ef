"""The option --target-opset of the commands."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx_models import ModelBuilder

from ge.tools import ge_opt, ge_translate


@pytest.fixture
def model(tmp_path: Path) -> Path:
    builder = ModelBuilder(opset=20)
    builder.output(builder.node("Gelu", builder.input("x", 2, 3), name="gelu"))
    path = tmp_path / "model.onnx"
    onnx.save_model(builder.build(), path)
    return path


@pytest.fixture
def sampling(tmp_path: Path) -> Path:
    builder = ModelBuilder(opset=20)
    x, grid = builder.input("x", 1, 1, 4, 4), builder.input("grid", 1, 4, 4, 2)
    builder.output(builder.node("GridSample", x, grid, name="sample"))
    path = tmp_path / "sampling.onnx"
    onnx.save_model(builder.build(), path)
    return path


def opset(path: Path) -> int:
    model = onnx.load_model(path)
    onnx.checker.check_model(model, full_check=True)
    return model.opset_import[0].version


def test_ge_opt(model: Path, tmp_path: Path) -> None:
    ge_opt.run([str(model), "--infer-shapes", "--target-opset=13", "-o", str(tmp_path / "out.onnx")])
    assert opset(tmp_path / "out.onnx") == 13


def test_ge_translate(model: Path, tmp_path: Path) -> None:
    ge_translate.run(["--onnx-to-mlir", str(model), "-o", str(tmp_path / "model.mlir")])
    command = ["--mlir-to-onnx", str(tmp_path / "model.mlir"), "--target-opset", "11", "-o", str(tmp_path / "out.onnx")]
    ge_translate.run(command)
    assert opset(tmp_path / "out.onnx") == 11


def test_what_the_user_sees(sampling: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ge_opt.main([str(sampling), "--target-opset=13", "-o", str(tmp_path / "out.onnx")])
    shown = capsys.readouterr().err
    assert "GridSample cannot be written for opset 13: GridSample does not exist before opset 16" in shown
    assert "(node 'sample' (GridSample)) [GE1021]" in shown
    assert "fix: Give --target-opset=16 or more" in shown
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize("option", ["--target-opset=10", "--target-opset=99"])
def test_opsets_out_of_range(option: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ge_opt.main([str(model), option, "-o", str(tmp_path / "out.onnx")])
    assert "is not between 11 and" in capsys.readouterr().err


def test_text_has_no_opset(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ge_opt.main([str(model), "--target-opset=13"])
    assert "--target-opset=13 is for .onnx output, not for .mlir [GE2006]" in capsys.readouterr().err
