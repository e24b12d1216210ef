"""Writes the pattern and the conditions of a rule as Python: the guards of the function. See :mod:`ge.rules.writer`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ge.dialects.onnx import op_class
from ge.dialects.onnx.attributes import to_attribute
from ge.rules.expressions import Names, can_fail, condition, source
from ge.rules.functions import CONSTANTS
from ge.rules.pattern import Absent, Anything, Input, Leaf, Literal, Node, ResultOf, Variant
from ge.rules.syntax import AttributeOf, Expression, Name, Number, Operation, Text, walk


@dataclass
class _Condition:
    """A condition that waits for what it asks for."""

    expression: Expression
    before: str = ""
    """The start of a call that takes the expression as its last argument; without one, the expression is the test."""


class PatternWriter:
    """Writes the guards of one function; ``constants`` are the objects that it names."""

    def __init__(self, variant: Variant, function_name: str) -> None:
        self.variant = variant
        self.function_name = function_name
        self.constants: dict[str, Any] = {}
        self._lines: list[str] = []
        self._depth = 0
        self._loops = 0
        self._numbers: dict[str, int] = {}
        self._values: dict[str, str] = {}
        self._data: dict[str, str] = {}
        self._operations: dict[str, str] = {}
        self._names = Names(self._values, self._data, self._operations)
        self._bound: set[int] = set()
        self._reached: dict[tuple[int, int], str] = {}
        self._queue: list[tuple[str, ResultOf]] = []
        self._waiting = [_Condition(each) for each in variant.where]

    def _pattern(self) -> None:
        """Write the start of the function, and all that leaves it where the rule does not apply."""
        root = self.variant.root
        self._emit(f"def {self.function_name}(o{root.index}):")
        self._depth = 1
        if root.operator is None:
            self._guard(f"not is_custom(o{root.index}, {root.domain!r}, {root.op_type!r})")
        self._enough_results(root)
        self._node(root)
        while self._queue:
            self._reach(*self._queue.pop(0))
        self._settle(everything=True)
        assert not self._waiting, "the checker knows every name"

    # Lines

    def _emit(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)

    def _guard(self, test: str) -> None:
        """Leave this match when a test holds."""
        self._emit(f"if {test}:")
        self._emit(f"    {'continue' if self._loops else 'return False'}")

    def _new(self, letter: str) -> str:
        self._numbers[letter] = self._numbers.get(letter, 0) + 1
        return f"{letter}{self._numbers[letter]}"

    # Matching

    def _reach(self, value: str, result: ResultOf) -> None:
        """Match a value with a result of a node."""
        node = self.variant.nodes[result.node]
        op = f"o{node.index}"
        if node.index in self._bound:
            self._guard(f"{value} is not {op}.results[{result.index}]")
            return
        self._emit(f"{op} = {value}.owner")
        if node.operator is None:
            self._guard(f"not is_custom({op}, {node.domain!r}, {node.op_type!r})")
        else:
            self._guard(f"type({op}) is not {self._class(node)}")
            self._enough_results(node)
        if node.operator is None or len(node.operator.outputs) > 1 or _any_results(node):
            self._guard(f"{value} is not {op}.results[{result.index}]")
        for index in {index for number, index in self.variant.uses if number == node.index}:
            name = node.results[index] if index < len(node.results) else ""
            if name not in self.variant.shared:
                times = self.variant.uses[node.index, index]
                used = value if index == result.index else f"{op}.results[{index}]"
                self._guard(f"not {used}.has_one_use()" if times == 1 else f"not used({used}, {times})")
        self._node(node)

    def _enough_results(self, node: Node) -> None:
        """An operation must have every result that is asked for: a model may leave out optional ones.

        Of an operator with any number of results these are all those that the pattern names.
        """
        least = len(node.results) if _any_results(node) else self._results_asked_for(node)
        if least > 1:
            self._guard(f"len(o{node.index}.results) < {least}")

    def _results_asked_for(self, node: Node) -> int:
        """How many results of an operator with optional ones the rule reads; to replace one, it need not be there."""
        if node.operator is not None and not any(output.optional for output in node.operator.outputs):
            return 0
        asked = [*self.variant.where, *(statement.value for statement in self.variant.rule.rewrite)]
        asked += [value for each in self.variant.nodes for value in each.attributes.values()]
        names = {name.name for each in asked for name in walk(each) if isinstance(name, Name)}
        read = {index for number, index in self.variant.uses if number == node.index}
        return 1 + max(read | {index for index, name in enumerate(node.results) if name in names}, default=0)

    def _class(self, node: Node | Operation) -> str:
        """The name of the class of a node's operations."""
        prefix = "ml_" if node.domain else "onnx_"
        self.constants[prefix + node.op_type] = op_class(node.op_type, node.domain)
        return prefix + node.op_type

    def _node(self, node: Node) -> None:
        """Match the parts of an operation that has the right operator."""
        op = f"o{node.index}"
        self._bound.add(node.index)
        for index, name in enumerate(node.results):
            if name:
                self._operations[name] = op
                self._values[name] = self._reached.get((node.index, index), f"{op}.results[{index}]")
        self._results(node, op)
        self._attributes(node, op)
        self._inputs(node, op)

    def _results(self, node: Node, op: str) -> None:
        """Results that the pattern does not name must be unused."""
        if node.operator is not None and len(node.operator.outputs) == 1 and not node.operator.outputs[0].variadic:
            return
        used = {index for number, index in self.variant.uses if number == node.index}
        outside = {
            index
            for index, name in enumerate(node.results)
            if name and (node is self.variant.root or name in self.variant.shared)
        }
        self._guard(f"not only_results({op}, {tuple(sorted(used | outside))})")

    def _attributes(self, node: Node, op: str) -> None:
        for name, value in node.attributes.items():
            if isinstance(value, Name) and value.name in self.variant.captured and value.name not in self._data:
                self._data[value.name] = f"a_{value.name}"
                self._emit(f"a_{value.name} = attribute({op}, {name!r})")
            else:
                self._waiting.append(_Condition(value, f"same(attribute({op}, {name!r}), "))
        named = {*node.attributes, *self._attributes_asked_for(node)}
        if node.any_others or self._is_copied(node):
            return
        if node.operator is None:
            self.constants[f"named{node.index}"] = frozenset(named)
            self._guard(f"not has_only({op}, named{node.index})")
            return
        defaults = {
            name: None if spec.default is None else to_attribute(spec.kind, spec.default)
            for name, spec in node.operator.attributes.items()
            if name not in named
        }
        if defaults:
            self.constants[f"defaults{node.index}"] = defaults
            self._guard(f"{op}.attributes and not at_defaults({op}, defaults{node.index})")

    def _expressions(self) -> list[Expression]:
        """All expressions of the rule."""
        rule = self.variant.rule
        return [*rule.where, *(each.value for each in (*rule.match, *rule.rewrite))]

    def _attributes_asked_for(self, node: Node) -> set[str]:
        """The attributes of an operation that conditions or the replacement look at."""
        return {
            each.name
            for expression in self._expressions()
            for each in walk(expression)
            if isinstance(each, AttributeOf) and each.owner in node.results
        }

    def _is_copied(self, node: Node) -> bool:
        """Whether the replacement takes over all attributes of an operation."""
        return any(
            name.name in node.results
            for expression in self._expressions()
            for each in walk(expression)
            if isinstance(each, Operation)
            for name in each.copied
        )

    def _inputs(self, node: Node, op: str) -> None:
        """Take the inputs apart, in every order where they commute, and match each."""
        if not node.inputs:
            self._guard(f"len({op}.operands)")
            return
        targets = self._targets(node)
        if node.commutes:
            self._settle(everything=True)
            self._open_loop(node, op, targets)
        else:
            self._unpack(node, op, targets)
        for target, each in zip(targets, node.inputs, strict=True):
            self._input(target, each)
        self._settle()

    def _targets(self, node: Node) -> list[str]:
        """The variables that inputs are assigned to: ``v_x`` where the value ``x`` appears first."""
        names: list[str] = []
        for each in node.inputs:
            fresh = isinstance(each, Leaf) and each.name not in self._values and f"v_{each.name}" not in names
            names.append(f"v_{each.name}" if fresh and isinstance(each, Leaf) else self._new("t"))
        return names

    def _open_loop(self, node: Node, op: str, targets: Sequence[str]) -> None:
        """Begin a loop over the orders of the inputs of a commutative operator."""
        count = len(targets)
        if count == 2:
            a, b = self._new("p"), self._new("p")
            if node.operator is not None and node.operator.inputs[0].variadic:
                self._guard(f"len({op}.operands) != 2")
            self._emit(f"{a}, {b} = {op}.operands")
            self._emit(f"for {targets[0]}, {targets[1]} in (({a}, {b}), ({b}, {a})):")
        else:
            self._guard(f"len({op}.operands) != {count}")
            self._emit(f"for {', '.join(targets)} in permutations({op}.operands):")
        self._depth += 1
        self._loops += 1

    def _unpack(self, node: Node, op: str, targets: Sequence[str]) -> None:
        count = len(targets)
        left = ", ".join(targets) + ("," if count == 1 else "")
        kinds = {each.kind for each in node.inputs if isinstance(each, Leaf)}
        if "variadic" in kinds:
            values = self._new("i")
            self._emit(f"{values} = {op}.input_list()")
            self._guard(f"len({values}) < {count - 1}")
            self._emit(f"{', '.join([*targets[:-1], f'*{targets[-1]}'])}{',' if count == 1 else ''} = {values}")
        elif "optional" in kinds or Absent() in node.inputs:
            values = self._new("i")
            self._emit(f"{values} = padded({op}, {count})")
            self._guard(f"{values} is None")
            self._emit(f"{left} = {values}")
            for target, each in zip(targets, node.inputs, strict=True):
                if not isinstance(each, Absent) and not (isinstance(each, Leaf) and each.kind == "optional"):
                    self._guard(f"{target} is None")
        else:
            plain = node.operator is not None and not any(p.optional or p.variadic for p in node.operator.inputs)
            if not plain:
                self._guard(f"len({op}.operands) != {count} or has_absent({op})")
            self._emit(f"{left} = {op}.operands")

    def _input(self, value: str, each: Input) -> None:
        """Match one input."""
        match each:
            case Leaf(name):
                self._leaf(value, name)
            case ResultOf(node, index):
                if (node, index) in self._reached:
                    self._guard(f"{value} is not {self._reached[node, index]}")
                else:
                    self._reached[node, index] = value
                    self._queue.append((value, each))
            case Literal(expression):
                self._guard(f"type({value}.owner) is not Constant")
                self._waiting.append(_Condition(expression, f"is_number({value}, "))
            case Absent():
                self._guard(f"{value} is not None")
            case Anything():
                pass

    def _leaf(self, value: str, name: str) -> None:
        if name in self._values:
            if self._values[name] != value:
                self._guard(f"{value} is not {self._values[name]}")
            return
        self._values[name] = value
        if name in self.variant.constants:
            present = f"{value} is not None and " if self.variant.values[name] == "optional" else ""
            self._guard(f"{present}type({value}.owner) is not Constant")

    # Conditions

    def _settle(self, *, everything: bool = False) -> None:
        """Write the conditions whose names are all known: those that cannot fail, or ``everything``."""
        ready = [each for each in self._waiting if self._is_known(each.expression)]
        for each in ready:
            if not each.before and not can_fail(each.expression, self.variant.constants):
                self._guard(f"not {condition(each.expression, self._names)}")
                self._waiting.remove(each)
            elif each.before.startswith("same") and isinstance(each.expression, Number | Text):
                self._guard(f"not {self._test(each)}")
                self._waiting.remove(each)
        careful = [each for each in ready if each in self._waiting]
        if not everything or not careful:
            return
        free = [each for each in careful if not self._loads(each.expression)]
        costly = [each for each in careful if each not in free]
        self._emit("try:")
        self._depth += 1
        if free:
            self._emit(f"holds = {' and '.join(map(self._test, free))}")
        if free and costly:
            self._emit("if holds:")
            self._depth += 1
        if costly:
            for each in costly:
                self._load(each.expression)
            self._emit(f"holds = {' and '.join(map(self._test, costly))}")
        self._depth -= 2 if free and costly else 1
        self._emit("except NOT_COMPUTABLE:")
        self._emit("    holds = False")
        self._guard("not holds")
        self._waiting = [each for each in self._waiting if each not in careful]

    def _test(self, each: _Condition) -> str:
        if each.before:
            return f"{each.before}{source(each.expression, self._names)})"
        return condition(each.expression, self._names)

    def _is_known(self, expression: Expression) -> bool:
        """Whether everything that an expression names has been matched."""
        for each in walk(expression):
            match each:
                case Name(name) if name not in CONSTANTS and name not in self._values and name not in self._data:
                    return False
                case AttributeOf(owner) if owner not in self._operations:
                    return False
                case _:
                    pass
        return True

    def _loads(self, expression: Expression) -> list[str]:
        """The constants that an expression computes with and that are not loaded yet. Loading reads all elements."""
        names = dict.fromkeys(each.name for each in walk(expression) if isinstance(each, Name))
        return [name for name in names if name in self.variant.constants and name not in self._data]

    def _load(self, expression: Expression) -> None:
        """Write the loads of the constants that an expression computes with."""
        for name in self._loads(expression):
            self._data[name] = f"d_{name}"
            self._emit(f"d_{name} = data({self._values[name]})")


def _any_results(node: Node) -> bool:
    """Whether the operator of a node has any number of results."""
    return node.operator is not None and any(output.variadic for output in node.operator.outputs)
