"""Why a rule does not apply to an operation that looks like its pattern.

Compiled rules only say no. This is the same matching walked through step by step: slower, and able to say what was
wrong in the match that got furthest. It runs on request only (``--explain-fusion``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any, TypeAlias, cast

from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from ge.dialects.onnx import Constant, OnnxOp, constant_value, op_class
from ge.ir.locations import where
from ge.ir.rewriting import APPLIES
from ge.rules import runtime
from ge.rules.expressions import Names, condition, source
from ge.rules.pattern import Absent, Input, Leaf, Literal, Node, ResultOf, Variant
from ge.rules.syntax import Expression, Name, Place, walk

Matched: TypeAlias = SSAValue | Sequence[SSAValue | None] | None


@dataclass(frozen=True)
class State:
    """What a partial match has found: values by name, operations by the number of their node."""

    values: Mapping[str, Matched] = field(default_factory=dict[str, Matched])
    operations: Mapping[int, OnnxOp] = field(default_factory=dict[int, OnnxOp])

    def with_value(self, name: str, value: Matched) -> State:
        """The state with one value more."""
        return State({**self.values, name: value}, self.operations)

    def with_operation(self, node: Node, op: OnnxOp) -> State:
        """The state with one operation more, and the names of its results."""
        results = {name: result for name, result in zip(node.results, op.results, strict=False) if name}
        return State({**self.values, **results}, {**self.operations, node.index: op})


def explain(variant: Variant, namespace: Mapping[str, Any], root: OnnxOp) -> str | None:
    """Why a rule does not apply at ``root``: what is wrong in the match that gets furthest.

    :data:`~ge.ir.rewriting.APPLIES` when the rule does apply; None when nearly nothing matches: of a pattern of several
    operations only one, or an operation but not its inputs. ``namespace`` is that of the compiled rule.
    """
    return Search(variant, namespace).run(root)


class Search:
    """The search for the match that gets furthest."""

    def __init__(self, variant: Variant, namespace: Mapping[str, Any]) -> None:
        self.variant = variant
        self.namespace = namespace
        self._furthest = (min(2, len(variant.nodes)), 0)
        """Of the best failure so far: the number of operations, and of conditions, that matched before it."""
        self._reason: str | None = None

    def run(self, root: OnnxOp) -> str | None:
        """The reason of the best failure; None without one."""
        for state in self._node(self.variant.root, root, State()):
            if self._holds(state):
                return APPLIES
        return self._reason

    def _fail(self, state: State, reason: str, conditions: int = 0) -> None:
        """A match ends here."""
        progress = (len(state.operations), conditions)
        if progress > self._furthest or (progress == self._furthest and self._reason is None):
            self._furthest, self._reason = progress, reason

    # Structure

    def _node(self, node: Node, op: OnnxOp, state: State) -> Iterator[State]:
        """The matches of an operation of the right type, and of all in front of it."""
        state = state.with_operation(node, op)
        if (problem := self._wrong_results(node, op) or self._wrong_attributes(node, op)) is not None:
            self._fail(state, problem)
            return
        given = op.input_list()
        aligned = self._aligned(node, given)
        if len(aligned) != len(node.inputs):
            self._fail(state, f"{op.op_type} has {len(given)} inputs, the rule asks for {len(node.inputs)}")
            return
        for order in permutations(aligned) if node.commutes else [aligned]:
            yield from self._inputs(list(zip(node.inputs, order, strict=True)), state)

    def _aligned(self, node: Node, given: Sequence[SSAValue | None]) -> tuple[Matched, ...]:
        """One value for each input of a pattern: absent ones are None, the remaining ones of ``xs...`` a list."""
        if node.inputs and isinstance(last := node.inputs[-1], Leaf) and last.kind == "variadic":
            fixed = len(node.inputs) - 1
            return (*given[:fixed], list(given[fixed:]))
        missing = len(node.inputs) - len(given)
        return (*given, *[None] * missing)

    def _inputs(self, pairs: Sequence[tuple[Input, Matched]], state: State) -> Iterator[State]:
        """The matches of inputs from the first of ``pairs`` on."""
        if not pairs:
            yield state
            return
        (wanted, value), rest = pairs[0], pairs[1:]
        for found in self._input(wanted, value, state):
            yield from self._inputs(rest, found)

    def _input(self, wanted: Input, value: Matched, state: State) -> Iterator[State]:
        match wanted:
            case Leaf(name, kind):
                if name in state.values and state.values[name] is not value:
                    self._fail(state, f"'{name}' would be two values, {_shown(state.values[name])} and {_shown(value)}")
                elif value is None and kind == "value":
                    self._fail(state, f"'{name}' is absent")
                else:
                    yield state.with_value(name, value)
            case ResultOf(number, index):
                yield from self._result(self.variant.nodes[number], index, value, state)
            case Literal(expression):
                if isinstance(value, SSAValue) and self._is_number(value, expression):
                    yield state
                else:
                    number = source(expression, Names({}, {}, {}))
                    self._fail(state, f"{_shown(value)} is not the constant {number} ({expression.at})")
            case Absent():
                if value is None:
                    yield state
                else:
                    self._fail(state, f"{_shown(value)} is there, the rule asks for none")
            case _:
                yield state

    def _result(self, node: Node, index: int, value: Matched, state: State) -> Iterator[State]:
        """The matches of a value with a result of a node."""
        op = value.owner if isinstance(value, SSAValue) else None
        if node.index in state.operations:
            if value is state.operations[node.index].results[index]:
                yield state
            else:
                self._fail(state, f"{_shown(value)} is not the result of {node.op_type} that the rule uses twice")
        elif not isinstance(op, OnnxOp) or not _is_a(op, node):
            self._fail(state, f"{_shown(value)} comes from {_kind(op)}, the rule asks for {node.op_type} ({node.at})")
        elif index >= len(op.results) or op.results[index] is not value:
            self._fail(state, f"{_shown(value)} is another result of {node.op_type} than the rule asks for")
        else:
            yield from self._node(node, op, state)

    def _wrong_results(self, node: Node, op: OnnxOp) -> str | None:
        """What is wrong with the users of the results of an operation."""
        inside = {index: times for (number, index), times in self.variant.uses.items() if number == node.index}
        for index, result in enumerate(op.results):
            name = node.results[index] if index < len(node.results) else ""
            if (name and node is self.variant.root) or name in self.variant.shared:
                continue
            if result.uses.get_length() > inside.get(index, 0):
                users = [use.operation for use in result.uses]
                if any(isinstance(user, ReturnOp) for user in users):
                    return f"the result of {_kind(op)} is an output, too"
                return f"the result of {_kind(op)} has other users: {', '.join(map(where, users))}"
        return None

    def _wrong_attributes(self, node: Node, op: OnnxOp) -> str | None:
        """Which attribute is set although the pattern does not mention it."""
        for name, default in self.namespace.get(f"defaults{node.index}", {}).items():
            if name in op.attributes and op.attributes[name] != default:
                return f"attribute '{name}' of {_kind(op)} is {op.attribute(name)}, the rule is for the default only"
        if not runtime.has_only(op, self.namespace.get(f"named{node.index}", frozenset(op.attributes))):
            return f"{_kind(op)} has attributes that the rule does not name"
        return None

    def _is_number(self, value: SSAValue, expression: Expression) -> bool:
        return runtime.is_number(value, eval(source(expression, Names({}, {}, {})), dict(self.namespace)))

    # Conditions

    def _holds(self, state: State) -> bool:
        """Whether attributes, constants and conditions of a match are as the rule asks."""
        names = self._names()
        bound = self._bound(state)
        for number, (text, expression, what) in enumerate(self._tests(state, names)):
            constants = [each.name for each in walk(expression) if isinstance(each, Name)]
            missing = [name for name in constants if name in self.variant.constants and not _known(state.values[name])]
            if missing:
                self._fail(state, f"'{missing[0]}' is not constant: {_shown(state.values[missing[0]])}", 1 + number)
                return False
            try:
                holds = eval(text, {**self.namespace, **bound})
            except runtime.NOT_COMPUTABLE as error:
                self._fail(state, f"{what} cannot be computed: {error}", 1 + number)
                return False
            if not holds:
                self._fail(state, f"{what} does not hold", 1 + number)
                return False
        return True

    def _tests(self, state: State, names: Names) -> Iterator[tuple[str, Expression, str]]:
        """Source, expression and description of everything that must hold of a complete match."""
        captured: set[str] = set()
        for node in self.variant.nodes:
            for name, value in node.attributes.items():
                if isinstance(value, Name) and value.name in self.variant.captured and value.name not in captured:
                    captured.add(value.name)
                    continue
                op = state.operations[node.index]
                what = f"'{name} = {_line(value.at, value.at.column)}' ({value.at}): it is {op.attribute(name)}; this"
                yield f"same(attribute(o{node.index}, {name!r}), {source(value, names)})", value, what
        for expression in self.variant.where:
            yield condition(expression, names), expression, f"condition '{_line(expression.at)}' ({expression.at})"

    def _names(self) -> Names:
        data = {name: f"d_{name}" for name in self.variant.constants} | {name: f"a_{name}" for name in self._captured}
        operations = {name: f"o{node.index}" for node in self.variant.nodes for name in node.results if name}
        return Names({name: f"v_{name}" for name in self.variant.values}, data, operations)

    @property
    def _captured(self) -> dict[str, tuple[int, str]]:
        """The captured attributes: the number of the node that each is first taken from, and its name there."""
        found: dict[str, tuple[int, str]] = {}
        for node in self.variant.nodes:
            for name, value in node.attributes.items():
                if isinstance(value, Name) and value.name in self.variant.captured:
                    found.setdefault(value.name, (node.index, name))
        return found

    def _bound(self, state: State) -> dict[str, Any]:
        """The variables of conditions."""
        attributes = {
            f"a_{name}": runtime.attribute(state.operations[node], attribute)
            for name, (node, attribute) in self._captured.items()
        }
        constants = {
            f"d_{name}": runtime.data(cast("SSAValue | None", state.values[name]))
            for name in self.variant.constants
            if _known(state.values.get(name)) and _has_numbers(state.values.get(name))
        }
        values = {f"v_{name}": value for name, value in state.values.items()}
        return {**attributes, **constants, **values, **{f"o{number}": op for number, op in state.operations.items()}}


def _is_a(op: OnnxOp, node: Node) -> bool:
    if node.operator is None:
        return runtime.is_custom(op, node.domain, node.op_type)
    return type(op) is op_class(node.op_type, node.domain)


def _known(value: Matched) -> bool:
    """Whether a value that must be constant is, or is absent."""
    return value is None or (isinstance(value, SSAValue) and isinstance(value.owner, Constant))


def _has_numbers(value: Matched) -> bool:
    array = constant_value(value) if isinstance(value, SSAValue) else None
    return value is None or (array is not None and array.dtype.kind not in "OUSc")


def _kind(op: object) -> str:
    """An operation with the names of its nodes: ``Sigmoid (node 'gate')``."""
    if isinstance(op, OnnxOp):
        return f"{op.op_type} ({where(op)})"
    return "an input of the model"


def _shown(value: Matched) -> str:
    """A value as errors name it."""
    if isinstance(value, SSAValue):
        if isinstance(value.owner, Constant):
            array = constant_value(value)
            if array is not None and array.size == 1:
                return f"the constant {array.item()}"
        return f"%{value.name_hint}" if value.name_hint else f"the result of {_kind(value.owner)}"
    return "nothing" if value is None else "a list of values"


def _line(place: Place, column: int = 1) -> str:
    """The line of a rule file that a place is on; with a column, the item that begins there. Empty without the file."""
    try:
        line = Path(place.file).read_text(encoding="utf-8").splitlines()[place.line - 1]
    except (OSError, UnicodeDecodeError, IndexError):
        return ""
    text = line[column - 1 :].partition("#")[0].strip()
    return text if column == 1 else re.split(r"[,)]", text)[0]
