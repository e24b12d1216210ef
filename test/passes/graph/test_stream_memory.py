"""Memory of programs with several streams: shared only where events order the users, and the check finds where not."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest
from device_programs import Replay, build, main
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ge.dialects.graph import HostOp, LaunchOp, RecordOp, WaitOp
from ge.dialects.graph.base import int_attr
from ge.dialects.graph.streams import program_steps
from ge.ir.errors import GeError
from ge.maths.streams import interleaving, with_events
from ge.passes.graph.assign_streams import write_streams
from ge.passes.graph.check_memory import check_memory
from ge.passes.graph.plan_memory import PlanMemoryPass, Planner, plan_memory, write_plan
from ge.passes.graph.program_time import program_time
from ge.targets.ascend.soc import load_soc

SOC = load_soc("Ascend310P3")


def with_streams(seed: int, size: int) -> ModuleOp:
    """A random program, its tasks dealt to up to three streams at random, with the events that they need."""
    random = Random(seed)
    module = build(random, size)
    time = program_time(main(module), SOC)
    streams = [random.randrange(3) for _ in time.tasks]
    write_streams(main(module), time, with_events(time.tasks, streams))
    return module


def in_any_order(program: FuncOp, random: Random) -> list[Operation]:
    """The operations of a program as its streams may come to them; constants first, views where they are needed."""
    steps = program_steps(program)
    block = list(program.body.block.ops)
    placed: dict[Operation, None] = dict.fromkeys(op for op in block if op.name == "graph.constant")

    def place(op: Operation) -> None:
        for operand in op.operands:
            if isinstance(operand.owner, Operation) and operand.owner.name == "graph.view":
                place(operand.owner)
        placed[op] = None

    for index in interleaving(steps.steps, random):
        place(steps.operations[index])
    place(block[-1])
    return list(placed)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 16), st.sampled_from(get_args(Planner)))
def test_no_interleaving_overwrites_a_value_before_its_last_use(seed: int, size: int, planner: Planner) -> None:
    module = with_streams(seed, size)
    PlanMemoryPass(planner=planner).apply(Context(), module)
    module.verify()
    check_memory(main(module))
    plan = plan_memory(main(module), planner=planner)
    random = Random(seed)
    for _ in range(5):
        Replay(plan.memory_size, plan.weight_size).run(main(module), in_any_order(main(module), random))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1 << 32))
def test_any_event_that_is_taken_out_is_missed(seed: int) -> None:
    module = with_streams(seed, 12)
    PlanMemoryPass().apply(Context(), module)
    for number in range(program_steps(main(module)).event_count):
        broken = module.clone()
        for op in [*broken.walk()]:
            if isinstance(op, RecordOp | WaitOp) and op.event.value.data == number:
                op.detach()
                op.erase()
        with pytest.raises(GeError) as error:
            check_memory(main(broken))
        assert error.value.code in ("GE4023", "GE4025")


def test_memory_planned_as_for_one_stream_is_refused_in_several() -> None:
    """And whatever the check lets pass, no interleaving breaks."""
    refused = 0
    for seed in range(60):
        module = with_streams(seed, 16)
        plan = plan_memory(main(module), one_stream=True)
        write_plan(main(module), plan)
        try:
            check_memory(main(module))
        except GeError as error:
            refused += 1
            assert error.code == "GE4025"
            continue
        for turn in range(5):
            Replay(plan.memory_size, plan.weight_size).run(main(module), in_any_order(main(module), Random(turn)))
    assert refused >= 10


def test_a_host_value_needs_an_event_too() -> None:
    """It has no place in memory: only who made it counts."""
    module = with_streams(0, 0)
    block = main(module).body.block
    first = HostOp([block.args[0]], [block.args[0].type])
    second = LaunchOp("k", [first.outputs[0]], [block.args[0].type], blocks=1, op_type="K")
    first.stream, second.stream = int_attr(0), int_attr(1)
    assert block.last_op is not None
    block.insert_ops_before([first, second], block.last_op)
    PlanMemoryPass().apply(Context(), module)
    with pytest.raises(GeError, match=r"stream 1 reads .* but no event says that stream 0 has made it"):
        check_memory(main(module))
    block.insert_op_after(RecordOp(0, 0), first)
    block.insert_op_before(WaitOp(0, 1), second)
    check_memory(main(module))
