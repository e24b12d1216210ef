"""Synchronisation: every flag and barrier is needed, none is missing, events suffice."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cube_kernels import LARGE, check, check_flags, cube_kernel, lowered, random_inputs, simulate, tile_kernel

from ge.dialects import cube, tile
from ge.dialects.cube.encoding import encode
from ge.dialects.cube.instruction import Instruction
from ge.dialects.cube.instructions.sync import FlagInstruction, PipeBarrier, SetFlag
from ge.ir.errors import GeError
from ge.lowering.tile_to_cube.convert import lower_kernel
from ge.passes.cube.insert_sync import synchronise
from ge.passes.cube.plan_buffers import plan
from ge.targets.ascend.simulator import run_kernel

REDUNDANT = {"convolution": 1, "pooling": 1, "softmax": 0}
"""How many flags and barriers may be left out.

The first barrier in a tile of these kernels orders turns that use the same copy of a buffer. It would be needed if such
turns followed each other; here there is always a turn between them, with barriers of its own.
"""


def kernel_on_tiles(name: str) -> tile.KernelOp:
    return tile_kernel((Path(__file__).parent / "inputs" / f"{name}.mlir").read_text())


def synchronisation(kernel: cube.CubeKernelOp) -> list[FlagInstruction | PipeBarrier]:
    return [op for op in kernel.walk() if isinstance(op, FlagInstruction | PipeBarrier)]


def without(kernel: cube.CubeKernelOp, numbers: set[int]) -> cube.CubeKernelOp:
    """A copy without the flags and barriers of these numbers."""
    copy = kernel.clone()
    for number, op in enumerate(synchronisation(copy)):
        if number in numbers:
            op.detach()
            op.erase()
    return copy


def ways(kernel: cube.CubeKernelOp) -> list[set[int]]:
    """The flags from each pipe to each other one: without them all, flags are still in balance."""
    groups: dict[object, set[int]] = {}
    for number, op in enumerate(synchronisation(kernel)):
        if isinstance(op, FlagInstruction):
            groups.setdefault((op.src, op.dst), set()).add(number)
    return list(groups.values())


@pytest.mark.parametrize("name", REDUNDANT)
def test_kernels_are_right_and_without_violations(name: str) -> None:
    check(kernel_on_tiles(name))


@pytest.mark.parametrize("name", REDUNDANT)
def test_whatever_is_left_out_is_missed(name: str) -> None:
    """Without any one flag or barrier, or all flags of one way, strict mode finds a race or flags that are not even."""
    kernel = kernel_on_tiles(name)
    inputs = random_inputs(kernel)
    instructions = lowered(kernel)
    codes = Counter[str]()
    unneeded: list[set[int]] = []
    single = [{number} for number in range(len(synchronisation(instructions)))]
    for numbers in (*single, *ways(instructions)):
        try:
            simulate(without(instructions, numbers), kernel, inputs)
            unneeded.append(numbers)
        except GeError as error:
            codes[error.code] += 1
    assert codes["GE6025"] >= len(ways(instructions)), "a race for each way"
    assert len(unneeded) == REDUNDANT[name], [str(synchronisation(instructions)[n]) for s in unneeded for n in s]


def phases(count: int, order: str) -> str:
    """A kernel of `count` phases, each of which loads, computes and stores, with buffers of its own."""
    head = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "%c3 = arith.constant 3 : index"]
    body: list[str] = []
    for phase in range(count):
        head += [f"%{name}{phase} = cube.alloc size = 256 : !cube.buffer<ub>" for name in "ab"]
        body += [
            f"cube.copy_gm_to_ub dst = %a{phase}[0], src = %x[{phase * 256}], length = 8",
            f"cube.vexp dst = %b{phase}[0], src = %a{phase}[0], dtype = f16, count = 128",
            f"cube.copy_ub_to_gm dst = %y[{phase * 256}], src = %b{phase}[0], length = 8",
        ]
    if order == "step by step":
        body = [line for step in range(3) for line in body[step::3]]
    if order == "loop":
        body = ["scf.for %i = %c0 to %c3 step %c1 {", *body, "}"]
    if order == "loop after loop":
        loops = [["scf.for %i = %c0 to %c3 step %c1 {", *body[at : at + 3], "}"] for at in range(0, 3 * count, 3)]
        body = [line for loop in loops for line in loop]
    text = "\n".join([*head, *body])
    arguments = "%x: !cube.buffer<gm>, %y: !cube.buffer<gm>"
    return f'cube.kernel @k({arguments}) soc("Ascend310P3") blocks(1) outputs(1) {{\n{text}\n}}'


@pytest.mark.parametrize("order", ["phase by phase", "step by step", "loop", "loop after loop"])
@pytest.mark.parametrize("count", [3, 8, 20])
@pytest.mark.parametrize("events", [2, 4, 8])
def test_events_suffice(count: int, order: str, events: int) -> None:
    """More pairs of flags than events: numbers serve again, pairs are merged, or become barriers of all pipes."""
    soc = replace(LARGE, event_ids=events)
    kernel = cube_kernel(phases(count, order))
    plan(kernel, soc)
    synchronise(kernel, soc)
    check_flags(kernel)
    x = np.random.default_rng(0).standard_normal(count * 128).astype(np.float16)
    result = run_kernel(encode(kernel), [x, np.zeros_like(x)], soc, strict=True)
    np.testing.assert_allclose(result.outputs[0], np.exp(x.astype(np.float32)), rtol=1e-3)


def test_a_number_serves_pairs_that_follow_each_other() -> None:
    """Phases that hand one buffer back and forth know of each other: two numbers for each way are enough."""
    lines = ["%a = cube.alloc size = 256 : !cube.buffer<ub>"]
    for phase in range(12):
        lines += [
            f"cube.copy_gm_to_ub dst = %a[0], src = %x[{phase * 256}], length = 8",
            "cube.vexp dst = %a[0], src = %a[0], dtype = f16, count = 128",
            f"cube.copy_ub_to_gm dst = %y[{phase * 256}], src = %a[0], length = 8",
        ]
    arguments = "%x: !cube.buffer<gm>, %y: !cube.buffer<gm>"
    text = "\n".join(lines)
    kernel = cube_kernel(f'cube.kernel @k({arguments}) soc("Ascend310P3") blocks(1) outputs(1) {{\n{text}\n}}')
    plan(kernel, LARGE)
    synchronise(kernel, LARGE)
    check_flags(kernel)
    kinds = Counter(type(op) for op in synchronisation(kernel))
    assert kinds[PipeBarrier] == 0 and kinds[SetFlag] == 3 * 12 - 1
    assert {op.field("event") for op in synchronisation(kernel) if isinstance(op, FlagInstruction)} == {0}


def test_only_synchronisation_is_added() -> None:
    kernel = lower_kernel(kernel_on_tiles("pooling"), LARGE)
    plan(kernel, LARGE)
    before = [op for op in kernel.walk() if isinstance(op, Instruction)]
    synchronise(kernel, LARGE)
    added = synchronisation(kernel)
    assert [op for op in kernel.walk() if isinstance(op, Instruction) and op not in added] == before


def test_the_result_does_not_depend_on_chance() -> None:
    assert len({str(lowered(kernel_on_tiles("convolution"))) for _ in range(3)}) == 1
