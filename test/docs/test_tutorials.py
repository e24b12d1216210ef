"""Every tutorial runs as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tutorial_pages import ROOT, CommandBlock, FileBlock, agrees, blocks, expected, run_page

PAGES = sorted((ROOT / "docs").glob("tutorial-*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tutorial_does_what_it_says(page: Path, tmp_path: Path) -> None:
    shown, printed = expected(page), run_page(page, tmp_path)
    for want, got in zip(shown, printed, strict=True):
        assert agrees(want, got), f"$ {want.command}\nprints\n{got.output}\nbut {page.name} shows\n{want.output}"


def test_tutorials_are_there_and_have_commands() -> None:
    assert {"tutorial-custom-operator", "tutorial-pass"} <= {page.stem for page in PAGES}
    assert all(len(expected(page)) >= 4 for page in PAGES)


def test_tutorials_are_linked() -> None:
    for reader in ("README.md", "docs/contributing.md"):
        text = (ROOT / reader).read_text(encoding="utf-8")
        assert all(page.name in text for page in PAGES), reader


def test_blocks_are_read() -> None:
    text = '```python title="a.py"\nx = 1\n```\ntext\n```console\n$ a \\\n  b\nline\n\n$ c\n```\n```python\nno\n```\n'
    assert list(blocks(text)) == [FileBlock("a.py", "x = 1\n"), CommandBlock("a  b", "line"), CommandBlock("c", "")]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a ... c", "a b c", True),
        ("a ... c", "a b d", False),
        ("a\n...\nc", "a\n1\n2\nc", True),
        ("a\n...", "a", True),
        ("a", "a\nb", False),
        ("", "a", False),
        ("a.c", "abc", False),
    ],
)
def test_outputs_are_compared(shown: str, printed: str, same: bool) -> None:
    assert agrees(CommandBlock("", shown), CommandBlock("", printed)) is same
