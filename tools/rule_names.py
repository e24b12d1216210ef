"""The names of all rules that can be switched, reported and explained."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from ge.ir.errors import GeError
from ge.ir.registry import Registry
from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass
from ge.rules import load_rules
from ge.tools.json_file import nearest


def rule_names(registry: Registry, rule_files: Sequence[str] = ()) -> list[str]:
    """The rules of all passes, and of files: ``swish``, ``eliminate-identity.transpose``. Imports every pass."""
    names = [rule.name for name in registry.own_passes for rule in rules_of(name, registry)]
    return list(dict.fromkeys([*names, *(rule.name for file in rule_files for rule in load_rules(file))]))


def rules_of(name: str, registry: Registry) -> Iterator[RewriteRule[Any]]:
    """The rules of a pass: those that it gives, or else those in its module."""
    pass_type = registry.passes[name]()
    if issubclass(pass_type, RulePass):
        yield from _rules_by_default(pass_type)
        return
    for value in vars(sys.modules[pass_type.__module__]).values():
        if isinstance(value, RewriteRule):
            yield replace(cast("RewriteRule[Any]", value), owner=name)


def _rules_by_default(pass_type: type[RulePass]) -> list[RewriteRule[Any]]:
    """The rules of a pass without options."""
    return pass_type().own_rules()


def rules_asked_for(names: Sequence[str], registry: Registry, rule_files: Sequence[str] = ()) -> frozenset[str]:
    """The rules, and the passes with all their rules, that ``names`` name. Raises GE2002 for a name that is neither."""
    known = rule_names(registry, rule_files) if names else []
    found: set[str] = set()
    for name in names:
        if name in registry.passes:
            found |= {name, *(rule.name for rule in rules_of(name, registry))}
        elif name in known:
            found.add(name)
        else:
            close = nearest(name, [*known, *registry.own_passes])
            hint = f"; near it are {', '.join(map(repr, close))}" if close else ""
            raise GeError("GE2002", f"there is no rule or pass '{name}'{hint}")
    return frozenset(found)
