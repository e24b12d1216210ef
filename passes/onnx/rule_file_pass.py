"""Passes that consist of rules in the rule files of this project (`rules/*.gerules`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.fusion_rules import rules_named


@dataclass(frozen=True)
class RuleFilePass(RulePass):
    """Base of passes that are a list of rules from the rule files. The files are where to read what they do."""

    RULES: ClassVar[Sequence[str]]
    """The names of the rules. On one operation they are tried in the order of the files."""

    def rules(self) -> list[RewriteRule[Any]]:
        return rules_named(*self.RULES)
