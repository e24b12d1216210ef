"""Where a kernel reads and writes its arguments, replayed core by core without data.

This is what `check-memory` judges a kernel by that writes its result over an operand. Kernels may be at the tile level
or at the cube level; only the transfers of the arguments asked for, the loops and conditions around them, and the
arithmetic of their addresses are evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.cube.instruction import Access, Instruction
from ge.dialects.cube.kernel import BlockIdxOp, CubeKernelOp
from ge.dialects.cube.scalars import COMPARISONS, SCALAR_BY_CLASS, SCALAR_FUNCTIONS, constant_value
from ge.dialects.cube.spaces import BLOCK, BufferType
from ge.dialects.tile.structure import ForOp, KernelOp
from ge.dialects.tile.text import Index
from ge.dialects.tile.transfer import LoadOp, StoreOp
from ge.dialects.tile.types import gm_type
from ge.ir.constants import numpy_dtype
from ge.maths.layouts import ceil_div, round_up

Kernel: TypeAlias = KernelOp | CubeKernelOp

NOBODY, SEVERAL = -1, -2
"""In place of the number of a core: no core has touched a block; more than one has."""


def overwritten(kernel: Kernel, source: int, target: int, size: int) -> str | None:
    """What goes wrong when the arguments `source` (read) and `target` (written) lie in the same `size` bytes.

    None when every block of 32 bytes is read by no other core than the one that writes it, and before that. Loads run
    ahead of stores, but a store waits for what its tile was computed from, so the order of the program is enough in one
    core.
    """
    arguments = kernel.body.block.args
    replay = Replay(kernel, {arguments[source], arguments[target]})
    readers = np.full(ceil_div(size, BLOCK) + 1, NOBODY, np.int16)
    writers = readers.copy()
    for core in range(kernel.block_count):
        for argument, access in replay.run(core):
            read, written = _blocks(readers, access), _blocks(writers, access)
            if argument is arguments[target]:
                if ((read != NOBODY) & (read != core)).any():
                    return f"core {core} writes bytes {access.start} to {access.end}, of which another core reads some"
                written[...] = core
            elif (written != NOBODY).any():
                return f"core {core} reads bytes {access.start} to {access.end} after some of them were written"
            else:
                read[...] = np.where((read == NOBODY) | (read == core), core, SEVERAL)
    return None


def _blocks(memory: NDArray[np.int16], access: Access) -> NDArray[np.int16]:
    """The blocks of an access, as bursts x length; all from the first to the last where bursts begin inside of one."""
    if access.start % BLOCK or (access.bursts > 1 and access.stride % BLOCK):
        return memory[access.start // BLOCK : ceil_div(access.end, BLOCK)].reshape(1, -1)
    item = memory.itemsize
    shape = (access.bursts, ceil_div(access.length, BLOCK))
    return np.ndarray(shape, memory.dtype, memory, access.start // BLOCK * item, (access.stride // BLOCK * item, item))


class Replay:
    """Evaluates the accesses of a kernel to some of its arguments; `start` of an access counts from the argument."""

    def __init__(self, kernel: Kernel, arguments: Collection[SSAValue]) -> None:
        self.kernel = kernel
        self.arguments = arguments
        self.needed = _needed(kernel, arguments)
        self.values: dict[SSAValue, Any] = {}

    def run(self, core: int) -> Iterator[tuple[SSAValue, Access]]:
        """The accesses of one core, in the order of the program."""
        self.values = {self.kernel.core: core} if isinstance(self.kernel, KernelOp) else {}
        yield from self._block(self.kernel.body.block, core)

    def _block(self, block: Block, core: int) -> Iterator[tuple[SSAValue, Access]]:
        for op in block.ops:
            if op not in self.needed:
                continue
            match op:
                case scf.ForOp():
                    turns = range(*(self._at(bound) for bound in (op.lb, op.ub, op.step)))
                    yield from self._loop(op.body.block, turns, core)
                case ForOp():
                    turns = range(*(self._at(bound) for bound in (op.lower, op.upper, op.step)))
                    yield from self._loop(op.body.block, turns, core)
                case scf.IfOp():
                    region = op.true_region if self.values[op.cond] else op.false_region
                    for inner in region.blocks:
                        yield from self._block(inner, core)
                case BlockIdxOp():
                    self.values[op.results[0]] = core
                case LoadOp() | StoreOp():
                    memory = op.source if isinstance(op, LoadOp) else op.target
                    yield from ((memory, access) for access in _slice_accesses(op, memory, self._at))
                case Instruction():
                    for access in op.accesses(self._number):
                        if (buffer := op.address(access.field)[0]) in self.arguments:
                            yield buffer, access
                case _:
                    self.values[op.results[0]] = _evaluate(op, self.values)

    def _loop(self, block: Block, turns: range, core: int) -> Iterator[tuple[SSAValue, Access]]:
        for turn in turns:
            self.values[block.args[0]] = turn
            yield from self._block(block, core)

    def _at(self, position: Index) -> int:
        return position if isinstance(position, int) else self.values[position]

    def _number(self, value: SSAValue) -> int:
        """What a value is; addresses count from the start of each buffer."""
        return 0 if isinstance(value.type, BufferType) else self.values[value]


def _needed(kernel: Kernel, arguments: Collection[SSAValue]) -> set[Operation]:
    """The transfers of some arguments, and all that decides where and how often they happen."""
    pending = [use.operation for argument in arguments for use in argument.uses]
    needed: set[Operation] = set()
    while pending:
        op = pending.pop()
        if op in needed or op is kernel:
            continue
        needed.add(op)
        deciding = (value.owner for value in op.operands if isinstance(value.type, IndexType) or value.type == i1)
        pending += [owner for owner in deciding if isinstance(owner, Operation)]
        parent = op.parent_op()
        if parent is not None:
            pending.append(parent)
    return needed


def _evaluate(op: Operation, values: Mapping[SSAValue, Any]) -> int | float:
    """The result of scalar arithmetic."""
    if isinstance(op, arith.ConstantOp):
        number = constant_value(op.result)
        assert number is not None, "constants of kernels are numbers"
        return number
    comparison = COMPARISONS[op.predicate.value.data] if isinstance(op, arith.CmpiOp) else None
    return _meaning(type(op), comparison)(*(values[operand] for operand in op.operands))


@cache
def _meaning(op: type[Operation], comparison: str | None) -> Callable[..., int | float]:
    """A scalar operation as a function of its operands."""
    text = f"int(a {comparison} b)" if comparison else SCALAR_BY_CLASS[op].python.format("a", "b", "c")
    return eval(f"lambda a, b=0, c=0: {text}", dict(SCALAR_FUNCTIONS))


def _slice_accesses(op: LoadOp | StoreOp, memory: SSAValue, at: Callable[[Index], int]) -> Iterator[Access]:
    """The bytes of a slice that lie inside its tensor; a store writes whole blocks of every row."""
    type = gm_type(memory)
    item = numpy_dtype(type.element_type).itemsize
    starts = [max(at(offset), 0) for offset in op.offsets]
    sizes = [
        min(at(offset) + size, bound) - start
        for offset, size, bound, start in zip(op.offsets, op.slice_sizes, type.sizes, starts, strict=True)
    ]
    if min(sizes) <= 0:
        return
    strides = [math.prod(type.sizes[axis + 1 :]) * item for axis in range(type.rank)]
    inner = type.rank - 1
    while inner > 0 and sizes[inner] == type.sizes[inner]:
        inner -= 1  # rows that follow each other without a gap are one
    length = sizes[inner] * strides[inner]
    places = [range(start, start + size) for start, size in zip(starts, sizes, strict=True)]
    for place in product(*places[:inner]):
        start = sum(a * b for a, b in zip((*place, starts[inner]), strides, strict=False))
        if isinstance(op, StoreOp):
            yield Access("target", start, round_up(length, BLOCK), write=True)
        else:
            yield Access("source", start, length)
