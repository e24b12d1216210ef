"""What is known of a rule before it is read: enough to leave it unread, and never too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge.dialects.onnx import Constant, Custom, op_class
from ge.ir.parser import parse_module
from ge.ir.rewriting import apply_rules
from ge.passes.onnx.fusion_rules import SHIPPED, shipped_files
from ge.rules import load_rules, outlines
from ge.rules.outline import Outline

FILES = [*shipped_files(), *sorted((SHIPPED / "optional").glob("*.gerules"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_outlines_are_those_of_the_rules_in_full(file: Path) -> None:
    rules = load_rules(file)
    assert [outline.name for outline in outlines(file)] == list(dict.fromkeys(rule.name for rule in rules))
    for outline in outlines(file):
        full = [rule for rule in rules if rule.name == outline.name]
        assert set(outline.operators) == {needs for rule in full for needs in rule.rewrite.needs}
        assert [rule.source for rule in outline.rules] == [rule.source for rule in full]
        assert [rule.variant.rule.at for rule in outline.rules] == [rule.variant.rule.at for rule in full]


TEXT = """
# rule of-a-comment
rule first: "a | b, Tanh(x)"
match
    p = (
        Abs(_)   # Tanh(x) | y
        | my.domain::Op(Exp(x), mode = "Floor(x) |")
    )
    y = Mul(p, Relu(x) | Add(x, Sqrt(x) | Sign(x)))
rewrite
    y = Neg(x)

rule second
match
    y = Tanh(x)
where
    is_float(x)
rewrite
    y = Tan(x)
"""


def test_operators_are_those_of_each_choice_of_the_pattern(tmp_path: Path) -> None:
    file = tmp_path / "r.gerules"
    file.write_text(TEXT)
    first, second = outlines(file)
    ops = {name: op_class(name) for name in ("Abs", "Exp", "Mul", "Relu", "Add", "Sqrt", "Sign", "Tanh")}
    heads = [{ops["Abs"]}, {Custom, ops["Exp"]}]
    tails = [{ops["Relu"]}, {ops["Add"], ops["Sqrt"]}, {ops["Add"], ops["Sign"]}]
    assert set(first.operators) == {frozenset({ops["Mul"], *head, *tail}) for head in heads for tail in tails}
    assert second.operators == (frozenset({ops["Tanh"]}),)
    assert (first.name, second.name) == ("first", "second")


def test_a_rule_is_only_read_where_its_operators_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.gerules"
    file.write_text(TEXT)
    read: list[str] = []

    def rules(outline: Outline) -> tuple[object, ...]:
        read.append(outline.name)
        return ()

    monkeypatch.setattr(Outline, "rules", property(rules))
    module = parse_module(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "%a = onnx.Abs(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
        "%y = onnx.Tanh(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
        "func.return %y : tensor<2xf32>\n}",
    )
    apply_rules(module, [outline.rewrite for outline in outlines(file)])
    assert read == ["second"]
    assert Constant not in {op for outline in outlines(file) for needs in outline.operators for op in needs}
