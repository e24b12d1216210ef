"""The rewrite driver: rules dispatched by operation type, replacement that keeps names, and level boundaries.

A *rule* is a function from one operation to whether it changed the module, marked with the operation types that
it is about::

    @rewrite_rule(graph.Unary)
    def drop_identity(op: graph.Unary) -> bool:
        if op.kind.data != "identity":
            return False
        replace(op, [], [op.x])
        return True

:func:`apply_rules` applies rules until none applies any more; :func:`lower_ops` replaces each operation once, for
lowerings; :func:`check_legal` says which operations may remain.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import DiagnosticException

from ge.ir.errors import GeError
from ge.ir.locations import fused_loc, is_unknown, where
from ge.ir.rewrite_log import RewriteLog, current_log, missed, permit, running_pass

OpT = TypeVar("OpT", bound=Operation)


APPLIES = ""
"""What a rule that explains itself says of an operation that it applies to."""


@dataclass(frozen=True)
class Guard:
    """Operations that rules must leave alone because of what is elsewhere in the module."""

    about: frozenset[type[Operation]]
    """The operation types that it is about; where there are none of them, it is not asked."""
    start: Callable[[], Callable[[Operation], bool]]
    """Makes the question whether an operation must be left alone, for one walk over the module: it may remember."""
    reason: str = ""
    """Why they are left alone, for who asks."""


@dataclass(frozen=True)
class RewriteRule(Generic[OpT]):
    """A rule and the operation types it is tried on. Call it on an operation: True when it changed something."""

    op_types: tuple[type[OpT], ...]
    function: Callable[[OpT], bool]
    label: str = ""
    """A name among all rules, such as ``swish``. A rule without one is known as ``pass.function``."""
    owner: str = ""
    """The pass that it belongs to, where that is not the one that runs it."""
    explain: Callable[[OpT], str | None] | None = None
    """Why it does not apply to an operation that it nearly applies to; :data:`APPLIES`; None when it is far from it."""
    needs: tuple[frozenset[type[Operation]], ...] = ()
    """Sets of operation types: without all types of one of them somewhere, it is not even tried."""
    parts: Callable[[], Sequence[RewriteRule[OpT]]] | None = None
    """The rules that it stands for, when these are only made where it may apply."""
    compile: Callable[[], Callable[[OpT], bool]] | None = None
    """Makes a faster ``function``, for a rule that is compiled when it is first needed."""
    guard: Guard | None = None
    """What it must leave alone, whatever it looks like."""

    @property
    def name(self) -> str:
        """What the rule is called: ``swish``, or ``eliminate-identity.same-type``."""
        if self.label:
            return self.label
        owner = self.owner or running_pass()
        function = self.function.__name__.replace("_", "-")
        return f"{owner}.{function}" if owner else function

    def __call__(self, op: OpT) -> bool:
        return self.function(op)

    def compiled(self) -> Callable[[OpT], bool]:
        """The fastest function of the rule."""
        return self.function if self.compile is None else self.compile()

    def may_apply(self, present: set[type[Operation]]) -> bool:
        """Whether it may apply somewhere in a module that has operations of certain types."""
        return not self.needs or any(map(present.issuperset, self.needs))

    def expanded(self) -> Sequence[RewriteRule[OpT]]:
        """The rules that it stands for; itself, when these are none."""
        if self.parts is None:
            return [self]
        return [dataclasses.replace(part, owner=self.owner, guard=self.guard) for part in self.parts()]


def _guarded(function: Callable[[OpT], bool], must_stay: Callable[[Operation], bool]) -> Callable[[OpT], bool]:
    """The function of a rule, not applied to operations that must stay."""

    def guarded(op: OpT) -> bool:
        return not must_stay(op) and function(op)

    return guarded


def rewrite_rule(*op_types: type[OpT]) -> Callable[[Callable[[OpT], bool]], RewriteRule[OpT]]:
    """Decorator: make a :class:`RewriteRule` on ``op_types`` of a function ``op -> changed``."""

    def decorate(function: Callable[[OpT], bool]) -> RewriteRule[OpT]:
        return RewriteRule(op_types, function)

    return decorate


def replace(
    op: Operation,
    new_ops: Operation | Sequence[Operation],
    new_results: Sequence[SSAValue | None] | None = None,
    *,
    fused: Iterable[Operation] = (),
) -> None:
    """Put ``new_ops`` in the place of ``op`` and let its uses use ``new_results`` (default: those of the last new op).

    ``None`` in ``new_results`` stands for a result without uses. New operations without a location take that of ``op``,
    joined with those of ``fused`` (the other operations that they stand for); new values without a name take the name
    of the value they replace.
    """
    new_ops = list(new_ops) if isinstance(new_ops, list) or not isinstance(new_ops, Operation) else [new_ops]
    if new_results is None:
        new_results = new_ops[-1].results if new_ops else []
    if len(new_results) != len(op.results):
        raise ValueError(f"{op.name} has {len(op.results)} results, {len(new_results)} given")
    location = fused_loc([op, *extra]) if (extra := list(fused)) else op.location
    for new_op in new_ops:
        if is_unknown(new_op.location):
            new_op.location = location
    substitute(op, new_ops, new_results)


def substitute(op: Operation, new_ops: Sequence[Operation], new_results: Sequence[SSAValue | None]) -> None:
    """The same for new operations that have a location, with a value or None for each result."""
    block = op.parent
    if block is None:
        raise ValueError(f"{op.name} is not in a block")
    block.insert_ops_before(new_ops, op)
    for old, new in zip(op.results, new_results, strict=True):
        replace_value(old, new)
    op.detach()
    op.erase()


def replace_value(old: SSAValue, new: SSAValue | None) -> None:
    """Let all uses of ``old`` use ``new``, which takes the name of ``old`` when it has none."""
    if new is None:
        if old.uses:
            raise ValueError("a result that is used needs a replacement")
        return
    old.replace_all_uses_with(new)


def give_type(value: SSAValue, type: Attribute) -> None:
    """Give a value another type. It stays the value that it is: xDSL would make another and visit all uses."""
    vars(value)["_type"] = type


def erase_if_unused(op: Operation) -> bool:
    """Erase an operation whose results have no uses. Whether it did."""
    if any(result.uses for result in op.results):
        return False
    op.detach()
    op.erase()
    return True


def may_stand_for(new: SSAValue, old: SSAValue) -> bool:
    """Whether the uses of ``old`` may use ``new``, which is there already.

    An output of the model needs a value of its own, so ``new`` may then be no input, no constant and no other output.
    """
    if not _is_returned(old):
        return True
    return not isinstance(new.owner, Block) and not new.owner.has_trait(ConstantLike) and not _is_returned(new)


def _is_returned(value: SSAValue) -> bool:
    return any(isinstance(use.operation, ReturnOp) for use in value.uses)


# Applying rules


def apply_rules(root: Operation, rules: Iterable[RewriteRule[Any]], *, max_rewrites: int | None = None) -> bool:
    """Apply ``rules`` to the operations in ``root`` until none applies. Whether anything changed.

    Operations are visited in program order; after a change, the operations next to it (the producers of its operands
    and the users of its results) are visited again, once for all changes before that. Rules on one operation are tried
    in the order given. More than ``max_rewrites`` changes (default: 16 per operation, at least 1000) raise GE3005.
    Rules that are switched off are left out; what happens is logged (:mod:`ge.ir.rewrite_log`).
    """
    log = current_log()
    if log is not None and log.watcher is not None:
        log.watcher.settle()
    chosen = [rule for rule in rules if log is None or log.switches.allow_rule(rule.name, rule.owner, running_pass())]
    budget = _Budget(max_rewrites)
    while _sweep(chosen, root, budget):
        pass
    if log is not None and log.explain:
        log.tried |= log.explain.intersection(name for rule in chosen for name in (rule.name, rule.owner))
        _explain(root, [part for rule in chosen if rule.name in log.explain for part in rule.expanded()])
    return budget.used > 0


class _Budget:
    """How many changes may be made, and which rules made the last ones."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.used = 0
        self._recent: deque[RewriteRule[Any]] = deque(maxlen=8)

    def start(self, operations: int) -> None:
        """Set the limit for a module of so many operations, unless it is given."""
        if self.limit is None:
            self.limit = max(1000, 16 * operations)

    def spend(self, rule: RewriteRule[Any], op: Operation) -> None:
        """Count a change of ``op``. Raises GE3005 beyond the limit."""
        self.used += 1
        self._recent.append(rule)
        if self.limit is not None and self.used > self.limit:
            names = sorted({each.name for each in self._recent})
            rules = (
                f"rules {', '.join(map(repr, names))} still apply" if names[1:] else f"rule {names[0]!r} still applies"
            )
            raise GeError("GE3005", f"{rules} after {self.limit} changes", where(op))


_Ready: TypeAlias = "tuple[RewriteRule[Any], Callable[[Any], bool]]"
"""A rule, and the function to try."""


def _by_type(rules: Iterable[RewriteRule[Any]], present: set[type[Operation]]) -> dict[type[Operation], list[_Ready]]:
    """The rules of each operation type that may apply, given the types that are ``present``."""
    table: dict[type[Operation], list[_Ready]] = {}
    questions: dict[Guard, Callable[[Operation], bool]] = {}
    written_out = (part for rule in rules if rule.may_apply(present) for part in rule.expanded())
    for rule in written_out:
        if not rule.may_apply(present) or present.isdisjoint(rule.op_types):
            continue
        function = rule.compiled()
        if rule.guard is not None and not present.isdisjoint(rule.guard.about):
            function = _guarded(function, questions.setdefault(rule.guard, rule.guard.start()))
        for op_type in rule.op_types:
            table.setdefault(op_type, []).append((rule, function))
    return table


def _sweep(rules: Sequence[RewriteRule[Any]], root: Operation, budget: _Budget) -> bool:
    """Visit all operations, and what changes bring about, until none is left to visit. Whether there were changes."""
    ops = list(root.walk())
    budget.start(len(ops))
    table = _by_type(rules, set(map(type, ops)))
    worklist = deque(op for op in ops if type(op) in table)
    waiting = set(worklist)
    used = budget.used
    log = current_log()
    while worklist and not (log is not None and log.exhausted):
        op = worklist.popleft()
        waiting.remove(op)
        if op.parent is None and op is not root:
            continue
        around = _neighbours(op)
        rule = _first_that_applies(op, table[type(op)], log)
        if rule is not None:
            budget.spend(rule, op)
            again = [near for near in _revisit(op, around, table) if near not in waiting]
            worklist += again
            waiting.update(again)
    return budget.used > used


def _first_that_applies(op: Operation, rules: Sequence[_Ready], log: RewriteLog | None) -> RewriteRule[Any] | None:
    """Try rules on an operation, in order, until one changes something. What a rule raises names it and the node."""
    if log is not None:
        return _first_logged(op, rules, log)
    for rule, function in rules:
        try:
            if function(op):
                return rule
        except (GeError, DiagnosticException, RecursionError):
            raise
        except Exception as error:
            raise RuleFailed(rule.name, op, error) from error
    return None


def _first_logged(op: Operation, rules: Sequence[_Ready], log: RewriteLog) -> RewriteRule[Any] | None:
    """The same under observation. A rule that reports a fusion is counted under the name that it reports."""
    reported = len(log.fusions)
    log.in_driver = True
    try:
        rule = _first_that_applies(op, rules, None)
    finally:
        log.in_driver = False
    if rule is not None:
        name = log.fusions[reported].rule if len(log.fusions) > reported else rule.name
        log.add(name, op)
        if log.watcher is not None:
            log.watcher.changed(name, op)
    return rule


class RuleFailed(Exception):
    """A rule raised something that is no :class:`GeError`: its name, and where it was tried."""

    def __init__(self, rule: str, op: Operation, error: Exception) -> None:
        super().__init__(f"rule '{rule}': {type(error).__name__}: {error}")
        self.rule = rule
        self.place = where(op)


def _explain(root: Operation, rules: Sequence[RewriteRule[Any]]) -> None:
    """Report every place where one of ``rules`` nearly applies."""
    for rule in rules:
        must_stay = None if rule.guard is None else rule.guard.start()
        for op in root.walk() if rule.explain is not None else ():
            if type(op) not in rule.op_types or rule.explain is None:
                continue
            reason = rule.explain(op)
            if reason == APPLIES and rule.guard is not None and must_stay is not None and must_stay(op):
                reason = rule.guard.reason
            if reason:
                missed(rule.name, op, reason)


def _neighbours(op: Operation, most_users: int | None = None) -> list[Operation]:
    """The producers of the operands and the users of the results; of each result at most so many."""
    near = [operand.op for operand in op.operands if isinstance(operand, OpResult)]
    for result in op.results:
        near += [use.operation for use in islice(result.uses, most_users)]
    return near


_MOST_USERS = 64
"""How many users of a value beside a change are visited again at once. All, for each change of one of them, would be
quadratic; the others wait for the next sweep."""


def _revisit(
    op: Operation, around: Iterable[Operation], table: Mapping[type[Operation], object]
) -> Iterator[Operation]:
    """The operations whose rules a change of ``op`` may concern: itself, what was around it, and what is now."""
    seen: set[Operation] = set()
    for near in (op, *around):
        if near.parent is None:
            continue
        for candidate in (near, *_neighbours(near, _MOST_USERS)):
            if candidate not in seen and type(candidate) in table:
                seen.add(candidate)
                yield candidate


@dataclass(frozen=True)
class Replacement:
    """New operations and, for each result of the old operation, the value that replaces it (None: it has no uses)."""

    ops: Sequence[Operation]
    results: Sequence[SSAValue | None]


Lowering: TypeAlias = Callable[[OpT], Operation | Sequence[Operation] | Replacement | None]
"""From an operation to what replaces it: new operations (the last one gives the results), or None to leave it."""


def lower_ops(root: Operation, lowerings: Mapping[type[Any], Lowering[Any]]) -> bool:
    """Replace each operation in ``root`` that has a lowering, once, in program order. Whether anything changed.

    Operands have been lowered already when an operation is visited, so their types are those of the new level.
    """
    changed = False
    for op in list(root.walk()):
        lower = lowerings.get(type(op))
        if lower is None or (op.parent is None and op is not root):
            continue
        new = lower(op)
        if new is None:
            continue
        if not permit(f"lowering of {op.name}", op):
            break
        if isinstance(new, Replacement):
            replace(op, new.ops, new.results)
        else:
            replace(op, new)
        changed = True
    return changed


def check_legal(module: ModuleOp, legal: Collection[str | type[Operation]], *, level: str) -> None:
    """Check a level boundary: every operation in ``module`` is legal, or GE3004 names those that are not.

    ``legal`` has dialect names (``"graph"``), operation names (``"func.func"``) and operation classes. The place in the
    error is that of the first.
    """
    names = {entry if isinstance(entry, str) else entry.name for entry in legal} | {"builtin.module"}
    illegal = [op for op in module.walk() if op.name not in names and op.name.partition(".")[0] not in names]
    if illegal:
        counts = Counter(op.name for op in illegal)
        found = ", ".join(f"'{name}'" + (f" ({count} times)" if count > 1 else "") for name, count in counts.items())
        raise GeError("GE3004", f"{found} may not remain at level '{level}'", where(illegal[0]))
