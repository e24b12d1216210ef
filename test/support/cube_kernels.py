"""Kernels on their way from tiles to the simulator, and checks of what they do there."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects import cube, tile
from ge.dialects.cube.encoding import encode
from ge.dialects.cube.instruction import Instruction
from ge.dialects.cube.instructions.sync import FlagInstruction, PipeBarrier, SetFlag, WaitFlag
from ge.dialects.cube.scalars import COMPARISONS, SCALAR_BY_CLASS, SCALAR_FUNCTIONS, constant_value
from ge.dialects.cube.spaces import Pipe
from ge.dialects.graph.base import tensor
from ge.dialects.graph.constants import constant, stored_type
from ge.dialects.graph.meaning import evaluate
from ge.dialects.graph.program import ConstantOp
from ge.dialects.tile.meaning import run_kernel as run_tile_kernel
from ge.dialects.tile.types import GmType, gm_type
from ge.ir.attributes import layout_of, with_layout
from ge.ir.constants import array_of, element_type, numpy_dtype
from ge.ir.parser import parse_module
from ge.ir.verifier import verify_module
from ge.lowering.graph_to_tile.convert_graph_to_tile import LOWERINGS
from ge.lowering.graph_to_tile.outline import Target
from ge.lowering.tile_to_cube.convert import lower_kernel
from ge.maths.layouts import ND_FORMATS, pack
from ge.passes.cube.insert_sync import synchronise
from ge.passes.cube.plan_buffers import plan
from ge.targets.ascend.simulator import KernelResult, run_kernel
from ge.targets.ascend.soc import Soc, load_soc

Array = NDArray[Any]

LARGE = load_soc("Ascend310P3")

SMALL = replace(LARGE, cores=3, buffers={"l1": 1 << 15, "l0a": 1 << 12, "l0b": 1 << 12, "l0c": 1 << 13, "ub": 1 << 14})
"""A chip so small that little tensors take many tiles."""


# From text or a graph operation to a kernel on tiles.


def tile_kernel(text: str) -> tile.KernelOp:
    """The one kernel of a module on tiles."""
    module = parse_module(text)
    verify_module(module)
    (kernel,) = [op for op in module.walk() if isinstance(op, tile.KernelOp)]
    return kernel


def cube_kernel(text: str) -> cube.CubeKernelOp:
    """The one kernel of a module on instructions."""
    module = parse_module(text)
    verify_module(module)
    (kernel,) = [op for op in module.walk() if isinstance(op, cube.CubeKernelOp)]
    return kernel


def value(shape: Sequence[int], format: str = "ND", dtype: Any = np.float16) -> SSAValue:
    """A tensor that is not a constant."""
    type = with_layout(TensorType(element_type(np.dtype(dtype)), shape), format)
    return TestOp(result_types=[type]).results[0]


def filters(array: Array) -> SSAValue:
    """Constant weights in FRACTAL_Z."""
    return constant(array.astype(np.float16), "FRACTAL_Z").y


def vector(array: Array) -> SSAValue:
    """A constant float32 vector."""
    return constant(array.astype(np.float32)).y


def kernel_of(
    op: Operation, soc: Soc, *, double_buffer: bool = True, seed: int = 0
) -> tuple[tile.KernelOp, list[Array]]:
    """The kernel of a graph operation, and random inputs in storage order; pad lanes hold finite rubbish."""
    op.verify()
    outlined = LOWERINGS[type(op)](op, Target(soc, double_buffer))
    random = np.random.default_rng(seed)
    return outlined.kernel, [_stored(source, random) for source in outlined.inputs]


def _stored(source: SSAValue, random: np.random.Generator) -> Array:
    type = tensor(source)
    if isinstance(source.owner, ConstantOp):
        evaluate(source.owner, [])
        return array_of(source.owner.value, stored_type(type))
    dtype = numpy_dtype(type.element_type)
    array = draw(random, type.get_shape(), dtype)
    format = layout_of(type)
    stored = pack(array, format)
    if format in ND_FORMATS:
        return stored
    is_pad = pack(np.ones(array.shape, dtype), format) == 0
    rubbish = random.uniform(-9, 9, stored.shape) if stored.dtype.kind == "f" else draw(random, stored.shape, dtype)
    return np.where(is_pad, rubbish, stored).astype(dtype)


# From a kernel on tiles to the simulator.


def lowered(kernel: tile.KernelOp, soc: Soc = LARGE) -> cube.CubeKernelOp:
    """The kernel as instructions, with buffers placed and synchronised."""
    result = lower_kernel(kernel, soc)
    plan(result, soc)
    synchronise(result, soc)
    verify_module(cast(Any, result))
    return result


def random_inputs(kernel: tile.KernelOp, seed: int = 0) -> list[Array]:
    """Arrays for the arguments that a kernel reads: normally distributed, of integers any."""
    random = np.random.default_rng(seed)
    read = [gm_type(argument) for argument in kernel.arguments[: len(kernel.arguments) - kernel.output_count]]
    return [draw(random, type.sizes, dtype_of(type)) for type in read]


def draw(random: np.random.Generator, sizes: Sequence[int], dtype: Any) -> Array:
    """Normally distributed numbers; all integers of 8 bits, larger ones in the range of 16 bits."""
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(sizes).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(max(limits.min, -(2**15)), min(limits.max, 2**15) + 1, sizes).astype(dtype)


def dtype_of(type: GmType) -> Any:
    """The NumPy type of the elements of a tensor in device memory."""
    return numpy_dtype(type.element_type)


def simulate(
    instructions: cube.CubeKernelOp,
    kernel: tile.KernelOp,
    inputs: Sequence[Array],
    soc: Soc = LARGE,
    *,
    strict: bool = True,
) -> KernelResult:
    """Run instructions on the arguments of the kernel on tiles that they come from."""
    written = kernel.arguments[len(kernel.arguments) - kernel.output_count :]
    outputs = [np.zeros(gm_type(argument).sizes, dtype_of(gm_type(argument))) for argument in written]
    return run_kernel(encode(instructions), [*inputs, *outputs], soc, strict=strict)


def check(
    kernel: tile.KernelOp | str, inputs: Sequence[Array] | None = None, soc: Soc = LARGE, *, strict: bool = True
) -> KernelResult:
    """Check that the instructions of a kernel compute what the kernel means, without a violation in strict mode."""
    kernel = tile_kernel(kernel) if isinstance(kernel, str) else kernel
    inputs = random_inputs(kernel) if inputs is None else inputs
    expected = run_tile_kernel(kernel, inputs)
    instructions = lowered(kernel, soc)
    check_flags(instructions)
    result = simulate(instructions, kernel, inputs, soc, strict=strict)
    for got, want in zip(result.outputs, expected, strict=True):
        assert_close(got, want)
    return result


def assert_close(got: Array, want: Array) -> None:
    """Compare with the tolerance of float16, or of float32; integers are equal."""
    if want.dtype.kind in "iu":
        assert np.array_equal(got.reshape(want.shape), want)
        return
    relative = 1e-3 if want.dtype == np.float16 else 1e-5
    got64, want64 = got.reshape(want.shape).astype(np.float64), want.astype(np.float64)
    error = np.abs(got64 - want64) - relative * np.abs(want64)
    limit = relative * np.max(np.abs(want64), initial=0)
    assert error.max(initial=0) <= limit, f"error {error.max(initial=0)} above {limit}"


# A second look at flags, by running only the scalar code.


def check_flags(kernel: cube.CubeKernelOp) -> None:
    """Check that no flag can be raised a second time before it was taken.

    The pipes run at their own speed, so that the order of the text does not settle this: the pipe that raises a flag
    again must know, by other flags, that the one before was taken.
    """
    for core in range(kernel.block_count):
        clocks = {pipe: dict.fromkeys(Pipe, 0) for pipe in Pipe}
        passed = dict.fromkeys(Pipe, 0)
        raised: dict[tuple[Pipe, Pipe, int], dict[Pipe, int]] = {}
        taken: dict[tuple[Pipe, Pipe, int], int] = {}
        for op, event in _Scalars(core).run(kernel.body.block, {}):
            if isinstance(op, PipeBarrier):
                if op.holds_all:
                    known = {pipe: max(passed[pipe], *(clock[pipe] for clock in clocks.values())) for pipe in Pipe}
                    clocks = {pipe: dict(known) for pipe in Pipe}
                continue
            if not isinstance(op, FlagInstruction):
                continue
            key = (op.src, op.dst, event)
            passed[op.pipe] += 1
            clocks[op.pipe][Pipe.S] = passed[Pipe.S]  # the scalar unit has passed what stands before
            if isinstance(op, SetFlag):
                clock = clocks[op.src]
                assert key not in raised, f"{key} is raised twice"
                assert taken.get(key, 0) <= clock[op.dst], f"{key} is raised again before it is surely taken"
                raised[key] = {**clock, op.src: passed[op.src]}
            else:
                assert isinstance(op, WaitFlag) and key in raised, f"{key} is not raised"
                clock, taken[key] = clocks[op.dst], passed[op.dst]
                clock |= {pipe: max(clock[pipe], told) for pipe, told in raised.pop(key).items()}
            if op.pipe is Pipe.S:
                for clock in clocks.values():
                    clock |= {pipe: max(clock[pipe], told) for pipe, told in clocks[Pipe.S].items()}
        assert not raised, f"{list(raised)} stay raised"


@dataclass
class _Scalars:
    """Runs the scalar code of a kernel on one core."""

    core: int
    functions: Mapping[str, Any] = field(default_factory=lambda: dict(SCALAR_FUNCTIONS))

    def run(self, block: Block, values: dict[SSAValue, Any]) -> Iterator[tuple[Instruction, int]]:
        """The instructions in the order in which they are issued, with the event of a flag."""
        for op in block.ops:
            match op:
                case scf.ForOp():
                    for turn in range(*(values[bound] for bound in (op.lb, op.ub, op.step))):
                        values[op.body.block.args[0]] = turn
                        yield from self.run(op.body.block, values)
                case scf.IfOp():
                    branch = op.true_region if values[op.cond] else op.false_region
                    for inner in branch.blocks:
                        yield from self.run(inner, values)
                case Instruction():
                    event = op.field("event") if isinstance(op, FlagInstruction) else 0
                    for result in op.results:
                        values[result] = 1.0
                    yield op, values[event] if isinstance(event, SSAValue) else cast(int, event)
                case _:
                    self._scalar(op, values)

    def _scalar(self, op: Operation, values: dict[SSAValue, Any]) -> None:
        operands = [values.get(operand) for operand in op.operands]
        match op:
            case arith.ConstantOp():
                values[op.result] = constant_value(op.result)
            case arith.CmpiOp():
                text = f"{operands[0]} {COMPARISONS[op.predicate.value.data]} {operands[1]}"
                values[op.result] = eval(text)
            case cube.BlockIdxOp():
                values[op.result] = self.core
            case _ if type(op) in SCALAR_BY_CLASS:
                text = SCALAR_BY_CLASS[type(op)].python.format(*operands)
                values[op.results[0]] = eval(text, {**self.functions, "math": math})
            case _:
                pass


def count_instructions(kernel: cube.CubeKernelOp) -> dict[str, int]:
    """How often each instruction stands in the text of a kernel, by its short name."""
    counts: dict[str, int] = defaultdict(int)
    for op in kernel.walk():
        if isinstance(op, Instruction):
            counts[op.name.removeprefix("cube.")] += 1
    return dict(counts)
