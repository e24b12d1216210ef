"""The pages about ge-compiler: what they show happens, and the list of options is that of the compiler."""

from __future__ import annotations

from pathlib import Path

from tutorial_pages import ROOT, agrees, expected, run_page

from ge.tools.compiler_options import OPTIONS, options_page

PAGE = ROOT / "docs" / "ge-compiler.md"


def test_page_does_what_it_says(tmp_path: Path) -> None:
    shown, printed = expected(PAGE), run_page(PAGE, tmp_path)
    assert len(shown) >= 15
    for want, got in zip(shown, printed, strict=True):
        assert agrees(want, got), f"$ {want.command}\nprints\n{got.output}\nbut {PAGE.name} shows\n{want.output}"


def test_list_of_options_is_up_to_date() -> None:
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert page == options_page(), "run python -m ge.tools.compiler_options > docs/options.md"
    assert all(f"`--{option.name}" in page for option in OPTIONS)
