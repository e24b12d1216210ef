"""The kernel, and what it needs besides instructions: its block number and its buffers.

```
cube.kernel @add(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(8) outputs(1) {
  %core = cube.block_idx
  %t = cube.alloc size = 8192, copies = 2, address = 0 : !cube.buffer<ub>
  ...
}
```
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, SymbolNameConstraint, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, region_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.scalars import check_scalar_code
from ge.dialects.cube.spaces import BufferType, Space, buffer

MAX_BLOCKS = 65535
"""The largest number of cores that a kernel binary can hold, in 16 bits."""

MAX_COPIES = (1 << 32) - 1
"""The largest number of copies of a buffer that a kernel binary can hold."""


@irdl_op_definition
class CubeKernelOp(IRDLOperation):
    """A program that `blocks` cores run at the same time, each with its own block number.

    The arguments are regions of global memory; the last `outputs` of them are written. The body holds instructions,
    `cube.alloc`, `cube.block_idx`, scalar code (`ge.dialects.cube.scalars`), `scf.for` without carried values and
    `scf.if` without results, and ends without terminator.
    """

    name = "cube.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    soc = prop_def(StringAttr)
    blocks = prop_def(IntegerAttr)
    outputs = prop_def(IntegerAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    def __init__(self, name: str, soc: str, blocks: int, outputs: int, body: Region | int) -> None:
        """Make a kernel with a `body`, or with an empty one for a number of arguments."""
        region = Region(Block(arg_types=[buffer(Space.GM)] * body)) if isinstance(body, int) else body
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "soc": StringAttr(soc),
                "blocks": IntegerAttr(blocks, i64),
                "outputs": IntegerAttr(outputs, i64),
            },
            regions=[region],
        )

    @property
    def block_count(self) -> int:
        """How many cores run the kernel."""
        return self.blocks.value.data

    @property
    def output_count(self) -> int:
        """How many of the arguments, counted from the last, are written."""
        return self.outputs.value.data

    def verify_(self) -> None:
        arguments = self.body.block.args
        if any(argument.type != buffer(Space.GM) for argument in arguments):
            raise VerifyException("every argument is a !cube.buffer<gm>")
        if not 0 <= self.output_count <= len(arguments):
            raise VerifyException(f"{self.output_count} outputs of {len(arguments)} arguments")
        if not 1 <= self.block_count <= MAX_BLOCKS:
            raise VerifyException(f"{self.block_count} blocks, expected 1 to {MAX_BLOCKS}")
        check_scalar_code(self)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(" soc(")
        printer.print_string_literal(self.soc.data)
        printer.print_string(f") blocks({self.block_count}) outputs({self.output_count}) ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> CubeKernelOp:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_keyword("soc")
        with parser.in_parens():
            soc = parser.parse_str_literal()
        parser.parse_keyword("blocks")
        with parser.in_parens():
            blocks = parser.parse_integer()
        parser.parse_keyword("outputs")
        with parser.in_parens():
            outputs = parser.parse_integer()
        body = parser.parse_region(arguments)
        if not body.blocks:
            body.add_block(Block(arg_types=[argument.type for argument in arguments]))
        op = cls(name.data, soc, blocks, outputs, body)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        if attributes is not None:
            op.attributes |= attributes.data
        return op


@irdl_op_definition
class BlockIdxOp(IRDLOperation):
    """The number of this core among those that run the kernel: 0 to blocks - 1."""

    name = "cube.block_idx"

    result = result_def(IndexType())
    assembly_format = "attr-dict"
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class AllocOp(IRDLOperation):
    """`copies` buffers of `size` bytes each, one after the other, in the memory that the result type names.

    Copy i begins at byte `i * size` of the result. `address` is the place of copy 0, in bytes, once it is
    planned.
    """

    name = "cube.alloc"

    size = prop_def(IntegerAttr)
    copies = prop_def(IntegerAttr)
    address = opt_prop_def(IntegerAttr)
    result = result_def(BufferType)

    NUMBERS: ClassVar[tuple[str, ...]] = ("size", "copies", "address")

    def __init__(self, space: Space | str, size: int, copies: int = 1, address: int | None = None) -> None:
        properties: dict[str, Attribute] = {"size": IntegerAttr(size, i64), "copies": IntegerAttr(copies, i64)}
        if address is not None:
            properties["address"] = IntegerAttr(address, i64)
        super().__init__(properties=properties, result_types=[buffer(space)])

    @property
    def space(self) -> Space:
        """The memory it lies in."""
        return self.result.type.space

    @property
    def copy_bytes(self) -> int:
        """Bytes of one copy."""
        return self.size.value.data

    @property
    def copy_count(self) -> int:
        """How many copies there are."""
        return self.copies.value.data

    @property
    def total_bytes(self) -> int:
        """Bytes of all copies together."""
        return self.copy_bytes * self.copy_count

    @property
    def place(self) -> int | None:
        """The byte address of copy 0, or None before planning."""
        return None if self.address is None else self.address.value.data

    def set_place(self, address: int) -> None:
        """Place copy 0 at the byte `address`."""
        self.address = IntegerAttr(address, i64)

    def verify_(self) -> None:
        if self.space is Space.GM:
            raise VerifyException("global memory is not allocated by a kernel")
        if self.copy_bytes < 1 or not 1 <= self.copy_count <= MAX_COPIES:
            raise VerifyException(f"{self.copy_count} copies of {self.copy_bytes} bytes")
        if self.place is not None and self.place < 0:
            raise VerifyException(f"address {self.place}")

    def print(self, printer: Printer) -> None:
        printer.print_string(f" size = {self.copy_bytes}")
        if self.copy_count != 1:
            printer.print_string(f", copies = {self.copy_count}")
        if self.place is not None:
            printer.print_string(f", address = {self.place}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> AllocOp:
        numbers: dict[str, int] = {}
        while True:
            name = parser.parse_identifier()
            if name not in cls.NUMBERS or name in numbers:
                parser.raise_error(f"expected {', '.join(cls.NUMBERS)}, each at most once")
            parser.parse_punctuation("=")
            numbers[name] = parser.parse_integer()
            if parser.parse_optional_punctuation(",") is None:
                break
        if "size" not in numbers:
            parser.raise_error("cube.alloc lacks size")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result_type = parser.parse_type()
        if not isinstance(result_type, BufferType):
            parser.raise_error("expected a !cube.buffer type")
        op = cls(result_type.space, numbers["size"], numbers.get("copies", 1), numbers.get("address"))
        op.attributes |= attributes
        return op


def root_alloc(value: SSAValue) -> AllocOp | None:
    """The allocation of a buffer, or None for global memory."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and isinstance(owner, AllocOp) else None
