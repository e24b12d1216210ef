"""Memory planning, checked by replaying the program on a memory whose bytes say which value wrote them."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest
from device_programs import Replay, build, integers, main, program
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, f16, f32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from ge.dialects.graph import HostOp, LaunchOp, UnaryOp
from ge.dialects.graph.base import ints
from ge.ir.errors import GeError
from ge.passes.graph.check_memory import check_memory
from ge.passes.graph.order_launches import OrderLaunchesPass
from ge.passes.graph.plan_memory import MemoryPlan, PlanMemoryPass, Planner, plan_memory


def replay(program: FuncOp, plan: MemoryPlan) -> None:
    """Run a planned program; fail where an operand was overwritten before its use."""
    Replay(plan.memory_size, plan.weight_size).run(program)


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
