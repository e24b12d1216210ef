"""The base of every AI Core instruction: one declaration from which everything else follows.

An instruction is a class with

* `FIELDS`, its declaration (`ge.dialects.cube.fields`), and `PIPE`, the queue that executes it;
* `footprint(*values)`, the bytes that it reads and writes;
* `execute(memory, *values)`, what it does to a `ge.dialects.cube.memory.Memory`;
* `cycles(costs, *values)`, how long its pipe is busy with the data (start-up and latency belong to the pipe).

`values` are the run-time values of the fields in their order: numbers, enum names, and byte addresses. An address field
that may lie in several memories is followed by the name of the memory it does lie in.

Text is the name and the fields in order, those at their default left out:
`cube.mmad dst = %c[0], a = %a[%h], b = %b[512], m = 112, k = 144, n = 64, init = %first`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, TypeAlias, cast

from xdsl.dialects.builtin import DictionaryAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, prop_def, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import READ, UPDATE, WRITE, Address, Field, Immediate
from ge.dialects.cube.kernel import AllocOp
from ge.dialects.cube.spaces import BufferType, Pipe, Space

FieldValue: TypeAlias = "Immediate | SSAValue | Operation | tuple[SSAValue | Operation, int | SSAValue | Operation]"
"""What a constructor takes for one field."""

OPERAND = UnitAttr()
"""Stands in `fields` for a value that is an operand."""


@dataclass(frozen=True)
class Access:
    """Bytes that an instruction touches: `bursts` runs of `length` bytes, their starts `stride` bytes apart.

    `start` is a byte address in `space` (an address in the buffer, where buffers are not placed yet).
    """

    field: str
    start: int
    length: int
    bursts: int = 1
    stride: int = 0
    write: bool = False
    space: Space = Space.GM

    @property
    def end(self) -> int:
        """The address after the last byte."""
        return self.start + (self.bursts - 1) * self.stride + self.length

    def overlaps(self, other: Access) -> bool:
        """Whether the ranges from first to last byte meet (gaps between the bursts count as touched)."""
        return self.space is other.space and self.start < other.end and other.start < self.end


def reads(field: str, start: int, length: int, bursts: int = 1, stride: int = 0) -> Access:
    """The access that reads bytes at the address field `field`."""
    return Access(field, start, length, bursts, stride)


def writes(field: str, start: int, length: int, bursts: int = 1, stride: int = 0) -> Access:
    """The access that writes bytes at the address field `field`."""
    return Access(field, start, length, bursts, stride, write=True)


class Costs(Protocol):
    """What the cost formulas need to know of a SoC. Rates are per cycle of one core."""

    def rate(self, path: str) -> float:
        """Bytes per cycle of a path between memories, such as `l1->l0a`."""
        ...

    def lanes(self, kind: str, dtype: str) -> float:
        """Elements per cycle of the vector unit, for a kind of operation (`simple`, `slow`, `reduce`, `transpose`)."""
        ...

    def load3d_rate(self, space: str, stride_w: int, rows: int) -> float:
        """Bytes per cycle of `load3d` into L0A or L0B, when 16 output positions lie in `rows` output rows."""
        ...

    @property
    def gm_rate(self) -> float:
        """Bytes per cycle to or from global memory, for the argument at hand."""
        ...

    @property
    def gm_line(self) -> int:
        """Bytes of which every run of a strided transfer to or from global memory costs a multiple."""
        ...


class Instruction(IRDLOperation):
    """An instruction: see the module docstring for what a subclass declares.

    Construct with one keyword argument per field; fields with a default may be left out:

        Mmad(dst=(c, 0), a=(a, half), b=b, m=112, k=144, n=64, init=first)

    * an address is `(buffer, offset)`, or the buffer alone for offset 0; offset, in bytes, is an int or an `index`
      value;
    * any other field is an immediate (int, float, bool, str) or an SSA value (`index`; `i1` for a flag, `f32` for a
    float);
    * wherever a value goes, an operation with one result stands for that result.

    Read with `op.field("m")` (an immediate or an SSAValue) and `op.address("dst")` (buffer, offset).
    """

    inputs = var_operand_def()
    fields = prop_def(DictionaryAttr)

    FIELDS: ClassVar[tuple[Field, ...]]
    PIPE: ClassVar[Pipe]
    MOVES: ClassVar[bool] = False
    """Whether it only moves bytes, so that it may carry bytes nobody has written yet."""
    RESULT: ClassVar[Attribute | None] = None
    """The type of its result, for the few that have one."""

    def __init__(self, **fields: FieldValue) -> None:
        operands: list[SSAValue] = []
        attributes: dict[str, Attribute] = {}
        for field in self.FIELDS:
            value = fields.pop(field.name, field.default)
            if value is None:
                raise ValueError(f"{self.name}: field '{field.name}' is missing")
            if isinstance(field, Address):
                buffer, offset = value if isinstance(value, tuple) else (value, 0)
                operands.append(SSAValue.get(cast("SSAValue | Operation", buffer)))
                value = offset
            if isinstance(value, SSAValue | Operation):
                operands.append(SSAValue.get(value))
                attributes[field.name] = OPERAND
            else:
                attributes[field.name] = field.attribute(cast(Immediate, value))
        if fields:
            raise ValueError(f"{self.name}: no field is named {', '.join(fields)}")
        super().__init__(
            operands=[operands],
            properties={"fields": DictionaryAttr(attributes)},
            result_types=[self.RESULT] if self.RESULT is not None else [],
        )

    # What the instruction does: see the module docstring. Subclasses define these three with one parameter per field;
    # `named` is there only so that they may.

    @staticmethod
    def footprint(*values: Any, **named: Any) -> tuple[Access, ...]:
        """The bytes that are read and written."""
        raise NotImplementedError

    @staticmethod
    def execute(memory: Any, *values: Any, **named: Any) -> Any:
        """Do it. `memory` is a `ge.dialects.cube.memory.Memory`."""
        raise NotImplementedError

    @staticmethod
    def cycles(costs: Costs, *values: Any, **named: Any) -> float:
        """Cycles for which the pipe is busy with the data."""
        raise NotImplementedError

    # The declaration of one instance.

    @property
    def pipe(self) -> Pipe:
        """The queue that executes it."""
        return self.PIPE

    def parts(self) -> Iterator[tuple[Field, SSAValue | None, Immediate | SSAValue]]:
        """Every field in order: the field, the buffer of an address, the immediate or value (of an address: offset)."""
        operands = iter(self.operands)
        for field in self.FIELDS:
            buffer = next(operands) if isinstance(field, Address) else None
            attribute = self.fields.data[field.name]
            yield field, buffer, next(operands) if attribute == OPERAND else field.immediate(attribute)

    def field(self, name: str) -> Immediate | SSAValue:
        """The immediate or the SSA value of a field (of an address: its offset)."""
        return next(value for field, _, value in self.parts() if field.name == name)

    def address(self, name: str) -> tuple[SSAValue, int | SSAValue]:
        """The buffer of an address field, and the byte offset into it."""
        for field, buffer, value in self.parts():
            if field.name == name and buffer is not None:
                return buffer, cast("int | SSAValue", value)
        raise ValueError(f"{self.name} has no address field '{name}'")

    def space(self, name: str) -> Space:
        """The memory that an address field points into."""
        return buffer_type(self.address(name)[0]).space

    @classmethod
    def address_fields(cls) -> tuple[Address, ...]:
        """The fields that are addresses, in order."""
        return tuple(field for field in cls.FIELDS if isinstance(field, Address))

    def read_buffers(self) -> tuple[SSAValue, ...]:
        """The buffers it may read."""
        return tuple(self.address(f.name)[0] for f in self.address_fields() if f.access in (READ, UPDATE))

    def written_buffers(self) -> tuple[SSAValue, ...]:
        """The buffers it may write."""
        return tuple(self.address(f.name)[0] for f in self.address_fields() if f.access in (WRITE, UPDATE))

    def values(self, lookup: Callable[[SSAValue], int | float]) -> tuple[int | float | str, ...]:
        """What `footprint`, `execute` and `cycles` take, given what each SSA value is (of a buffer: its address)."""
        result: list[int | float | str] = []
        for field, buffer, value in self.parts():
            number = lookup(value) if isinstance(value, SSAValue) else value
            if buffer is None:
                result.append(number)
                continue
            result.append(lookup(buffer) + cast(int, number))
            if len(cast(Address, field).spaces) > 1:
                result.append(buffer_type(buffer).space.value)
        return tuple(result)

    def accesses(self, lookup: Callable[[SSAValue], int | float]) -> list[Access]:
        """The bytes read and written, given what each SSA value is (of a buffer: its address)."""
        return [replace(access, space=self.space(access.field)) for access in self.footprint(*self.values(lookup))]

    @property
    def path(self) -> str | None:
        """The path that a transfer takes, such as `l1->l0a`; None for what computes."""
        if not self.MOVES:
            return None
        return f"{self.space('src')}->{self.space('dst')}"

    def pipelined_after(self, earlier: Instruction) -> bool:
        """Whether the hardware itself orders this after an `earlier` dependent instruction of the same pipe.

        If not, a dependence inside one pipe needs a `pipe_barrier`, because a pipe starts its instructions in order but
        does not wait for the one before to land.
        """
        return False

    # Verification.

    def verify_(self) -> None:
        if set(self.fields.data) != {field.name for field in self.FIELDS}:
            raise VerifyException(f"fields are not {', '.join(field.name for field in self.FIELDS)}")
        expected = sum(isinstance(field, Address) for field in self.FIELDS) + self._marked()
        if len(self.operands) != expected:
            raise VerifyException(f"{len(self.operands)} operands, expected {expected}")
        for field, buffer, value in self.parts():
            if buffer is not None:
                _check_buffer(cast(Address, field), buffer)
            if not isinstance(value, SSAValue):
                field.check(value)
            elif field.operand_type is None:
                raise VerifyException(f"field '{field.name}' takes no SSA value")
            elif value.type != field.operand_type:
                raise VerifyException(f"field '{field.name}' has type {value.type}, expected {field.operand_type}")
        self.check()
        if not self._marked():
            self._check_bounds()

    def _marked(self) -> int:
        return sum(attribute == OPERAND for attribute in self.fields.data.values())

    def _check_bounds(self) -> None:
        """Check that an instruction without run-time fields stays inside its buffers."""
        for access in self.footprint(*self.values(lambda _: 0)):
            alloc = self.address(access.field)[0].owner
            if isinstance(alloc, AllocOp) and access.end > alloc.total_bytes:
                what = f"'{access.field}' reaches byte {access.end} of a buffer of {alloc.total_bytes} bytes"
                raise VerifyException(what)

    def check(self) -> None:
        """Check what relates several fields. Raise VerifyException when it is wrong."""

    # Text.

    def print(self, printer: Printer) -> None:
        separator = " "
        for field, buffer, value in self.parts():
            if buffer is None and value == field.default and not isinstance(value, SSAValue):
                continue
            printer.print_string(f"{separator}{field.name} = ")
            separator = ", "
            if buffer is not None:
                printer.print_ssa_value(buffer)
                printer.print_string("[")
            if isinstance(value, SSAValue):
                printer.print_ssa_value(value)
            else:
                printer.print_string(field.format(value))
            if buffer is not None:
                printer.print_string("]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Instruction:
        start = parser.pos
        by_name = {field.name: field for field in cls.FIELDS}
        found: dict[str, FieldValue] = {}
        more = bool(cls.FIELDS)
        while more:
            name = parser.parse_identifier(context_msg=f": a field of {cls.name}")
            field = by_name.get(name)
            if field is None or name in found:
                parser.raise_error(f"{cls.name} has no {'second ' if field else ''}field '{name}'")
            parser.parse_punctuation("=")
            found[name] = _parse_field(parser, field)
            more = parser.parse_optional_punctuation(",") is not None
        missing = [field.name for field in cls.FIELDS if field.name not in found and field.default is None]
        if missing:
            parser.raise_error(f"{cls.name} lacks {', '.join(missing)}", at_position=start)
        attributes = parser.parse_optional_attr_dict()
        try:
            op = cls(**found)
        except VerifyException as error:
            parser.raise_error(str(error), at_position=start)
        op.attributes |= attributes
        return op


def buffer_type(value: SSAValue) -> BufferType:
    """The type of a buffer. Raises VerifyException when `value` is not one."""
    if not isinstance(value.type, BufferType):
        raise VerifyException(f"value of type {value.type} is not a buffer")
    return value.type


def _check_buffer(field: Address, buffer: SSAValue) -> None:
    space = buffer_type(buffer).space
    if space not in field.spaces:
        raise VerifyException(f"address '{field.name}' lies in {space}, expected {' or '.join(field.spaces)}")


def _parse_field(parser: Parser, field: Field) -> FieldValue:
    if not isinstance(field, Address):
        return _parse_value(parser, field)
    buffer = _defined(parser, parser.parse_unresolved_operand("expected a buffer"))
    parser.parse_punctuation("[")
    offset = _parse_value(parser, field)
    parser.parse_punctuation("]")
    return (buffer, cast("int | SSAValue", offset))


def _parse_value(parser: Parser, field: Field) -> Immediate | SSAValue:
    operand = parser.parse_optional_unresolved_operand()
    if operand is None:
        return field.parse_immediate(parser)
    if field.operand_type is None:
        parser.raise_error(f"field '{field.name}' takes no SSA value", operand.span)
    return parser.resolve_operand(operand, field.operand_type)


def _defined(parser: Parser, operand: UnresolvedOperand) -> SSAValue:
    """The value that an operand names, which must be defined already: a buffer is written before it is used."""
    values = parser.ssa_values.get(operand.operand_name)
    if values is None:
        parser.raise_error(f"value %{operand.operand_name} is not defined", operand.span)
    return values[0]
