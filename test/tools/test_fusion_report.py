"""--fusion_report, --explain-fusion and switches, as ge-opt and ge-compiler take them (needs 58 and 66)."""

from __future__ import annotations

import json
import logging
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import ModelBuilder

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.tools import ge_compiler, ge_opt

CHANNELS, SIDE = 16, 8
BYTES = 4 * CHANNELS * SIDE * SIDE


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Conv + BatchNormalization + Relu, where a second BatchNormalization stays: its input has two users."""
    builder = ModelBuilder()
    x = builder.input("x", 1, CHANNELS, SIDE, SIDE)
    y = _conv_bn(builder, x, "1")
    y = builder.node("Relu", y, name="relu1")
    conv = builder.node("Conv", y, builder.weights(CHANNELS, CHANNELS, 1, 1), name="conv2")
    norm = builder.node("BatchNormalization", conv, *_statistics(builder), name="bn2")
    y = builder.node("Add", builder.node("Abs", norm, name="abs"), conv, name="sum")
    builder.output(builder.node("Mul", y, builder.node("Sigmoid", y, name="gate"), name="swish"))
    path = tmp_path / "model.onnx"
    onnx.save(builder.build(), path)
    return path


def _conv_bn(builder: ModelBuilder, x: str, number: str) -> str:
    y = builder.node("Conv", x, builder.weights(CHANNELS, CHANNELS, 1, 1), name=f"conv{number}")
    return builder.node("BatchNormalization", y, *_statistics(builder), name=f"bn{number}")


def _statistics(builder: ModelBuilder) -> list[str]:
    return [builder.constant(np.linspace(0.5, 1.5, CHANNELS)) for _ in range(4)]


def report_of(command: Any, tmp_path: Path, *arguments: str) -> dict[str, Any]:
    file = tmp_path / "report.json"
    command.run([*arguments, f"--fusion_report={file}"])
    return json.loads(file.read_text())


def rule(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in report["rules"] if each["rule"] == name)


def test_58_report_of_a_compilation_counts_joins_and_bytes(model: Path, tmp_path: Path) -> None:
    report = report_of(ge_compiler, tmp_path, f"--model={model}", f"--output={tmp_path}/o.om", "--report=none")
    fused = rule(report, "fuse-conv-bn-relu")
    assert (fused["effect_times"], fused["match_times"]) == (1, 2)
    (fusion,) = fused["fusions"]
    assert fusion["pass"] == "fuse-conv-bn-relu"
    assert set(fusion["nodes"]) == {"conv1", "bn1", "relu1"}
    assert fusion["operators"] == ["graph.conv2d", "graph.batch_norm", "graph.unary"]
    assert fusion["into"] == ["graph.conv2d"]
    weights, vector = 4 * CHANNELS * CHANNELS, 4 * CHANNELS
    assert fusion["bytes_before"] == (2 * BYTES + weights) + (2 * BYTES + 4 * vector) + 2 * BYTES
    assert fusion["bytes_after"] == 2 * BYTES + weights + vector
    (miss,) = fused["misses"]
    assert miss == {"nodes": ["conv2"], "reason": "the result has other users"}


def test_fusions_that_are_there_are_no_part_of_later_ones(tmp_path: Path) -> None:
    """`autofuse` joins rows with one of two fusions that `fuse-elementwise` has made."""
    builder = ModelBuilder()
    x, y, mask = (builder.input(name, 20, 64) for name in ("x", "y", "mask"))
    total = builder.node("Add", builder.node("Mul", x, builder.constant(0.5)), mask, name="masked")
    rows = builder.node("Softmax", total, axis=-1, name="rows")
    builder.output(rows, builder.node("Tanh", builder.node("Abs", y, name="abs"), name="tanh"))
    onnx.save(builder.build(), path := tmp_path / "rows.onnx")
    report = report_of(ge_compiler, tmp_path, f"--model={path}", f"--output={tmp_path}/o.om", "--report=none")
    assert len(rule(report, "fuse-elementwise")["fusions"]) == 2
    (fusion,) = rule(report, "autofuse")["fusions"]
    assert (sorted(fusion["operators"]), fusion["into"]) == (
        ["graph.cast", "graph.fusion", "graph.softmax"],
        ["graph.fusion"],
    )
    size = 20 * 64
    assert fusion["bytes_before"] - fusion["bytes_after"] == 2 * size * (2 + 2)


def test_passes_account_for_all_bytes(model: Path, tmp_path: Path) -> None:
    report = report_of(ge_compiler, tmp_path, f"--model={model}", f"--output={tmp_path}/o.om", "--report=none")
    passes = report["passes"]
    assert passes[0]["bytes_before"] == report["access_bytes"]["before"]
    assert passes[-1]["bytes_after"] == report["access_bytes"]["after"]
    for before, after in pairwise(passes):
        assert (before["bytes_after"], before["operations_after"]) == (
            after["bytes_before"],
            after["operations_before"],
        )
    (each,) = (each for each in passes if each["name"] == "fuse-conv-bn-relu")
    fused = rule(report, "fuse-conv-bn-relu")
    assert each["bytes_before"] - each["bytes_after"] == fused["bytes_before"] - fused["bytes_after"]
    assert each["rewrites"] == 1 and each["operations_before"] - each["operations_after"] == 2


def test_report_of_ge_opt(model: Path, tmp_path: Path) -> None:
    report = report_of(ge_opt, tmp_path, str(model), "-O2", "-o", f"{tmp_path}/o.mlir")
    swish = rule(report, "swish")
    assert swish["effect_times"] == 1
    assert swish["fusions"][0]["operators"] == ["Sigmoid", "Mul"] and swish["fusions"][0]["into"] == ["Swish"]
    assert swish["bytes_before"] == 5 * BYTES and swish["bytes_after"] == 2 * BYTES


def test_the_report_does_not_change_the_result(model: Path, tmp_path: Path) -> None:
    report_of(ge_opt, tmp_path, str(model), "-O3", "-o", f"{tmp_path}/a.mlir")
    ge_opt.run([str(model), "-O3", "-o", f"{tmp_path}/b.mlir"])
    first, second = ((tmp_path / name).read_text().replace("a.weights", "b.weights") for name in ("a.mlir", "b.mlir"))
    assert first == second


def test_tables_on_standard_error(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ge_opt.run([str(model), "-O2", "--fusion_report=-"])
    out, err = capsys.readouterr()
    assert out.startswith("builtin.module")
    assert any(
        line.split()[:3] == ["swish", "1", "1"] and "Sigmoid + Mul -> Swish" in line for line in err.splitlines()
    )
    assert "memory access" in err


def test_a_report_that_cannot_be_written_is_one_error(model: Path, tmp_path: Path) -> None:
    with pytest.raises(GeError) as error:
        ge_opt.run([str(model), "-O1", "-o", f"{tmp_path}/o.mlir", f"--fusion_report={tmp_path}/no/r.json"])
    assert error.value.code == "GE1003"


def test_58_switched_off_rules_do_nothing(model: Path, tmp_path: Path) -> None:
    switches = tmp_path / "switches.json"
    switches.write_text('{"Switch": {"GraphFusion": {"swish": "off"}, "UBFusion": {"ALL": "off"}}}')
    arguments = [f"--model={model}", f"--output={tmp_path}/o.om", f"--fusion_switch_file={switches}", "--report=none"]
    report = report_of(ge_compiler, tmp_path, *arguments)
    assert {"swish", "fuse-conv-bn-relu"} <= set(report["switched_off"])
    assert not {"swish", "fuse-conv-bn-relu", "recognise-activations"} & {each["rule"] for each in report["rules"]}


def test_66_near_misses_are_explained(model: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ge_compiler.run(
        [f"--model={model}", f"--output={tmp_path}/o.om", "--explain-fusion=fuse-conv-bn-relu,mish", "--report=none"]
    )
    assert capsys.readouterr().err.splitlines() == [
        "fuse-conv-bn-relu: applied 1 time, 1 near match",
        "  node 'conv2': the result has other users",
        "mish: applied no times, no near matches",
    ]


def test_ge_opt_explains_rules_from_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = """func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %gate = onnx.Sigmoid(%x) : (tensor<2xf32>) -> tensor<2xf32>
      %y = onnx.Mul(%x, %gate) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %y, %gate : tensor<2xf32>, tensor<2xf32>
    }"""
    file = tmp_path / "m.mlir"
    file.write_text(text)
    ge_opt.run([str(file), "-O2", "--explain-fusion=swish"])
    out, err = capsys.readouterr()
    assert "onnx.Swish" not in out
    assert err.splitlines()[0] == "swish: applied no times, 1 near match"
    assert err.splitlines()[1].startswith(f"  {file}:3:7") and err.endswith("is an output, too\n")


@pytest.mark.parametrize(
    ("name", "level", "tried"),
    [
        *(("swish", level, level == "-O2") for level in ("-O1", "-O2")),
        *(("recognise-swish", level, level == "-O2") for level in ("-O1", "-O2")),
        ("onnx-cse", "-O1", True),
        ("fold-conv-bn", "-O2", False),
    ],
)
def test_what_was_not_tried_is_said(
    name: str, level: str, tried: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "m.mlir"
    file.write_text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}\n")
    ge_opt.run([str(file), level, f"--explain-fusion={name}"])
    assert ("it was not tried" in capsys.readouterr().err) is not tried


def test_unknown_rules_are_answered_with_near_ones(model: Path) -> None:
    with pytest.raises(GeError, match=r"no rule or pass 'swisch'; near it are 'swish'"):
        ge_opt.run([str(model), "-O2", "--explain-fusion=swisch"])


def test_log_lines(model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ge.fusion"):
        ge_compiler.run([f"--model={model}", f"--output={tmp_path}/o.om", "--report=none"])
    assert "Fuse Conv2D(16) + BatchNorm + ReLU -> FusedConv2D" in caplog.messages
    assert any(message.startswith("memory access -") and "% by fusion" in message for message in caplog.messages)


def test_levels_of_ge_opt(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts: list[int] = []
    for level in ("-O0", "--oo_level=O1", "--oo_level=2", "-O3"):
        ge_opt.run([str(model), level, "-o", f"{tmp_path}/o.mlir"])
        counts.append(sum(op.name.startswith("onnx.") for op in parse_module(tmp_path / "o.mlir").walk()))
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]
    printed: list[str] = []
    for option in ("-O2", "--oo_level=O2"):
        ge_opt.run([option, "--print-pipeline"])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    ge_opt.run([str(model), "-p", printed[0], "-o", f"{tmp_path}/p.mlir"])
    ge_opt.run([str(model), "-O2", "-o", f"{tmp_path}/l.mlir"])
    texts = [(tmp_path / name).read_text().replace("p.weights", "l.weights") for name in ("p.mlir", "l.mlir")]
    assert texts[0] == texts[1]
    with pytest.raises(GeError, match="'O5' is no optimisation level"):
        ge_opt.run([str(model), "-O5"])
