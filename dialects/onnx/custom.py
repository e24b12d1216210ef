"""Operators outside the table: of other domains, and functions of the model.

    %y = onnx.Custom "com.microsoft" "Gelu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = onnx.Call @"local::twice"(%y) {factor = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>

Nothing is known of what they compute, so that no pass merges, folds or moves them. Their attributes are of any kind,
and their graphs are regions under any name, also lists of them: ``branches [{...}, {...}]``. An operator that a plug-in
has registered (:mod:`ge.dialects.onnx.registered`) is checked against its definition, and its inputs and attributes
have names and defaults; its text is the same with and without the plug-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast
from urllib.parse import unquote

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx import verify
from ge.dialects.onnx.attributes import to_python
from ge.dialects.onnx.base import OnnxOp, RegionGroup
from ge.dialects.onnx.rare_attributes import RefAttr
from ge.dialects.onnx.registered import CustomOperator, registered
from ge.dialects.onnx.schema import Operator
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import where

_CUSTOM = Operator("Custom", 1, "inputs*: any T -> outputs*: any T")
"""The table entry of operators outside the table."""


@irdl_op_definition
class Custom(OnnxOp):
    """An operator of another domain (or of an unknown version, or in a function), kept as it is."""

    name = "onnx.Custom"

    domain_name = prop_def(StringAttr)
    type_name = prop_def(StringAttr)
    overload_name = opt_prop_def(StringAttr)
    regions_named = opt_prop_def(ArrayAttr[Attribute])
    """For each graph attribute its name, or ``[name, count]`` when it is a list."""

    OPERATOR: ClassVar[Operator] = _CUSTOM
    traits = traits_def()

    @property
    def definition(self) -> CustomOperator | None:
        """What a plug-in says of the operator; None when none has registered it."""
        return None if self.overload else registered(self.domain, self.op_type)

    @property
    def operator(self) -> Operator:
        definition = self.definition
        return _CUSTOM if definition is None else definition.operator

    @property
    def op_type(self) -> str:
        return self.type_name.data

    @property
    def domain(self) -> str:
        return self.domain_name.data

    @property
    def overload(self) -> str:
        """Which of several functions of one name is meant."""
        return "" if self.overload_name is None else self.overload_name.data

    @property
    def region_groups(self) -> Sequence[RegionGroup]:
        entries = () if self.regions_named is None else self.regions_named.data
        return [_group(entry) for entry in entries]

    @property
    def is_random(self) -> bool:
        return self.definition is None

    def attribute(self, name: str, default: Any = None) -> Any:
        attribute = self.attributes.get(name)
        if attribute is not None:
            return to_python(attribute)
        definition = self.definition
        return default if definition is None else definition.defaults.get(name, default)

    def accept_regions(self, groups: Sequence[RegionGroup]) -> bool:
        if groups:
            self.regions_named = name_regions(groups)
        return True

    def verify_(self) -> None:
        """Check that the regions are those that have names, and a registered operator against its definition."""
        if sum(group.size for group in self.region_groups) != len(self.regions):
            raise VerifyException(f"{len(self.regions)} regions for graphs {', '.join(map(str, self.region_groups))}")
        verify.check_form(self)
        if self.definition is not None and not any(isinstance(each, RefAttr) for each in self.attributes.values()):
            verify.check(self)

    @classmethod
    def parse_head(cls, parser: Parser) -> dict[str, Attribute]:
        domain, op_type = parser.parse_str_literal(), parser.parse_str_literal()
        return operator_properties(domain, op_type, parser.parse_optional_str_literal() or "")

    def print_head(self, printer: Printer) -> None:
        for text in (self.domain, self.op_type, *filter(None, [self.overload])):
            printer.print_string(" ")
            printer.print_string_literal(text)


class Call(Custom):
    """A call of a function of the model, which is a private ``func.func`` of the module.

    The name of the function is made of domain, name and overload (see :func:`function_symbol`).
    """

    name = "onnx.Call"

    @property
    def definition(self) -> CustomOperator | None:
        return None  # the model says what it means

    @property
    def callee(self) -> str:
        """The name of the function in the module."""
        return function_symbol(self.domain, self.op_type, self.overload)

    @property
    def module(self) -> ModuleOp | None:
        """The module around, when there is one."""
        root: Operation = self
        while (parent := root.parent_op()) is not None:
            root = parent
        return root if isinstance(root, ModuleOp) else None

    def function(self, module: ModuleOp | None) -> FuncOp:
        """The function of a module that is called. Raises GE3002 for none, GE3004 for one without a body."""
        for op in () if module is None else module.ops:
            if isinstance(op, FuncOp) and op.sym_name.data == self.callee:
                body_of(op)
                return op
        raise GeError("GE3002", f"the module has no function @{self.callee}", where(self))

    def verify_(self) -> None:
        super().verify_()
        module = self.module
        if module is None:
            return
        type = self.function(module).function_type
        for what, given, known in (
            ("inputs", len(self.input_list()), len(type.inputs)),
            ("results", len(self.results), len(type.outputs)),
        ):
            if given > known:
                raise VerifyException(f"{given} {what}, but the function @{self.callee} has {known}")

    @classmethod
    def parse_head(cls, parser: Parser) -> dict[str, Attribute]:
        return operator_properties(*split_symbol(parser.parse_symbol_name().data))

    def print_head(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee)


def operator_properties(domain: str, op_type: str, overload: str = "") -> dict[str, Attribute]:
    """The properties that say which operator a :class:`Custom` is."""
    properties: dict[str, Attribute] = {"domain_name": StringAttr(domain), "type_name": StringAttr(op_type)}
    return {**properties, "overload_name": StringAttr(overload)} if overload else properties


def name_regions(groups: Sequence[RegionGroup]) -> ArrayAttr[Attribute]:
    """The property that names the regions of a :class:`Custom`."""
    return ArrayAttr(
        StringAttr(group.name)
        if group.count is None
        else ArrayAttr([StringAttr(group.name), IntegerAttr(group.count, i64)])
        for group in groups
    )


def _group(entry: Attribute) -> RegionGroup:
    """One entry of :attr:`Custom.regions_named`. Raises VerifyException for anything else."""
    match entry:
        case StringAttr():
            return RegionGroup(entry.data)
        case ArrayAttr(data=(StringAttr() as name, IntegerAttr() as count)):
            number = cast("IntegerAttr[Any]", count).value.data
            if number < 0:
                raise VerifyException(f"a list of {number} regions")
            return RegionGroup(name.data, number)
        case _:
            raise VerifyException(f"{entry} names no region")


def function_symbol(domain: str, name: str, overload: str = "") -> str:
    """The name in the module of a function of the model: ``domain::name``, or ``domain::name::overload``."""
    parts = (domain, name, overload) if overload else (domain, name)
    return "::".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)


def split_symbol(symbol: str) -> tuple[str, str, str]:
    """Domain, name and overload of a function: the inverse of :func:`function_symbol`."""
    domain, name, overload = [*map(unquote, symbol.split("::", 2)), "", ""][:3]
    return domain, name, overload
