"""The report of what passes and rules did: ``--fusion_report=FILE``, as JSON, or as tables for ``-``.

For every rule it says how often it found its pattern (``match_times``) and how often it was applied (``effect_times``;
the names are ATC's), which nodes of the model became what, the bytes from and to device memory before and after, and
where it did not apply, with the reason. For every pass: its rewrites, operations and bytes.

The module is compared with what it was around every rewrite, so rules need not say what they do; that is slow enough to
be done only when the report is asked for. Bytes are counted at the levels `onnx` and `graph` (:mod:`ge.tools.traffic`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects.graph import ConstantOp
from ge.dialects.onnx import Constant, OnnxOp
from ge.ir.errors import GeError
from ge.ir.locations import node_names
from ge.ir.rewrite_log import RewriteLog, running_pass
from ge.tools.console import change, megabytes, print_table
from ge.tools.traffic import operation_bytes


@dataclass(frozen=True)
class OperationFacts:
    """What is remembered of an operation that may be erased."""

    operator: str
    """Its type, empty for a constant."""
    nodes: tuple[str, ...]
    bytes: int


@dataclass(frozen=True)
class Rewrite:
    """What one application of a rule did."""

    rule: str
    each_pass: str
    nodes: tuple[str, ...]
    """The nodes of the model that the operations stood for."""
    operators: tuple[str, ...]
    """The types of the operations that went, ..."""
    into: tuple[str, ...]
    """... and of those that came, constants left out."""
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True)
class PassFacts:
    """What one run of a pass did."""

    name: str
    rewrites: int
    operations_before: int
    operations_after: int
    bytes_before: int
    bytes_after: int


class ModuleWatcher:
    """Compares the module with what it was, around every rewrite and every pass: a :class:`Watcher`."""

    def __init__(self) -> None:
        self.rewrites: list[Rewrite] = []
        self.passes: list[PassFacts] = []
        self._module: ModuleOp | None = None
        self._known: dict[Operation, OperationFacts] = {}
        self._pending: tuple[str, str] | None = None
        """The rule and the pass of a rewrite that is being made."""
        self._at_pass: tuple[int, int, int] = (0, 0, 0)

    # Rewrites

    def will_change(self, rule: str, op: Operation) -> None:
        self.settle()
        self._pending = (rule, running_pass())

    def changed(self, rule: str, op: Operation) -> None:
        self._pending = (rule, running_pass())
        self.settle()

    def settle(self) -> None:
        """Note what the last rewrite did, now that it has been made."""
        pending, self._pending = self._pending, None
        if pending is None or self._module is None:
            return
        gone, new = self._update(self._module)
        nodes = dict.fromkeys(name for facts in gone for name in facts.nodes)
        self.rewrites.append(
            Rewrite(
                *pending,
                tuple(nodes),
                tuple(facts.operator for facts in gone if facts.operator),
                tuple(facts.operator for facts in new if facts.operator),
                sum(facts.bytes for facts in gone),
                sum(facts.bytes for facts in new),
            )
        )

    def _update(self, module: ModuleOp) -> tuple[list[OperationFacts], list[OperationFacts]]:
        """Look at the module again: the operations that went, and those that came, in the order of the program."""
        present = dict.fromkeys(module.walk())
        gone = [self._known.pop(op) for op in list(self._known) if op not in present]
        new = {op: _facts(op) for op in present if op not in self._known}
        self._known |= new
        return gone, list(new.values())

    # Passes

    def __call__(self, each: ModulePass | None, module: ModuleOp) -> None:
        """Look at the module before the first pass, and after each: an observer of :class:`PassRunner`."""
        self.settle()
        self._module = module
        self._known = {op: _facts(op) for op in module.walk()}
        before, self._at_pass = self._at_pass, self._totals()
        if each is not None:
            columns = zip(before, self._at_pass, strict=True)
            (rewrites, all_rewrites), operations, size = columns
            self.passes.append(PassFacts(each.name, all_rewrites - rewrites, *operations, *size))

    @property
    def size(self) -> tuple[int, int]:
        """How many rewrites and passes have been noted."""
        return len(self.rewrites), len(self.passes)

    def take_back(self, size: tuple[int, int]) -> None:
        """Forget what was noted since the report had a size."""
        rewrites, passes = size
        del self.rewrites[rewrites:], self.passes[passes:]
        self._pending = None

    def _totals(self) -> tuple[int, int, int]:
        """The number of rewrites so far, of operations without constants, and of bytes."""
        operations = sum(facts.operator != "" for facts in self._known.values())
        return len(self.rewrites), operations, sum(facts.bytes for facts in self._known.values())


def _facts(op: Operation) -> OperationFacts:
    """What is remembered of an operation; what lies inside a fusion or host region belongs to that."""
    parent = op.parent_op()
    is_top_level = isinstance(parent, FuncOp)
    if isinstance(op, Constant | ConstantOp | ModuleOp | FuncOp) or not (is_top_level or isinstance(parent, OnnxOp)):
        return OperationFacts("", (), 0)
    return OperationFacts(_operator(op), node_names(op), operation_bytes(op) if is_top_level else 0)


def _operator(op: Operation) -> str:
    return op.op_type if isinstance(op, OnnxOp) else op.name


# The report


def report_facts(model: str, log: RewriteLog, watcher: ModuleWatcher) -> dict[str, Any]:
    """The report in plain types, for JSON."""
    passes = watcher.passes
    return {
        "model": model,
        "access_bytes": {
            "before": passes[0].bytes_before if passes else 0,
            "after": passes[-1].bytes_after if passes else 0,
        },
        "passes": [asdict(each) for each in passes],
        "rules": [_rule_facts(rule, log, watcher) for rule in _rules(log, watcher)],
        "switched_off": sorted(name for name, on in {**log.switches.defaults, **log.switches.states}.items() if not on),
    }


def _rules(log: RewriteLog, watcher: ModuleWatcher) -> Iterable[str]:
    """All rules that the report is about, in the order in which they first did something."""
    made = (rewrite.rule for rewrite in watcher.rewrites)
    return dict.fromkeys([*made, *log.effects, *(miss.rule for miss in log.misses)])


def _fusion_facts(rewrite: Rewrite) -> dict[str, Any]:
    """One application of a rule, under its rule."""
    facts = asdict(rewrite)
    del facts["rule"]
    return {"pass": facts.pop("each_pass"), **facts}


def _rule_facts(rule: str, log: RewriteLog, watcher: ModuleWatcher) -> dict[str, Any]:
    rewrites = [rewrite for rewrite in watcher.rewrites if rewrite.rule == rule]
    misses = [miss for miss in log.misses if miss.rule == rule]
    return {
        "rule": rule,
        "match_times": log.matches(rule),
        "effect_times": log.effects[rule],
        "bytes_before": sum(rewrite.bytes_before for rewrite in rewrites),
        "bytes_after": sum(rewrite.bytes_after for rewrite in rewrites),
        "fusions": list(map(_fusion_facts, rewrites)),
        "misses": [{"nodes": miss.nodes, "reason": miss.reason} for miss in misses],
    }


def write_report(facts: dict[str, Any], file: str) -> None:
    """Write a report as JSON, or for ``-`` as tables on standard error. Raises GE1003."""
    if file == "-":
        with redirect_stdout(sys.stderr):
            print_report(facts)
        return
    try:
        Path(file).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise GeError("GE1003", f"cannot write '{file}': {error.strerror or error}", file) from error


def print_report(facts: dict[str, Any]) -> None:
    """Print the tables of rules and passes."""
    rules = [
        [rule["rule"], str(rule["match_times"]), str(rule["effect_times"]), *_traffic(rule), _joined(rule["fusions"])]
        for rule in facts["rules"]
    ]
    print_table(["rule", "matched", "applied", "moved before", "after", "first"], rows=rules, left=(0, 5))
    print()
    passes = [
        [
            each["name"],
            str(each["rewrites"]),
            f"{each['operations_before']} -> {each['operations_after']}",
            *_traffic(each),
        ]
        for each in facts["passes"]
    ]
    print_table(["pass", "rewrites", "operations", "moved before", "after"], passes)
    before, after = facts["access_bytes"]["before"], facts["access_bytes"]["after"]
    print(f"memory access {change(before, after)}: {megabytes(before)} -> {megabytes(after)}")


def _traffic(facts: dict[str, Any]) -> Sequence[str]:
    return megabytes(facts["bytes_before"]), megabytes(facts["bytes_after"])


def _joined(fusions: Sequence[dict[str, Any]]) -> str:
    """What the first application of a rule made of what: ``Mul + Sigmoid -> Swish``."""
    if not fusions:
        return ""
    return f"{' + '.join(fusions[0]['operators']) or 'nothing'} -> {' + '.join(fusions[0]['into']) or 'nothing'}"
