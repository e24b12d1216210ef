"""The binary form of a kernel, as an OM file stores it.

All numbers are little-endian. A header is followed by a table of names and the code:

| bytes | header                                                                     |
|-------|----------------------------------------------------------------------------|
| 4     | `GECK`                                                                     |
| 2     | version                                                                    |
| 2, 2  | number of arguments, and how many of them (the last ones) are written      |
| 2     | number of names                                                            |
| 4     | number of cores that run it                                                |
| 4     | number of registers                                                        |
| 4     | bytes of the code                                                          |

Names are one length byte and UTF-8 text each. The first is the SoC; the others are operations, and an operation in the
code is the position of its name in the table, so that old binaries stay readable when instructions are added.

Each SSA value is a register. Registers are numbered in the order of definition: the arguments, then every result, and
every loop variable where its loop begins. Code is a sequence of operations, each two bytes and then

* `cube.block_idx`: nothing; `cube.alloc`: memory (1 byte), copies (4), size (8), address (8);
* `arith.constant`: type (1), value (8: integer or float64); `arith.cmpi`: predicate (1), two registers;
  other `arith`: its registers (4 bytes each);
* `scf.for`: registers of bounds and step, bytes of the body (4), body;
* `scf.if`: register, bytes of both branches (4 each), branches;
* an instruction: a bit for each field that is a register (4 bytes), and 8 bytes for each field: register, integer,
  float64, or position in the list of names. A buffer register (4 bytes) comes before the offset of an address.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f32, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import Address, Enum, Field, Float, Immediate
from ge.dialects.cube.instruction import FieldValue, Instruction
from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.kernel import AllocOp, BlockIdxOp, CubeKernelOp
from ge.dialects.cube.scalars import COMPARISONS, SCALAR_BY_NAME, SCALAR_TYPES, constant_value
from ge.dialects.cube.spaces import Space
from ge.ir.errors import GeError

MAGIC = b"GECK"
VERSION = 1
MAX_DEPTH = 16
"""Loops and branches inside each other; Python, to which the simulator translates, has a limit of 20."""

_HEADER = struct.Struct("<4sHHHHIII")
_SPACES = tuple(Space)
_OPERATION_NAME = "<H"
_T = TypeVar("_T")


def encode(kernel: CubeKernelOp) -> bytes:
    """The binary of a planned kernel. Raises GE5022 where it has an unplaced buffer or is not valid."""
    where = f"kernel @{kernel.sym_name.data}"
    for op in kernel.walk():
        if isinstance(op, AllocOp) and op.place is None:
            raise GeError("GE5022", f"a buffer of {op.total_bytes} bytes in {op.space} has no address", where)
    if _depth(kernel.body.block) > MAX_DEPTH:
        raise GeError("GE5022", f"loops and branches are more than {MAX_DEPTH} deep", where)
    try:
        kernel.verify()
    except VerifyException as error:
        raise GeError("GE5022", str(error), where) from error
    writer = _Writer(kernel.soc.data)
    writer.define(*kernel.body.block.args)
    code = writer.block(kernel.body.block)
    header = _HEADER.pack(
        MAGIC,
        VERSION,
        len(kernel.body.block.args),
        kernel.output_count,
        len(writer.names),
        kernel.block_count,
        len(writer.registers),
        len(code),
    )
    names = (name.encode() for name in writer.names)
    return b"".join((header, *(bytes((len(name),)) + name for name in names), code))


def _depth(block: Block) -> int:
    """How many loops and branches lie inside each other."""
    inner = [_depth(block) for op in block.ops for region in op.regions for block in region.blocks]
    return 1 + max(inner) if inner else 0


class _Writer:
    """Encodes operations, and collects the names and registers that they use."""

    def __init__(self, soc: str) -> None:
        self.names: dict[str, int] = {soc: 0}
        self.registers: dict[SSAValue, int] = {}

    def define(self, *values: SSAValue) -> None:
        """Give the next registers to `values`."""
        for value in values:
            self.registers[value] = len(self.registers)

    def block(self, block: Block | None) -> bytes:
        """The code of the operations of a block."""
        if block is None:
            return b""
        return b"".join(self.operation(op) for op in block.ops if not isinstance(op, scf.YieldOp))

    def operation(self, op: Operation) -> bytes:
        """The code of one operation; its results are defined."""
        name = struct.pack(_OPERATION_NAME, self.names.setdefault(op.name, len(self.names)))
        if isinstance(op, scf.ForOp):
            head = self._numbers(op.lb, op.ub, op.step)
            self.define(op.body.block.args[0])
            body = self.block(op.body.block)
            return name + head + struct.pack("<I", len(body)) + body
        payload = self._payload(op)
        self.define(*op.results)
        return name + payload

    def _numbers(self, *values: SSAValue) -> bytes:
        return struct.pack(f"<{len(values)}I", *(self.registers[value] for value in values))

    def _payload(self, op: Operation) -> bytes:
        match op:
            case Instruction():
                return self._instruction(op)
            case BlockIdxOp():
                return b""
            case AllocOp():
                return struct.pack("<BIQQ", _SPACES.index(op.space), op.copy_count, op.copy_bytes, op.place)
            case arith.ConstantOp():
                value = constant_value(op.result)
                form = "<Bd" if op.result.type == f32 else "<Bq"
                return struct.pack(form, SCALAR_TYPES.index(op.result.type), value)
            case arith.CmpiOp():
                return struct.pack("<B", op.predicate.value.data) + self._numbers(op.lhs, op.rhs)
            case scf.IfOp():
                branches = self.block(op.true_region.block), self.block(op.false_region.first_block)
                return self._numbers(op.cond) + struct.pack("<II", *map(len, branches)) + b"".join(branches)
            case _:
                return self._numbers(*op.operands)

    def _instruction(self, op: Instruction) -> bytes:
        mask, parts = 0, list[bytes]()
        for position, (field, buffer, value) in enumerate(op.parts()):
            if buffer is not None:
                parts.append(self._numbers(buffer))
            if isinstance(value, SSAValue):
                mask |= 1 << position
                parts.append(struct.pack("<Q", self.registers[value]))
            else:
                parts.append(_pack_immediate(field, value))
        return struct.pack("<I", mask) + b"".join(parts)


def _pack_immediate(field: Field, value: Immediate) -> bytes:
    if isinstance(field, Enum):
        return struct.pack("<Q", field.names.index(str(value)))
    return struct.pack("<d" if isinstance(field, Float) else "<Q", value)


def decode(binary: bytes, name: str) -> CubeKernelOp:
    """The kernel that `encode` wrote, named `name`. Raises GE5020 and GE5021."""
    where = f"kernel @{name}"
    if len(binary) < _HEADER.size or binary[:4] != MAGIC:
        raise GeError("GE5020", "the bytes do not begin with a GECK header", where)
    _, version, arguments, outputs, name_count, blocks, registers, code_bytes = _HEADER.unpack_from(binary)
    if version != VERSION:
        raise GeError("GE5020", f"version {version} is not {VERSION}", where)
    reader = _Reader(binary, where, name_count)
    if reader.remaining() != code_bytes:
        raise reader.error(f"{reader.remaining()} bytes of code, the header says {code_bytes}")
    kernel = CubeKernelOp(name, reader.names[0], blocks, outputs, arguments)
    reader.define(*kernel.body.block.args)
    try:
        reader.block(kernel.body.block, len(binary), 0)
        kernel.verify()
    except (VerifyException, ValueError, TypeError) as error:  # what operations raise about their operands
        raise reader.error(str(error)) from error
    if reader.count != registers:
        raise reader.error(f"{reader.count} registers, the header says {registers}")
    return kernel


class _Reader:
    """Decodes operations, one after the other, and knows the values of the registers that are in scope."""

    def __init__(self, binary: bytes, where: str, name_count: int) -> None:
        self.binary = binary
        self.position = _HEADER.size
        self.where = where
        self.values: dict[int, SSAValue] = {}
        self.count = 0
        """How many registers have been defined, in scope or not."""
        self.names: list[str] = []
        for _ in range(name_count):
            (length,) = self.integers("<B")
            text = self.bytes(length)
            try:
                self.names.append(text.decode())
            except UnicodeDecodeError as error:
                raise self.error("a name is not UTF-8 text") from error
        if not self.names:
            raise self.error("the SoC is not named")

    def error(self, what: str) -> GeError:
        """The error that the binary is malformed."""
        return GeError("GE5021", f"at byte {self.position}: {what}", self.where)

    def remaining(self) -> int:
        """Bytes not read yet."""
        return len(self.binary) - self.position

    def bytes(self, size: int) -> bytes:
        """Read `size` bytes."""
        if size > self.remaining():
            raise self.error(f"{size} bytes expected, {self.remaining()} left")
        self.position += size
        return self.binary[self.position - size : self.position]

    def integers(self, form: str) -> tuple[int, ...]:
        """Read integers in the form of `struct`."""
        return struct.unpack(form, self.bytes(struct.calcsize(form)))

    def real(self) -> float:
        """Read a float64."""
        return struct.unpack("<d", self.bytes(8))[0]

    def define(self, *values: SSAValue) -> None:
        """Give the next registers to `values`."""
        for value in values:
            self.values[self.count] = value
            self.count += 1

    def register(self) -> SSAValue:
        """Read a register, and give its value."""
        return self._value(self.integers("<I")[0])

    def _value(self, number: int) -> SSAValue:
        value = self.values.get(number)
        if value is None:
            raise self.error(f"register {number} is not defined here")
        return value

    def block(self, block: Block, end: int, depth: int) -> None:
        """Read operations into a block, up to the byte `end`; what they define is in scope in the block only."""
        if depth > MAX_DEPTH:
            raise self.error(f"loops and branches are more than {MAX_DEPTH} deep")
        if end > len(self.binary):
            raise self.error("a loop or branch is longer than the code")
        outer = dict(self.values)
        while self.position < end:
            self._operation(block, depth)
        if self.position != end:
            raise self.error("an operation is longer than the loop or branch it lies in")
        self.values = outer

    def _operation(self, block: Block, depth: int) -> None:
        number = self.integers(_OPERATION_NAME)[0]
        if not 0 < number < len(self.names):
            raise self.error(f"operation {number} has no name")
        name = self.names[number]
        if name == scf.ForOp.name:
            self._loop(block, depth)
        elif name == scf.IfOp.name:
            self._branch(block, depth)
        else:
            op = self._simple(name)
            block.add_op(op)
            self.define(*op.results)

    def _loop(self, block: Block, depth: int) -> None:
        bounds = [self.register() for _ in range(3)]
        (size,) = self.integers("<I")
        body = Block(arg_types=[bounds[0].type])
        self.define(body.args[0])
        variable = self.count - 1
        self.block(body, self.position + size, depth + 1)
        del self.values[variable]
        body.add_op(scf.YieldOp())
        block.add_op(scf.ForOp(bounds[0], bounds[1], bounds[2], [], body))

    def _branch(self, block: Block, depth: int) -> None:
        condition = self.register()
        sizes = self.integers("<II")
        regions: list[Region] = []
        for size in sizes:
            branch = Block()
            self.block(branch, self.position + size, depth + 1)
            branch.add_op(scf.YieldOp())
            regions.append(Region(branch))
        block.add_op(scf.IfOp(condition, [], regions[0], regions[1] if sizes[1] else Region()))

    def _simple(self, name: str) -> Operation:
        if name.removeprefix("cube.") in INSTRUCTIONS:
            return self._instruction(INSTRUCTIONS[name.removeprefix("cube.")])
        if name in SCALAR_BY_NAME:
            return self._scalar(SCALAR_BY_NAME[name].op)
        match name:
            case BlockIdxOp.name:
                return BlockIdxOp()
            case AllocOp.name:
                space, copies, size, address = self.integers("<BIQQ")
                return AllocOp(self._one_of(_SPACES, space), _signed(size), copies, _signed(address))
            case arith.ConstantOp.name:
                return self._constant()
            case arith.CmpiOp.name:
                (predicate,) = self.integers("<B")
                self._one_of(COMPARISONS, predicate)
                return arith.CmpiOp(self.register(), self.register(), predicate)
            case _:
                raise self.error(f"there is no operation '{name}'")

    def _constant(self) -> Operation:
        (number,) = self.integers("<B")
        value_type = self._one_of(SCALAR_TYPES, number)
        if value_type == f32:
            return arith.ConstantOp(FloatAttr(self.real(), f32))
        return arith.ConstantOp(IntegerAttr(self.integers("<q")[0], IndexType() if value_type != i1 else i1))

    def _scalar(self, op: Callable[..., Operation]) -> Operation:
        return op(*[self.register() for _ in range(_OPERANDS.get(op, 2))])

    def _instruction(self, cls: type[Instruction]) -> Operation:
        (mask,) = self.integers("<I")
        fields: dict[str, FieldValue] = {}
        for position, field in enumerate(cls.FIELDS):
            buffer = self.register() if isinstance(field, Address) else None
            is_register = mask >> position & 1
            value = self._value(self.integers("<Q")[0]) if is_register else self._immediate(field)
            fields[field.name] = value if buffer is None else (buffer, cast("int | SSAValue", value))
        return cls(**fields)

    def _immediate(self, field: Field) -> Immediate:
        if isinstance(field, Float):
            return self.real()
        number = self.integers("<Q")[0]
        return self._one_of(field.names, number) if isinstance(field, Enum) else number

    def _one_of(self, names: tuple[_T, ...], number: int) -> _T:
        if number >= len(names):
            raise self.error(f"{number} is not a position in a list of {len(names)}")
        return names[number]


_OPERANDS: dict[Callable[..., Operation], int] = {arith.SelectOp: 3, arith.NegfOp: 1}
"""Scalar operations that have other than two operands."""


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number
