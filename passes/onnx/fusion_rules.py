"""The pass `fusion-rules`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from ge.ir.errors import GeError
from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass
from ge.rules import CompiledRule, Outline, load_rules, outlines

RuleT = TypeVar("RuleT", CompiledRule, Outline)

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
        if not self.file:
            return [rule.rewrite for rule in select(_shipped_outlines(), self.only, self.off)]
        rules = [rule for path in self.file for rule in load_rules(path)]
        return [rule.rewrite for rule in select(rules, self.only, self.off)]


def shipped_files() -> list[Path]:
    """The rule files of this project, in the order of their names."""
    return sorted(SHIPPED.glob("*.gerules"))


@cache
def shipped_rules() -> tuple[CompiledRule, ...]:
    """The rules of this project, file by file."""
    return tuple(rule for path in shipped_files() for rule in load_rules(path))


@cache
def _shipped_outlines() -> tuple[Outline, ...]:
    """The same, to be read where they may apply."""
    return tuple(rule for path in shipped_files() for rule in outlines(path))


def rules_named(*names: str) -> list[RewriteRule[Any]]:
    """The rules of this project with these names, for passes that consist of them."""
    return [rule.rewrite for rule in select(_shipped_outlines(), names, ())]


def optional_rules(file: str, *names: str) -> list[RewriteRule[Any]]:
    """Rules of a file in `rules/optional`, which are in no pass but those that ask for them."""
    return [rule.rewrite for rule in select(outlines(SHIPPED / "optional" / f"{file}.gerules"), names, ())]


def select(rules: Sequence[RuleT], only: Sequence[str], off: Sequence[str]) -> list[RuleT]:
    """The rules that the options `only` and `off` leave. Raises GE2002 for a name that is no rule."""
    names = dict.fromkeys(rule.name for rule in rules)
    for name in (*only, *off):
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f", did you mean '{close[0]}'?" if close else ""
            raise GeError("GE2002", f"rule '{name}' is unknown{hint}", remedy=f"The rules are: {', '.join(names)}.")
    return [rule for rule in rules if (not only or rule.name in only) and rule.name not in off]
