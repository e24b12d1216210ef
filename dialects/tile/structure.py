"""Kernels, loops and transfers of the ``tile`` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    i64,
)
from xdsl.dialects.utils.dynamic_index_list import verify_dynamic_index_list
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ge.dialects.tile.text import (
    Index,
    mixed,
    split,
)
from ge.dialects.tile.types import GmType, TileType


@irdl_op_definition
class KernelOp(IRDLOperation):
    """One kernel: runs once on each of ``blocks`` cores, on tensors in device memory.

    The last ``outputs`` arguments are written, the others only read. Inside, ``%core`` is the number of the core::

        tile.kernel @relu(%x: !tile.gm<3136x16xf16>, %y: !tile.gm<3136x16xf16>) grid(%core : 8) outputs(1) {
          ...
        }
    """

    name = "tile.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    blocks = prop_def(IntegerAttr)
    outputs = prop_def(IntegerAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    def __init__(self, name: str, arguments: Sequence[GmType], blocks: int, outputs: int = 1) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "blocks": IntegerAttr(blocks, i64),
                "outputs": IntegerAttr(outputs, i64),
            },
            regions=[Region(Block(arg_types=[*arguments, IndexType()]))],
        )

    @property
    def arguments(self) -> tuple[SSAValue, ...]:
        """The tensors in device memory, inputs first."""
        return tuple(self.body.block.args[:-1])

    @property
    def core(self) -> SSAValue:
        """The number of the core this block runs on, from 0."""
        return self.body.block.args[-1]

    @property
    def block_count(self) -> int:
        """On how many cores the kernel runs."""
        return self.blocks.value.data

    @property
    def output_count(self) -> int:
        """How many arguments, at the end, are written."""
        return self.outputs.value.data

    def verify_(self) -> None:
        *arguments, core = self.body.block.args or (None,)
        if core is None or not isinstance(core.type, IndexType):
            raise VerifyException("the last block argument is the core number, of type index")
        if not all(isinstance(argument.type, GmType) for argument in arguments):
            raise VerifyException("arguments of a kernel are tensors in device memory (!tile.gm)")
        if not 1 <= self.output_count <= len(arguments):
            raise VerifyException(f"{self.output_count} outputs of {len(arguments)} arguments")
        if self.block_count < 1:
            raise VerifyException(f"a kernel runs on at least one core, got {self.block_count}")

    def print(self, printer: Printer) -> None:
        *arguments, core = self.body.block.args
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(arguments, printer.print_block_argument)
        printer.print_string(" grid(")
        printer.print_block_argument(core, print_type=False)
        printer.print_string(f" : {self.block_count}) outputs({self.output_count})")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=True)
        )
        parser.parse_keyword("grid")
        with parser.in_parens():
            core = parser.parse_argument(expect_type=False).resolve(IndexType())
            parser.parse_punctuation(":")
            blocks = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_keyword("outputs")
        with parser.in_parens():
            outputs = parser.parse_integer(allow_boolean=False, allow_negative=False)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([*arguments, core])
        return cls.create(
            properties={"sym_name": name, "blocks": IntegerAttr(blocks, i64), "outputs": IntegerAttr(outputs, i64)},
            attributes={} if attributes is None else dict(attributes.data),
            regions=[body],
        )


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a loop: the values of its ``iter_args`` for the next turn, or its results."""

    name = "tile.yield"

    values = var_operand_def(TileType)

    traits = traits_def(IsTerminator())

    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[list(values)])


@irdl_op_definition
class ForOp(IRDLOperation):
    """A counted loop with loop-carried tiles.

    ``stages(2)`` asks for double buffering of the loads in its body::

    %sum = tile.for %k = 0 to 36 step 4 iter_args(%acc = %zero : !tile.tile<4x112x16xf32>) stages(2) {
      ...
      tile.yield %next : !tile.tile<4x112x16xf32>
    }
    """

    name = "tile.for"

    dynamic_bounds = var_operand_def(IndexType)
    initial = var_operand_def(TileType)
    bounds = prop_def(DenseArrayBase.constr(i64))
    stages = prop_def(IntegerAttr)
    body = region_def("single_block")
    results_ = var_result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self, lower: Index, upper: Index, step: Index, initial: Sequence[SSAValue] = (), stages: int = 1
    ) -> None:
        bounds, dynamic = split([lower, upper, step])
        types = [value.type for value in initial]
        super().__init__(
            operands=[dynamic, list(initial)],
            properties={"bounds": bounds, "stages": IntegerAttr(stages, i64)},
            regions=[Region(Block(arg_types=[IndexType(), *types]))],
            result_types=[types],
        )

    @property
    def lower(self) -> Index:
        """The first value of the counter."""
        return mixed(self.bounds, self.dynamic_bounds)[0]

    @property
    def upper(self) -> Index:
        """The value the counter stays below."""
        return mixed(self.bounds, self.dynamic_bounds)[1]

    @property
    def step(self) -> Index:
        """What the counter grows by in each turn."""
        return mixed(self.bounds, self.dynamic_bounds)[2]

    @property
    def counter(self) -> SSAValue:
        """The loop counter, in the body."""
        return self.body.block.args[0]

    @property
    def carried(self) -> tuple[SSAValue, ...]:
        """The loop-carried tiles, in the body."""
        return tuple(self.body.block.args[1:])

    @property
    def stage_count(self) -> int:
        """1, or 2 for double buffering."""
        return self.stages.value.data

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The tiles that the body hands to the next turn."""
        last = self.body.block.last_op
        return tuple(last.operands) if isinstance(last, YieldOp) else ()

    def verify_(self) -> None:
        verify_dynamic_index_list(list(self.bounds.iter_values()), self.dynamic_bounds, DYNAMIC_INDEX)
        if len(self.bounds) != 3:
            raise VerifyException("a loop has three bounds: from, to, step")
        if isinstance(self.step, int) and self.step < 1:
            raise VerifyException(f"the step of a loop is positive, got {self.step}")
        if self.stage_count not in (1, 2):
            raise VerifyException(f"a loop has 1 or 2 stages, got {self.stage_count}")
        arguments = self.body.block.args
        if not arguments or not isinstance(arguments[0].type, IndexType):
            raise VerifyException("the first block argument is the counter, of type index")
        if not isinstance(self.body.block.last_op, YieldOp):
            raise VerifyException("the body of a loop ends with tile.yield")
        types = [value.type for value in self.initial]
        for what, values in (("iter_args", self.carried), ("yielded", self.yielded), ("results", self.results)):
            if [value.type for value in values] != types:
                raise VerifyException(f"{what} must have the types of the initial values")

    def print(self, printer: Printer) -> None:
        counter, *carried = self.body.block.args
        printer.print_string(" ")
        printer.print_block_argument(counter, print_type=False)
        for word, bound in zip(("=", "to", "step"), mixed(self.bounds, self.dynamic_bounds), strict=True):
            printer.print_string(f" {word} ")
            if isinstance(bound, int):
                printer.print_int(bound)
            else:
                printer.print_ssa_value(bound)
        if carried:
            printer.print_string(" iter_args")
            with printer.in_parens():
                printer.print_list(zip(carried, self.initial, strict=True), lambda pair: _print_carried(printer, *pair))
        if self.stage_count != 1:
            printer.print_string(f" stages({self.stage_count})")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_block_terminators=bool(carried))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        counter = parser.parse_argument(expect_type=False).resolve(IndexType())
        bounds: list[Index] = []
        for punctuation, keyword in (("=", None), (None, "to"), (None, "step")):
            parser.parse_punctuation("=") if punctuation else parser.parse_keyword(cast(str, keyword))
            bounds.append(_parse_index(parser))
        carried: list[Parser.Argument] = []
        initial: list[SSAValue] = []
        if parser.parse_optional_keyword("iter_args") is not None:
            for argument, value in parser.parse_comma_separated_list(
                Parser.Delimiter.PAREN, lambda: _parse_carried(parser)
            ):
                carried.append(argument)
                initial.append(value)
        stages = 1
        if parser.parse_optional_keyword("stages") is not None:
            with parser.in_parens():
                stages = parser.parse_integer(allow_boolean=False, allow_negative=False)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([counter, *carried])
        if not isinstance(body.block.last_op, YieldOp):
            body.block.add_op(YieldOp())
        lower, upper, step = bounds
        loop = cls(lower, upper, step, initial, stages)
        loop.attributes = {} if attributes is None else dict(attributes.data)
        loop.detach_region(0)
        loop.add_region(body)
        return loop


def _print_carried(printer: Printer, argument: SSAValue, initial: SSAValue) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(" = ")
    printer.print_ssa_value(initial)
    printer.print_string(" : ")
    printer.print_attribute(initial.type)


def _parse_carried(parser: Parser) -> tuple[Parser.Argument, SSAValue]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    initial = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    type = parser.parse_type()
    return argument.resolve(type), parser.resolve_operand(initial, type)


def _parse_index(parser: Parser) -> Index:
    operand = parser.parse_optional_unresolved_operand()
    if operand is None:
        return parser.parse_integer(allow_boolean=False)
    return parser.resolve_operand(operand, IndexType())
