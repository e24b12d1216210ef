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
  the meaning: ``onnx.outputs`` (names of the results), ``onnx.unnamed``, ``onnx.doc``, ``onnx.metadata``.
* Graph attributes are regions of one block, ended by ``onnx.Yield``. Values from outside are used directly.
* ``onnx.Constant`` stands for initializers too, ``onnx.Custom`` for operators of every other domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, LocationAttr, StringAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsTerminator, OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx import verify
from ge.dialects.onnx.attributes import (
    literal_array,
    literal_of,
    parse_attribute,
    parse_literal,
    print_attribute,
    print_literal,
    to_attribute,
    to_python,
)
from ge.dialects.onnx.operators import ML_OPERATORS, OPERATORS
from ge.dialects.onnx.schema import Operator
from ge.dialects.onnx.types import ABSENT

RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
"""Operators of which two runs differ: never merged, folded or moved. (Dropout is one of them in training mode.)"""

ML_DOMAIN = "ai.onnx.ml"


class OnnxOp(IRDLOperation):
    """Any operator; the base of all operations of the dialect. See the module docstring."""

    inputs = var_operand_def()
    outputs = var_result_def()
    bodies = var_region_def()
    absent = opt_prop_def(DenseArrayBase.constr(i64))
    """Positions of absent inputs in front of present ones."""

    OPERATOR: ClassVar[Operator]

    @property
    def operator(self) -> Operator:
        """The entry of the operator in the table."""
        return self.OPERATOR

    @property
    def op_type(self) -> str:
        """The name of the operator in the standard: ``Conv``."""
        return self.operator.name

    @property
    def domain(self) -> str:
        """The domain of the operator: empty for ai.onnx."""
        return self.operator.domain

    @property
    def region_names(self) -> Sequence[str]:
        """The names of the graph attributes, one per region."""
        return self.operator.region_names

    @property
    def is_random(self) -> bool:
        """Whether two runs on the same inputs may differ, here or in a region."""
        if self.op_type in RANDOM and not self.domain:
            return True
        if self.op_type == "Dropout":
            return self.operand("training_mode") is not None
        return any(isinstance(op, OnnxOp) and op.is_random for region in self.regions for op in region.walk())

    # Inputs, results, attributes and regions by their names in the standard

    def input_list(self) -> list[SSAValue | None]:
        """The inputs by position, None where one is absent."""
        values: list[SSAValue | None] = list(self.operands)
        if self.absent is not None:
            for position in self.absent.get_values():
                values.insert(position, None)
        return values

    def operand(self, name: str) -> SSAValue | None:
        """The input ``name`` (the first value of a variadic one), or None when it is absent."""
        position = _position(self.operator.inputs, name)
        values = self.input_list()
        return values[position] if position < len(values) else None

    def result(self, name: str) -> SSAValue | None:
        """The output ``name`` (the first value of a variadic one), or None when the model does not ask for it."""
        position = _position(self.operator.outputs, name)
        if position >= len(self.results) or self.results[position].type == ABSENT:
            return None
        return self.results[position]

    def region(self, name: str) -> Region:
        """The graph attribute ``name``."""
        return self.regions[list(self.region_names).index(name)]

    def attribute(self, name: str, default: Any = None) -> Any:
        """The attribute ``name`` as a Python value: int, float, str, list, NumPy array or type.

        When the model does not give it: the default of the standard, or ``default`` when that has none.
        """
        attribute = self.attributes.get(name)
        if attribute is not None:
            return to_python(attribute)
        standard = self.operator.attributes[name].default
        return default if standard is None else standard

    def set_attribute(self, name: str, value: Any) -> None:
        """Set the attribute ``name`` from a Python value."""
        self.attributes[name] = to_attribute(self.operator.attributes[name].kind, value)

    def verify_(self) -> None:
        """Check the operation against the operator table."""
        verify.check(self)

    # Text

    @classmethod
    def parse(cls, parser: Parser) -> OnnxOp:
        start = parser.pos
        properties = cls._parse_head(parser)
        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_operand(parser))
        attributes = cls._parse_attributes(parser)
        names, regions = _parse_regions(parser)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        present = [operand for operand in inputs if operand is not None]
        operands = parser.resolve_operands(present, type.inputs.data, position)
        absent = [position for position, operand in enumerate(inputs) if operand is None]
        if absent:
            properties["absent"] = DenseArrayBase.from_list(i64, absent)
        op = cls.create(
            operands=operands,
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )
        if not op.accept_region_names(names):
            wanted = ", ".join(op.region_names) or "none"
            parser.raise_error(f"expected regions {wanted}, got {', '.join(names) or 'none'}", start, start)
        return op

    @classmethod
    def _parse_head(cls, parser: Parser) -> dict[str, Attribute]:
        """The properties written between the name and the operands."""
        return {}

    @classmethod
    def _parse_attributes(cls, parser: Parser) -> dict[str, Attribute]:
        def entry() -> tuple[str, Attribute]:
            name = parser.parse_identifier_or_str_literal()
            if parser.parse_optional_punctuation("=") is None:
                from xdsl.dialects.builtin import UnitAttr

                return name, UnitAttr()
            spec = cls.OPERATOR.attributes.get(name)
            return name, parse_attribute(parser, None if spec is None else spec.kind)

        return dict(parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, entry) or ())

    def accept_region_names(self, names: Sequence[str]) -> bool:
        """Put the regions, which the text has under ``names``, in the order of the table. Whether they fit."""
        if list(names) == list(self.region_names):
            return True
        if sorted(names) != sorted(self.region_names):
            return False
        order = [list(names).index(name) for name in self.region_names]
        regions = [self.detach_region(region) for region in list(self.regions)]
        for index in order:
            self.add_region(regions[index])
        return True

    def print(self, printer: Printer) -> None:
        self._print_head(printer)
        printer.print_string("(")
        printer.print_list(self.input_list(), lambda value: _print_operand(printer, value))
        printer.print_string(")")
        self._print_attributes(printer)
        for name, region in zip(self.region_names, self.regions, strict=True):
            printer.print_string(f" {name} ")
            printer.print_region(region)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def _print_head(self, printer: Printer) -> None:
        """Print the properties between the name and the operands."""

    def _print_attributes(self, printer: Printer) -> None:
        if not self.attributes:
            return

        def entry(item: tuple[str, Attribute]) -> None:
            from xdsl.dialects.builtin import UnitAttr

            name, attribute = item
            printer.print_identifier_or_string_literal(name)
            if not isinstance(attribute, UnitAttr):
                printer.print_string(" = ")
                spec = self.operator.attributes.get(name)
                print_attribute(printer, attribute, None if spec is None else spec.kind)

        printer.print_string(" ")
        with printer.in_braces():
            printer.print_list(self.attributes.items(), entry)


def _position(parameters: Sequence[Any], name: str) -> int:
    for position, parameter in enumerate(parameters):
        if parameter.name == name:
            return position
    raise KeyError(name)


def _parse_operand(parser: Parser) -> UnresolvedOperand | None:
    return None if parser.parse_optional_keyword("none") is not None else parser.parse_unresolved_operand()


def _print_operand(printer: Printer, value: SSAValue | None) -> None:
    if value is None:
        printer.print_string("none")
    else:
        printer.print_operand(value)


def _parse_regions(parser: Parser) -> tuple[list[str], list[Region]]:
    names: list[str] = []
    regions: list[Region] = []
    while (name := parser.parse_optional_identifier()) is not None:
        names.append(name)
        regions.append(parser.parse_region())
    return names, regions


@irdl_op_definition
class TableOp(OnnxOp):
    """An operator of the table. All classes share this definition, which makes them cheap."""

    name = "onnx.op"


def _make_class(operator: Operator, base: type[TableOp] = TableOp) -> type[TableOp]:
    """The operation class of an operator."""
    prefix = "onnx.ml." if operator.domain else "onnx."
    traits: tuple[OpTrait, ...] = () if operator.region_names or operator.name in {*RANDOM, "Dropout"} else (Pure(),)
    members = {
        "name": prefix + operator.name,
        "OPERATOR": operator,
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

    def verify_(self) -> None:
        if "value" not in self.attributes or len(self.results) != 1 or self.operands:
            raise VerifyException("a constant has an attribute 'value', no operands and one result")

    @classmethod
    def parse(cls, parser: Parser) -> OnnxOp:
        attributes = cls._parse_attributes(parser)
        attributes["value"], type = parse_literal(parser)
        return cls.create(result_types=[type], attributes=attributes)

    def print(self, printer: Printer) -> None:
        notes = {name: attribute for name, attribute in self.attributes.items() if name != "value"}
        printer.print_op_attributes(notes)
        printer.print_string(" ")
        print_literal(printer, self.attributes["value"], self.results[0].type)


_CUSTOM = Operator("Custom", 1, "inputs*: any T -> outputs*: any T")
"""The table entry of operators outside the table."""


@irdl_op_definition
class Custom(OnnxOp):
    """``onnx.Custom "com.microsoft" "Gelu"(%x) : ...``: an operator of another domain, kept as it is."""

    name = "onnx.Custom"

    domain_name = prop_def(StringAttr)
    type_name = prop_def(StringAttr)
    regions_named = opt_prop_def(ArrayAttr[StringAttr])

    OPERATOR: ClassVar[Operator] = _CUSTOM
    traits = traits_def()

    @property
    def op_type(self) -> str:
        return self.type_name.data

    @property
    def domain(self) -> str:
        return self.domain_name.data

    @property
    def region_names(self) -> Sequence[str]:
        return [] if self.regions_named is None else [name.data for name in self.regions_named]

    @property
    def is_random(self) -> bool:
        return True

    def attribute(self, name: str, default: Any = None) -> Any:
        attribute = self.attributes.get(name)
        return default if attribute is None else to_python(attribute)

    def accept_region_names(self, names: Sequence[str]) -> bool:
        if names:
            self.regions_named = ArrayAttr(StringAttr(name) for name in names)
        return True

    def verify_(self) -> None:
        """Anything goes: only the domain knows."""

    @classmethod
    def _parse_head(cls, parser: Parser) -> dict[str, Attribute]:
        domain, op_type = parser.parse_str_literal(), parser.parse_str_literal()
        return {"domain_name": StringAttr(domain), "type_name": StringAttr(op_type)}

    def _print_head(self, printer: Printer) -> None:
        for text in (self.domain, self.op_type):
            printer.print_string(" ")
            printer.print_string_literal(text)


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
    operands = [value for value in inputs if value is not None]
    last = max((position for position, value in enumerate(inputs) if value is not None), default=-1)
    absent = [position for position, value in enumerate(inputs[: last + 1]) if value is None]
    return operands, {"absent": DenseArrayBase.from_list(i64, absent)} if absent else {}


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
