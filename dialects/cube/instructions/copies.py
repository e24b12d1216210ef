"""Strided copies between global memory, L1 and the unified buffer (UB), by the memory transfer engines.

A copy moves `bursts` runs of `length` blocks of 32 bytes. Gaps, also in blocks, are from the end of one run to the
start of the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdsl.irdl import irdl_op_definition

from ge.dialects.cube.fields import READ, WRITE, Address, Field, Integer
from ge.dialects.cube.instruction import Access, Costs, Instruction, reads, writes
from ge.dialects.cube.spaces import BLOCK, Pipe, Space

if TYPE_CHECKING:
    from ge.dialects.cube.memory import Memory


def _fields(dst: Space, src: Space) -> tuple[Field, ...]:
    """The fields of a copy; global memory is addressed by the byte, buffers by the block."""
    return (
        Address("dst", (dst,), WRITE, align=1 if dst is Space.GM else BLOCK),
        Address("src", (src,), READ, align=1 if src is Space.GM else BLOCK),
        Integer("bursts", 1, 4095, initial=1),
        Integer("length", 1, 65535),
        Integer("src_gap", 0, 65535, initial=0),
        Integer("dst_gap", 0, 65535, initial=0),
    )


class Copy(Instruction):
    """A copy between two memories; the subclasses say which."""

    MOVES: ClassVar = True
    PATH: ClassVar[tuple[Space, Space]]
    """The memories from and to which it copies."""

    @staticmethod
    def footprint(dst: int, src: int, bursts: int, length: int, src_gap: int, dst_gap: int) -> tuple[Access, ...]:
        return (
            reads("src", src, length * BLOCK, bursts, (length + src_gap) * BLOCK),
            writes("dst", dst, length * BLOCK, bursts, (length + dst_gap) * BLOCK),
        )

    @classmethod
    def execute(cls, memory: Memory, dst: int, src: int, bursts: int, length: int, src_gap: int, dst_gap: int) -> None:
        source, target = cls.PATH
        run = length * BLOCK
        memory.copy((target, dst, run + dst_gap * BLOCK), (source, src, run + src_gap * BLOCK), bursts, run)

    @classmethod
    def cycles(cls, costs: Costs, dst: int, src: int, bursts: int, length: int, src_gap: int, dst_gap: int) -> float:
        source, target = cls.PATH
        if Space.GM not in cls.PATH:
            return bursts * length * BLOCK / costs.rate(f"{source}->{target}")
        gap = src_gap if source is Space.GM else dst_gap
        runs, run = (bursts, length * BLOCK) if gap else (1, bursts * length * BLOCK)
        return runs * -(-run // costs.gm_line) * costs.gm_line / costs.gm_rate


@irdl_op_definition
class CopyGmToL1(Copy):
    """Copies from global memory to L1."""

    name = "cube.copy_gm_to_l1"
    PIPE: ClassVar = Pipe.MTE2
    PATH: ClassVar = (Space.GM, Space.L1)
    FIELDS: ClassVar = _fields(dst=Space.L1, src=Space.GM)


@irdl_op_definition
class CopyGmToUb(Copy):
    """Copies from global memory to the UB."""

    name = "cube.copy_gm_to_ub"
    PIPE: ClassVar = Pipe.MTE2
    PATH: ClassVar = (Space.GM, Space.UB)
    FIELDS: ClassVar = _fields(dst=Space.UB, src=Space.GM)


@irdl_op_definition
class CopyUbToGm(Copy):
    """Copies from the UB to global memory."""

    name = "cube.copy_ub_to_gm"
    PIPE: ClassVar = Pipe.MTE3
    PATH: ClassVar = (Space.UB, Space.GM)
    FIELDS: ClassVar = _fields(dst=Space.GM, src=Space.UB)


@irdl_op_definition
class CopyUbToL1(Copy):
    """Copies from the UB to L1."""

    name = "cube.copy_ub_to_l1"
    PIPE: ClassVar = Pipe.MTE3
    PATH: ClassVar = (Space.UB, Space.L1)
    FIELDS: ClassVar = _fields(dst=Space.L1, src=Space.UB)


@irdl_op_definition
class CopyL1ToUb(Copy):
    """Copies from L1 to the UB."""

    name = "cube.copy_l1_to_ub"
    PIPE: ClassVar = Pipe.MTE1
    PATH: ClassVar = (Space.L1, Space.UB)
    FIELDS: ClassVar = _fields(dst=Space.UB, src=Space.L1)


@irdl_op_definition
class CopyUbToUb(Copy):
    """Copies within the UB, by the vector unit."""

    name = "cube.copy_ub_to_ub"
    PIPE: ClassVar = Pipe.V
    PATH: ClassVar = (Space.UB, Space.UB)
    FIELDS: ClassVar = _fields(dst=Space.UB, src=Space.UB)


COPIES = (CopyGmToL1, CopyGmToUb, CopyUbToGm, CopyUbToL1, CopyL1ToUb, CopyUbToUb)
