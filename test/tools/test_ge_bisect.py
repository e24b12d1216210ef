"""ge-bisect: the planted fault is found, down to the single rewrite."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted_fault import planted

from ge.tools.ge_bisect import first_bad, main

BEFORE, AFTER = ["--infer-shapes", "--constant-fold"], ["--onnx-dce", "--convert-onnx-to-graph"]


@pytest.mark.parametrize("against", ["onnxruntime", "definition"])
def test_planted_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str], against: str) -> None:
    model, plugin = planted(tmp_path)
    before = tmp_path / "before.mlir"
    options = [f"--load-plugin={plugin}", "--against", against, "-o", str(before)]
    with pytest.raises(SystemExit) as stop:
        main([str(model), *options, *BEFORE, "--planted", *AFTER])
    output = capsys.readouterr()
    assert stop.value.code == 1
    assert "pass 3 of 5 breaks the model: --planted" in output.out
    assert "rewrite 8 is the first wrong one: 'planted-rule' at node 'abs_7'" in output.out
    assert "[GE3014]" in output.err
    assert "onnx.Abs" in before.read_text() and "onnx.Relu" not in before.read_text()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--against=none.onnx"], "GE1001"),
        (["--onnx-dse"], "GE2001"),
        (["-p", "onnx-dce", "--onnx-cse"], "GE2003"),
    ],
)
def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: str) -> None:
    model, _ = planted(tmp_path)
    with pytest.raises(SystemExit):
        main([str(model), *options])
    assert f"[{code}]" in capsys.readouterr().err


def test_a_model_that_nothing_breaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, _ = planted(tmp_path)
    main([str(model), *BEFORE, "--fusion-rules", *AFTER])
    assert "all 5 passes keep the numbers" in capsys.readouterr().out


def test_single_lowering(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators that are not lowered run on the host, so that the wrong lowering is found among the right ones."""
    from ge.lowering.onnx_to_graph import convert

    model, _ = planted(tmp_path)
    right = convert.RULES["Sub"]

    def wrong(op: object, emit: object) -> object:
        return convert.RULES["Add"](op, emit) if "sub_4" in str(getattr(op, "location", "")) else right(op, emit)  # pyright: ignore[reportArgumentType]

    monkeypatch.setitem(convert.RULES, "Sub", wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SystemExit):
        main([str(model), "--convert-onnx-to-graph"])
    assert "'lowering of Sub' at node 'sub_4'" in capsys.readouterr().out


def test_onnxruntime_runs_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.mlir"
    file.write_text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}\n")
    with pytest.raises(SystemExit):
        main([str(file), "--against", "onnxruntime", "--onnx-dce"])
    assert "[GE2006]" in capsys.readouterr().err


@pytest.mark.parametrize("bad", range(1, 18))
def test_search(bad: int) -> None:
    asked: list[int] = []
    assert first_bad(17, lambda n: asked.append(n) or n < bad) == bad
    assert len(asked) <= 5
