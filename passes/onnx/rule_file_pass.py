"""Passes that consist of rules in the rule files of this project (`rules/*.gerules`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.fusion_rules import rules_named
from ge.passes.onnx.quantised import unless_quantised


@dataclass(frozen=True)
class RuleFilePass(RulePass):
    """Base of passes that are a list of rules from the rule files. The files are where to read what they do."""

    RULES: ClassVar[Sequence[str]] = ()
    """The names of the rules by which numbers may be rounded otherwise (:mod:`ge.passes.onnx.quantised`)."""
    EXACT: ClassVar[Sequence[str]] = ()
    """The names of the rules that keep every bit."""

    def rules(self) -> list[RewriteRule[Any]]:
        """On one operation they are tried in the order of the files."""
        return list(_rules(tuple(self.RULES), tuple(self.EXACT)))


@cache
def _rules(names: tuple[str, ...], exact: tuple[str, ...]) -> Sequence[RewriteRule[Any]]:
    return unless_quantised(rules_named(*names, *exact), exact)
