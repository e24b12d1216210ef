"""What the fusion passes did, and what they nearly did: for logs, `fusion_result` reports and tests.

Every fusion is a line of the logger `ge.fusion`, such as `Fuse Conv2D(32) + BatchNorm + ReLU -> FusedConv2D`. Inside

    with collect() as report:
        ...run passes...

the same goes into `report` as objects, with the names of the model's nodes. Near misses say which condition failed.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ge.ir.locations import node_names, where

logger = logging.getLogger("ge.fusion")


@dataclass(frozen=True)
class Fusion:
    """One rewrite that took effect: the rule, what it says of itself, and the model nodes that it joined."""

    rule: str
    text: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Miss:
    """One place where a rule matched but did not apply, and why not."""

    rule: str
    reason: str
    nodes: tuple[str, ...]


@dataclass
class FusionReport:
    """All that happened while it was collected, in order."""

    fusions: list[Fusion] = field(default_factory=list[Fusion])
    misses: list[Miss] = field(default_factory=list[Miss])

    def counts(self) -> dict[str, int]:
        """How often each rule took effect."""
        rules = [fusion.rule for fusion in self.fusions]
        return {rule: rules.count(rule) for rule in dict.fromkeys(rules)}


_current: ContextVar[FusionReport | None] = ContextVar("ge_fusion_report", default=None)


@contextmanager
def collect() -> Generator[FusionReport]:
    """Collect what is reported inside the `with` block (and not inside a nested one)."""
    report = FusionReport()
    token = _current.set(report)
    try:
        yield report
    finally:
        _current.reset(token)


def fused(rule: str, text: str, op: Operation) -> None:
    """Report a rewrite; `op` is what it made."""
    logger.info("%s", text)
    if (report := _current.get()) is not None:
        report.fusions.append(Fusion(rule, text, node_names(op)))


def missed(rule: str, op: Operation, reason: str) -> None:
    """Report that `rule` matched at `op` but left it alone, with a reason that ends a sentence."""
    logger.debug("%s left %s alone: %s", rule, where(op), reason)
    if (report := _current.get()) is not None:
        report.misses.append(Miss(rule, reason, node_names(op)))
