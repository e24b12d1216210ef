"""Which element types the values of a pattern may have together."""

from __future__ import annotations

from ge.rules.functions import CONSTANTS, ELEMENT_TYPES
from ge.rules.pattern import Leaf, ResultOf, Variant
from ge.rules.syntax import Binary, Expression, Function, Listing, Name

PREFERRED = ("f32", "i64", "i1", "f64", "f16", "i32")
"""What a value is given when the element type that is asked for is not possible."""


class ElementTypes:
    """The element types of one pattern: values that must have the same one share a class.

    A value is called by its name, the result of a node by (node, index), an input by (node, "input", position).
    """

    def __init__(self, variant: Variant) -> None:
        self._parents: dict[object, object] = {}
        self._allowed: dict[object, frozenset[str]] = {}
        for node in variant.nodes:
            operator = node.described
            if operator is None:
                continue
            for position, each in enumerate(node.inputs):
                parameter = operator.inputs[min(position, len(operator.inputs) - 1)]
                key: object = (node.index, "input", position)
                self._restrict(key, operator.type_set(parameter))
                if parameter.type in operator.constraints and parameter.same_type:
                    self._join(key, (node.index, parameter.type))
                if isinstance(each, Leaf):
                    self._join(key, each.name)
                elif isinstance(each, ResultOf):
                    self._join(key, (each.node, each.index))
            for index, parameter in enumerate(operator.outputs):
                self._restrict((node.index, index), operator.type_set(parameter))
                if parameter.type in operator.constraints:
                    self._join((node.index, index), (node.index, parameter.type))
        for condition in variant.where:
            self._condition(condition)

    def _condition(self, condition: Expression) -> None:
        """Take `dtype(x) == f32` and `dtype(x) in [f16, f32]` into account."""
        match condition:
            case Binary("==", Function("dtype", (Name(value),)), Name(code)):
                self._restrict(value, frozenset([CONSTANTS[code]]))
            case Binary("in", Function("dtype", (Name(value),)), Listing(codes)):
                self._restrict(value, frozenset(CONSTANTS[each.name] for each in codes if isinstance(each, Name)))
            case _:
                pass

    def _find(self, key: object) -> object:
        while (parent := self._parents.get(key, key)) != key:
            key = parent
        return key

    def _join(self, a: object, b: object) -> None:
        a, b = self._find(a), self._find(b)
        if a != b:
            self._restrict(b, self._allowed.get(a))
            self._parents[a] = b

    def _restrict(self, key: object, types: frozenset[str] | None) -> None:
        key = self._find(key)
        if types is not None:
            self._allowed[key] = self._allowed.get(key, types) & types

    def choose(self, key: object, wanted: str) -> str | None:
        """The element type of a value when ``wanted`` is asked for; None when no known one is possible."""
        allowed = self._allowed.get(self._find(key), frozenset(ELEMENT_TYPES))
        return wanted if wanted in allowed else next((code for code in PREFERRED if code in allowed), None)

    def allows(self, wanted: str) -> bool:
        """Whether some value of the pattern can have an element type."""
        return any(wanted in types for key, types in self._allowed.items() if self._find(key) == key)
