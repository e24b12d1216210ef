"""Large constants: in side files, in the files they came from, inline, and left out."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.test import TestOp

from ge.ir.attributes import WeightsAttr
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.printer import print_module, write_module
from ge.ir.weights import WeightsMode, atomic_write, map_file

DATA = bytes(range(256)) * 4


def module_of(*weights: WeightsAttr) -> ModuleOp:
    return ModuleOp([TestOp(attributes={"value": each}) for each in weights])


def weights_of(module: ModuleOp) -> list[WeightsAttr]:
    found = [op.attributes["value"] for op in module.ops]
    return [each for each in found if isinstance(each, WeightsAttr)]


def test_side_file_holds_equal_bytes_once_and_aligned(tmp_path: Path) -> None:
    first, second = WeightsAttr.from_buffer(DATA[:100]), WeightsAttr.from_buffer(DATA[:7])
    module = module_of(first, second, WeightsAttr.from_buffer(bytearray(DATA[:100])))
    write_module(module, tmp_path / "m.mlir")
    assert (tmp_path / "m.weights").read_bytes() == DATA[:100] + bytes(28) + DATA[:7]
    again = parse_module(tmp_path / "m.mlir")
    assert module.is_structurally_equivalent(again)


def test_writing_again_gives_the_same_text(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    write_module(module_of(WeightsAttr.from_buffer(DATA)), path)
    text = path.read_text()
    write_module(parse_module(path), path)
    assert path.read_text() == text
    assert (tmp_path / "m.weights").read_bytes() == DATA


def test_weights_stay_in_a_file_of_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"head" + DATA)
    view = map_file(tmp_path / "model.bin")
    write_module(module_of(WeightsAttr.from_buffer(view[4:], tmp_path / "model.bin", 4)), tmp_path / "m.mlir")
    assert '#ge.weights<"model.bin", 4, 1024, "' in (tmp_path / "m.mlir").read_text()
    assert not (tmp_path / "m.weights").exists()
    (weights,) = weights_of(parse_module(tmp_path / "m.mlir"))
    assert weights.buffer == DATA


def test_weights_of_another_folder_are_copied(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(DATA)
    (tmp_path / "out").mkdir()
    weights = WeightsAttr.from_buffer(map_file(tmp_path / "model.bin"), tmp_path / "model.bin", 0)
    write_module(module_of(weights), tmp_path / "out" / "m.mlir")
    assert (tmp_path / "out" / "m.weights").read_bytes() == DATA


def test_inline_text_is_complete_in_itself() -> None:
    module = module_of(WeightsAttr.from_buffer(DATA))
    text = print_module(module, weights=WeightsMode.INLINE)
    assert module.is_structurally_equivalent(parse_module(text))


def test_elided_text_reads_back_but_has_no_bytes() -> None:
    text = print_module(module_of(WeightsAttr.from_buffer(DATA)), weights=WeightsMode.ELIDED)
    module = parse_module(text)
    assert print_module(module) == text
    with pytest.raises(GeError, match="1024 bytes is not in the text") as error:
        _ = weights_of(module)[0].buffer
    assert error.value.code == "GE3008"


def test_buffers_are_views() -> None:
    array = np.arange(1000, dtype=np.float32)
    weights = WeightsAttr.from_buffer(array.data)
    assert np.shares_memory(np.frombuffer(weights.buffer, np.float32), array)
    assert weights.buffer.readonly


def test_equality_is_by_content() -> None:
    left, right = WeightsAttr.from_buffer(DATA), WeightsAttr.from_buffer(bytearray(DATA))
    assert left == right
    assert hash(left) == hash(right)
    other = bytearray(DATA)
    other[-1] ^= 1
    assert left != WeightsAttr.from_buffer(other)
    assert left != WeightsAttr.from_buffer(DATA[:-1])


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "sub/../../secret", "link", "linked/secret"])
def test_files_outside_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_bytes(DATA)
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "m.mlir").write_text(f'"test.op"() {{value = #ge.weights<"{name}", 0, 4, "00">}} : () -> ()')
    with pytest.raises(GeError) as error:
        parse_module(folder / "m.mlir")
    assert error.value.code == "GE3006"
    assert name in error.value.what
    assert str(error.value.where).endswith("m.mlir:1:34")


def damage(path: Path, change: str) -> None:
    match change:
        case "missing":
            path.unlink()
        case "shorter":
            os.truncate(path, 1000)
        case _:
            path.write_bytes(bytes(1024))


@pytest.mark.parametrize("change", ["missing", "shorter", "other bytes"])
def test_a_damaged_side_file_is_noticed(tmp_path: Path, change: str) -> None:
    write_module(module_of(WeightsAttr.from_buffer(DATA)), tmp_path / "m.mlir")
    damage(tmp_path / "m.weights", change)
    with pytest.raises(GeError) as error:
        parse_module(tmp_path / "m.mlir")
    assert error.value.code == "GE3007"


def test_digests_can_be_skipped(tmp_path: Path) -> None:
    write_module(module_of(WeightsAttr.from_buffer(DATA)), tmp_path / "m.mlir")
    (tmp_path / "m.weights").write_bytes(bytes(1024))
    (weights,) = weights_of(parse_module(tmp_path / "m.mlir", verify_weights=False))
    assert weights.buffer == bytes(1024)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), atomic_write(path) as stream:
        stream.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_empty_weights(tmp_path: Path) -> None:
    module = module_of(WeightsAttr.from_buffer(b""))
    write_module(module, tmp_path / "m.mlir")
    assert module.is_structurally_equivalent(parse_module(tmp_path / "m.mlir"))
