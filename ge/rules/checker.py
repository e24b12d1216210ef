"""Whether a rule makes sense: names, operators, attributes, kinds. Its alternatives become variants.

What is found wrong is GE3021, at the line and column of the wrong word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from typing_extensions import TypeIs

from ge.dialects.onnx.base import RANDOM
from ge.dialects.onnx.schema import Operator
from ge.rules.functions import CONSTANTS, ELEMENT_TYPES, FUNCTIONS
from ge.rules.functions import Function as FunctionSpec
from ge.rules.operators import (
    check_attributes,
    check_count,
    check_inputs,
    find_operator,
    nearest,
    unknown_attribute,
    written_out,
    wrong,
)
from ge.rules.pattern import ABSENT_WORD, ANY_WORD, Absent, Anything, Input, Leaf, Literal, Node, ResultOf, Variant
from ge.rules.replacement_checker import ReplacementChecker
from ge.rules.samples import DRAWS
from ge.rules.syntax import (
    Alternatives,
    AttributeOf,
    Binary,
    Expression,
    Function,
    Name,
    Operation,
    Optional,
    Place,
    RuleText,
    Statement,
    Text,
    Variadic,
    children,
    walk,
)

MAX_VARIANTS = 64
"""Into how many variants the alternatives of one rule may multiply."""

MAX_COMMUTATIVE = 16
"""How many commutative operators one pattern may have: each is a loop in the compiled rule, and Python nests 20."""


def check_rules(rules: Sequence[RuleText]) -> list[Variant]:
    """The variants of all rules of a file. Raises GE3021."""
    names: set[str] = set()
    for rule in rules:
        if rule.name in names:
            raise wrong(rule.at, f"rule '{rule.name}' is there already")
        names.add(rule.name)
    return [variant for rule in rules for variant in check_rule(rule)]


def check_rule(rule: RuleText) -> list[Variant]:
    """The variants of a rule, each checked. Raises GE3021."""
    choices = [[*_choices(statement.value)] for statement in rule.match]
    count = 1
    for each in choices:
        count *= len(each)
    if count > MAX_VARIANTS:
        raise wrong(rule.at, f"the alternatives multiply to {count} variants, at most {MAX_VARIANTS} are possible")
    variants: list[Variant] = []
    for values in product(*choices):
        match = tuple(replace(old, value=value) for old, value in zip(rule.match, values, strict=True))
        variants.append(_Checker(replace(rule, match=match)).variant())
    return variants


def _choices(expression: Expression) -> Iterator[Expression]:
    """An expression with every choice of the alternatives in it."""
    match expression:
        case Alternatives():
            for choice in expression.choices:
                yield from _choices(choice)
        case Operation():
            for inputs in product(*([*_choices(each)] for each in expression.inputs)):
                yield replace(expression, inputs=inputs)
        case _:
            yield expression


def is_declaration(condition: Expression) -> TypeIs[Function]:
    """Whether a condition is `constant(...)` or `shared(...)`, which the pattern itself is about."""
    return isinstance(condition, Function) and condition.name in ("constant", "shared")


def _names(call: Function) -> list[str]:
    return [each.name for each in call.arguments if isinstance(each, Name)]


class _Checker:
    """Checks one variant: the pattern first, then conditions and replacement with the names that it defines."""

    def __init__(self, rule: RuleText) -> None:
        self.rule = rule
        self.nodes: list[Node] = []
        self.values: dict[str, str] = {}
        self.captured: set[str] = set()
        self.results: dict[str, tuple[int, int]] = {}
        self.constants: set[str] = set()
        self.shared: set[str] = set()
        self.local: set[str] = set()
        """Names that lines of the part `sample` have defined."""
        self.functions: Mapping[str, FunctionSpec] = FUNCTIONS

    def variant(self) -> Variant:
        declarations = [each for each in self.rule.where if is_declaration(each)]
        self.constants = {name for each in declarations if each.name == "constant" for name in _names(each)}
        self._pattern()
        for each in declarations:
            self._declaration(each)
        where = [condition for condition in self.rule.where if not is_declaration(condition)]
        for condition in where:
            self._condition(condition)
        ReplacementChecker(self).check()
        self.local = set()
        self._sample()
        uses: dict[tuple[int, int], int] = {}
        for node in self.nodes:
            for each in node.inputs:
                if isinstance(each, ResultOf):
                    uses[each.node, each.index] = uses.get((each.node, each.index), 0) + 1
        return Variant(
            self.rule,
            tuple(self.nodes),
            tuple(where),
            self.values,
            frozenset(self.captured),
            frozenset(self.constants),
            frozenset(self.shared),
            uses,
        )

    # Pattern

    def _pattern(self) -> None:
        """Make nodes of the statements; every one must lead to the last."""
        statements = {target.name: statement for statement in self.rule.match for target in statement.targets}
        self._refuse_repeated()
        self._attribute_names(statements)
        last = self.rule.match[-1]
        reached: set[int] = set()
        self._visit(last, statements, reached, ())
        for statement in self.rule.match:
            if id(statement) not in reached:
                name, root = statement.targets[0].name, last.targets[0].name
                raise wrong(statement.at, f"'{name}' does not lead to '{root}', the result of the pattern")
        if sum(node.commutes for node in self.nodes) > MAX_COMMUTATIVE:
            raise wrong(self.rule.at, f"the pattern has more than {MAX_COMMUTATIVE} commutative operators")

    def _refuse_repeated(self) -> None:
        seen: set[str] = set()
        for statement in self.rule.match:
            for target in statement.targets:
                if target.name in seen:
                    raise wrong(target.at, f"'{target.name}' is defined already")
                if target.name in CONSTANTS or target.name == ABSENT_WORD:
                    raise wrong(target.at, f"'{target.name}' has a meaning of its own")
                seen |= {target.name} - {ANY_WORD}

    def _attribute_names(self, statements: Mapping[str, Statement]) -> None:
        """Find the names that attributes of the pattern define."""
        inputs = {
            each.name
            for statement in self.rule.match
            for inner in walk(statement.value)
            if isinstance(inner, Operation)
            for each in inner.inputs
            if isinstance(each, Name | Optional | Variadic)
        }
        for statement in self.rule.match:
            for inner in walk(statement.value):
                if isinstance(inner, Operation):
                    names = {value.name for _, value in inner.attributes if isinstance(value, Name)}
                    self.captured |= names - inputs - set(statements) - set(CONSTANTS)

    def _visit(
        self, statement: Statement, statements: Mapping[str, Statement], reached: set[int], path: tuple[int, ...]
    ) -> int:
        """The index of the node of a statement; producers get theirs first."""
        first = statement.targets[0].name
        if id(statement) in path:
            raise wrong(statement.at, f"'{first}' is computed from itself")
        if id(statement) in reached:
            return self.results[next(each.name for each in statement.targets if each.name != ANY_WORD)][0]
        reached.add(id(statement))
        if not isinstance(statement.value, Operation):
            raise wrong(statement.value.at, "a pattern is an operator with its inputs, such as Add(x, c)")
        names = tuple("" if target.name == ANY_WORD else target.name for target in statement.targets)

        def visit(name: str) -> int:
            return self._visit(statements[name], statements, reached, (*path, id(statement)))

        return self._node(statement.value, names, {name: visit for name in statements if name != ANY_WORD})

    def _node(self, operation: Operation, results: tuple[str, ...], others: Mapping[str, Callable[[str], int]]) -> int:
        """The index of the new node of an operation."""
        operator = find_operator(operation)
        self._check_signature(operation, operator, len(results))
        inputs = tuple(self._input(each, position, operation, others) for position, each in enumerate(operation.inputs))
        self._check_attributes(operation, operator)
        node = Node(
            len(self.nodes),
            operation.domain,
            operation.op_type,
            operator,
            inputs,
            dict(operation.attributes),
            operation.others,
            results,
            operation.at,
        )
        self.nodes.append(node)
        for index, name in enumerate(results):
            if name:
                self.values[name] = "result"
                self.results[name] = (node.index, index)
        return node.index

    def _input(
        self, given: Expression, position: int, operation: Operation, others: Mapping[str, Callable[[str], int]]
    ) -> Input:
        match given:
            case Operation():
                return ResultOf(self._node(given, ("",), others), 0)
            case Name(name) if name in others:
                others[name](name)
                return ResultOf(*self.results[name])
            case Name(name) if name == ABSENT_WORD:
                return Absent()
            case Name(name) if name == ANY_WORD:
                return Anything()
            case Name(name) if name not in CONSTANTS:
                return self._leaf(name, "value", given.at)
            case Optional(name):
                return self._leaf(name, "optional", given.at)
            case Variadic(name):
                if position != len(operation.inputs) - 1:
                    raise wrong(given.at, f"'{name}...' stands for all remaining inputs and comes last")
                return self._leaf(name, "variadic", given.at)
            case _:
                self.data(given)
                return Literal(given)

    def _leaf(self, name: str, kind: str, at: Place) -> Leaf:
        if name in self.captured:
            raise wrong(at, f"'{name}' is an attribute already")
        known = self.values.setdefault(name, kind)
        if known != kind:
            raise wrong(at, f"'{name}' is {known} elsewhere in the pattern, here it is {kind}")
        return Leaf(name, kind)

    def _check_signature(self, operation: Operation, operator: Operator | None, results: int) -> None:
        """The number of inputs and results, and what patterns cannot have."""
        if operation.copied:
            raise wrong(operation.copied[0].at, "'**' copies attributes into a replacement; in a pattern, write '...'")
        if operator is None:
            return
        name = operation.op_type
        if operator.region_names:
            raise wrong(operation.at, f"'{name}' has subgraphs, which patterns cannot describe")
        if name in RANDOM and not operation.domain:
            raise wrong(operation.at, f"two runs of '{name}' differ, so that nothing can stand for it")
        check_count(operation, operator)
        check_inputs(operation, operator)
        if results > len(operator.outputs) and not operator.outputs[-1].variadic:
            raise wrong(operation.at, f"'{name}' has {len(operator.outputs)} results, {results} are named")

    def _check_attributes(self, operation: Operation, operator: Operator | None) -> None:
        named: set[str] = set()
        check_attributes(operation, operator)
        for name, value in operation.attributes:
            if not (isinstance(value, Name) and value.name in self.captured):
                self.data(value)
            named.add(name)
        if operator is None or operation.others:
            return
        for name, spec in operator.attributes.items():
            if spec.required and name not in named:
                remedy = f"Capture it ({name} = a), or write '...' when it does not matter."
                raise wrong(operation.at, f"attribute '{name}' of '{operation.op_type}' has no default", remedy)

    # Conditions and arithmetic

    def _declaration(self, declaration: Function) -> None:
        """Check `constant(...)` and `shared(...)`, which say something of values of the pattern."""
        for each in declaration.arguments:
            kind = self.values.get(each.name) if isinstance(each, Name) else None
            if kind is None or not isinstance(each, Name):
                raise wrong(each.at, f"'{declaration.name}' takes values of the pattern")
            if declaration.name == "constant" and kind not in ("value", "optional"):
                raise wrong(each.at, f"'{each.name}' is no single input of the pattern")
            if declaration.name == "shared":
                if kind != "result" or each.name in self.rule_results:
                    raise wrong(each.at, f"'{each.name}' is no result inside the pattern")
                self.shared.add(each.name)

    def _condition(self, condition: Expression) -> None:
        """Check a condition; what is written out, as a text or a list, holds always or never."""
        if not isinstance(written_out(condition), bool | None):
            raise wrong(condition.at, "this is no condition: expected a comparison, or a function of yes or no")
        self.data(condition)

    @property
    def rule_results(self) -> set[str]:
        """The names of the results of the root."""
        return {target.name for target in self.rule.match[-1].targets}

    def data(self, expression: Expression) -> None:
        """Check an expression that is computed when the rule is applied."""
        match expression:
            case Name():
                self._data_name(expression)
            case AttributeOf():
                self._attribute_of(expression)
            case Function():
                self._function(expression)
            case Operation():
                raise wrong(expression.at, f"'{expression.op_type}' runs in the model; arithmetic has small letters")
            case Optional() | Variadic() | Alternatives():
                raise wrong(expression.at, "this can only be an input of a pattern")
            case Binary("==" | "!=" | "in", Function("dtype"), right):
                self._element_types(right)
                self.data(expression.left)
                self.data(right)
            case _:
                for child in children(expression):
                    self.data(child)

    def _element_types(self, expression: Expression) -> None:
        """Check the texts that an element type is compared with."""
        for each in walk(expression):
            if isinstance(each, Text) and each.value not in ELEMENT_TYPES:
                close = nearest(each.value, [*ELEMENT_TYPES])
                raise wrong(
                    each.at, f"'{each.value}' is no element type{close}", "They are written without quotes: f32."
                )

    def _data_name(self, name: Name) -> None:
        if name.name in self.captured | self.constants | self.local or name.name in CONSTANTS:
            return
        if name.name in self.values:
            remedy = f"Add 'constant({name.name})' to the conditions, if the rule is only about constants."
            raise wrong(name.at, f"the elements of '{name.name}' are not known before the model runs", remedy)
        known = [*self.captured, *self.constants, *CONSTANTS]
        raise wrong(name.at, f"'{name.name}' is not defined{nearest(name.name, known)}")

    def _attribute_of(self, attribute: AttributeOf) -> None:
        if attribute.owner not in self.results:
            known = [*self.results]
            raise wrong(
                attribute.at, f"'{attribute.owner}' is no result of the pattern{nearest(attribute.owner, known)}"
            )
        node = self.nodes[self.results[attribute.owner][0]]
        if node.operator is not None and attribute.name not in node.operator.attributes:
            raise unknown_attribute(node, attribute.name, node.operator, attribute.at)

    def _function(self, call: Function) -> None:
        function = self.functions.get(call.name)
        if function is None:
            raise wrong(call.at, f"function '{call.name}' does not exist{nearest(call.name, [*self.functions])}")
        count = len(call.arguments)
        most = count if function.repeats else len(function.kinds)
        if not function.required <= count <= most:
            raise wrong(call.at, f"expected {function.usage}, found {count} arguments")
        for position, argument in enumerate(call.arguments):
            if function.kinds[min(position, len(function.kinds) - 1)] == "data":
                self.data(argument)
            elif not isinstance(argument, Name) or argument.name not in self.values:
                raise wrong(argument.at, f"'{call.name}' takes a value of the pattern")
            elif self.values[argument.name] == "variadic":
                raise wrong(argument.at, f"'{argument.name}' is several values")

    def _sample(self) -> None:
        """Check the part `sample`: each line may use the names of those before it."""
        self.functions = {**FUNCTIONS, **DRAWS}
        for statement in self.rule.sample:
            self.data(statement.value)
            for target in statement.targets:
                if self.values.get(target.name) == "result" or target.name in CONSTANTS:
                    raise wrong(target.at, f"'{target.name}' is not drawn, it follows from other values")
                self.local.add(target.name)
        used = {each.name for line in self.rule.sample for each in walk(line.value) if isinstance(each, Name)}
        known = [*self.values, *self.captured]
        for target in (target for statement in self.rule.sample for target in statement.targets):
            if target.name not in used.union(known):
                what = f"'{target.name}' is no input or attribute of the pattern{nearest(target.name, known)}"
                raise wrong(target.at, what)
