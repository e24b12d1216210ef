"""What ge-compiler shows while it works, and its quiet and JSON forms."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx_models import ModelBuilder

from ge.targets.ascend.om.file import OmFile
from ge.tools import ge_compiler
from ge.tools.compilation import STAGES
from ge.tools.progress import Drawn, Lines, show_progress

NAMES = [stage.name for stage in STAGES]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = ModelBuilder()
    x = builder.input("x", 1, 3, 8, 8)
    builder.output(builder.node("Relu", builder.node("Conv", x, builder.weights(4, 3, 3, 3), name="conv"), name="y"))
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(builder.build(), path)
    return path


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str, int]:
    """What a command prints on standard output and standard error, and its status."""
    status = 0
    try:
        ge_compiler.main(arguments)
    except SystemExit as exit:
        status = int(exit.code or 0)
    captured = capsys.readouterr()
    return captured.out, captured.err, status


def test_a_line_for_each_stage(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err, _ = output_of(capsys, f"--model={model}", f"--output={tmp_path}/m")
    lines = [re.fullmatch(r"\[ ?(\d+)/11\] (\S+) +\d+\.\d\d s +\d+%", line) for line in err.splitlines()]
    assert [match and match[2] for match in lines] == NAMES
    assert "stage" in out and "[ 1/11]" not in out


def test_shares_are_those_of_the_time_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(2)
    lines.end("a", 3.0)
    lines.end("b", 1.0)
    assert [line.split()[-1] for line in capsys.readouterr().err.splitlines()] == ["100%", "25%"]
    lines = Lines(1)
    lines.end("nothing", 0.0)
    assert capsys.readouterr().err.endswith(" 0%\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_table_that_vanishes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("logging.Logger.hasHandlers", lambda _self: False)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress(3) as progress:
        assert isinstance(progress, Drawn)
        progress.begin("first")
        progress.end("first", 2.0)
        progress.begin("second")
    text = terminal.getvalue()
    assert "1/3" in text and "first" in text and "second ..." in text and "\x1b[2K" in text


@pytest.mark.parametrize("options", [["--quiet"], ["--report=none"]])
def test_quiet(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str]) -> None:
    assert output_of(capsys, f"--model={model}", f"--output={tmp_path}/m", *options) == ("", "", 0)
    assert (tmp_path / "m.om").is_file()
    out, err, status = output_of(capsys, "--model=missing.onnx", *options)
    assert out == "" and len(err.splitlines()) == 3 and status == 1


def test_json_is_one_object(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err, status = output_of(capsys, "--json", f"--model={model}", f"--output={tmp_path}/m", "--compare")
    facts = json.loads(out)
    assert (err, status) == ("", 0)
    assert facts["output"] == f"{tmp_path}/m.om" and "error" not in facts
    assert [stage["name"] for stage in facts["compilation"]["stages"]] == NAMES
    assert all(stage["seconds"] >= 0 and 0 <= stage["share"] <= 1 for stage in facts["compilation"]["stages"])
    assert facts["compilation"]["memory"]["bytes"] > 0 and facts["compilation"]["file_bytes"] > 0
    assert facts["agreement"][0]["passed"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--model=missing.onnx"], "GE1001"),
        (["--modell=x"], "GE2007"),
        (["--model=x", "--quiet"], "GE2003"),
        (["--model=x", "--report=text"], "GE2003"),
        (["--mode=3", "--model=missing.onnx"], "GE4003"),
        (["--mode", "6", "--om=missing.om"], "GE1001"),
        (["--version", "extra"], "GE2007"),
    ],
)
def test_errors_are_json_too(arguments: Sequence[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, err, status = output_of(capsys, *arguments, "--json")
    error = json.loads(out)["error"]
    assert (error["code"], err, status) == (code, "", 1)
    assert error["what"] and error["why"] and error["remedy"]


def test_faults_are_json_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_arguments: Any, **_options: Any) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(ge_compiler, "compile_options", fail)
    out, _, status = output_of(capsys, "--model=x", "--json")
    assert (json.loads(out)["error"]["code"], status) == ("GE9001", 1)


def test_other_modes_as_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = f"{tmp_path}/m.om"
    output_of(capsys, f"--model={model}", f"--output={file}", "--quiet")
    assert json.loads(output_of(capsys, "--mode=6", f"--om={file}", "--json")[0])["size"] == Path(file).stat().st_size
    assert json.loads(output_of(capsys, "--mode=3", f"--model={model}", "--json")[0])["model"] == str(model)
    assert json.loads(output_of(capsys, "--version", "--json")[0])["version"]
    assert (
        "infer-shapes" in json.loads(output_of(capsys, "--print-pipeline", f"--model={model}", "--json")[0])["pipeline"]
    )
    for json_file in ([f"--json={tmp_path}/a.json"], ["--json", f"{tmp_path}/a.json"]):
        for mode in (["--mode=1"], ["--mode", "1"]):
            (tmp_path / "a.json").unlink(missing_ok=True)
            assert output_of(capsys, *mode, f"--om={file}", *json_file) == ("", "", 0)
            assert len(json.loads((tmp_path / "a.json").read_text())["graph"][0]["op"]) == len(
                OmFile.open(file).operators
            )
    assert "--json=FILE is missing" in output_of(capsys, "--mode=1", f"--om={file}", "--json")[1]
    assert "[GE2003]" in output_of(capsys, f"--model={model}", "--json=x.json")[1]


def test_rich_is_loaded_only_for_a_terminal() -> None:
    program = "import sys, ge.tools.ge_compiler as c; c.main(['--version']); assert 'rich' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
