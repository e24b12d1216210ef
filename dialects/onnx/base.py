"""The base of all operations of the onnx dialect: their text, and their parts by the names of the standard."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import IRDLOperation, opt_prop_def, var_operand_def, var_region_def, var_result_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ge.dialects.onnx import verify
from ge.dialects.onnx.attributes import parse_attribute, print_attribute, to_attribute, to_python
from ge.dialects.onnx.schema import Operator
from ge.dialects.onnx.types import ABSENT

RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
"""Operators of which two runs differ: never merged, folded or moved. (Dropout is one of them in training mode.)"""


@dataclass(frozen=True)
class RegionGroup:
    """A graph attribute: one region, or a list of ``count`` regions (None: it is not a list)."""

    name: str
    count: int | None = None

    @property
    def size(self) -> int:
        """The number of regions."""
        return 1 if self.count is None else self.count

    def __str__(self) -> str:
        return self.name if self.count is None else f"{self.name}[{self.count}]"


class _PlainClass(ABCMeta):
    """Classes that nothing but their own objects are instances of.

    xDSL's are abstract base classes: Python asks in two further calls whether somebody has registered another class as
    theirs, each time that an object is not of exactly the class asked for.
    """

    __instancecheck__ = type.__instancecheck__


class OnnxOp(IRDLOperation, metaclass=_PlainClass):
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
    def region_groups(self) -> Sequence[RegionGroup]:
        """The graph attributes, in the order of the regions."""
        return [RegionGroup(name) for name in self.operator.region_names]

    @property
    def region_names(self) -> Sequence[str]:
        """The names of the graph attributes, one per region."""
        return [group.name for group in self.region_groups for _ in range(group.size)]

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
        values: list[SSAValue | None] = list(self._operands)
        if "absent" in self.properties and self.absent is not None:
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
        properties = cls.parse_head(parser)
        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_operand(parser))
        attributes = cls.parse_attributes(parser)
        groups, regions = _parse_regions(parser)
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
        if not op.accept_regions(groups):
            wanted, got = (", ".join(map(str, each)) or "none" for each in (op.region_groups, groups))
            parser.raise_error(f"expected regions {wanted}, got {got}", start, start)
        return op

    @classmethod
    def parse_head(cls, parser: Parser) -> dict[str, Attribute]:
        """The properties written between the name and the operands."""
        return {}

    @classmethod
    def parse_attributes(cls, parser: Parser) -> dict[str, Attribute]:
        """The attributes in braces, of the kinds that the table says; none when there are no braces."""

        def entry() -> tuple[str, Attribute]:
            name = parser.parse_identifier_or_str_literal()
            if parser.parse_optional_punctuation("=") is None:
                return name, UnitAttr()
            spec = cls.OPERATOR.attributes.get(name)
            return name, parse_attribute(parser, None if spec is None else spec.kind)

        return dict(parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, entry) or ())

    def accept_regions(self, groups: Sequence[RegionGroup]) -> bool:
        """Put the regions, which the text has as ``groups``, in the order of the table. Whether they fit."""
        wanted = list(self.region_groups)
        if list(groups) == wanted:
            return True
        if len(groups) != len(wanted) or set(groups) != set(wanted):
            return False
        regions = dict(zip(groups, [self.detach_region(region) for region in list(self.regions)], strict=True))
        for group in wanted:
            self.add_region(regions[group])
        return True

    def print(self, printer: Printer) -> None:
        self.print_head(printer)
        printer.print_string("(")
        printer.print_list(self.input_list(), lambda value: _print_operand(printer, value))
        printer.print_string(")")
        self.print_attributes(printer)
        self.print_regions(printer)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def print_head(self, printer: Printer) -> None:
        """Print the properties between the name and the operands."""

    def print_regions(self, printer: Printer) -> None:
        """Print each graph attribute: ``name {...}``, or ``name [{...}, {...}]`` when it is a list."""
        regions = iter(self.regions)
        for group in self.region_groups:
            printer.print_string(" ")
            printer.print_identifier_or_string_literal(group.name)
            printer.print_string(" ")
            if group.count is None:
                printer.print_region(next(regions))
            else:
                with printer.in_square_brackets():
                    printer.print_list([next(regions) for _ in range(group.count)], printer.print_region)

    def print_attributes(self, printer: Printer) -> None:
        """Print what :meth:`parse_attributes` reads."""
        if not self.attributes:
            return

        def entry(item: tuple[str, Attribute]) -> None:
            name, attribute = item
            printer.print_identifier_or_string_literal(name)
            if not isinstance(attribute, UnitAttr):
                printer.print_string(" = ")
                spec = self.OPERATOR.attributes.get(name)
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


def _parse_regions(parser: Parser) -> tuple[list[RegionGroup], list[Region]]:
    groups: list[RegionGroup] = []
    regions: list[Region] = []
    while (name := parser.parse_optional_identifier() or parser.parse_optional_str_literal()) is not None:
        listed = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_region)
        groups.append(RegionGroup(name, None if listed is None else len(listed)))
        regions += [parser.parse_region()] if listed is None else listed
    return groups, regions
