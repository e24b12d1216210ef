"""Whether the kernel of a fusion gives, bit for bit, what kernels of its operations give, on hostile numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cube_kernels
import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import ConstantOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.constants import constant, stored_type
from ge.dialects.graph.fusing import Around, outside_operands
from ge.dialects.graph.fusion_limits import fusion_obstacle
from ge.dialects.tile.meaning import run_kernel
from ge.dialects.tile.structure import KernelOp
from ge.ir.attributes import layout_of
from ge.ir.constants import Array, array_of, numpy_dtype
from ge.lowering.graph_to_tile.convert_graph_to_tile import LOWERINGS
from ge.lowering.graph_to_tile.outline import Outlined, Target
from ge.maths.layouts import ND_FORMATS, pack
from ge.passes.graph.fusion_groups import make_fusion
from ge.targets.ascend.soc import Soc

HOSTILE = np.array([0.0, -0.0, 65504, -65504, np.inf, -np.inf, np.nan, 6e-8, 1, -2047.5])
"""Zeros, the largest numbers, infinities, NaN, a denormal."""


def number(value: float) -> SSAValue:
    return constant(np.array(value, np.float16)).y


def hostile(operand: SSAValue, random: np.random.Generator) -> Array:
    """An operand in storage order: rows of all scales, single hostile numbers, rows of only one of them.

    Pad lanes are finite, as everywhere.
    """
    shape, type = shape_of(operand), tensor(operand)
    array = random.standard_normal(shape) * random.choice([0.1, 3, 100, 30000], (*shape[:-1], 1))
    array = np.where(random.random(shape) < 0.03, random.choice(HOSTILE, shape), array)
    whole_rows = random.random((*shape[:-1], 1)) < 0.2
    array = np.where(whole_rows, random.choice(HOSTILE, (*shape[:-1], 1)), array)
    array = np.clip(array, -65504, 65504) if random.random() < 0.5 else array
    with np.errstate(over="ignore"):
        array = array.astype(numpy_dtype(type.element_type))
    format = layout_of(type)
    stored = pack(array, format)
    if format in ND_FORMATS:
        return stored
    is_pad = pack(np.ones(shape, bool), format) == 0
    rubbish = random.choice([9.0, -3.5, 0.0, 65504, -65504], stored.shape)
    return np.where(is_pad, rubbish, stored).astype(stored.dtype)


def stored(operand: SSAValue, known: dict[SSAValue, Array]) -> Array:
    owner = operand.owner
    return array_of(owner.value, stored_type(tensor(operand))) if isinstance(owner, ConstantOp) else known[operand]


OperandOf = Callable[[SSAValue, np.random.Generator], Array]
"""Numbers for an operand, in storage order."""

Run = Callable[[KernelOp, Sequence[Array]], Array]


def as_tiles(kernel: KernelOp, arrays: Sequence[Array]) -> Array:
    (result,) = run_kernel(kernel, arrays, spoil=True)
    return result


def simulated(soc: Soc) -> Run:
    def run(kernel: KernelOp, arrays: Sequence[Array]) -> Array:
        (result,) = cube_kernels.simulate(cube_kernels.lowered(kernel, soc), kernel, arrays, soc).outputs
        return result

    return run


def results(steps: Sequence[Operation], known: dict[SSAValue, Array], target: Target, run: Run) -> Array:
    """The result of kernels that run one after another."""
    known = dict(known)
    for step in steps:
        outlined = LOWERINGS[type(step)](step, target)
        known[step.results[0]] = run(outlined.kernel, [stored(operand, known) for operand in outlined.inputs])
    return known[steps[-1].results[0]]


def bits(array: Array) -> Array:
    """The bits of numbers; all NaN are one."""
    return np.where(np.isnan(array), np.nan, array).reshape(-1).view(f"u{array.dtype.itemsize}")


def cycles(op: Operation) -> int:
    """What the kernel of an operation takes on the simulator."""
    kernel, arrays = cube_kernels.kernel_of(op, cube_kernels.LARGE)
    return cube_kernels.simulate(cube_kernels.lowered(kernel), kernel, arrays, strict=False).cycles


def cycles_apart_and_joined(steps: Sequence[Operation]) -> tuple[int, int]:
    """What steps take as kernels of their own, and as one; both are shown."""
    Block(list(steps))
    apart = [cycles(step) for step in steps]
    joined = cycles(make_fusion(Around.of(steps).steps))
    print(f"{' + '.join(step.name for step in steps)}: {' + '.join(map(str, apart))} -> {joined}")
    return sum(apart), joined


def check_bits(
    steps: list[Operation], target: Target, run: Run, seed: int = 0, operand_of: OperandOf = hostile
) -> Outlined:
    """A fusion and its operations alone give the same bits, pad lanes included."""
    Block(list(steps))
    assert fusion_obstacle(steps, target.ub) is None
    random = np.random.default_rng(seed)
    known = {operand: operand_of(operand, random) for operand in outside_operands(steps)}
    want = results(steps, known, target, run)
    fusion = make_fusion(Around.of(steps).steps)
    outlined = LOWERINGS[type(fusion)](fusion, target)
    got = run(outlined.kernel, [stored(operand, known) for operand in outlined.inputs])
    np.testing.assert_array_equal(bits(got), bits(want))
    return outlined
