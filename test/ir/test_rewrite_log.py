"""The log of rewrites: what is counted, switched off, limited, watched; and that a failing rule is named."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Operation

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.rewrite_log import Switches, fused, missed, observe, permit, running
from ge.ir.rewriting import RewriteRule, RuleFailed, apply_rules, replace, rewrite_rule
from ge.ir.rule_pass import RulePass

TEXT = """
func.func @main(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %a = arith.addi %x, %zero : i32 loc("a")
  %b = arith.addi %a, %zero : i32 loc("b")
  %c = arith.addi %b, %x : i32 loc("c")
  func.return %c : i32
}
"""


@rewrite_rule(arith.AddiOp)
def drop_zero(op: arith.AddiOp) -> bool:
    zero = op.rhs.owner
    if not isinstance(zero, arith.ConstantOp) or zero.value != IntegerAttr(0, i32):
        missed("drop-zero", op, "the right operand is not zero")
        return False
    replace(op, [], [op.lhs])
    return True


def sums(module: ModuleOp) -> int:
    return sum(isinstance(op, arith.AddiOp) for op in module.walk())


def test_effects_and_misses_are_counted_once_for_each_place() -> None:
    module = parse_module(TEXT)
    with observe() as log:
        apply_rules(module, [drop_zero])
    assert log.effects == {"drop-zero": 2} and log.count == 2
    assert log.last == ("drop-zero", "<text>:5:3 (node 'b')")
    (miss,) = log.misses
    assert (miss.nodes, miss.reason) == (("c",), "the right operand is not zero")
    assert log.matches("drop-zero") == 3


def test_a_rule_that_reports_a_fusion_is_counted_under_the_name_it_reports() -> None:
    @rewrite_rule(arith.AddiOp)
    def join(op: arith.AddiOp) -> bool:
        changed = drop_zero(op)
        if changed:
            fused("sum-fusion", "Fuse Add -> nothing", op)
        return changed

    with observe() as log:
        apply_rules(parse_module(TEXT), [join])
    assert log.effects == {"sum-fusion": 2} and log.counts() == {"sum-fusion": 2}


def test_fusions_of_passes_without_rules_are_counted_once() -> None:
    op = parse_module(TEXT)
    with observe() as log:
        fused("group", "Fuse a -> b", op)
        assert permit("loop", op)
        fused("loop", "Fuse c -> d", op)
        fused("loop", "Fuse e -> f", op)
    assert log.effects == {"group": 1, "loop": 2} and len(log.fusions) == 3


def test_nothing_is_made_beyond_the_limit() -> None:
    module = parse_module(TEXT)
    with observe(limit=1) as log:
        apply_rules(module, [drop_zero])
        assert not permit("other", module)
    assert sums(module) == 2 and log.count == 1


def test_nested_observation_takes_over_the_switches_and_tells_nothing() -> None:
    with observe(switches=Switches({"drop-zero": False})) as outer, observe() as inner:
        assert not apply_rules(parse_module(TEXT), [drop_zero])
    assert outer.count == inner.count == 0


def names_on(switches: Switches, rules: list[RewriteRule[Any]]) -> list[str]:
    with observe(switches=switches), running("tidy"):
        return [rule.name for rule in rules if switches.allow_rule(rule.name, rule.owner, "tidy")]


def test_rules_follow_their_own_switch_then_that_of_their_pass() -> None:
    labelled = with_fields(drop_zero, label="zero", owner="sums")
    rules = [drop_zero, labelled]
    assert names_on(Switches(), rules) == ["tidy.drop-zero", "zero"]
    assert names_on(Switches({"tidy": False}), rules) == []
    assert names_on(Switches({"tidy": False, "zero": True}), rules) == ["zero"]
    assert names_on(Switches({"sums": False}), rules) == ["tidy.drop-zero"]
    assert names_on(Switches({"tidy.drop-zero": False}), rules) == ["zero"]
    assert names_on(Switches(defaults={"tidy": False}), rules) == []
    assert names_on(Switches({"sums": True}, {"tidy": False}), rules) == ["zero"]


def test_a_pass_runs_when_one_of_its_rules_is_on() -> None:
    switches = Switches({"a.rule": True, "b": False, "c.rule": False}, {"a": False, "b": True, "c": False, "d": False})
    assert [name for name in "abcde" if switches.allow_pass(name)] == ["a", "e"]
    assert [name for name in "bd" if switches.allow_pass(name, is_rules=True)] == ["d"]


def test_permits_follow_switches_too() -> None:
    op = parse_module(TEXT)
    with observe(switches=Switches({"loop": False})), running("loop"):
        assert not permit("loop", op)
        assert not permit("its-rule", op)
    with observe() as log:
        assert permit("loop", op)
    assert log.effects == {"loop": 1}


def test_the_watcher_is_told_after_rules_and_before_permitted_changes() -> None:
    events: list[str] = []

    class Watcher:
        def will_change(self, rule: str, op: Operation) -> None:
            events.append(f"will {rule}")

        def changed(self, rule: str, op: Operation) -> None:
            events.append(f"did {rule}")

        def settle(self) -> None:
            events.append("settle")

    module = parse_module(TEXT)
    with observe(watcher=Watcher()):
        permit("loop", module)
        apply_rules(module, [drop_zero])
    assert events == ["will loop", "settle", "did drop-zero", "did drop-zero"]


def test_explanations_are_asked_for_where_no_rule_applies_any_more() -> None:
    def reason(op: arith.AddiOp) -> str | None:
        return "nothing is zero" if "c" in str(op.location) else None

    rule = with_fields(drop_zero, label="zero", explain=reason)
    with observe(explain={"zero"}) as log:
        apply_rules(parse_module(TEXT), [rule])
    assert [(miss.rule, miss.nodes) for miss in log.misses if miss.reason == "nothing is zero"] == [("zero", ("c",))]
    with observe() as log:
        apply_rules(parse_module(TEXT), [rule])
    assert "nothing is zero" not in [miss.reason for miss in log.misses]


def test_what_happened_can_be_taken_back() -> None:
    module = parse_module(TEXT)
    with observe() as log:
        earlier = log.copy()
        apply_rules(module, [drop_zero])
        log.take_back(earlier)
    assert (log.count, log.last, dict(log.effects), log.misses) == (0, None, {}, {})
    assert not earlier.effects


def test_a_failing_rule_names_itself_and_the_node() -> None:
    @rewrite_rule(arith.AddiOp)
    def divide(op: arith.AddiOp) -> bool:
        return 1 // 0 > 0

    for observed in (False, True):
        with pytest.raises(RuleFailed, match=r"rule 'tidy\.divide': ZeroDivisionError") as error, running("tidy"):
            if observed:
                with observe():
                    apply_rules(parse_module(TEXT), [divide])
            else:
                apply_rules(parse_module(TEXT), [divide])
        assert error.value.place == "<text>:4:3 (node 'a')"


def test_54_rules_that_undo_each_other_are_all_named() -> None:
    @rewrite_rule(arith.AddiOp)
    def to_sub(op: arith.AddiOp) -> bool:
        replace(op, arith.SubiOp(op.lhs, op.rhs))
        return True

    @rewrite_rule(arith.SubiOp)
    def to_add(op: arith.SubiOp) -> bool:
        replace(op, arith.AddiOp(op.lhs, op.rhs))
        return True

    with pytest.raises(GeError, match=r"rules 'to-add', 'to-sub' still apply after 10 changes"):
        apply_rules(parse_module(TEXT), [to_sub, to_add], max_rewrites=10)


def test_rules_of_a_pass_know_the_pass() -> None:
    class Tidy(RulePass):
        name = "tidy"

        def rules(self) -> list[RewriteRule[Any]]:
            return [drop_zero]

    with observe() as log:
        Tidy().apply(Context(), parse_module(TEXT))
    assert log.effects == {"tidy.drop-zero": 2}
