"""The viewer Netron opens our OM files and shows the graph, the names and every weight."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ge.ir.parser import parse_module
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import write_module

FOLDER = Path(__file__).parent


def netron(file: Path) -> Any:
    """What Netron shows of a file, as `netron_check.mjs` describes it."""
    node, package = shutil.which("node"), find_spec("netron")
    if node is None:
        pytest.fail("this test needs node (version 20 or newer) on the PATH: Netron is written in JavaScript")
    if package is None or package.submodule_search_locations is None:
        pytest.fail("this test needs the package netron: pip install netron")
    script = FOLDER / "netron_check.mjs"
    command = [node, str(script), package.submodule_search_locations[0], str(file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_netron_shows_the_whole_model(tmp_path: Path) -> None:
    file = tmp_path / "small.om"
    write_module(parse_module(FOLDER / "inputs" / "small.mlir"), file)
    shown = netron(file)
    assert shown["format"] == "DaVinci OM"
    (graph,) = shown["graphs"]
    assert graph["name"] == "small"
    assert [(node["type"], node["name"], node["inputs"]) for node in graph["nodes"]] == [
        ("Data", "x", []),
        ("HostCall", "add", ["x:0", "w:0"]),
        ("Reshape", "view", ["add:0"]),
        ("NonZero", "nonzero", ["view:0"]),
        ("NetOutput", "NetOutput", ["add:0", "nonzero:0"]),
    ]
    assert graph["nodes"][1]["outputs"] == ["add:0 float32[4]"]
    assert graph["nodes"][1]["attributes"] == {
        "_datadump_original_op_names": "add, relu",
        "_tbe_kernel_name": "host.add",
        "alpha": "1.5",
        "flag": "true",
        "lists": "[ 1, 2 ], []",
        "mode": "mode",
        "names": "a, b",
        "pads": "0, 1",
    }
    digest = hashlib.sha256(read_model(file).weights[:16]).hexdigest()
    assert graph["tensors"] == [{"name": "w:0", "type": "float32[4]", "bytes": 16, "sha256": digest}]


def test_a_file_that_netron_cannot_open_fails_the_check(tmp_path: Path) -> None:
    file = tmp_path / "broken.om"
    file.write_bytes(b"IMOD" + bytes(300))
    with pytest.raises(AssertionError, match="model definition"):
        netron(file)
