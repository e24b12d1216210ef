"""Random device programs, and a replay of planned ones on a memory whose bytes say which value wrote them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    Float16Type,
    ModuleOp,
    StringAttr,
    TensorType,
    f16,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, RecordOp, ViewOp, WaitOp, YieldOp
from ge.ir.constants import array_of, constant_attr, static_shape, tensor_type_of
from ge.ir.parser import parse_module

SPARE = 32


def integers(attr: Attribute | None) -> list[int]:
    """The numbers of a list that planning wrote."""
    assert isinstance(attr, DenseArrayBase)
    return list(cast("DenseArrayBase[I64]", attr).iter_values())


class Slot(NamedTuple):
    area: NDArray[np.int64]
    offset: int
    nbytes: int
    mark: int

    @property
    def end(self) -> int:
        return self.offset + self.nbytes + SPARE


class Replay:
    """Two memories whose bytes are the number of the value that wrote them last.

    Written without the planner's notions: it knows only the offsets in the operations.
    """

    def __init__(self, memory_size: int, weight_size: int) -> None:
        self.memory = np.zeros(memory_size, np.int64)
        self.weights = np.zeros(weight_size, np.int64)
        self.slots: dict[SSAValue, Slot] = {}
        self.constants: dict[bytes, Slot] = {}

    def write(self, value: SSAValue, area: NDArray[np.int64], offset: int) -> Slot:
        nbytes = int(np.prod(static_shape(value))) * cast(Float16Type, tensor_type_of(value).element_type).size
        assert offset % 512 == 0
        assert offset + nbytes + SPARE <= area.size
        slot = self.slots[value] = Slot(area, offset, nbytes, len(self.slots) + 1)
        area[offset : offset + nbytes + SPARE] = slot.mark
        return slot

    def check(self, value: SSAValue) -> None:
        area, offset, nbytes, mark = self.slots[value]
        assert (area[offset : offset + nbytes] == mark).all()

    def constant(self, op: ConstantOp) -> None:
        assert op.offset is not None
        data = array_of(op.value, op.y.type).tobytes()
        if data not in self.constants:
            self.constants[data] = self.write(op.y, self.weights, op.offset.value.data)
        self.slots[op.y] = self.constants[data]
        assert self.slots[op.y].offset == op.offset.value.data

    def check_operands(self, op: LaunchOp, result: Slot, operands: Sequence[Slot]) -> None:
        """A launch writes over an operand only where it says so, and then over all of it."""
        for number, slot in enumerate(operands):
            apart = slot.area is not result.area or slot.end <= result.offset or result.end <= slot.offset
            assert apart or (number in op.replaceable and (slot.offset, slot.end) == (result.offset, result.end))

    def run(self, program: FuncOp, operations: Sequence[Operation] = ()) -> None:
        """Run the operations of a program, in the order given or in its own."""
        arguments = program.body.block.args
        for value, offset in zip(arguments, integers(program.attributes["graph.input_offsets"]), strict=True):
            self.write(value, self.memory, offset)
        for op in operations or program.body.block.ops:
            if not isinstance(op, ViewOp):  # which reads nothing
                for operand in op.operands:
                    self.check(operand)
            match op:
                case ConstantOp():
                    self.constant(op)
                case ViewOp():
                    assert op.offset is not None
                    self.slots[op.y] = self.slots[op.x]
                    assert self.slots[op.y].offset == op.offset.value.data
                case LaunchOp() | HostOp():
                    for result, offset in zip(op.results, integers(op.offsets), strict=True):
                        before = [self.slots[operand] for operand in op.operands]
                        slot = self.write(result, self.memory, offset)
                        if isinstance(op, LaunchOp):
                            self.check_operands(op, slot, before)
                case RecordOp() | WaitOp():
                    pass
                case _:
                    offsets = integers(program.attributes["graph.output_offsets"])
                    assert [self.slots[value].offset for value in op.operands] == offsets
        for argument in arguments:
            self.check(argument)


KERNEL = """
tile.kernel @over{0}(%x: !tile.gm<{0}x16xf16>, %y: !tile.gm<{0}x16xf16>) grid(%core : 1) outputs(1) {{
  tile.for %row = 0 to {0} step 1 {{
    %t = tile.load %x[%row, 0] sizes [1, 16] : !tile.gm<{0}x16xf16> -> !tile.tile<1x16xf16>
    tile.store %t, %y[%row, 0] sizes [1, 16] : !tile.tile<1x16xf16> -> !tile.gm<{0}x16xf16>
  }}
}}
"""
"""A kernel whose result may be written over its operand."""


def build(random: Random, size: int) -> ModuleOp:
    """A random program of launches, some of which may write in place, host work, views and constants."""
    types = [TensorType(f16, [1 << random.randint(0, 12)]) for _ in range(3)]
    block = Block(arg_types=types[: random.randint(1, 2)])
    values: list[SSAValue] = list(block.args)
    kernels: set[int] = set()
    for _ in range(size):
        match random.choice(["launch", "launch", "launch", "over", "over", "host", "view", "constant"]):
            case "launch":
                inputs = random.choices(values, k=random.randint(1, 3))
                op = LaunchOp("k", inputs, random.choices(types, k=random.randint(1, 2)), blocks=1, op_type="K")
            case "over" if large := [value for value in values if math.prod(static_shape(value)) >= 16]:
                source = random.choice(large)
                rows = math.prod(static_shape(source)) // 16
                kernels.add(rows)
                op = LaunchOp(f"over{rows}", [source], [source.type], blocks=1, op_type="K", in_place=[0])
            case "host":
                op = host_work(random, random.choices(values, k=random.randint(1, 3)))
            case "view":
                source = random.choice(values)
                op = ViewOp(source, TensorType(f16, [1, *static_shape(source)]))
            case _:
                array = np.full(1 << random.randint(0, 10), random.randint(0, 1), np.float16)
                op = ConstantOp(constant_attr(array), TensorType(f16, array.shape))
        block.add_op(op)
        values += op.results
    module = program(block, random.choices(values, k=random.randint(1, 3)))
    for rows in sorted(kernels):
        kernel = parse_module(KERNEL.format(rows)).body.block.first_op
        assert kernel is not None
        kernel.detach()
        module.body.block.add_op(kernel)
    return module


def host_work(random: Random, inputs: Sequence[SSAValue]) -> HostOp:
    """Host work that gives one or two of its operands back."""
    types = [each.type for each in inputs]
    body = Block(arg_types=types)
    results: list[SSAValue] = random.choices(body.args, k=random.randint(1, 2))
    body.add_op(YieldOp(results))
    return HostOp(inputs, [each.type for each in results], Region(body))


def program(block: Block, returned: list[SSAValue]) -> ModuleOp:
    """A module of one program that returns these values."""
    block.add_op(ReturnOp(*returned))
    types = ([argument.type for argument in block.args], [value.type for value in returned])
    function = FuncOp("main", types, Region(block))
    function.attributes["graph.output_names"] = ArrayAttr(StringAttr(f"y{i}") for i in range(len(returned)))
    return ModuleOp([function])


def main(module: ModuleOp) -> FuncOp:
    """The program of a module."""
    return next(op for op in module.ops if isinstance(op, FuncOp))
