"""Writes a variant of a rule as a Python function: guards, then the replacement. See :mod:`ge.rules.compiler`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from ge.dialects.onnx import OP_CLASSES
from ge.rules.expressions import source
from ge.rules.pattern import Anything, Leaf, Literal, Node
from ge.rules.pattern_writer import PatternWriter
from ge.rules.syntax import Binary, Expression, Name, Number, Operation, Statement, Unary, Variadic, walk


class Writer(PatternWriter):
    """Writes one function."""

    def function(self) -> str:
        """The source of the function."""
        self._pattern()
        self._replacement()
        self._depth = 1
        self._emit("return False")
        return "\n".join([*self._lines, ""])

    def _replacement(self) -> None:
        matched = ", ".join(f"o{node.index}" for node in self.variant.nodes)
        self._emit(f"build = Build({self.variant.rule.name!r}, ({matched},))")
        self._emit("try:")
        self._depth += 1
        new: dict[str, str] = {}
        for statement in self.variant.rule.rewrite:
            self._statement(statement, new)
        results = "".join(f"{new.get(target.name)}, " for target in self.variant.rule.match[-1].targets)
        constants = "" if self._may_leave_constants() else ", has_constants=False"
        self._emit(f"if build.finish(({results}){constants}):")
        self._emit("    return True")
        self._depth -= 1
        self._emit("except NOT_COMPUTABLE:")
        self._emit("    build.undo()")

    def _may_leave_constants(self) -> bool:
        """Whether constants of the pattern may be unused after the rewrite: all inputs that it does not take over."""
        rewrite = self.variant.rule.rewrite
        kept = {getattr(each, "name", "") for statement in rewrite for each in walk(statement.value)}
        kept -= self.variant.constants
        inputs = [each for node in self.variant.nodes for each in node.inputs]
        return any(
            isinstance(each, Literal | Anything) or (isinstance(each, Leaf) and each.name not in kept)
            for each in inputs
        )

    def _statement(self, statement: Statement, new: dict[str, str]) -> None:
        """Write a line of the replacement; ``new`` gets its names."""
        roots = {target.name for target in self.variant.rule.match[-1].targets}
        if isinstance(statement.value, Operation):
            results = self._operation(statement.value, new, len(statement.targets))
            new.update({target.name: f"{results}[{index}]" for index, target in enumerate(statement.targets)})
            return
        name = statement.targets[0].name
        text = self._operand(statement.value, new)
        if name in roots or isinstance(statement.value, Name):
            new[name] = text
            return
        self._data[name] = self._new("x")
        self._emit(f"{self._data[name]} = {text}")

    def _operation(self, operation: Operation, new: Mapping[str, str], count: int) -> str:
        """Write the making of an operation: the variable of its results."""
        known = (operation.domain, operation.op_type) in OP_CLASSES
        inputs = [self._operand(each, new) for each in operation.inputs]
        are_values = [self._is_value(each, new) for each in operation.inputs]
        typed = _numbers_with_twins(operation, are_values) if known else {}
        for position, twin in typed.items():
            inputs[position] = f"build.constant({inputs[position]}, fn_dtype({inputs[twin]}))"
        for _, value in operation.attributes:
            self._load(value)
        attributes = ", ".join(f"{name!r}: {source(value, self._names)}" for name, value in operation.attributes)
        kind = self._class(operation) if known else "Custom"
        arguments = [kind, f"({''.join(f'{each}, ' for each in inputs)})", f"{{{attributes}}}", str(count)]
        if operation.copied:
            arguments.append(f"copied={self._operations[operation.copied[0].name]}")
        if not known:
            name = self._new("domain")
            self.constants[name] = custom_properties(operation)
            arguments.append(f"properties={name}")
        results = self._new("n")
        make = "op_of_values" if known and sum(are_values) + len(typed) == len(inputs) else "op"
        self._emit(f"{results} = build.{make}({', '.join(arguments)})")
        return results

    def _is_value(self, expression: Expression, new: Mapping[str, str]) -> bool:
        """Whether an input of a new operation is certainly there, and no data."""
        if isinstance(expression, Operation):
            return True
        if not isinstance(expression, Name) or expression.name in new:
            return False
        return expression.name in self._operations or self.variant.values.get(expression.name) == "value"

    def _operand(self, expression: Expression, new: Mapping[str, str]) -> str:
        """The source of an input: a value, or data that become a constant."""
        match expression:
            case Operation():
                return f"{self._operation(expression, new, 1)}[0]"
            case Name("none"):
                return "None"
            case Name(name) if name in new:
                return new[name]
            case Name(name) if name in self._values:
                return self._values[name]
            case Variadic(name):
                return f"*{self._values[name]}"
            case _:
                self._load(expression)
                return source(expression, self._names)


def custom_properties(operation: Operation | Node) -> dict[str, Attribute]:
    """What says the operator of an operation of another domain."""
    return {"domain_name": StringAttr(operation.domain), "type_name": StringAttr(operation.op_type)}


def _numbers_with_twins(operation: Operation, are_values: Sequence[bool]) -> dict[int, int]:
    """The inputs that are certainly numbers, each with a value beside it that has its element type by the standard."""
    parameters = OP_CLASSES[operation.domain, operation.op_type].OPERATOR.inputs
    types = [parameters[min(position, len(parameters) - 1)].type for position in range(len(are_values))]
    values = {types[position]: position for position, is_value in reversed(list(enumerate(are_values))) if is_value}
    return {
        position: values[types[position]]
        for position, each in enumerate(operation.inputs)
        if isinstance(each, Number | Unary | Binary) and types[position] in values
    }
