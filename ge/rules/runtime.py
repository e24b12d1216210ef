"""What compiled rules call: looking at operations, reading constants, and building the replacement."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ge.dialects.onnx import Constant, Custom, OnnxOp, constant_value, make_constant, ranked
from ge.dialects.onnx.attributes import to_attribute
from ge.dialects.onnx.ops import split_absent
from ge.dialects.onnx.schema import AttributeKind, Parameter
from ge.dialects.onnx.types import type_code
from ge.ir.constants import numpy_dtype
from ge.ir.locations import fused_loc
from ge.ir.rewriting import erase_if_unused, may_stand_for, replace
from ge.rules.functions import ELEMENT_TYPES, FLOATS, INTEGERS, PRECISION, Array, Data, TypedData, close
from ge.rules.result_types import result_types

NOT_COMPUTABLE = (ValueError, TypeError, IndexError, ArithmeticError)
"""What conditions and arithmetic raise when they have no value: the rule does not apply."""

Observer: TypeAlias = Callable[[str, Sequence[OnnxOp], Sequence[Operation]], None]
"""Called after a rewrite with the name of the rule, the operations that it matched (detached), and the new ones."""

_observer: ContextVar[Observer | None] = ContextVar("ge_rule_observer", default=None)


@contextmanager
def observing(observer: Observer) -> Generator[None]:
    """Call ``observer`` for every rewrite inside the `with` block."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


# Matching


def padded(op: OnnxOp, count: int) -> list[SSAValue | None] | None:
    """The inputs of an operation, filled up with None to ``count``; None when it has more."""
    values = op.input_list()
    return None if len(values) > count else [*values, *[None] * (count - len(values))]


def has_absent(op: OnnxOp) -> bool:
    """Whether an input in front of a present one is absent."""
    return "absent" in op.properties


def used(value: SSAValue, times: int) -> bool:
    """Whether a value is used exactly so often."""
    return value.uses.get_length() == times


def only_results(op: OnnxOp, named: Sequence[int]) -> bool:
    """Whether no result but those at the positions ``named`` is used."""
    return all(position in named or not result.uses for position, result in enumerate(op.results))


def at_defaults(op: OnnxOp, defaults: Mapping[str, Attribute | None]) -> bool:
    """Whether every attribute that a pattern does not name has the default of the standard."""
    return all(value == defaults[name] for name, value in op.attributes.items() if "." not in name and name in defaults)


def has_only(op: OnnxOp, named: frozenset[str]) -> bool:
    """Whether an operation of another domain has no attribute but those named."""
    return all("." in name or name in named for name in op.attributes)


def is_custom(op: object, domain: str, op_type: str) -> bool:
    """Whether an owner is an operation of another domain."""
    return isinstance(op, Custom) and op.op_type == op_type and op.domain == domain


def attribute(op: OnnxOp, name: str) -> Data:
    """An attribute as data: lists are arrays; None when it is not given and has no default."""
    value = op.attribute(name)
    if not isinstance(value, list):
        return value
    items = cast("list[Any]", value)
    return items if items and isinstance(items[0], str) else np.array(items)


def data(value: SSAValue | None) -> Data:
    """The elements of a constant as arithmetic takes them: float64, int64, uint64 or bool. None when it is absent."""
    if value is None:
        return None
    array = constant_value(value)
    if array is None or array.dtype.kind in "OUSc":
        raise ValueError("not a constant of numbers")
    code = type_code(value.type)
    if code == "i1" or code == "ui64":
        return array
    return array.astype(np.int64 if code in INTEGERS else np.float64)


def precision(*values: SSAValue | None) -> float:
    """How far constants may be from the numbers that they stand for: that of the least precise type."""
    return max((PRECISION.get(type_code(value.type), 0.0) for value in values if value is not None), default=0.0)


def is_number(value: SSAValue, number: Data) -> bool:
    """Whether a value is a constant of one element, equal to a number as far as its type can tell."""
    if not isinstance(value.owner, Constant):
        return False
    array = data(value)
    return array.size == 1 and close(array.reshape(()), np.asarray(number).reshape(()), precision(value))


def truth(condition: Data) -> bool:
    """Whether a condition holds for all elements."""
    return bool(np.all(condition))


# Rounding


def rounded(data: Data, code: str) -> Array:
    """Data in an element type, rounded once. Raises ValueError when that loses more than bits.

    What is finite must stay finite, what is not zero must not become zero or lose digits below the smallest normal
    number, and integers must come from integers (they wrap around as in the model).
    """
    array = np.asarray(data)
    dtype = numpy_dtype(ELEMENT_TYPES[code])
    if code not in FLOATS:
        if code in INTEGERS and array.dtype.kind == "f":
            if not (np.isfinite(array) & (array == np.rint(array))).all():
                raise ValueError("not an integer")
            array = array.astype(np.int64)
        return array.astype(dtype)
    result = array.astype(dtype)
    back = result.astype(np.float64)
    if (np.isfinite(array) != np.isfinite(back)).any() or ((np.abs(back) < _SMALLEST[code]) & (array != 0)).any():
        raise ValueError("the constant is out of range of its type")
    return result


_SMALLEST = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
"""The smallest normal number of each type."""


# Building


class Build:
    """The replacement of one match while it is made."""

    def __init__(self, rule: str, matched: Sequence[OnnxOp]) -> None:
        self.rule = rule
        self.matched = matched
        self.root = matched[-1]
        self.ops: list[Operation] = []
        self._location = fused_loc(matched)

    def op(
        self,
        op_class: type[OnnxOp],
        inputs: Sequence[Data],
        attributes: Mapping[str, Data],
        count: int,
        copied: OnnxOp | None = None,
        properties: Mapping[str, Attribute] | None = None,
    ) -> Sequence[SSAValue]:
        """A new operation: its results. Inputs are values, data that become constants, or None where absent."""
        specs = op_class.OPERATOR.attributes
        given = {name: value for name, value in copied.attributes.items() if "." not in name} if copied else {}
        for name, value in attributes.items():
            if value is None:
                given.pop(name, None)
            else:
                given[name] = to_attribute(specs[name].kind if specs else kind_of(value), value)
        values = self._operands(op_class, inputs)
        operator = op_class.OPERATOR
        if op_class is Custom:
            types = [result.type for result in self.root.results][:count]
        else:
            types = result_types(operator, values, given, count)
        operands, absent = split_absent(values)
        new = op_class.create(
            operands=operands,
            result_types=types,
            properties={**absent, **(properties or {})},
            attributes=given,
            location=self._location,
        )
        self.ops.append(new)
        return new.results

    def _operands(self, op_class: type[OnnxOp], inputs: Sequence[Data]) -> list[SSAValue | None]:
        """Inputs as values; the element type of data is that of another input of the same type parameter."""
        parameters = op_class.OPERATOR.inputs
        known: dict[str, str] = {}
        pairs = [(parameters[min(position, len(parameters) - 1)], each) for position, each in enumerate(inputs)]
        for parameter, each in pairs:
            if isinstance(each, SSAValue):
                known.setdefault(parameter.type, type_code(cast("SSAValue", each).type))
        return [
            each
            if each is None or isinstance(each, SSAValue)
            else self.constant(each, known.get(parameter.type) or self._type_for(op_class, parameter, each))
            for parameter, each in pairs
        ]

    def _type_for(self, op_class: type[OnnxOp], parameter: Parameter, given: Data) -> str:
        """The element type of data that no other input tells: the only one, i64 for integers, or that of the root."""
        allowed = op_class.OPERATOR.type_set(parameter)
        kind = np.asarray(given.array if isinstance(given, TypedData) else given).dtype.kind
        root = type_code(self.root.results[0].type)
        if len(allowed) == 1:
            return next(iter(allowed))
        return "i64" if kind in "iu" and "i64" in allowed and root not in INTEGERS else root

    def constant(self, given: Data, code: str) -> SSAValue:
        """A new constant of data, rounded to an element type (its own when `cast` gave it one)."""
        if isinstance(given, TypedData):
            given, code = given.array, given.type
        new = make_constant(rounded(given, code), location=self._location)
        self.ops.append(new)
        return new.results[0]

    def _placed(self, value: SSAValue, old: SSAValue) -> SSAValue | None:
        """A value that may take the place of a result, None when it may not.

        A new one gets to know what is known of the old type; one that was there before must have that type already.
        """
        if value.owner not in self.ops:
            return value if value.type == old.type and may_stand_for(value, old) else None
        merged = merged_type(value.type, old.type)
        if merged is None or merged == value.type:
            return None if merged is None else value
        return Rewriter.replace_value_with_new_type(value, merged)

    def undo(self) -> bool:
        """Forget the replacement. Always False, the answer of a rule that did not apply."""
        for op in reversed(self.ops):
            op.erase()
        return False

    def finish(self, results: Sequence[Data]) -> bool:
        """Put the replacement in place. Whether it fits: types must be those of the results that are replaced."""
        values: list[SSAValue | None] = []
        for old, new in zip(self.root.results, [*results, *[None] * len(self.root.results)], strict=False):
            if new is None:
                values.append(None)
                continue
            value = cast("SSAValue", new) if isinstance(new, SSAValue) else self.constant(new, type_code(old.type))
            placed = self._placed(value, old)
            if placed is None:
                return self.undo()
            values.append(placed)
        constants = {each.owner for op in self.matched for each in op.operands if isinstance(each.owner, Constant)}
        matched, observer = list(self.matched), _observer.get()
        replace(self.root, self.ops, values)
        for op in reversed(matched[:-1]):
            erase_if_unused(op)
        for constant in constants:
            erase_if_unused(constant)
        if observer is not None:
            observer(self.rule, matched, self.ops)
        return True


def merged_type(new: Attribute, old: Attribute) -> Attribute | None:
    """All that is known of a value that has both types; None when they contradict each other."""
    if new == old:
        return old
    a, b = ranked(new), ranked(old)
    if a is None or b is None or a.element_type != b.element_type or a.get_num_dims() != b.get_num_dims():
        return None
    pairs = list(zip(a.get_shape(), b.get_shape(), strict=True))
    if any(x != y and DYNAMIC_INDEX not in (x, y) for x, y in pairs):
        return None
    return TensorType(a.element_type, [y if x == DYNAMIC_INDEX else x for x, y in pairs])


def kind_of(value: Data) -> AttributeKind:
    """The kind of an attribute that no table says the kind of."""
    match value:
        case str():
            return "string"
        case list():
            return "strings"
        case _:
            array = np.asarray(value)
            return (
                ("ints" if array.ndim else "int") if array.dtype.kind in "iub" else "floats" if array.ndim else "float"
            )
