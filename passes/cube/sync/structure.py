"""Where the instructions of a kernel stand: the blocks around each, and the position in each of them.

A *level* is one block on the way from the kernel to an instruction, with the number of the operation in it that is, or
contains, the instruction. Two instructions meet in the last block that is on the way to both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation

from ge.dialects.cube.instruction import Instruction
from ge.dialects.cube.instructions.sync import SYNC
from ge.dialects.cube.kernel import CubeKernelOp


@dataclass(frozen=True)
class Level:
    """A block, and the number of an operation in it."""

    block: Block
    number: int

    @property
    def is_loop_body(self) -> bool:
        """Whether the block is the body of a loop."""
        return isinstance(self.block.parent_op(), scf.ForOp)

    @property
    def is_branch(self) -> bool:
        """Whether the block runs only under a condition."""
        return isinstance(self.block.parent_op(), scf.IfOp)


@dataclass(frozen=True)
class Site:
    """An instruction and its levels, from the body of the kernel inwards."""

    op: Instruction
    levels: tuple[Level, ...]
    order: int
    """The number of the instruction in the order of the text."""

    def common_depth(self, other: Site) -> int:
        """The number of blocks that are around both."""
        depth = 0
        for mine, others in zip(self.levels, other.levels, strict=False):
            if mine.block is not others.block:
                break
            depth += 1
            if mine.number != others.number:
                break
        return depth

    def branch_below(self, depth: int) -> Block | None:
        """The outermost block under a condition inside the first `depth` blocks, if there is one."""
        return next((level.block for level in self.levels[depth:] if level.is_branch), None)


def sites(kernel: CubeKernelOp) -> list[Site]:
    """Every instruction of a kernel that is no synchronisation, in the order of the text."""
    found: list[Site] = []
    for op, levels in _walk(kernel.body.block, ()):
        if isinstance(op, Instruction) and not isinstance(op, SYNC):
            found.append(Site(op, levels, len(found)))
    return found


def _walk(block: Block, around: tuple[Level, ...]) -> Iterator[tuple[Operation, tuple[Level, ...]]]:
    for number, op in enumerate(block.ops):
        levels = (*around, Level(block, number))
        yield op, levels
        for region in op.regions:
            for inner in region.blocks:
                yield from _walk(inner, levels)
