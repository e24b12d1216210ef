"""Rewrites as seen from outside: which may happen, which did, and which nearly did.

Whoever runs passes asks with

    with observe(switches=..., limit=...) as log:
        ...run passes...

for switches that take out single rules, for a limit on the number of rewrites, and for a log: how often each rule took
effect, what it made of which nodes, and where it had to stop short, with the reason. Without such a block nothing is
counted, and rewriting costs what the rules cost.

Rules that join operations say so with :func:`fused`, a line of the logger ``ge.fusion`` such as
``Fuse Conv2D(32) + BatchNorm + ReLU -> FusedConv2D``; what they leave alone although it looks like their pattern, they
report with :func:`missed`. The driver in :mod:`ge.ir.rewriting` counts by itself; passes with a loop of their own ask
:func:`permit` before each rewrite.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Protocol

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation

from ge.ir.locations import node_names, where

logger = logging.getLogger("ge.fusion")


@dataclass(frozen=True)
class Switches:
    """Rules and passes that are switched on or off by name. A rule follows its own switch, else that of its pass."""

    states: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Passes and rules that are on or off."""
    defaults: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Passes that are on or off unless ``states`` says otherwise of them, or of one of their rules."""

    def allow_rule(self, name: str, *passes: str) -> bool:
        """Whether a rule may be applied; ``passes`` are those that it belongs to, and that run it."""
        named = (self.states[each] for each in (name, *passes) if each in self.states)
        return next(named, all(self.defaults.get(each, True) for each in passes))

    def allow_pass(self, name: str, *, is_rules: bool = False) -> bool:
        """Whether a pass is to run. One that only consists of rules (``is_rules``) does nothing when they are off."""
        if name in self.states:
            return self.states[name]
        has_rule_on = any(on and each.startswith(f"{name}.") for each, on in self.states.items())
        return is_rules or has_rule_on or self.defaults.get(name, True)


@dataclass(frozen=True)
class Fusion:
    """One rewrite that took effect: the rule, what it says of itself, and the model nodes that it joined."""

    rule: str
    text: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Miss:
    """One place that looks like a rule's pattern, where the rule did not apply, and why not."""

    rule: str
    reason: str
    nodes: tuple[str, ...]
    place: str = ""


class Watcher(Protocol):
    """Looks at the module around every rewrite, which is slow: for reports that are asked for."""

    def will_change(self, rule: str, op: Operation) -> None:
        """``rule`` is about to rewrite ``op``."""

    def changed(self, rule: str, op: Operation) -> None:
        """``rule`` has rewritten what was ``op``, which may be erased."""

    def settle(self) -> None:
        """What was about to change has changed."""


@dataclass
class RewriteLog:
    """What happens inside an :func:`observe` block, in order."""

    switches: Switches = field(default_factory=Switches)
    limit: int | None = None
    """From this number of rewrites on, none is made any more."""
    explain: frozenset[str] = frozenset()
    """Rules that are to say why they do not apply where they nearly do."""
    watcher: Watcher | None = None
    count: int = 0
    last: tuple[str, str] | None = None
    """The name of the last rule that was applied, and where."""
    effects: Counter[str] = field(default_factory=Counter[str])
    """How often each rule took effect."""
    fusions: list[Fusion] = field(default_factory=list[Fusion])
    misses: dict[Miss, None] = field(default_factory=dict[Miss, None])
    """As a dictionary, because one place is visited again and again."""
    tried: set[str] = field(default_factory=set[str])
    """Of the rules and passes that are to explain themselves, those that were run."""

    in_driver: bool = False
    """Whether the driver tries a rule, and will count it."""
    permitted: str = ""
    """The rule that was permitted last, and is counted."""

    @property
    def exhausted(self) -> bool:
        """Whether no more rewrites are to be made."""
        return self.limit is not None and self.count >= self.limit

    def add(self, rule: str, op: Operation) -> None:
        """Count a rewrite of ``op``, which may be erased."""
        self.count += 1
        self.last = (rule, where(op))
        self.effects[rule] += 1

    def copy(self) -> RewriteLog:
        """The log as it is now, to come back to with :meth:`take_back`."""
        return replace(
            self,
            effects=self.effects.copy(),
            fusions=[*self.fusions],
            misses={**self.misses},
            tried={*self.tried},
        )

    def take_back(self, earlier: RewriteLog) -> None:
        """Forget what happened since ``earlier``, and follow its switches."""
        vars(self).update(vars(earlier.copy()))

    def counts(self) -> dict[str, int]:
        """How often each rule that reports fusions took effect."""
        return dict(Counter(fusion.rule for fusion in self.fusions))

    def matches(self, rule: str) -> int:
        """How often a rule found its pattern: where it took effect, and where it reported that it could not."""
        return self.effects[rule] + sum(miss.rule == rule for miss in self.misses)


_current: ContextVar[RewriteLog | None] = ContextVar("ge_rewrite_log", default=None)
_running: ContextVar[str] = ContextVar("ge_running_pass", default="")


def current_log() -> RewriteLog | None:
    """The log of the innermost :func:`observe` block."""
    return _current.get()


def running_pass() -> str:
    """The name of the pass that runs; empty when rules are applied by hand."""
    return _running.get()


@contextmanager
def observe(
    *,
    switches: Switches | None = None,
    limit: int | None = None,
    explain: Collection[str] = (),
    watcher: Watcher | None = None,
) -> Generator[RewriteLog]:
    """Log the rewrites inside the `with` block, and not inside a nested one, which takes over the switches."""
    outer = _current.get()
    if switches is None:
        switches = Switches() if outer is None else outer.switches
    log = RewriteLog(switches, limit, frozenset(explain), watcher)
    token = _current.set(log)
    try:
        yield log
    finally:
        _current.reset(token)


@contextmanager
def running(name: str) -> Generator[None]:
    """The pass ``name`` runs inside the `with` block: its rules are known as ``name.rule``."""
    if (log := _current.get()) is not None and name in log.explain:
        log.tried.add(name)
    token = _running.set(name)
    try:
        yield
    finally:
        _running.reset(token)


def permit(rule: str, op: Operation) -> bool:
    """Whether a rewrite that is about to be made may be made; it is counted. For passes with a loop of their own."""
    log = _current.get()
    if log is None:
        return True
    if log.exhausted or not log.switches.allow_rule(rule, running_pass()):
        return False
    log.add(rule, op)
    log.permitted = rule
    if log.watcher is not None:
        log.watcher.will_change(rule, op)
    return True


def fused(rule: str, text: str, op: Operation | LocationAttr) -> None:
    """Report a rewrite that joined operations; ``op`` is what it made, or its location."""
    logger.info("%s", text)
    if (log := _current.get()) is None:
        return
    log.fusions.append(Fusion(rule, text, node_names(op)))
    if not log.in_driver and log.permitted != rule and isinstance(op, Operation):
        log.add(rule, op)
        if log.watcher is not None:
            log.watcher.changed(rule, op)
    log.permitted = ""


def missed(rule: str, op: Operation, reason: str) -> None:
    """Report that ``rule`` matched at ``op`` but left it alone, with a reason that ends a sentence."""
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("%s left %s alone: %s", rule, where(op), reason)
    if (log := _current.get()) is not None:
        log.misses.setdefault(Miss(rule, reason, node_names(op), where(op)))
