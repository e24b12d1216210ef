"""The pass `simplify`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from ge.ir.errors import GeError
from ge.ir.registry import registry
from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass


@dataclass(frozen=True)
class SimplifyPass(RulePass):
    """Apply the rules of several passes together, until none of them applies.

    `passes=a,b` names the passes; each must consist of rules (:class:`ge.ir.rule_pass.RulePass`). `off=c,d` leaves out
    rules. What is rewritten and what is left alone is what those passes say.
    """

    name = "simplify"

    passes: tuple[str, ...] = ()
    off: tuple[str, ...] = ()

    def rules(self) -> list[RewriteRule[Any]]:
        rules = [rule for name in self.passes for rule in _rules_of(name)]
        rules = list({rule.function: rule for rule in reversed(rules)}.values())[::-1]  # the first pass that has it
        names = {rule.name for rule in rules}
        for name in self.off:
            if name not in names:
                close = get_close_matches(name, names, n=1)
                hint = f", did you mean '{close[0]}'?" if close else ""
                raise GeError("GE2002", f"pass 'simplify': the passes have no rule '{name}'{hint}")
        return [rule for rule in rules if rule.name not in self.off]


def _rules_of(name: str) -> Sequence[RewriteRule[Any]]:
    load = registry().passes.get(name)
    pass_type = None if load is None else load()
    if pass_type is None or not issubclass(pass_type, RulePass):
        raise GeError("GE2002", f"pass 'simplify': '{name}' is no pass that consists of rules")
    return _own_rules(pass_type)


@cache
def _own_rules(pass_type: type[RulePass]) -> Sequence[RewriteRule[Any]]:
    """The rules of a pass without options, which are the same each time."""
    return pass_type().own_rules()
