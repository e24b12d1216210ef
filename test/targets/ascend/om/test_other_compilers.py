"""OM files of other compilers: whole ones are shown, damaged ones refused or their problems named; none is run."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from om_samples import SAMPLES

from ge.ir.errors import GeError
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.reader import read_model
from ge.tools import ge_compiler, ge_run, ge_translate
from ge.tools.ge_om import run
from ge.tools.om_difference import differences
from ge.tools.om_inspection import om_facts


def problems_of(path: Path) -> list[str]:
    file = OmFile.open(path)
    assert file.kernels is not None
    return om_facts(file)["problems"]


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_shown_or_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, expected = SAMPLES[name]
    path = tmp_path / "sample.om"
    path.write_bytes(data)
    if isinstance(expected, str):
        with pytest.raises(GeError) as error:
            problems_of(path)
        assert error.value.code == expected and error.value.where == str(path)
        return
    found = problems_of(path)
    assert all(any(part in problem for problem in found) for part in expected), found
    assert bool(found) is bool(expected), found
    for command in (["info"], ["info", "--json"], ["json"], ["dump", "--all"]):
        run([command[0], str(path), *command[1:]])
    run(["extract", str(path), "-o", str(tmp_path / "parts")])
    run(["diff", str(path), str(path)])
    assert "the files say the same" in capsys.readouterr().out
    ge_compiler.run(["--mode=6", f"--om={path}"])
    assert capsys.readouterr().out.count("problem: ") == len(found)
    ge_compiler.run(["--mode=1", f"--om={path}", f"--json={tmp_path / 'model.json'}"])
    assert json.loads((tmp_path / "model.json").read_text())["name"] == "demo"


@pytest.mark.parametrize("name", [name for name, (_, expected) in SAMPLES.items() if isinstance(expected, str)])
def test_damaged_samples_are_refused_by_every_command(name: str, tmp_path: Path) -> None:
    """Text holds kernels and messages that cannot be decoded as bytes; the run time reads files of one model only."""
    data, code = SAMPLES[name]
    path = str(tmp_path / "sample.om")
    Path(path).write_bytes(data)
    commands: dict[str, Callable[[], None]] = {
        "info": partial(run, ["info", path]),
        "extract": partial(run, ["extract", path, "-o", str(tmp_path / "parts")]),
        "mode": partial(ge_compiler.run, ["--mode=6", f"--om={path}"]),
        "text": partial(ge_translate.run, ["--om-to-mlir", path, "-o", str(tmp_path / "sample.mlir")]),
        "run": partial(ge_run.run, [path]),
    }
    for command, act in commands.items():
        if command == "text" and name in ("kernels cut off", "tasks are no message"):
            act()
            continue
        with pytest.raises(GeError) as error:
            act()
        assert error.value.code == code or (command == "run" and error.value.code in ("GE5004", "GE5008")), command


@pytest.mark.parametrize("name", [name for name, (_, expected) in SAMPLES.items() if not isinstance(expected, str)])
def test_files_of_other_compilers_are_not_run(name: str) -> None:
    with pytest.raises(GeError) as error:
        read_model(SAMPLES[name][0])
    assert error.value.code in ("GE5004", "GE5006", "GE5008")


def test_a_file_of_three_models_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "sample.om"
    path.write_bytes(SAMPLES["three models"][0])
    facts = om_facts(OmFile.open(path))
    assert facts["models"] == 3 and [part["name"] for part in facts["partitions"]].count("MODEL_DEF") == 3
    assert sum(part["size"] for part in facts["partitions"]) == facts["size"]
    ends = [part["offset"] + part["size"] for part in facts["partitions"]]
    assert [part["offset"] for part in facts["partitions"]] == [0, *ends[:-1]]


def test_facts_of_another_compiler(tmp_path: Path) -> None:
    path = tmp_path / "sample.om"
    path.write_bytes(SAMPLES["wide"][0])
    facts: dict[str, Any] = om_facts(OmFile.open(path))
    assert sum(part["size"] for part in facts["partitions"]) == facts["size"] == path.stat().st_size
    assert (facts["table"], facts["soc"], facts["streams"], facts["events"]) == ("64-bit", "Ascend310P3", 1, 2)
    assert facts["command"] == "atc --model=demo.onnx"
    assert facts["operators"] == {"Const": 2, "Conv2D": 1, "Data": 1, "NetOutput": 1, "Relu": 1}
    tensor = {"type": "float", "format": "NCHW"}
    assert facts["inputs"] == [{"name": "x", "shape": [1, 1, 4, 4], **tensor}]
    assert facts["outputs"] == [{"name": "relu:0", "shape": [1, 2, 3, 3], **tensor}]


@pytest.mark.parametrize("name", ["aligned to 32 bytes", "zero bytes at the end", "partition at 24 bytes"])
def test_what_aligns_partitions_is_shown(name: str, tmp_path: Path) -> None:
    """So that the sizes add up to that of the file, and each offset is the end of what is before it."""
    path = tmp_path / "sample.om"
    path.write_bytes(SAMPLES[name][0])
    facts = om_facts(OmFile.open(path))
    ends = [part["offset"] + part["size"] for part in facts["partitions"]]
    assert [part["offset"] for part in facts["partitions"]] == [0, *ends[:-1]] and ends[-1] == facts["size"]
    assert any(part["name"] == "(zero bytes)" for part in facts["partitions"])


@pytest.mark.parametrize("name", ["three models", "flow of models"])
def test_a_difference_in_any_of_several_models_is_found(name: str, tmp_path: Path) -> None:
    """The last one has another byte at its end."""
    data = SAMPLES[name][0]
    paths = [tmp_path / "a.om", tmp_path / "b.om"]
    for path, content in zip(paths, (data, data[:-1] + bytes([data[-1] ^ 1])), strict=True):
        path.write_bytes(content)
    (found,) = differences(*map(OmFile.open, paths))
    last = "TASK_INFO 3" if name == "three models" else "FLOW_SUBMODEL 2"
    assert found.startswith(f"partition '{last}': ") and found.endswith("other content")
