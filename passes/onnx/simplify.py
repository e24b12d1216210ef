"""The pass `simplify`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ge.ir.errors import GeError
from ge.ir.registry import registry
from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass


@dataclass(frozen=True)
class SimplifyPass(RulePass):
    """Apply the rules of several passes together, until none of them applies.

    `passes=a,b` names the passes; each must consist of rules (:class:`ge.ir.rule_pass.RulePass`). What it rewrites and
    what it leaves alone is what those passes say.
    """

    name = "simplify"

    passes: tuple[str, ...] = ()

    def rules(self) -> Iterable[RewriteRule[Any]]:
        for name in self.passes:
            load = registry().passes.get(name)
            pass_type = None if load is None else load()
            if pass_type is None or not issubclass(pass_type, RulePass):
                raise GeError("GE2002", f"pass 'simplify': '{name}' is no pass that consists of rules")
            yield from pass_type().rules()
