"""Networks that come with the onnx package, compiled, simulated and compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge.tools import ge_compiler
from ge.tools.example import model_folder


@pytest.mark.parametrize("name", ["resnet50", "squeezenet"])
def test_light_models_agree_with_onnxruntime(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ge_compiler.run([f"--model={model_folder() / f'light_{name}.onnx'}", f"--output={tmp_path}/{name}.om", "--compare"])
    assert ": agrees: cosine 1.00" in capsys.readouterr().out
