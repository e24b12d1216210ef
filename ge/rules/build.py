"""What compiled rules call to put their replacement in place."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from types import NoneType
from typing import cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from ge.dialects.onnx import Constant, Custom, OnnxOp, constant_from_literal, ranked
from ge.dialects.onnx.attributes import to_attribute
from ge.dialects.onnx.ops import split_absent
from ge.dialects.onnx.schema import AttributeKind, Operator, Parameter
from ge.dialects.onnx.types import tensor_type
from ge.ir.constants import constant_attr
from ge.ir.locations import fused_loc
from ge.ir.rewrite_log import current_log, fused, logger, missed
from ge.ir.rewriting import erase_if_unused, may_stand_for, substitute
from ge.rules.functions import ELEMENT_TYPES, INTEGERS, Data, TypedData, dtype
from ge.rules.operators import KINDS, has_kind
from ge.rules.result_types import BROADCAST, result_types
from ge.rules.runtime import rounded

VALUES = (OpResult, BlockArgument)
"""The types of values. An instance of exactly such a type is recognised at once, one of the abstract type is not."""


class Build:
    """The replacement of one match while it is made."""

    __slots__ = ("_location", "matched", "ops", "root", "rule")

    def __init__(self, rule: str, matched: Sequence[OnnxOp]) -> None:
        self.rule = rule
        self.matched = matched
        self.root = matched[-1]
        self.ops: list[Operation] = []
        self._location = self.root.location if len(matched) == 1 else fused_loc(matched)

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
        operator = op_class.OPERATOR
        given = _attributes(operator, attributes, copied) if attributes or copied is not None else {}
        values = self._operands(operator, inputs)
        if op_class is Custom:
            types = [result.type for result in self.root.results][:count]
        else:
            types = result_types(operator, values, given, count)
        is_complete = NoneType not in map(type, values)
        operands, absent = (cast("list[SSAValue]", values), {}) if is_complete else split_absent(values)
        return self._add(op_class, operands, types, given, {**absent, **properties} if properties else absent)

    def op_of_values(
        self,
        op_class: type[OnnxOp],
        inputs: Sequence[SSAValue],
        attributes: Mapping[str, Data],
        count: int,
        copied: OnnxOp | None = None,
    ) -> Sequence[SSAValue]:
        """The same for the usual case, an operator of the table whose inputs are all there, and none of them data."""
        operator = op_class.OPERATOR
        given = _attributes(operator, attributes, copied) if attributes or copied is not None else {}
        return self._add(op_class, inputs, result_types(operator, inputs, given, count), given, {})

    def _add(
        self,
        op_class: type[OnnxOp],
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        attributes: dict[str, Attribute],
        properties: dict[str, Attribute],
    ) -> Sequence[SSAValue]:
        new = op_class.create(
            operands=operands,
            result_types=types,
            properties=properties,
            attributes=attributes,
            location=self._location,
        )
        self.ops.append(new)
        return new.results

    def _operands(self, operator: Operator, inputs: Sequence[Data]) -> Sequence[SSAValue | None]:
        """Inputs as values; the element type of data is that of another input of the same type parameter."""
        values: list[SSAValue | None] = []
        for position, each in enumerate(inputs):
            if each is None or isinstance(each, VALUES):
                values.append(cast("SSAValue | None", each))
                continue
            parameter = _parameter(operator, position)
            values.append(
                self.constant(
                    each, _known_type(operator, parameter, inputs) or self._type_for(operator, parameter, each)
                )
            )
        return values

    def _type_for(self, operator: Operator, parameter: Parameter, given: Data) -> str:
        """The element type of data that no other input tells: the only one, i64 for integers, or that of the root."""
        allowed = operator.type_set(parameter)
        kind = np.asarray(given.array if isinstance(given, TypedData) else given).dtype.kind
        root = dtype(self.root.results[0])
        if len(allowed) == 1:
            return next(iter(allowed))
        return "i64" if kind in "iu" and "i64" in allowed and root not in INTEGERS else root

    def constant(self, given: Data, code: str) -> SSAValue:
        """A new constant of data, rounded to an element type (its own when `cast` gave it one)."""
        if isinstance(given, TypedData):
            given, code = given.array, given.type
        array = rounded(given, code)
        type = _constant_type(code, array.shape)
        new = constant_from_literal(constant_attr(array, type), type, location=self._location)
        self.ops.append(new)
        return new.results[0]

    def undo(self, reason: str = "the replacement cannot be computed, or its type does not hold it") -> bool:
        """Forget the replacement. Always False, the answer of a rule that did not apply."""
        for op in reversed(self.ops):
            op.erase()
        missed(self.rule, self.root, reason)
        return False

    def finish(self, results: Sequence[Data], *, has_constants: bool = True) -> bool:
        """Put the replacement in place. Whether it fits: types must be those of the results that are replaced.

        Results after those given have no uses, and what is given for results that the model leaves out is not used.
        ``has_constants`` says whether constants of the pattern may be unused now, which go, too.
        """
        values: list[SSAValue | None] = []
        for old, new in zip_longest(self.root.results, results[: len(self.root.results)]):
            placed = None
            if new is not None:
                value: SSAValue = new if type(new) in VALUES else self.constant(new, dtype(old))
                if (placed := self._placed(value, old)) is None:
                    return self.undo("the result would have another type, or be an output without a value of its own")
            values.append(placed)
        constants = self._constants() if has_constants else ()
        substitute(self.root, self.ops, values)
        for op in self.matched[-2::-1]:
            erase_if_unused(op)
        for constant in constants:
            erase_if_unused(constant)
        self._report()
        return True

    def _constants(self) -> Iterable[Operation]:
        """The constants that the pattern reads, each once."""
        owners = [operand.owner for op in self.matched for operand in op.operands]
        return dict.fromkeys([owner for owner in owners if isinstance(owner, Constant)])

    def _report(self) -> None:
        """Say what was made of what, when somebody listens."""
        if current_log() is not None or logger.isEnabledFor(logging.INFO):
            made = [op for op in self.ops if isinstance(op, OnnxOp) and type(op) is not Constant]
            text = f"Fuse {_names(self.matched)} -> {_names(made) or 'nothing'}"
            fused(self.rule, text, self._location)

    def _placed(self, value: SSAValue, old: SSAValue) -> SSAValue | None:
        """A value that may take the place of a result, None when it may not.

        A new one gets to know what is known of the old type; one that was there before must have that type already, and
        a known rank, since operands of the pattern could widen the result.
        """
        is_new, type, old_type = value.owner in self.ops, value.type, old.type
        if type is old_type or type == old_type:
            is_ranked = isinstance(old_type, TensorType)
            fits = (is_ranked or not self._may_narrow()) if is_new else is_ranked and may_stand_for(value, old)
            return value if fits else None
        merged = merged_type(type, old_type) if is_new else None
        return None if merged is None else Rewriter.replace_value_with_new_type(value, merged)

    def _may_narrow(self) -> bool:
        """Whether the replacement of a result of unknown rank may have fewer dimensions.

        ``x + [[1]]`` has two dimensions at least, whatever `x` has.
        """
        return _constant_rank(self.matched) > _constant_rank(self.ops)


def _constant_rank(ops: Iterable[Operation]) -> int:
    """The largest rank of the constants that operations broadcast to the shape of their results."""
    users = [op for op in ops if isinstance(op, OnnxOp) and op.op_type in BROADCAST]
    constants = [operand for op in users for operand in op.operands if isinstance(operand.owner, Constant)]
    types = [type for constant in constants if (type := ranked(constant)) is not None]
    return max((type.get_num_dims() for type in types), default=0)


def _parameter(operator: Operator, position: int) -> Parameter:
    """What an input is for; the last parameter may be repeated."""
    return operator.inputs[min(position, len(operator.inputs) - 1)]


def _known_type(operator: Operator, parameter: Parameter, inputs: Sequence[Data]) -> str | None:
    """The element type that an input of the same type parameter has already."""
    for position, each in enumerate(inputs):
        if isinstance(each, VALUES) and _parameter(operator, position).type == parameter.type:
            return dtype(cast("SSAValue", each))
    return None


@lru_cache(1024)
def _constant_type(code: str, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """The type of a constant; found by text, since an attribute takes long to hash."""
    return tensor_type(ELEMENT_TYPES[code], shape)


def _names(ops: Sequence[OnnxOp]) -> str:
    return " + ".join(op.op_type for op in ops)


def _attributes(operator: Operator, attributes: Mapping[str, Data], copied: OnnxOp | None) -> dict[str, Attribute]:
    """The attributes of a new operation: those copied from another one, and those given.

    None, and what is the default of the standard, takes an attribute out. Raises ValueError for data of another kind,
    such as a fraction for an integer, for a copied attribute that the operator does not have, and without one that it
    needs.
    """
    found = {name: each for name, each in copied.attributes.items() if "." not in name} if copied is not None else {}
    for name, value in attributes.items():
        found.pop(name, None)
        spec = operator.attributes.get(name)
        if value is not None:
            if spec is not None and spec.kind in KINDS and not has_kind(value, spec.kind):
                raise ValueError(f"attribute '{name}' would not be {KINDS[spec.kind]}")
            new = to_attribute(kind_of(value) if spec is None else spec.kind, value)
            if spec is None or spec.default is None or new != to_attribute(spec.kind, spec.default):
                found[name] = new
    if any(spec.required and name not in found for name, spec in operator.attributes.items()):
        raise ValueError("an attribute is missing")
    is_same = copied is None or operator is copied.OPERATOR or operator is Custom.OPERATOR
    if not is_same and not found.keys() <= operator.attributes.keys():
        raise ValueError("an attribute means nothing to the new operator")
    return found


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
