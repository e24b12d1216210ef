"""docs/rules.md has every function and every shipped rule."""

from __future__ import annotations

from pathlib import Path

from ge.passes.onnx.fusion_rules import shipped_rules
from ge.rules.functions import FUNCTIONS
from ge.rules.samples import DRAWS

PAGE = (Path(__file__).parent.parent.parent / "docs" / "rules.md").read_text(encoding="utf-8")


def test_functions() -> None:
    rows = [
        f"| `{each.usage}` | {each.description.splitlines()[0]} |" for each in (*FUNCTIONS.values(), *DRAWS.values())
    ]
    assert not [row for row in rows if row not in PAGE]


def test_rules() -> None:
    rules = [rule.variant.rule for rule in shipped_rules()]
    rows = [f"| `{rule.name}` | `{Path(rule.at.file).name}` | {rule.description} |" for rule in rules]
    assert not [row for row in rows if row not in PAGE]
