"""The cube unit and its accumulator L0C, float32 or int32 in the order Nz: (N/16, M/16, 16 rows m, 16 columns n)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdsl.irdl import irdl_op_definition

from ge.dialects.cube.fields import READ, UPDATE, WRITE, Address, Enum, Flag, Integer
from ge.dialects.cube.instruction import Access, Costs, Instruction, reads, writes
from ge.dialects.cube.spaces import BLOCK, FRACTAL_F16, FRACTAL_F32, LANES, Pipe, Space

if TYPE_CHECKING:
    from ge.dialects.cube.memory import Memory

PIPELINED_FRACTALS = 10
"""Result fractals from which back-to-back `mmad` onto one accumulator needs no barrier: each has landed before the next
one returns to it (Ascend C manual, Mmad: a barrier is needed where ceil(m/16)·ceil(n/16) < 10)."""


_PRODUCT = (
    Address("dst", (Space.L0C,), UPDATE, align=FRACTAL_F32),
    Address("a", (Space.L0A,), READ, align=FRACTAL_F16),
    Address("b", (Space.L0B,), READ, align=FRACTAL_F16),
    Integer("m", 2, 4095),
    Integer("k", 1, 4095),
    Integer("n", 1, 4095),
    Flag("init", initial=False),
)


def _blocks(extent: int) -> int:
    return -(-extent // LANES)


def _fractal_rows(field: str, start: int, groups: int, extent: int, inner: int) -> tuple[Access, ...]:
    """What is read of (groups, extent/16, inner) fractals of 512 bytes, when only `extent` rows of 32 bytes count."""
    whole, rest = divmod(extent, LANES)
    group = _blocks(extent) * inner * FRACTAL_F16
    found = [reads(field, start, whole * inner * FRACTAL_F16, groups, group)] if whole else []
    if rest:
        tail = start + whole * inner * FRACTAL_F16
        found += [reads(field, tail + g * group, rest * BLOCK, inner, FRACTAL_F16) for g in range(groups)]
    return tuple(found)


class MatrixProduct(Instruction):
    """A product of a matrix in L0A and one in L0B that adds to a matrix in L0C, or sets it."""

    PIPE: ClassVar = Pipe.M
    K0: ClassVar[int]
    """Lanes k of a fractal."""

    @classmethod
    def footprint(cls, dst: int, a: int, b: int, m: int, k: int, n: int, init: int, *_: str) -> tuple[Access, ...]:
        fractals = -(-k // cls.K0)
        stride = _blocks(m) * FRACTAL_F32
        whole, rest = divmod(n, LANES)
        runs = [(dst, m * 2 * BLOCK, whole, stride)] if whole else []
        if rest:
            runs.append((dst + whole * stride, rest * 4, m, 2 * BLOCK))
        result = [writes("dst", *run) for run in runs]
        if not init:
            result += [reads("dst", *run) for run in runs]
        return (
            *_fractal_rows("a", a, 1, m, fractals),
            *_fractal_rows("b", b, fractals, n, 1),
            *result,
        )

    @classmethod
    def cycles(cls, costs: Costs, dst: int, a: int, b: int, m: int, k: int, n: int, init: int, *_: str) -> float:
        return _blocks(m) * -(-k // cls.K0) * _blocks(n)

    def pipelined_after(self, earlier: Instruction) -> bool:
        """Accumulation onto the result of an earlier `mmad` of the same shape, if that is large enough."""
        if type(earlier) is not type(self) or earlier.address("dst") != self.address("dst"):
            return False
        m, n = self.field("m"), self.field("n")
        if not isinstance(m, int) or not isinstance(n, int) or (m, n) != (earlier.field("m"), earlier.field("n")):
            return False
        return _blocks(m) * _blocks(n) >= PIPELINED_FRACTALS


@irdl_op_definition
class Mmad(MatrixProduct):
    """L0C[m, n] = (init ? 0 : L0C[m, n]) + sum over k of L0A[m, k] · L0B[k, n].

    float16 products are exact and accumulate in float32. Rows, columns and sums end at m, n and k; what else the
    fractals hold is ignored and, in L0C, kept. (m = 1 would select the vector form, which reads L0A differently; it is
    not modelled.)
    """

    name = "cube.mmad"
    K0: ClassVar = LANES
    FIELDS: ClassVar = _PRODUCT

    @staticmethod
    def execute(memory: Memory, dst: int, a: int, b: int, m: int, k: int, n: int, init: int) -> None:
        product = memory.multiply(memory.l0("l0a").matrix(a, m, k), memory.l0("l0b").matrix(b, k, n))
        memory.accumulate(dst, product, bool(init))


@irdl_op_definition
class MmadB8(MatrixProduct):
    """`mmad` of numbers of 8 bits, signed or not (`left`: the type of those in L0A) times signed ones, in int32.

    Products and sums are exact; a sum beyond int32 wraps around.
    """

    name = "cube.mmad_b8"
    K0: ClassVar = BLOCK
    FIELDS: ClassVar = (*_PRODUCT, Enum("left", ("s8", "u8")))

    @staticmethod
    def execute(memory: Memory, dst: int, a: int, b: int, m: int, k: int, n: int, init: int, left: str) -> None:
        rows = memory.l0("l0a", "b8").matrix(a, m, k).view("int8" if left == "s8" else "uint8")
        columns = memory.l0("l0b", "b8").matrix(b, k, n).view("int8")
        memory.accumulate(dst, memory.multiply_integers(rows, columns), bool(init))


@irdl_op_definition
class BroadcastUbToL0c(Instruction):
    """Sets n1 x m1 fractals of L0C (order Nz) so that every row holds the bias: float32 or int32 [n1, 16] in the UB."""

    name = "cube.broadcast_ub_to_l0c"
    PIPE: ClassVar = Pipe.V
    MOVES: ClassVar = True
    FIELDS: ClassVar = (
        Address("dst", (Space.L0C,), WRITE, align=FRACTAL_F32),
        Address("src", (Space.UB,), READ),
        Integer("n1", 1, 255),
        Integer("m1", 1, 255),
    )

    @staticmethod
    def footprint(dst: int, src: int, n1: int, m1: int) -> tuple[Access, ...]:
        return reads("src", src, n1 * LANES * 4), writes("dst", dst, n1 * m1 * FRACTAL_F32)

    @staticmethod
    def execute(memory: Memory, dst: int, src: int, n1: int, m1: int) -> None:
        bias = memory.view("ub", "f32", src, (n1, 1, LANES), (LANES * 4, 0, 4))
        shape, strides = (n1, m1 * LANES, LANES), (m1 * FRACTAL_F32, LANES * 4, 4)
        memory.view("l0c", "f32", dst, shape, strides)[...] = bias

    @staticmethod
    def cycles(costs: Costs, dst: int, src: int, n1: int, m1: int) -> float:
        return n1 * m1 * FRACTAL_F32 / costs.rate("ub->l0c")


@irdl_op_definition
class CopyL0cToUb(Instruction):
    """Copies runs of fractals from L0C to the UB, as they are (`none`), or converted to float16, or that after relu.

    `length` and `src_gap` count fractals, `dst_gap` counts blocks. A fractal takes 1024 bytes in the UB as float32 and
    512 as float16.
    """

    name = "cube.copy_l0c_to_ub"
    PIPE: ClassVar = Pipe.V
    MOVES: ClassVar = True
    FIELDS: ClassVar = (
        Address("dst", (Space.UB,), WRITE),
        Address("src", (Space.L0C,), READ, align=FRACTAL_F32),
        Integer("bursts", 1, 4095, initial=1),
        Integer("length", 1, 65535),
        Integer("src_gap", 0, 65535, initial=0),
        Integer("dst_gap", 0, 65535, initial=0),
        Enum("mode", ("none", "f16", "f16_relu"), initial="none"),
    )

    @staticmethod
    def footprint(
        dst: int, src: int, bursts: int, length: int, src_gap: int, dst_gap: int, mode: str
    ) -> tuple[Access, ...]:
        run = length * (FRACTAL_F32 if mode == "none" else FRACTAL_F16)
        return (
            reads("src", src, length * FRACTAL_F32, bursts, (length + src_gap) * FRACTAL_F32),
            writes("dst", dst, run, bursts, run + dst_gap * BLOCK),
        )

    @staticmethod
    def execute(
        memory: Memory, dst: int, src: int, bursts: int, length: int, src_gap: int, dst_gap: int, mode: str
    ) -> None:
        elements = length * LANES * LANES
        source = memory.view("l0c", "f32", src, (bursts, elements), ((length + src_gap) * FRACTAL_F32, 4))
        dtype, size = ("f32", 4) if mode == "none" else ("f16", 2)
        target = memory.view("ub", dtype, dst, (bursts, elements), (elements * size + dst_gap * BLOCK, size))
        if dtype == "f32":
            target[...] = source
        else:
            memory.put_half(target, source.clip(min=0.0) if mode == "f16_relu" else source)

    @staticmethod
    def cycles(costs: Costs, dst: int, src: int, bursts: int, length: int, *_: int | str) -> float:
        return bursts * length * FRACTAL_F32 / costs.rate("l0c->ub")


MATRIX = (Mmad, BroadcastUbToL0c, CopyL0cToUb, MmadB8)
