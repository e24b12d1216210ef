"""Weights beside the OM file: found, checked, and the same to everything that reads OM files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from netron_viewer import netron
from onnx_models import ModelBuilder

from ge import Runtime
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.external_weights import plain_name
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.reader import read_model, read_module
from ge.targets.ascend.om.writer import model_bytes, write_module
from ge.tools import ge_compiler, ge_om, ge_translate
from ge.tools.om_difference import differences
from ge.tools.om_extract import device_model
from ge.tools.om_inspection import om_facts

TEXT = (Path(__file__).parent / "inputs" / "small.mlir").read_text()
EXTERNAL = parse_module(TEXT.replace("om.weights", 'om.weights external "small"'))
X = np.array([-3, 2, -9, 1], np.float32)


@pytest.fixture
def om(tmp_path: Path) -> Path:
    path = tmp_path / "model.om"
    write_module(EXTERNAL, path)
    return path


@pytest.fixture
def weights(om: Path) -> Path:
    (path,) = om.parent.glob("*.weights")
    return path


def test_the_weights_are_beside_the_file(om: Path, weights: Path) -> None:
    assert re.fullmatch(r"small\.[0-9a-f]{32}\.weights", weights.name)
    assert weights.read_bytes() == np.array([1, 2, 3, 4], np.float32).tobytes()
    assert PartitionType.WEIGHTS_DATA not in read_container(om.read_bytes(), "").partitions
    assert {*om.parent.iterdir()} == {om, weights}


def test_they_run_like_those_inside(om: Path) -> None:
    inside = Runtime().run(model_bytes(EXTERNAL), {"x": X})
    outputs = Runtime().run(om, {"x": X})
    assert outputs["y"].tolist() == inside["y"].tolist() == [0, 4, 0, 5]


def test_text_and_back_gives_the_same_files(om: Path, weights: Path, tmp_path: Path) -> None:
    """The text refers to the weights file; from another folder it has the bytes in it, and the result is the same."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for text in (tmp_path / "model.mlir", elsewhere / "model.mlir"):
        ge_translate.run(["--om-to-mlir", str(om), "-o", str(text)])
        assert 'om.weights external "small" #ge.weights<' in text.read_text()
        assert (weights.name in text.read_text()) is (text.parent == tmp_path)
        again = elsewhere / "again.om"
        ge_translate.run(["--mlir-to-om", str(text), "-o", str(again)])
        assert again.read_bytes() == om.read_bytes()
        assert again.with_name(weights.name).read_bytes() == weights.read_bytes()


def test_ge_om(om: Path, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = om_facts(OmFile.open(om))
    assert facts["weights_file"] == weights.name and facts["problems"] == []
    ge_compiler.run(["--mode=6", f"--om={om}"])
    assert weights.name in capsys.readouterr().out
    ge_om.run(["extract", str(om), "-o", str(tmp_path / "parts")])
    assert np.load(tmp_path / "parts" / "weights" / "w.npy").tolist() == [1, 2, 3, 4]
    inside = tmp_path / "inside.om"
    inside.write_bytes(model_bytes(EXTERNAL))
    found = differences(OmFile.open(om), OmFile.open(inside))
    assert [each for each in found if each.startswith(("weight", "operator", "kernel"))] == []
    assert "partition 'WEIGHTS_DATA': only in the second file" in found


def test_netron_shows_the_graph_without_values(om: Path) -> None:
    (graph,) = netron(om)["graphs"]
    assert [node["name"] for node in graph["nodes"]] == ["x", "add", "view", "nonzero", "NetOutput"]
    assert [(each["name"], each["type"], each["bytes"]) for each in graph["tensors"]] == [("w:0", "float32[4]", 0)]


def test_a_right_file_is_left_alone_and_a_wrong_one_replaced(om: Path, weights: Path) -> None:
    before = weights.stat().st_ino
    write_module(EXTERNAL, om)
    assert weights.stat().st_ino == before
    weights.write_bytes(b"no weights")
    write_module(EXTERNAL, om)
    assert read_model(om).weights == np.array([1, 2, 3, 4], np.float32).tobytes()


def test_other_weights_leave_those_of_the_old_file(om: Path, weights: Path) -> None:
    old = om.with_name("old.om")
    old.write_bytes(om.read_bytes())
    write_module(
        parse_module(TEXT.replace("0x0000803F", "0x00008040").replace("weights #", 'weights external "small" #')), om
    )
    assert [bytes(read_model(each).weights[:4]).hex() for each in (old, om)] == ["0000803f", "00008040"]


def _swap(path: Path) -> None:
    path.write_bytes(np.array([1, 2, 3, 5], np.float32).tobytes())


def _replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("damage", "code", "words"),
    [
        (Path.unlink, "GE5010", "No such file"),
        (_replace_by_folder, "GE5010", "no regular file"),
        (_replace_by_pipe, "GE5010", "no regular file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "GE5011", "has 15 bytes, the model has 16"),
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), "GE5011", "has 17 bytes"),
        (lambda path: path.write_bytes(b""), "GE5011", "has 0 bytes"),
        (_swap, "GE5011", "other bytes"),
    ],
)
def test_a_weights_file_that_is_not_right_is_one_error(
    damage: Callable[[Path], object], code: str, words: str, om: Path, weights: Path, tmp_path: Path
) -> None:
    damage(weights)
    for use in (
        read_model,
        read_module,
        Runtime().load,
        lambda path: device_model(OmFile.open(path)),
        lambda path: differences(OmFile.open(path), OmFile.open(path)),
        lambda path: ge_om.run(["extract", str(path), "-o", str(tmp_path / "parts")]),
        lambda path: ge_translate.run(["--om-to-mlir", str(path), "-o", str(tmp_path / "x.mlir")]),
    ):
        with pytest.raises(GeError, match=words) as error:
            use(om)
        assert error.value.code == code
    (problem,) = om_facts(OmFile.open(om))["problems"]
    assert code in problem and words in problem


def _changed(om: Path, change: Callable[[ir.ModelDef], object], *more: tuple[PartitionType, bytes]) -> bytes:
    container = read_container(om.read_bytes(), "")
    definition = ir.ModelDef.FromString(bytes(container.partition(PartitionType.MODEL_DEF)))
    change(definition)
    parts = {PartitionType(kind): bytes(part) for kind, part in container.partitions.items()}
    parts |= {PartitionType.MODEL_DEF: definition.SerializeToString(), **dict(more)}
    return b"".join(bytes(memoryview(piece)) for piece in pack_container("small", [*parts.items()]))


@pytest.mark.parametrize(
    "change",
    [
        lambda m: setattr(m.attr["external_weight_file"], "s", b"/etc/passwd"),
        lambda m: setattr(m.attr["external_weight_file"], "s", b"../" + m.attr["external_weight_file"].s),
        lambda m: setattr(m.attr["external_weight_sha256"], "s", b""),
        lambda m: m.attr.pop("external_weight_sha256"),
        lambda m: setattr(m.attr["external_weight_file"], "s", m.attr["external_weight_file"].s[6:]),
        lambda m: setattr(m.attr["external_weight_file"], "s", b"other.weights"),
        lambda m: setattr(m.attr["weight_size"], "i", -1),
    ],
)
def test_another_name_is_not_opened(change: Callable[[ir.ModelDef], object], om: Path) -> None:
    om.write_bytes(_changed(om, change))
    for use in (read_model, lambda path: OmFile.open(path).weights):
        with pytest.raises(GeError) as error:
            use(om)
        assert error.value.code == "GE5007"
    assert om_facts(OmFile.open(om))["problems"]


def test_weights_inside_and_outside_contradict_each_other(om: Path) -> None:
    om.write_bytes(_changed(om, lambda _: None, (PartitionType.WEIGHTS_DATA, bytes(16))))
    with pytest.raises(GeError, match="it has weights, and names") as error:
        read_model(om)
    assert error.value.code == "GE5007"


def test_bytes_have_nothing_beside_them(om: Path) -> None:
    with pytest.raises(GeError, match="which is no file") as error:
        read_model(om.read_bytes())
    assert error.value.code == "GE5010"


def test_what_is_no_file_has_no_room_for_weights(capsys: pytest.CaptureFixture[str], om: Path) -> None:
    with pytest.raises(GeError, match="no regular file") as error:
        write_module(EXTERNAL, os.devnull)
    assert error.value.code == "GE1003"


def test_a_model_without_weights_has_no_weights_file(tmp_path: Path) -> None:
    model = (
        'om.model @empty soc "Ascend310P3" memory 1024 io 1024 outputs ["y"] {\n'
        '  %x = om.op "Data" "x"() at [0] {index = 0 : i64} : () -> tensor<4xf32>\n'
        '  om.op "NetOutput" "end"(%x) : (tensor<4xf32>) -> ()\n}\n'
    )
    write_module(parse_module(model), tmp_path / "model.om")
    assert len([*tmp_path.iterdir()]) == 1 and read_model(tmp_path / "model.om").weights.nbytes == 0


@pytest.mark.parametrize("name", ["", "...", "a/b\\c:d", "名", "x" * 300, ".hidden", "x" * 99 + ".x"])
def test_names_of_models_become_names_of_files(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", plain_name(name))
    assert plain_name(plain_name(name)) == plain_name(name)


def test_the_compiler_names_the_weights_after_the_om_file(tmp_path: Path) -> None:
    """Both may be moved together, and the OM file may get another name; the OM file alone is not enough."""
    builder = ModelBuilder()
    builder.output(builder.node("MatMul", builder.input("x", 4, 32), builder.weights(32, 16), name="y"))
    onnx.save(builder.build(), tmp_path / "model.onnx")
    made, moved = tmp_path / "made", tmp_path / "moved"
    made.mkdir()
    ge_compiler.run([f"--model={tmp_path / 'model.onnx'}", f"--output={made / 'ours é.v2'}", "--external_weight=1"])
    om, weights = made / "ours é.v2.om", next(made.glob("*.weights"))
    assert re.fullmatch(r"ours_.v2\.[0-9a-f]{32}\.weights", weights.name)
    x = np.ones((4, 32), np.float32)
    expected = Runtime().run(om, {"x": x})["y"].tobytes()
    made.rename(moved)
    assert Runtime().run(moved / om.name, {"x": x})["y"].tobytes() == expected
    (moved / om.name).rename(moved / "renamed.om")
    assert Runtime().run(moved / "renamed.om", {"x": x})["y"].tobytes() == expected
    made.mkdir()
    (moved / "renamed.om").rename(om)
    with pytest.raises(GeError, match="No such file") as error:
        Runtime().run(om, {"x": x})
    assert error.value.code == "GE5010"


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a b"])
def test_text_cannot_name_a_file_of_another_folder(name: str, tmp_path: Path) -> None:
    text = TEXT.replace("om.weights", f'om.weights external "{name}"')
    with pytest.raises(GeError) as error:
        write_module(parse_module(text), tmp_path / "model.om")
    assert error.value.code == "GE5009" and not [*tmp_path.iterdir()]
