"""The viewer Netron opens our OM files and shows the graph, the names and every weight."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from netron_viewer import netron

from ge.ir.parser import parse_module
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import write_module

FOLDER = Path(__file__).parent


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
        "value": "2",
    }
    digest = hashlib.sha256(read_model(file).weights[:16]).hexdigest()
    assert graph["tensors"] == [{"name": "w:0", "type": "float32[4]", "bytes": 16, "sha256": digest}]


def test_a_file_that_netron_cannot_open_fails_the_check(tmp_path: Path) -> None:
    file = tmp_path / "broken.om"
    file.write_bytes(b"IMOD" + bytes(300))
    with pytest.raises(AssertionError, match="model definition"):
        netron(file)
