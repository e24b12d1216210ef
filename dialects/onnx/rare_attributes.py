"""Attributes of nodes that no operator of the table has: in functions, and on operators of other domains.

The kinds of attributes are those of the operator table (:mod:`ge.dialects.onnx.schema`) and lists of tensors, sparse
tensors, graphs and types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx.schema import AttributeKind

LIST_KINDS = ("tensors", "sparse_tensors", "types")
"""Kinds of attributes that are a :class:`ListAttr`."""

_KINDS = frozenset({*get_args(AttributeKind), *LIST_KINDS, "graphs"})


@irdl_attr_definition
class RefAttr(ParametrizedAttribute):
    """``#onnx.ref<float "alpha">``: what the attribute ``alpha`` of the function around holds, of kind float."""

    name = "onnx.ref"

    kind: StringAttr
    target: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return StringAttr(parser.parse_identifier()), StringAttr(parser.parse_str_literal())

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.kind.data} ")
            printer.print_string_literal(self.target.data)

    def verify(self) -> None:
        if self.kind.data not in _KINDS:
            raise VerifyException(f"'{self.kind.data}' is not a kind of attributes")


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

    def verify(self) -> None:
        if self.kind.data not in LIST_KINDS:
            raise VerifyException(f"'{self.kind.data}' is not a list of tensors, sparse_tensors or types")


@irdl_attr_definition
class TypeProtoAttr(ParametrizedAttribute):
    """``#onnx.type_proto<tensor<?xf32>, "tensor_type {...}">``: a type of which the model says more than IR can.

    The text is the type as protobuf writes it, with names of dimensions, denotations or what else there is.
    """

    name = "onnx.type_proto"

    type: Attribute
    text: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            type = parser.parse_type()
            parser.parse_punctuation(",")
            return type, StringAttr(parser.parse_str_literal())

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.type)
            printer.print_string(", ")
            printer.print_string_literal(self.text.data)
