"""What was read of a rule file is kept as Python keeps compiled modules, and never outlives what it was read from."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from ge.ir.errors import GeError
from ge.rules import load_rules, outlines, parser, reading

RULE = "rule {name}\nmatch\n    y = Mul(x, Sigmoid(x))\nrewrite\n    y = Swish(x)\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rule file, in a process that may keep what it compiles."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    file = tmp_path / "rules" / "r.gerules"
    file.parent.mkdir()
    file.write_text(RULE.format(name="first"))
    return file


def read(file: Path) -> tuple[list[str], bool]:
    """The rules of a file as a new process would have them, and whether it reads their text."""
    was_read: list[str] = []
    original = parser.parse_rules

    def parse_rules(text: str, name: str) -> object:
        was_read.append(name)
        return original(text, name)

    outlines.cache_clear()
    reading._kept_rules.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "parse_rules", parse_rules)
        rules = [rule for outline in outlines(file) for rule in outline.rules]
    expected = load_rules(file)
    assert [rule.source for rule in rules] == [rule.source for rule in expected]
    assert [rule.variant.rule.at for rule in rules] == [rule.variant.rule.at for rule in expected]
    return [rule.name for rule in rules], bool(was_read)


def test_the_second_process_does_not_read_the_text(file: Path) -> None:
    assert read(file) == (["first"], True)
    assert [each.name for each in (file.parent / "__pycache__").iterdir()] == [f"r.{sys.implementation.cache_tag}.pyc"]
    assert read(file) == (["first"], False)


def test_what_changes_is_read_anew(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(file)
    stamp = file.stat()
    file.write_text(RULE.format(name="other"))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    assert read(file) == (["other"], True)
    assert read(file) == (["other"], False)
    reader = file.with_name("reader.py")
    reader.write_text("")
    monkeypatch.setattr(reading, "_READERS", (reader,))
    assert read(file) == (["other"], True)


def test_a_moved_file_tells_its_new_place(file: Path) -> None:
    read(file)
    moved = file.parent.with_name("moved")
    shutil.copytree(file.parent, moved, copy_function=shutil.copy2)
    assert read(moved / file.name) == (["first"], True)
    assert read(moved / file.name) == (["first"], False)


def test_nothing_is_written_where_python_would_write_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert read(file) == (["first"], True)
    assert read(file) == (["first"], True)
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_a_wrong_text_is_the_same_error_every_time(file: Path) -> None:
    file.write_text("rule broken\nmatch\n    y = \nrewrite\n    y = Swish(x)\n")
    for _ in range(2):
        outlines.cache_clear()
        reading._kept_rules.cache_clear()  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(GeError, match="expected a value"):
            _ = outlines(file)[0].rules
    assert not (file.parent / "__pycache__").exists()
