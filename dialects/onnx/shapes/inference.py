"""Inferring what is known of every value of a function, in one walk over its operations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import Any, NamedTuple, TypeAlias

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, OpResult, SSAValue

from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.custom import Call, Custom
from ge.dialects.onnx.ops import Constant, yielded
from ge.dialects.onnx.schema import Operator
from ge.dialects.onnx.shapes import signature
from ge.dialects.onnx.shapes.node import Node
from ge.dialects.onnx.shapes.rules import DATA_DEPENDENT, apply_rule, rule_name, rule_of
from ge.dialects.onnx.shapes.signature import Names
from ge.dialects.onnx.shapes.types import attribute_value, type_of_value, value_of_constant, value_of_type
from ge.dialects.onnx.shapes.values import UNKNOWN_VALUE, Dim, Tensor, Value, contradict, refine
from ge.dialects.onnx.types import ABSENT
from ge.ir.errors import GeError
from ge.ir.functions import body_of, update_type
from ge.ir.locations import where
from ge.ir.rewriting import give_type
from ge.maths.symbols import Expression, symbol

logger = logging.getLogger("ge.shapes")

INPUT, CONSTANT, STATED, FAILED = "input", "constant", "stated", "cannot run"
"""What takes the place of a rule: an argument, a constant, an operation without a rule, a contradiction in a branch."""

_LONGEST_DIM = 100
"""The longest text of an expression as a dimension; a longer one gets a name of its own."""

_MOST_TERMS = _LONGEST_DIM // len("a + ") + 1
"""The text of an expression with more terms is longer."""


class _Seen(NamedTuple):
    """An operation when it was visited: its attributes and properties, and what was known of its operands."""

    attributes: Mapping[str, Attribute]
    properties: Mapping[str, Attribute]
    operands: Sequence[Inferred | None]


@dataclass(frozen=True)
class Inferred:
    """What is known of a value, and by which rule."""

    value: Value
    rule: str


def node_of(op: OnnxOp, inputs: Sequence[Value | None]) -> Node:
    """An operation as its shape rule sees it, without its regions."""
    attributes = _custom_defaults(op) if isinstance(op, Custom) else dict(_defaults(op.operator))
    for name, attribute in op.attributes.items():
        if "." not in name:
            attributes[name] = attribute_value(attribute)
    return Node(op.op_type, inputs, attributes, len(op.results), partial(where, op))


_DEFAULTS: dict[str, Mapping[str, Any]] = {}


def _defaults(operator: Operator) -> Mapping[str, Any]:
    """The default values of the attributes of an operator."""
    key = operator.domain + operator.name
    if key not in _DEFAULTS:
        _DEFAULTS[key] = {name: spec.default for name, spec in operator.attributes.items() if spec.default is not None}
    return _DEFAULTS[key]


def _custom_defaults(op: Custom) -> dict[str, Any]:
    """The default values of the attributes of an operator that a plug-in defines."""
    definition = op.definition
    return {} if definition is None else dict(definition.defaults)


def infer_operation(op: OnnxOp, node: Node) -> tuple[list[Value], str] | None:
    """What is known of the results of an operation, and by which rule; None without one. Raises GE3015.

    The rules of operators outside the table are not binding: the standard does not define them. Those of operators that
    a plug-in defines are.
    """
    definition = op.definition if isinstance(op, Custom) else None
    if definition is not None:
        return apply_rule(definition.rule, node, definition.operator), rule_name(definition.rule)
    rule = rule_of(op.op_type, op.domain)
    if rule is None:
        return None
    if not isinstance(op, Custom):
        return apply_rule(rule, node, op.operator), rule_name(rule)
    try:
        return apply_rule(rule, node, None), rule_name(rule)
    except Exception:  # nothing has checked the attributes of such an operator, which may be of any kind
        return None


Stated: TypeAlias = "Callable[[OnnxOp, SSAValue], Value]"
"""What is said of a result of an operation beside what its rule finds."""


class Inference:
    """What is known of the values of one function.

    A dimension that nothing is known of gets an invented name, so that it is known to be the same wherever it comes
    back. What ``stated`` has for a result (its type, by default) counts where nothing is inferred. Raises GE3015 for an
    operation whose operands contradict each other, and GE3016 when what is stated contradicts what is inferred, unless
    the operation is in a branch that need not run. ``outputs`` is what is stated of outputs of the model: a wrong
    shape, which some exporters state there, only leads to a warning.
    """

    def __init__(
        self,
        names: Names | None = None,
        stated: Stated | None = None,
        outputs: Mapping[SSAValue, Value] | None = None,
    ) -> None:
        self.known: dict[SSAValue, Inferred] = {}
        self._stated = stated
        self._outputs = outputs or {}
        self._names = names or Names()
        self._invented: dict[tuple[SSAValue, int], Dim] = {}
        self._seen: dict[OnnxOp, _Seen] = {}
        """The operations that were visited, and what they were then."""
        self.written: dict[SSAValue, Inferred] = {}
        """What was known of the values when their types were written."""
        self._errors: list[GeError] | None = None
        """Of the operations of the innermost region that is being inferred; None outside."""
        self._callers: tuple[str, ...] = ()
        """The functions that are being called."""

    def run(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Infer the values of a block from those of its arguments; what it gives."""
        for argument, value in zip(block.args, arguments, strict=True):
            self._bind(argument, value, INPUT)
        for op in block.ops:
            if isinstance(op, OnnxOp):
                self._visit(op)
        return [self.value(value) for value in yielded(block)]

    def update(self, block: Block, stated: Stated, outputs: Mapping[SSAValue, Value]) -> None:
        """Infer again what new and changed operations of a block change; all else keeps what is known of it."""
        self._stated, self._outputs = stated, outputs
        for op in block.ops:
            if isinstance(op, OnnxOp) and self._is_stale(op):
                self._visit(op)

    def _is_stale(self, op: OnnxOp) -> bool:
        """Whether an operation may give something else than before: in a region, anything may be new."""
        seen = self._seen.get(op)
        if seen is None or op.regions or op.attributes != seen.attributes or op.properties != seen.properties:
            return True
        operands = [self.known.get(operand) for operand in op.operands]
        return len(operands) != len(seen.operands) or not all(map(is_, operands, seen.operands))

    def settle(self) -> None:
        """Take operations as they are now for what was visited: only what is stated of them has changed its words."""
        for op, seen in self._seen.items():
            self._seen[op] = _Seen(dict(op.attributes), seen.properties, seen.operands)

    def value(self, value: SSAValue) -> Value:
        """What is known of a value."""
        known = self.known.get(value)
        return value_of_type(value.type) if known is None else known.value

    def _visit(self, op: OnnxOp) -> None:
        operands = [self.known.get(operand) for operand in op.operands]
        self._seen[op] = _Seen(dict(op.attributes), dict(op.properties), operands)
        if isinstance(op, Constant):
            result = op.results[0]
            self._note(result, value_of_constant(op.attributes["value"], result.type), CONSTANT)
            return
        try:
            values, rule = self._infer(op)
            for result, value in zip(op.results, values, strict=True):
                self._bind(result, self._checked(op, result, value, rule), rule)
        except GeError as error:
            if self._errors is None:
                raise
            self._errors.append(error)
            for result in op.results:
                self._bind(result, value_of_type(result.type), FAILED)

    def _infer(self, op: OnnxOp) -> tuple[Sequence[Value], str]:
        node = node_of(op, [None if value is None else self.value(value) for value in op.input_list()])
        visited: set[str] = set()
        if op.regions:
            node.region = partial(self._region, op, node, visited)
        found = self._call(op, node) if isinstance(op, Call) else infer_operation(op, node)
        for name in {*op.region_names} - visited:
            self._region_errors(op.region(name).block, [])
        if found is None:
            return [value_of_type(result.type) for result in op.results], STATED
        values, rule = found
        if not op.domain and any(isinstance(value, Tensor) and value.contents is not None for value in node.inputs):
            from ge.dialects.onnx.shapes.contents import with_contents  # needs NumPy

            values = with_contents(node, values)
        return values, rule

    def _call(self, op: Call, node: Node) -> tuple[Sequence[Value], str] | None:
        """What the function that is called gives for the inputs; its own values are not noted.

        None when the module does not have the function, or when it is in the middle of being called.
        """
        from ge.dialects.onnx.functions import instantiate

        module = op.module
        if module is None or op.callee in self._callers:
            return None
        body = FuncOp("called", ([], []), instantiate(op), visibility="private")
        module.body.block.add_op(body)  # for calls in it, which look for their functions in the module
        try:
            inner = Inference(self._names)
            inner._callers = (*self._callers, op.callee)
            block = body.body.block
            return inner.run(block, [*map(node.value, range(len(block.args)))])[: len(op.results)], "function"
        finally:
            body.detach()
            body.erase()

    def _checked(self, op: OnnxOp, result: SSAValue, value: Value, rule: str) -> Value:
        """An inferred result, completed by what is stated. Raises GE3016 when that contradicts it."""
        stated = value_of_type(result.type) if self._stated is None else self._stated(op, result)
        if not contradict(value, stated):
            value = refine(value, stated, numbers=op.op_type not in DATA_DEPENDENT)
        elif isinstance(op, Custom) and op.definition is None:
            value = stated
        else:
            raise contradiction(op, result, stated, value, rule)
        return self._as_output(op, result, value, rule) if result in self._outputs else value

    def _as_output(self, op: OnnxOp, result: SSAValue, value: Value, rule: str) -> Value:
        """An inferred output of the model, completed by what is stated of it if that can be. Raises GE3016 if not."""
        stated = self._outputs[result]
        if not contradict(value, stated):
            return refine(value, stated, numbers=op.op_type not in DATA_DEPENDENT)
        if isinstance(op, Custom) and op.definition is None:
            return stated
        error = contradiction(op, result, stated, value, rule)
        if not isinstance(stated, Tensor) or contradict(value, Tensor(stated.element)):
            raise error
        logger.warning("%s: %s: what is inferred counts", error.where, error.what)
        return value

    def _bind(self, value: SSAValue, known: Value, rule: str) -> None:
        """Note what is known of a value, with names for unknown dimensions."""
        if isinstance(known, Tensor) and known.shape is not None and not all(map(_is_simple, known.shape)):
            dims = tuple(dim if _is_simple(dim) else self._invent(value, axis) for axis, dim in enumerate(known.shape))
            known = Tensor(known.element, dims, known.contents)
        self._note(value, known, rule)

    def _note(self, value: SSAValue, known: Value, rule: str) -> None:
        inferred = Inferred(known, rule)
        if self.known.get(value) != inferred:
            self.known[value] = inferred

    def _invent(self, value: SSAValue, axis: int) -> Dim:
        """The invented name of a dimension, which stays the same when a region is inferred again."""
        key = (value, axis)
        if key not in self._invented:
            self._invented[key] = symbol(f"?{len(self._invented)}", anonymous=True)
        return self._invented[key]

    # Regions

    def _region(
        self, op: OnnxOp, node: Node, visited: set[str], name: str, arguments: Sequence[Value]
    ) -> Sequence[Value]:
        """What a graph attribute gives for arguments. Raises the first contradiction in it, after looking at all."""
        visited.add(name)
        block = op.region(name).block
        if len(arguments) != len(block.args):
            node.fail(f"region '{name}' takes {len(block.args)} values, not {len(arguments)}")
        given: list[Value] = []
        for argument, value in zip(block.args, arguments, strict=True):
            stated = value_of_type(argument.type)
            if contradict(value, stated):
                raise contradiction(op, argument, stated, value, f"argument of {name}")
            given.append(refine(value, stated, numbers=False))
        results, errors = self._region_errors(block, given)
        if errors:
            raise errors[0]
        return results

    def _region_errors(self, block: Block, arguments: Sequence[Value]) -> tuple[Sequence[Value], list[GeError]]:
        """What a region gives, and the contradictions in it."""
        outer, self._errors = self._errors, []
        try:
            arguments = arguments or [value_of_type(argument.type) for argument in block.args]
            return self.run(block, arguments), self._errors
        finally:
            self._errors = outer


def _is_simple(dim: Dim) -> bool:
    if not isinstance(dim, Expression):
        return isinstance(dim, int)
    return len(dim.terms) <= _MOST_TERMS and len(str(dim)) <= _LONGEST_DIM


def contradiction(op: OnnxOp, value: SSAValue, stated: Value, inferred: Value, rule: str) -> GeError:
    """The error GE3016, which names both sides."""
    name = f"value '{value.name_hint}'" if value.name_hint else "a result"
    what = f"{op.op_type}: {name} is stated as {stated}, but is {inferred} by rule '{rule}'"
    return GeError("GE3016", what, where(op))


def infer_function(function: FuncOp, *, use_notes: bool = True, before: Inference | None = None) -> Inference:
    """Infer what is known of all values of a function from its arguments. The function does not change.

    With ``use_notes``, what the model states of results counts where nothing is inferred, and must not contradict it.
    What was inferred ``before`` a rewrite is taken over, and only what depends on new operations is inferred again.
    Raises GE1020 for functions that come to too many operations, GE3004 when the function is not one block.
    """
    from ge.dialects.onnx.functions import refuse_expansion

    block = body_of(function)
    refuse_expansion(function)
    names = signature.read_names(function)
    outputs = dict(zip(yielded(block), signature.read_results(function, names), strict=True)) if use_notes else {}

    def stated(op: OnnxOp, result: SSAValue) -> Value:
        return signature.stated_result(op, result, names) if use_notes else value_of_type(result.type)

    if before is not None:
        before.update(block, stated, outputs)
        return before
    inference = Inference(names, stated, outputs)
    inference.run(block, signature.read_arguments(function, names))
    return inference


_MEMORY = "inference"


def remember(function: FuncOp, inference: Inference) -> None:
    """Keep what was inferred with the function that it is of, for the first that goes on from there.

    What the model states of the results of its operations may be in other words than when it was read, not another.
    """
    inference.settle()
    vars(function)[_MEMORY] = inference


def recall(function: FuncOp) -> Inference | None:
    """What was remembered, once: whatever has changed since is inferred again (:func:`infer_function`)."""
    return vars(function).pop(_MEMORY, None)


def main_function(module: ModuleOp) -> FuncOp | None:
    """The function that a module is about: the first that is not private. Raises GE3004 when it is not one block."""
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    main = next((op for op in functions if op.sym_visibility != StringAttr("private")), None)
    if main is not None:
        body_of(main)
    return main


# Writing types


def write_types(function: FuncOp, inference: Inference) -> None:
    """Give the values of a function the types that were inferred, and its results the names of their dimensions."""
    block = function.body.block
    _write_block(block, inference)
    results = list(yielded(block))
    signature.write_results(function, [inference.value(value) for value in results])
    update_type(function)


def _write_block(block: Block, inference: Inference) -> None:
    for argument in block.args:
        _write(argument, inference)
    for op in block.ops:
        for region in op.regions:
            _write_block(region.block, inference)
        if isinstance(op, OnnxOp) and not isinstance(op, Constant):
            for result in op.results:
                _write(result, inference)


def _write(value: SSAValue, inference: Inference) -> None:
    """Give a value its inferred type, with what was known before where nothing is inferred."""
    known = inference.known.get(value)
    if known is None or inference.written.get(value) is known or value.type == ABSENT:
        return
    before = value_of_type(value.type) if isinstance(value, OpResult) else UNKNOWN_VALUE
    type = type_of_value(refine(known.value, before))
    if type != value.type:
        give_type(value, type)
    inference.written[value] = known
