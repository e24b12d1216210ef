"""Memory planning, checked by replaying the program on a memory whose bytes say which value wrote them."""

from __future__ import annotations

from random import Random
from typing import NamedTuple, cast, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    Float16Type,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f16,
    f32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, UnaryOp, ViewOp
from ge.dialects.graph.base import ints
from ge.ir.constants import array_of, constant_attr, static_shape, tensor_type_of
from ge.ir.errors import GeError
from ge.passes.graph.check_memory import check_memory
from ge.passes.graph.order_launches import OrderLaunchesPass
from ge.passes.graph.plan_memory import MemoryPlan, PlanMemoryPass, Planner, plan_memory

SPARE = 32


def integers(attr: Attribute | None) -> list[int]:
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

    def run(self, program: FuncOp) -> None:
        arguments = program.body.block.args
        for value, offset in zip(arguments, integers(program.attributes["graph.input_offsets"]), strict=True):
            self.write(value, self.memory, offset)
        for op in program.body.block.ops:
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
                case _:
                    offsets = integers(program.attributes["graph.output_offsets"])
                    assert [self.slots[value].offset for value in op.operands] == offsets
        for argument in arguments:
            self.check(argument)


def replay(program: FuncOp, plan: MemoryPlan) -> None:
    """Run a planned program; fail where an operand was overwritten before its use."""
    Replay(plan.memory_size, plan.weight_size).run(program)


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
    block.add_op(ReturnOp(*returned))
    types = ([argument.type for argument in block.args], [value.type for value in returned])
    function = FuncOp("main", types, Region(block))
    function.attributes["graph.output_names"] = ArrayAttr(StringAttr(f"y{i}") for i in range(len(returned)))
    return ModuleOp([function])


def main(module: ModuleOp) -> FuncOp:
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    return function


def planned(module: ModuleOp) -> tuple[FuncOp, MemoryPlan]:
    plan = plan_memory(main(module))
    PlanMemoryPass().apply(Context(), module)
    module.verify()
    return main(module), plan


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 14))
def test_no_value_is_overwritten_before_its_last_use(seed: int, size: int) -> None:
    function, plan = planned(build(Random(seed), size))
    replay(function, plan)
    assert plan.lower_bound <= plan.arena_size <= plan.size_without_reuse


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 14), st.sampled_from(get_args(Planner)))
def test_every_plan_passes_the_check(seed: int, size: int, planner: Planner) -> None:
    """Also in the order that `order-launches` chooses, which never needs more than the one that was given."""
    module = build(Random(seed), size)
    given_order = plan_memory(main(module)).lower_bound
    OrderLaunchesPass().apply(Context(), module)
    module.verify()
    PlanMemoryPass(planner=planner).apply(Context(), module)
    check_memory(main(module))
    replay(main(module), plan_memory(main(module), planner=planner))
    assert plan_memory(main(module)).lower_bound <= given_order


def test_what_the_check_refuses_the_replay_refuses() -> None:
    """One result comes into the place of another value, which is harmless in some programs and found in many."""
    refused = 0
    for seed in range(60):
        random = Random(seed)
        function, plan = planned(build(random, 12))
        launches = [op for op in function.body.block.ops if isinstance(op, LaunchOp)]
        if len(launches) < 2:
            continue
        moved, taken = random.sample(launches, 2)
        moved.offsets = ints([integers(taken.offsets)[0], *integers(moved.offsets)[1:]])
        try:
            check_memory(function)
        except GeError as error:
            refused += 1
            assert error.code == "GE4023"
            with pytest.raises(AssertionError):
                replay(function, plan)
    assert refused >= 10


def chain(length: int) -> ModuleOp:
    type = TensorType(f16, [512])
    block = Block(arg_types=[type])
    value: SSAValue = block.args[0]
    for _ in range(length):
        op = LaunchOp("k", [value], [type], blocks=1, op_type="K")
        block.add_op(op)
        value = op.results[0]
    return program(block, [value])


def test_a_chain_needs_two_slots() -> None:
    function, plan = planned(chain(20))
    replay(function, plan)
    assert (plan.arena_size, plan.lower_bound, plan.size_without_reuse) == (2 * 1536, 2 * 1536, 19 * 1536)
    assert plan.io_size == 2 * 1536


def test_without_reuse_every_value_keeps_its_slot() -> None:
    module = chain(20)
    PlanMemoryPass(reuse=False).apply(Context(), module)
    launches = [op for op in main(module).body.block.ops if isinstance(op, LaunchOp)]
    assert len({offset for op in launches for offset in integers(op.offsets)}) == 20
    assert plan_memory(main(module), reuse=False).arena_size == 19 * 1536


def test_the_replay_notices_a_wrong_plan() -> None:
    function, plan = planned(chain(3))
    first, second, _ = [op for op in function.body.block.ops if isinstance(op, LaunchOp)]
    second.offsets = first.offsets
    function.body.block.insert_op_after(LaunchOp("k", [first.results[0]], [], blocks=1, op_type="K"), second)
    with pytest.raises(AssertionError):
        replay(function, plan)


def test_values_without_a_static_size_have_no_place() -> None:
    unknown = TensorType(f32, [-(1 << 63), 4])
    block = Block(arg_types=[TensorType(f32, [4])])
    host = HostOp([block.args[0]], [unknown])
    block.add_op(host)
    module = program(block, [host.outputs[0]])
    PlanMemoryPass().apply(Context(), module)
    assert integers(host.offsets) == [-1]
    assert integers(main(module).attributes["graph.output_offsets"]) == [-1]
    assert main(module).attributes["graph.memory_size"] == IntegerAttr(512, i64)


def test_an_input_returned_as_it_is_keeps_its_slot() -> None:
    block = Block(arg_types=[TensorType(f32, [4])])
    function, plan = planned(program(block, [block.args[0], block.args[0]]))
    assert integers(function.attributes["graph.output_offsets"]) == [0, 0]
    assert plan.memory_size == 512


def test_operations_of_other_levels_are_refused() -> None:
    block = Block(arg_types=[TensorType(f16, [4])])
    block.add_op(UnaryOp(block.args[0], "relu"))
    with pytest.raises(GeError, match=r"graph\.unary") as error:
        plan_memory(main(program(block, [block.args[0]])))
    assert error.value.code == "GE3004"


@pytest.mark.parametrize("rows", [1 << 33, 1 << 62])
def test_what_does_not_fit_the_device_is_refused(rows: int) -> None:
    block = Block(arg_types=[TensorType(f32, [rows, 4])])
    module = program(block, [block.args[0]])
    with pytest.raises(GeError, match="Ascend310P3 has 24000000000") as error:
        PlanMemoryPass().apply(Context(), module)
    assert error.value.code == "GE4022"
