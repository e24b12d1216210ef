"""What a rule file says at first sight: the names of its rules, and the operators without which none of them applies.

A rule is read in full (:mod:`ge.rules.parser`) only where these operators are, since most models lack those of most
rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

from xdsl.ir import Operation

from ge.dialects.onnx import OP_CLASSES, Custom
from ge.ir.rewriting import RewriteRule
from ge.rules.compiler import CompiledRule, compile_read, compile_rules, read_rules
from ge.rules.reading import kept_rule

Choices: TypeAlias = "Iterable[frozenset[type[Operation]]]"
"""For each choice of the alternatives in a text, the operators of the text."""

_RULE = re.compile(r"^rule[ \t]+([a-z0-9-]+).*?(?=^rule[ \t]|\Z)", re.MULTILINE | re.DOTALL)
_PATTERN = re.compile(r"^match\b(.*?)^(?:where|rewrite)\b", re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(r'"[^"\n]*"|#[^\n]*|(?P<operator>(?:[a-z][\w.]*::)?[A-Z]\w*)|[\w.-]+|(?P<sign>[\n()\[\]|,])|.')


@dataclass(frozen=True, eq=False)
class Outline:
    """A rule that has not been read yet."""

    name: str
    text: str
    """Its text, after as many empty lines as it has lines before it."""
    file: str

    @cached_property
    def operators(self) -> tuple[frozenset[type[Operation]], ...]:
        """The operators of its pattern, for each choice of the alternatives in it."""
        pattern = _PATTERN.search(self.text)
        return () if pattern is None else tuple(_choices(_TOKEN.finditer(pattern[1]), separators=",\n"))

    @cached_property
    def rules(self) -> tuple[CompiledRule, ...]:
        """The rule in full, a compiled rule for each choice of its alternatives. Raises GE3020 or GE3021."""
        kept = kept_rule(self.file, self.name)
        return compile_rules(self.text, self.file) if kept is None else compile_read([kept])

    @cached_property
    def rewrite(self) -> RewriteRule[Any]:
        """The rule as the rewrite driver takes it."""
        return RewriteRule((), self._apply, self.name, needs=self.operators, parts=self._parts)

    def _parts(self) -> list[RewriteRule[Any]]:
        return [rule.rewrite for rule in self.rules]

    def _apply(self, op: Any) -> bool:
        return any(isinstance(op, rule.rewrite.op_types) and rule.rewrite(op) for rule in self.rules)


def _choices(tokens: Iterator[re.Match[str]], separators: str = ",") -> Choices:
    """The operators of a text up to the bracket that closes it, if there is one.

    Separators are between statements or operands, all of which are there; ``|`` is between alternatives.
    """
    parts: Choices = [frozenset()]
    alternatives: list[frozenset[type[Operation]]] = []
    last: Choices = [frozenset()]
    for token in tokens:
        if token["operator"] is not None:
            domain, _, op_type = token["operator"].rpartition("::")
            last = _both(last, [frozenset([OP_CLASSES.get((domain, op_type), Custom)])])
            continue
        match token["sign"]:
            case "(" | "[":
                last = _both(last, _choices(tokens))
            case ")" | "]":
                break
            case "|":
                alternatives += last
                last = [frozenset()]
            case str(sign) if sign in separators:
                parts, alternatives, last = _both(parts, [*alternatives, *last]), [], [frozenset()]
            case _:
                pass
    return _both(parts, [*alternatives, *last])


def _both(left: Choices, right: Choices) -> Choices:
    """The operators of two texts that are both there."""
    return dict.fromkeys(a | b for a in left for b in right)


@cache
def outlines(path: Path) -> Sequence[Outline]:
    """The rules of a file, whose lines `rule ...` are not indented. Raises GE1001."""
    text = read_rules(path)
    return [
        Outline(match[1], "\n" * text.count("\n", 0, match.start()) + match[0], str(path))
        for match in _RULE.finditer(text)
    ]
