"""The answer to ``--explain-fusion=RULE``: where the rule was applied, and where it nearly was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ge.ir.rewrite_log import RewriteLog


def explanations(asked: Sequence[str], log: RewriteLog) -> Iterator[str]:
    """The lines about the rules and passes that were asked for; a pass includes all its rules."""
    for rule in sorted(log.explain):
        applied = log.effects[rule]
        misses = [miss for miss in log.misses if miss.rule == rule]
        if not applied and not misses and rule not in asked:
            continue
        yield f"{rule}: applied {_times(applied, 'time')}, {_times(len(misses), 'near match')}"
        if not applied and not misses and rule not in log.tried:
            yield "  it was not tried: it is switched off, or in no pass of this run"
        for miss in misses:
            yield f"  {miss.place}: {miss.reason}"


def _times(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 'es' if noun.endswith('ch') else 's'}"
