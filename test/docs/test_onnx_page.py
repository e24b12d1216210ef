"""The page about the onnx level says what happens."""

from __future__ import annotations

from pathlib import Path

from tutorial_pages import ROOT, agrees, expected, run_page

PAGE = ROOT / "docs" / "onnx.md"


def test_page_does_what_it_says(tmp_path: Path) -> None:
    shown, printed = expected(PAGE), run_page(PAGE, tmp_path)
    assert len(shown) >= 10
    for want, got in zip(shown, printed, strict=True):
        assert agrees(want, got), f"$ {want.command}\nprints\n{got.output}\nbut {PAGE.name} shows\n{want.output}"
