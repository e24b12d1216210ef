"""Random device programs, and a replay of planned ones on a memory whose bytes say which value wrote them."""

from __future__ import annotations

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

from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, RecordOp, ViewOp, WaitOp
from ge.ir.constants import array_of, constant_attr, static_shape, tensor_type_of

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

    def run(self, program: FuncOp, operations: Sequence[Operation] = ()) -> None:
        """Run the operations of a program, in the order given or in its own."""
        arguments = program.body.block.args
        for value, offset in zip(arguments, integers(program.attributes["graph.input_offsets"]), strict=True):
            self.write(value, self.memory, offset)
        for op in operations or program.body.block.ops:
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
                        self.write(result, self.memory, offset)
                case RecordOp() | WaitOp():
                    pass
                case _:
                    offsets = integers(program.attributes["graph.output_offsets"])
                    assert [self.slots[value].offset for value in op.operands] == offsets
        for argument in arguments:
            self.check(argument)


def build(random: Random, size: int) -> ModuleOp:
    """A random program of launches, views and constants."""
    types = [TensorType(f16, [1 << random.randint(0, 12)]) for _ in range(3)]
    block = Block(arg_types=types[: random.randint(1, 2)])
    values: list[SSAValue] = list(block.args)
    for _ in range(size):
        match random.choice(["launch", "launch", "launch", "view", "constant"]):
            case "launch":
                inputs = random.choices(values, k=random.randint(1, 3))
                op = LaunchOp("k", inputs, random.choices(types, k=random.randint(1, 2)), blocks=1, op_type="K")
            case "view":
                source = random.choice(values)
                op = ViewOp(source, TensorType(f16, [1, *static_shape(source)]))
            case _:
                array = np.full(1 << random.randint(0, 10), random.randint(0, 1), np.float16)
                op = ConstantOp(constant_attr(array), TensorType(f16, array.shape))
        block.add_op(op)
        values += op.results
    return program(block, random.choices(values, k=random.randint(1, 3)))


def program(block: Block, returned: list[SSAValue]) -> ModuleOp:
    """A module of one program that returns these values."""
    block.add_op(ReturnOp(*returned))
    types = ([argument.type for argument in block.args], [value.type for value in returned])
    function = FuncOp("main", types, Region(block))
    function.attributes["graph.output_names"] = ArrayAttr(StringAttr(f"y{i}") for i in range(len(returned)))
    return ModuleOp([function])


def main(module: ModuleOp) -> FuncOp:
    """The program of a module."""
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    return function
