"""Passes that are a set of rewrite rules, so that they run alone or together in one worklist."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.ir.rewriting import RewriteRule, apply_rules


@dataclass(frozen=True)
class RulePass(ModulePass):
    """A pass whose work is rules, applied until none applies.

    A subclass has a `name` and gives its rules; the pass `simplify` joins the rules of several such passes, so that
    what one of them uncovers the others see at once, and the module is walked once instead of once per pass.
    """

    @abstractmethod
    def rules(self) -> Iterable[RewriteRule[Any]]:
        """The rules, in the order in which they are tried on one operation."""

    def own_rules(self) -> list[RewriteRule[Any]]:
        """The rules, each of which knows the pass that it belongs to."""
        return [rule if rule.owner else replace(rule, owner=self.name) for rule in self.rules()]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        import numpy as np  # rules calculate with constants; ge.ir is on the path of --help, which needs none

        with np.errstate(all="ignore"):
            apply_rules(op, self.own_rules())
