"""The operations of the onnx dialect: one class per operator of the standard, all with the text and checks of one base.

    %y = onnx.Conv(%x, %w) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<...>, tensor<...>) -> tensor<...>
    %c = onnx.Clip(%x, none, %max) : (tensor<...>, tensor<f32>) -> tensor<...>
    %r = onnx.If(%cond) then_branch {
      onnx.Yield %a : tensor<f32>
    } else_branch {
      onnx.Yield %b : tensor<f32>
    } : (tensor<i1>) -> tensor<f32>

* Operands and results are those of the standard, in its order; variadic ones are last. An absent input in front of a
  present one is written ``none`` (property ``absent``: its position); an absent result has type ``none``.
* ``attributes`` holds the operator's attributes under their ONNX names. Names with a dot are notes without influence on
  the meaning (:mod:`ge.dialects.onnx.notes`).
* Graph attributes are regions of one block, ended by ``onnx.Yield``. Values from outside are used directly.
* ``onnx.Constant`` stands for initializers too; :mod:`ge.dialects.onnx.custom` has ``onnx.Custom`` for operators
  outside the table and ``onnx.Call`` for calls of functions of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, LocationAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsTerminator, OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx import verify
from ge.dialects.onnx.attributes import (
    SparseAttr,
    check_literal,
    literal_array,
    literal_of,
    parse_literal,
    print_literal,
    to_attribute,
)
from ge.dialects.onnx.base import RANDOM, OnnxOp
from ge.dialects.onnx.operators import ML_OPERATORS, OPERATORS
from ge.dialects.onnx.schema import Operator

ML_DOMAIN = "ai.onnx.ml"


@irdl_op_definition
class TableOp(OnnxOp):
    """An operator of the table. All classes share this definition, which makes them cheap."""

    name = "onnx.op"

    @property
    def region_names(self) -> Sequence[str]:
        return self.OPERATOR.region_names


class _CheckedOp(TableOp):
    """An operator without the checks of IRDL that nothing can fail: the shared definition only limits properties."""

    def verify_(self) -> None:
        if self.properties:
            super().verify_()
        else:
            verify.check(self)


def _make_class(operator: Operator, base: type[TableOp] = _CheckedOp) -> type[TableOp]:
    """The operation class of an operator."""
    prefix = "onnx.ml." if operator.domain else "onnx."
    traits: tuple[OpTrait, ...] = () if operator.region_names or operator.name in {*RANDOM, "Dropout"} else (Pure(),)
    members = {
        "name": prefix + operator.name,
        "OPERATOR": operator,
        "op_type": operator.name,  # instead of the properties, which are slower, and asked for very often
        "domain": operator.domain,
        "traits": traits_def(*traits),
        "__doc__": operator.url,
        "__module__": __name__,
    }
    return type(operator.name, (base,), members)


class _ConstantOp(TableOp):
    """The text and the value of ``onnx.Constant``."""

    @property
    def array(self) -> Any:
        """The value as a read-only NumPy array, not copied; strings are an object array."""
        return literal_array(self.attributes["value"], self.results[0].type)

    @property
    def literal(self) -> Attribute:
        """The value as attribute, a sparse one written out in full."""
        literal = self.attributes["value"]
        return literal_of(self.array)[0] if isinstance(literal, SparseAttr) else literal

    def verify_(self) -> None:
        if "value" not in self.attributes or len(self.results) != 1 or self.operands:
            raise VerifyException("a constant has an attribute 'value', no operands and one result")
        check_literal(self.attributes["value"], self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> OnnxOp:
        attributes = cls.parse_attributes(parser)
        attributes["value"], type = parse_literal(parser)
        return cls.create(result_types=[type], attributes=attributes)

    def print(self, printer: Printer) -> None:
        notes = {name: attribute for name, attribute in self.attributes.items() if name != "value"}
        printer.print_op_attributes(notes)
        printer.print_string(" ")
        print_literal(printer, self.attributes["value"], self.results[0].type)


@irdl_op_definition
class Yield(IRDLOperation):
    """``onnx.Yield %a, %b : tensor<f32>, tensor<i1>``: ends a region and gives its results.

    Its location is the name of the graph.
    """

    name = "onnx.Yield"

    values = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[values])


_TABLE = [*OPERATORS, *ML_OPERATORS]

Constant = cast("type[_ConstantOp]", _make_class(next(op for op in OPERATORS if op.name == "Constant"), _ConstantOp))
Constant.traits = traits_def(Pure(), ConstantLike())

OP_CLASSES: Mapping[tuple[str, str], type[OnnxOp]] = {
    (operator.domain, operator.name): Constant if operator.name == "Constant" else _make_class(operator)
    for operator in _TABLE
}
"""The operation class of each operator by (domain, name); the domain of ai.onnx is empty."""


def op_class(op_type: str, domain: str = "") -> type[OnnxOp]:
    """The class of operations ``onnx.<op_type>``; KeyError when the table has no such operator."""
    return OP_CLASSES[domain, op_type]


def make_op(
    op_type: str,
    inputs: Sequence[SSAValue | None],
    result_types: Sequence[Attribute],
    attributes: Mapping[str, Any] | None = None,
    *,
    domain: str = "",
    regions: Sequence[Region] = (),
    location: LocationAttr | None = None,
) -> OnnxOp:
    """A new operation of the table: ``attributes`` are Python values (or attributes), None in ``inputs`` is absent."""
    cls = OP_CLASSES[domain, op_type]
    specs = cls.OPERATOR.attributes
    converted = {
        name: value if isinstance(value, Attribute) else to_attribute(specs[name].kind, value)
        for name, value in (attributes or {}).items()
    }
    operands, properties = split_absent(inputs)
    return cls.create(
        operands=operands,
        result_types=result_types,
        properties=properties,
        attributes=converted,
        regions=regions,
        location=location,
    )


def split_absent(inputs: Sequence[SSAValue | None]) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """Inputs by position as operands and the property that says which are absent; trailing absent ones are dropped."""
    count = max((position + 1 for position, value in enumerate(inputs) if value is not None), default=0)
    return [value for value in inputs if value is not None], absent_property(inputs[:count])


def absent_property(inputs: Sequence[SSAValue | None]) -> dict[str, Attribute]:
    """The property that says which inputs are absent, also those at the end; none when all are there."""
    absent = [position for position, value in enumerate(inputs) if value is None]
    return {"absent": DenseArrayBase.from_list(i64, absent)} if absent else {}


def set_inputs(op: OnnxOp, inputs: Sequence[SSAValue | None]) -> None:
    """Let an operation have other inputs, None for an absent one."""
    operands, properties = split_absent(inputs)
    op.operands = operands
    op.properties.pop("absent", None)
    op.properties.update(properties)


def make_constant(array: Any, *, location: LocationAttr | None = None) -> _ConstantOp:
    """A new ``onnx.Constant`` over a NumPy array, which must not change afterwards."""
    literal, type = literal_of(array)
    return constant_from_literal(literal, type, location=location)


def constant_from_literal(literal: Attribute, type: Attribute, *, location: LocationAttr | None = None) -> _ConstantOp:
    """A new ``onnx.Constant`` of a literal (dense, weights or strings) and its tensor type."""
    return Constant.create(result_types=[type], attributes={"value": literal}, location=location)


def constant_value(value: SSAValue | None) -> Any:
    """The NumPy array of a value that an ``onnx.Constant`` defines, otherwise None."""
    owner = None if value is None else value.owner
    return cast(Any, owner).array if isinstance(owner, Constant) else None


def yielded(block: Block) -> Sequence[SSAValue]:
    """The values that a block of onnx operations gives: the operands of its terminator."""
    last: Operation | None = block.last_op
    return () if last is None else last.operands
