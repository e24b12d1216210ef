"""Errors: one form, one table, one page."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge.ir.errors import ERRORS, GeError, errors_table

ROOT = Path(__file__).resolve().parents[2]


def test_page_is_the_table() -> None:
    assert (ROOT / "docs" / "errors.md").read_text(encoding="utf-8") == errors_table(), (
        "run: python -m ge.ir.errors > docs/errors.md"
    )


@pytest.mark.parametrize("code", ERRORS)
def test_entries_are_complete_sentences(code: str) -> None:
    kind = ERRORS[code]
    assert code[:2] == "GE" and code[2:].isdigit() and len(code) == 6 and code[2] in "1234569"
    assert kind.title and not kind.title.endswith(".")
    assert kind.cause.endswith(".")
    assert kind.remedy.endswith(".")
    assert "|" not in kind.title + kind.cause + kind.remedy


def test_message_form() -> None:
    error = GeError("GE1001", "'x.onnx' is missing", "x.onnx")
    kind = ERRORS["GE1001"]
    assert str(error) == f"error[GE1001]: 'x.onnx' is missing\n  at: x.onnx\n  why: {kind.cause}\n  fix: {kind.remedy}"
    assert "at:" not in str(GeError("GE1001", "x"))
    assert str(GeError("GE1001", "x", why="W.", remedy="F.")).endswith("  why: W.\n  fix: F.")


@pytest.mark.parametrize(
    ("text", "shown"),
    {
        "a\nb": "a b",
        "a \r\n\n  b\n": "a b",
        "name '\x1b[31m'": "name '\\x1b[31m'",
        "right to left \u202e": "right to left \\u202e",
        "卷积 'é'": "卷积 'é'",
        "\ud800": "\\ud800",
        "x" * 5000: "x" * 750 + " ... " + "x" * 250,
    }.items(),
)
def test_messages_are_one_readable_line(text: str, shown: str) -> None:
    error = GeError("GE1001", text, text)
    assert error.what == error.where == shown
    assert str(error).count("\n") == 3


def test_unknown_codes_are_refused() -> None:
    with pytest.raises(KeyError):
        GeError("GE9999", "x")


def test_every_code_in_the_sources_has_an_entry() -> None:
    """Codes are written as string literals where they are raised."""
    import re

    folders = ("ge", "dialects", "passes", "lowering", "targets", "tools")
    for folder in folders:
        for file in (ROOT / folder).rglob("*.py"):
            for code in re.findall(r"GeError\(\s*\"(\w+)\"", file.read_text(encoding="utf-8")):
                assert code in ERRORS, f"{file} raises {code}, which is not in ge/ir/errors.py"
