"""ge-reduce: a failing model becomes the one operation that fails."""

from __future__ import annotations

import sys
from pathlib import Path

import onnx
import pytest
from planted_fault import planted

from ge.ir.registry import context
from ge.tools import cli
from ge.tools.ge_reduce import main
from ge.tools.reductions import REDUCTIONS, size


def test_pass_that_changes_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, plugin = planted(tmp_path)
    small = tmp_path / "small.mlir"
    main([str(model), f"--load-plugin={plugin}", "--planted", "-o", str(small)])
    assert "30 operations -> 1" in capsys.readouterr().out
    text = small.read_text()
    assert text.count("= onnx.") == 1 and 'loc("abs_7")' in text


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command fails (status 3) where a file names the node sub_3."""
    model, _ = planted(tmp_path)
    script = tmp_path / "fails.py"
    script.write_text("import sys\nsys.exit(3 * ('\"sub_3\"' in open(sys.argv[1]).read()))\n")
    small = tmp_path / "small.mlir"
    main([str(model), "--command", f"{sys.executable} {script} {{}}", "-o", str(small)])
    text = small.read_text()
    assert text.count("= onnx.") == 1 and 'loc("sub_3")' in text


def test_the_small_model_is_written_as_its_name_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, plugin = planted(tmp_path)
    small = tmp_path / "small.onnx"
    main([str(model), f"--load-plugin={plugin}", "--planted", "-o", str(small)])
    assert "30 operations -> 1" in capsys.readouterr().out
    assert [node.op_type for node in onnx.load(small).graph.node] == ["Abs"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--onnx-dce"], "GE2010"),
        ([], "GE2008"),
        (["--command", "false"], "GE2006"),
        (["--command", "true {}"], "GE2010"),
        (["--command", "false {}", "--onnx-dce"], "GE2003"),
        (["-p", "onnx-dce", "--onnx-cse"], "GE2003"),
        (["--onnx-dse"], "GE2001"),
        (["--command="], "GE2006"),
    ],
)
def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: str) -> None:
    model, _ = planted(tmp_path)
    with pytest.raises(SystemExit):
        main([str(model), *options])
    assert f"[{code}]" in capsys.readouterr().err


def test_every_reduction_leaves_a_valid_module(tmp_path: Path) -> None:
    from ge.ir.verifier import verify_module

    model, _ = planted(tmp_path)
    module = cli.read_module(str(model), context())
    for reduction in REDUCTIONS:
        position, changed = 0, 0
        while (done := reduction(candidate := module.clone(), position)) is not None:
            if done:
                verify_module(candidate)
                assert size(candidate) != size(module)
                changed += 1
            position += 1
        assert changed or reduction.__name__ in ("fewer_outputs", "fewer_attributes", "plain_constants")
