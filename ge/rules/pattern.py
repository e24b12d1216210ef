"""A pattern as a graph: nodes with numbered inputs, made by :mod:`ge.rules.checker` of what a rule says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ge.dialects.onnx.registered import registered
from ge.dialects.onnx.schema import Operator, Parameter
from ge.rules.syntax import Expression, Place, RuleText

COMMUTATIVE = frozenset(
    {"Add", "Mul", "Max", "Min", "Sum", "Mean", "And", "Or", "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}
)
"""Operators whose inputs match in any order."""


ABSENT_WORD, ANY_WORD = "none", "_"
"""An input that must be absent, and one that is not looked at."""


@dataclass(frozen=True)
class Leaf:
    """An input of a pattern that any value matches; the same name is the same value."""

    name: str
    kind: str
    """``value``, ``optional`` or ``variadic``."""


@dataclass(frozen=True)
class ResultOf:
    """An input that must be a result of another node of the pattern."""

    node: int
    index: int


@dataclass(frozen=True)
class Literal:
    """An input that must be a constant of one element, equal to a number."""

    value: Expression


@dataclass(frozen=True)
class Absent:
    """``none``: an input that must be absent."""


@dataclass(frozen=True)
class Anything:
    """``_``: an input that must be there, whatever it is."""


Input: TypeAlias = Leaf | ResultOf | Literal | Absent | Anything


@dataclass(frozen=True)
class Node:
    """An operation of a pattern."""

    index: int
    domain: str
    op_type: str
    operator: Operator | None
    """The entry of the operator in the table, None for operators of other domains."""
    inputs: tuple[Input, ...]
    attributes: Mapping[str, Expression]
    """What attributes must be; a name that nothing else defines is captured."""
    any_others: bool
    """Whether the other attributes may differ from their defaults."""
    results: tuple[str, ...]
    """Names of the results; those that have none, and those after the last, must be unused."""
    at: Place

    @property
    def commutes(self) -> bool:
        """Whether the order of the inputs does not matter, to the operator and in this pattern."""
        single = not any(isinstance(each, Leaf) and each.kind != "value" for each in self.inputs)
        return not self.domain and self.op_type in COMMUTATIVE and single and len(set(self.inputs)) > 1

    @property
    def described(self) -> Operator | None:
        """What is known of the operator: its entry in the table, or what a plug-in says of it."""
        if self.operator is not None:
            return self.operator
        definition = registered(self.domain, self.op_type)
        return None if definition is None else definition.operator

    def parameter(self, position: int) -> Parameter | None:
        """The parameter of the operator that an input is for."""
        if self.operator is None:
            return None
        return self.operator.inputs[min(position, len(self.operator.inputs) - 1)]


@dataclass(frozen=True)
class Variant:
    """A rule with one choice of its alternatives. The last node is the root, which the rule is tried on."""

    rule: RuleText
    nodes: tuple[Node, ...]
    where: tuple[Expression, ...]
    values: Mapping[str, str]
    """Every value of the pattern: name -> value, optional, variadic or result."""
    captured: frozenset[str]
    """Names of captured attributes."""
    constants: frozenset[str]
    """Values that must be constants, so that arithmetic may use them."""
    shared: frozenset[str]
    """Results inside the pattern that may have users outside of it."""
    uses: Mapping[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """How often the pattern uses each result: (node, index) -> count."""

    @property
    def root(self) -> Node:
        """The node that is replaced."""
        return self.nodes[-1]

    def node_of(self, name: str) -> Node:
        """The node that gives a value."""
        return next(node for node in self.nodes if name in node.results)
