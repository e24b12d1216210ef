"""Attributes of nodes that no operator of the table has: in functions, and on operators of other domains.

The kinds of attributes are those of the operator table (:mod:`ge.dialects.onnx.schema`) and lists of tensors, sparse
tensors, graphs and types.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@irdl_attr_definition
class RefAttr(ParametrizedAttribute):
    """``#onnx.ref<float "alpha">``: what the attribute ``alpha`` of the function around holds, of kind float."""

    name = "onnx.ref"

    kind: StringAttr
    target: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return _parse_kind_and_text(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_kind_and_text(printer, self.kind, self.target)


@irdl_attr_definition
class ListAttr(ParametrizedAttribute):
    """``#onnx.list<tensors [#onnx.tensor<...>]>``: a list of tensors, sparse tensors or types."""

    name = "onnx.list"

    kind: StringAttr
    items: ArrayAttr[Attribute]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = StringAttr(parser.parse_identifier())
            items = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
            return kind, ArrayAttr(items)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.kind.data} ")
            printer.print_attribute(self.items)


@irdl_attr_definition
class ProtoAttr(ParametrizedAttribute):
    """``#onnx.proto<type "tensor_type {...}">``: a message that has no other form, as protobuf writes it."""

    name = "onnx.proto"

    kind: StringAttr
    text: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return _parse_kind_and_text(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_kind_and_text(printer, self.kind, self.text)


def _parse_kind_and_text(parser: AttrParser) -> tuple[StringAttr, StringAttr]:
    return StringAttr(parser.parse_identifier()), StringAttr(parser.parse_str_literal())


def _print_kind_and_text(printer: Printer, kind: StringAttr, text: StringAttr) -> None:
    printer.print_string(f"{kind.data} ")
    printer.print_string_literal(text.data)
