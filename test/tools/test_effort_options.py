"""Options that say how much is done for speed: each changes the program, and none of them the numbers."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx_models import ModelBuilder

from ge import Runtime
from ge.tools import ge_compiler


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Convolutions with elementwise operations between them, a sum, and an operator without a kernel."""
    builder = ModelBuilder()
    x = builder.input("x", 1, 16, 14, 14)
    first = builder.node("Conv", x, builder.weights(48, 16, 3, 3, scale=0.1), pads=[1, 1, 1, 1], name="first")
    gate = builder.node("Sigmoid", first, name="gate")
    swish = builder.node("Mul", builder.node("Tanh", first, name="tanh"), gate, name="product")
    second = builder.node("Conv", swish, builder.weights(48, 48, 3, 3, scale=0.1), pads=[1, 1, 1, 1], name="second")
    total = builder.node("Add", second, swish, name="sum")
    builder.output(builder.node("CumSum", total, builder.constant(1, np.int64), name="y"))
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(builder.build(), path)
    return path


@pytest.fixture(scope="module")
def usual(model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The facts of a compilation, and of a run, without any of the options."""
    text = io.StringIO()
    with redirect_stdout(text):
        ge_compiler.run([f"--model={model}", f"--output={tmp_path_factory.mktemp('usual')}/m", "--json", "--run"])
    return json.loads(text.getvalue())


def facts_of(capsys: pytest.CaptureFixture[str], model: Path, folder: Path, *options: str) -> dict[str, Any]:
    ge_compiler.run([f"--model={model}", f"--output={folder}/model", "--json", "--run", *options])
    return json.loads(capsys.readouterr().out)


def outputs_of(model: Path, folder: Path) -> tuple[Any, Any]:
    """What the OM file gives, and what it should."""
    inputs = {"x": np.random.default_rng(2).standard_normal((1, 16, 14, 14)).astype(np.float32)}
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return Runtime().run(f"{folder}/model.om", inputs)["y"], session.run(None, inputs)[0]


@pytest.mark.parametrize("option", ["--format_optimize=ND", "--kernel_optimize_level=low", "--tiling_optimize_level=0"])
def test_less_effort_takes_more_cycles_for_the_same_numbers(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], usual: dict[str, Any], option: str
) -> None:
    less = facts_of(capsys, model, tmp_path, option)
    assert less["run"]["cycles"] > usual["run"]["cycles"]
    if option == "--kernel_optimize_level=low":
        assert less["compilation"]["launches"] > usual["compilation"]["launches"]
        assert not less["compilation"]["memory"]["double_buffer"]
    got, want = outputs_of(model, tmp_path)
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=2e-3 * np.abs(want).max())  # CumSum adds up 48 channels


def test_usual_effort_by_name(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], usual: dict[str, Any]
) -> None:
    options = ("--format_optimize=NC1HWC0", "--kernel_optimize_level=high", "--tiling_optimize_level=1")
    assert facts_of(capsys, model, tmp_path, *options)["run"]["cycles"] == usual["run"]["cycles"]


def test_where_operators_run(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ge_compiler.run([f"--model={model}", f"--output={tmp_path}/model", "--json", "--op_debug_log=true"])
    rows = {row["nodes"]: row for row in json.loads(capsys.readouterr().out)["operators"]}
    assert rows["y"]["runs on"] == "host" and "no kernel" in rows["y"]["how"]
    assert any(row["runs on"] == "AI Core" and "second" in nodes.split() for nodes, row in rows.items())
    ge_compiler.run([f"--model={model}", f"--output={tmp_path}/model", "--report=none", "--op_debug_log=true"])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].split() == ["operator", "nodes", "runs", "on", "how"] and len(lines) == len(rows) + 1


def test_why_an_operator_stays_in_float32(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "keep.txt").write_text("gate\n")
    options = ["--json", "--op_debug_log=true", f"--keep_dtype={tmp_path}/keep.txt"]
    ge_compiler.run([f"--model={model}", f"--output={tmp_path}/model", *options])
    (row,) = (row for row in json.loads(capsys.readouterr().out)["operators"] if row["operator"] == "Sigmoid")
    assert row["nodes"] == "gate" and row["runs on"] == "host" and "keeps the precision" in row["how"]


@pytest.mark.parametrize(
    ("option", "code", "words"),
    [
        ("--format_optimize=NHWC", "GE2009", "--format_optimize=NHWC is not supported"),
        ("--tiling_optimize_level=2", "GE2009", "--tiling_optimize_level=2 is not supported"),
        ("--kernel_optimize_level=middle", "GE2006", "'middle'"),
        ("--op_debug_log=yes", "GE2006", "'yes'"),
        ("--log=trace", "GE2006", "'trace'"),
        ("--framework=3", "GE2009", "--framework=3 is not supported"),
    ],
)
def test_what_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, code: str, words: str
) -> None:
    with pytest.raises(SystemExit) as exit:
        ge_compiler.main([f"--model={model}", f"--output={tmp_path}/out", option])
    lines = capsys.readouterr().err.splitlines()
    assert exit.value.code == 1 and len(lines) == 3 and f"[{code}]" in lines[0] and words in lines[0]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--framework=3", "0 is Caffe, 1 MindSpore, 3 TensorFlow and 5 ONNX"),
        ("--format_optimize=NHWC", "16 channels"),
        ("--tiling_optimize_level=2", "estimate"),
    ],
)
def test_reasons_are_told(option: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ge_compiler.main(["--model=x.onnx", option])
    assert reason in capsys.readouterr().err.splitlines()[1]


def test_modes_of_atc(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.om"
    for mode, options, made in [
        ("0", [f"--model={model}", f"--output={file}", "--framework=5"], "m.om"),
        ("1", [f"--om={file}", f"--json={tmp_path}/m.json"], "m.json"),
        ("3", [f"--model={model}", f"--check_report={tmp_path}/check.json"], "check.json"),
        ("6", [f"--om={file}"], "m.om"),
    ]:
        ge_compiler.run([f"--mode={mode}", *options])
        assert (tmp_path / made).stat().st_size and (mode == "1" or capsys.readouterr().out)
