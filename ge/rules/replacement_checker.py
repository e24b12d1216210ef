"""Whether the replacement of a rule makes sense; the second half of :mod:`ge.rules.checker`."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Protocol

from ge.rules.functions import CONSTANTS
from ge.rules.operators import check_attributes, check_count, check_inputs, find_operator, wrong
from ge.rules.pattern import ABSENT_WORD, ANY_WORD
from ge.rules.syntax import Expression, Listing, Name, Operation, RuleText, Statement, Variadic, walk


class Scope(Protocol):
    """What the pattern has defined."""

    rule: RuleText
    local: set[str]
    """Data that lines of the replacement have defined."""

    @property
    def values(self) -> Mapping[str, str]:
        """The kind of every value of the pattern."""
        ...

    @property
    def captured(self) -> Set[str]:
        """Attributes that the pattern captures."""
        ...

    @property
    def results(self) -> Mapping[str, tuple[int, int]]:
        """The node and index of every result of the pattern."""
        ...

    @property
    def rule_results(self) -> Set[str]:
        """The results of the root."""
        ...

    def data(self, expression: Expression) -> None:
        """Check an expression that is computed when the rule is applied."""
        ...


class ReplacementChecker:
    """Checks what a rule puts in the place of its pattern."""

    def __init__(self, checker: Scope) -> None:
        self.checker = checker
        self.new: set[str] = set()

    def check(self) -> None:
        """Check all statements, and that they give every result of the root."""
        for statement in self.checker.rule.rewrite:
            self._statement(statement)
        for target in self.checker.rule.match[-1].targets:
            if target.name != ANY_WORD and target.name not in self.new:
                raise wrong(self.checker.rule.rewrite[-1].at, f"the replacement does not define '{target.name}'")

    def _statement(self, statement: Statement) -> None:
        self.operand(statement.value)
        is_data = not isinstance(statement.value, Operation | Name)
        several = len(statement.targets) > 1
        if several and not isinstance(statement.value, Operation):
            raise wrong(statement.at, "only an operator has several results")
        if isinstance(statement.value, Operation):
            operator = find_operator(statement.value)
            if operator is not None and len(statement.targets) > len(operator.outputs):
                raise wrong(statement.at, f"'{operator.name}' has {len(operator.outputs)} results")
        for target in statement.targets:
            known = self.checker.values.get(target.name)
            inside = known is not None and target.name not in self.checker.rule_results
            if (
                target.name in self.new | self.checker.local
                or inside
                or target.name in self.checker.captured | set(CONSTANTS)
            ):
                raise wrong(target.at, f"'{target.name}' is defined already")
            if is_data and target.name not in self.checker.rule_results:
                self.checker.local.add(target.name)
            else:
                self.new |= {target.name} - {ANY_WORD}

    def operand(self, expression: Expression) -> None:
        """Check an input of a new operation: a value, an operation, or data, which become a constant."""
        match expression:
            case Operation():
                self._operation(expression)
            case Name(name) if name in self.new or name == ABSENT_WORD:
                pass
            case Name(name) if name in self.checker.values:
                if name in self.checker.rule_results:
                    raise wrong(expression.at, f"'{name}' is what is replaced")
                if self.checker.values[name] == "variadic":
                    raise wrong(expression.at, f"'{name}' is several values", f"Write {name}...")
            case Variadic(name):
                if self.checker.values.get(name) != "variadic":
                    raise wrong(expression.at, f"'{name}' is not several values")
            case _:
                self._refuse_new(expression)
                self.checker.data(expression)

    def _refuse_new(self, expression: Expression) -> None:
        for inner in walk(expression):
            if isinstance(inner, Name) and inner.name in self.new:
                remedy = "Use an operator: Mul(y, 2) for y * 2."
                raise wrong(inner.at, f"'{inner.name}' is computed when the model runs", remedy)
            if isinstance(inner, Listing) and any(isinstance(item, Operation) for item in inner.items):
                raise wrong(inner.at, "a list holds data, not operations")

    def _operation(self, operation: Operation) -> None:
        operator = find_operator(operation)
        if operator is not None:
            check_count(operation, operator)
            check_inputs(operation, operator)
        if operation.others:
            raise wrong(operation.at, "'...' has no meaning in a replacement; '**y' copies the attributes of y")
        for each in operation.inputs:
            self.operand(each)
        check_attributes(operation, operator)
        for _, value in operation.attributes:
            self._refuse_new(value)
            self.checker.data(value)
        for name in operation.copied:
            if name.name not in self.checker.results:
                raise wrong(name.at, f"'{name.name}' is no result of the pattern")
        given = {name for name, _ in operation.attributes}
        for name, spec in () if operator is None else operator.attributes.items():
            if spec.required and name not in given and not operation.copied:
                raise wrong(operation.at, f"attribute '{name}' of '{operation.op_type}' must be given")
