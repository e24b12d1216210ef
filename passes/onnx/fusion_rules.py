"""The pass `fusion-rules`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from ge.ir.errors import GeError
from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass
from ge.rules import CompiledRule, load_rules

SHIPPED = Path(__file__).parent / "rules"
"""The rule files of this project; docs/rules.md lists their rules."""


@dataclass(frozen=True)
class FusionRulesPass(RulePass):
    """Apply rules from rule files (`.gerules`; docs/rules.md is their language) until none applies.

    `file=a.gerules,b.gerules` names the files; without it, all rules of this project are applied. `only=a,b` takes
    these rules alone, `off=a,b` leaves some out.

    Left alone: what a rule's conditions exclude; operations inside a pattern whose results something else uses, too;
    replacements whose type would differ from that of the value replaced, or whose constants their type cannot hold; a
    value between operations that is an output of the model.
    """

    name = "fusion-rules"

    file: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    off: tuple[str, ...] = ()

    def rules(self) -> list[RewriteRule[Any]]:
        rules = [rule for path in self.file for rule in load_rules(path)] if self.file else shipped_rules()
        return [rule.rewrite for rule in select(rules, self.only, self.off)]


@cache
def shipped_rules() -> tuple[CompiledRule, ...]:
    """The rules of this project, file by file in the order of their names."""
    return tuple(rule for path in sorted(SHIPPED.glob("*.gerules")) for rule in load_rules(path))


def rules_named(*names: str) -> list[RewriteRule[Any]]:
    """The rules of this project with these names, for passes that consist of them."""
    return [rule.rewrite for rule in select(shipped_rules(), names, ())]


def optional_rules(file: str, *names: str) -> list[RewriteRule[Any]]:
    """Rules of a file in `rules/optional`, which are in no pass but those that ask for them."""
    return [rule.rewrite for rule in select(load_rules(SHIPPED / "optional" / f"{file}.gerules"), names, ())]


def select(rules: Sequence[CompiledRule], only: Sequence[str], off: Sequence[str]) -> list[CompiledRule]:
    """The rules that the options `only` and `off` leave. Raises GE2002 for a name that is no rule."""
    names = list(dict.fromkeys(rule.name for rule in rules))
    for name in (*only, *off):
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f", did you mean '{close[0]}'?" if close else ""
            raise GeError("GE2002", f"rule '{name}' is unknown{hint}", remedy=f"The rules are: {', '.join(names)}.")
    return [rule for rule in rules if (not only or rule.name in only) and rule.name not in off]
