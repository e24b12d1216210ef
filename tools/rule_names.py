"""The names of all rules that can be switched, reported and explained."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from ge.ir.registry import Registry
from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass
from ge.rules import load_rules


def rule_names(registry: Registry, rule_files: Sequence[str] = ()) -> list[str]:
    """The rules of all passes, and of files: ``swish``, ``eliminate-identity.transpose``. Imports every pass."""
    names = [rule.name for name in registry.own_passes for rule in _rules_of(registry, name)]
    return list(dict.fromkeys([*names, *(rule.name for file in rule_files for rule in load_rules(file))]))


def _rules_of(registry: Registry, name: str) -> Iterator[RewriteRule[Any]]:
    """The rules of a pass: those that it gives, or else those in its module."""
    pass_type = registry.passes[name]()
    if issubclass(pass_type, RulePass):
        yield from pass_type().own_rules()
        return
    for value in vars(sys.modules[pass_type.__module__]).values():
        if isinstance(value, RewriteRule):
            yield replace(cast("RewriteRule[Any]", value), owner=name)
