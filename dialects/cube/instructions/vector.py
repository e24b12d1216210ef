"""The vector unit: elementwise arithmetic, reductions and transposition in the UB.

Operands are runs of `count` elements (the counter mode of the hardware). They are walked in *repeats* of 8 blocks of 32
bytes: the blocks of one repeat are `*_blk` blocks apart and the repeats `*_rep` blocks. The defaults, 1 and 8, are a
contiguous run; a source whose `_blk` or `_rep` is 0 reads the same block or repeat again. The last repeat may be
partial.

float16 operations compute in float32 and round once, saturating (`ge.maths.floats.to_float16`). A scalar operand is
first rounded to the element type, as the hardware's scalar register holds it.

One row of a table makes one instruction: its NumPy function, and the kind of its speed in the SoC file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import READ, WRITE, Address, Enum, Float, Integer
from ge.dialects.cube.instruction import Access, Costs, Instruction, reads, writes
from ge.dialects.cube.spaces import BLOCK, LANES, Pipe, Space

if TYPE_CHECKING:
    from ge.dialects.cube.memory import Memory

BYTES = {"f16": 2, "f32": 4, "s8": 1, "u8": 1, "s32": 4}
"""Bytes of one element."""

REPEAT = 256
"""Bytes of one repeat: what the vector unit takes in one cycle."""

_DTYPE = Enum("dtype", ("f16", "f32"))
_COUNT = Integer("count", 1, 131072)
_DST = Address("dst", (Space.UB,), WRITE)


def _source(name: str) -> Address:
    return Address(name, (Space.UB,), READ)


def _strides(*operands: str, rep: int = 8) -> tuple[Integer, ...]:
    """Block and repeat strides for each operand; a destination may not stay on one block."""
    blocks = [Integer(f"{name}_blk", 1 if name == "dst" else 0, 65535, initial=1) for name in operands]
    return (*blocks, *(Integer(f"{name}_rep", 0, 65535, initial=rep) for name in operands))


def run_accesses(
    access: Callable[..., Access], field: str, start: int, count: int, dtype: str, blk: int, rep: int, repeat: int
) -> list[Access]:
    """The bytes of a strided run of `count` elements, `repeat` of them to a repeat. `access` is `reads` or `writes`."""
    size = BYTES[dtype]
    lanes = BLOCK // size
    if blk == 1 and rep * lanes == repeat:
        return [access(field, start, count * size)]
    repeats, rest = divmod(count, repeat)
    if blk == 1:
        whole = [access(field, start, repeat * size, repeats, rep * BLOCK)] if repeats else []
        return whole + ([access(field, start + repeats * rep * BLOCK, rest * size)] if rest else [])
    stripes = range(repeat // lanes if repeats else 0)
    found = [access(field, start + b * blk * BLOCK, BLOCK, repeats, rep * BLOCK) for b in stripes]
    blocks, last = divmod(rest, lanes)
    tail = start + repeats * rep * BLOCK
    found += [access(field, tail + b * blk * BLOCK, BLOCK) for b in range(blocks)]
    return found + ([access(field, tail + blocks * blk * BLOCK, last * size)] if last else [])


class Vector(Instruction):
    """An instruction of the vector unit."""

    PIPE: ClassVar = Pipe.V
    SPEED: ClassVar[str]
    """Which rate of the SoC file it runs at."""


class Elementwise(Vector):
    """dst[i] = function(sources[i]..., scalar if there is one)."""

    FUNCTION: ClassVar[str]
    """The NumPy function that it computes on float32."""
    SOURCES: ClassVar[tuple[str, ...]]
    """The names of the source operands."""

    @classmethod
    def _named(cls, values: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip((field.name for field in cls.FIELDS), values, strict=True))

    @classmethod
    def footprint(cls, *values: Any) -> tuple[Access, ...]:
        of = cls._named(values)
        count, dtype = of["count"], of["dtype"]
        runs = [(name, of[name], count, dtype, of[f"{name}_blk"], of[f"{name}_rep"]) for name in (*cls.SOURCES, "dst")]
        repeat = REPEAT // BYTES[dtype]
        found = [run_accesses(writes if run[0] == "dst" else reads, *run, repeat) for run in runs]
        return tuple(access for accesses in found for access in accesses)

    @classmethod
    def execute(cls, memory: Memory, *values: Any) -> None:
        of = cls._named(values)
        count, dtype = of["count"], of["dtype"]
        runs = [(of[name], dtype, of[f"{name}_blk"], of[f"{name}_rep"]) for name in ("dst", *cls.SOURCES)]
        function = memory.function(cls.FUNCTION)
        scalars = [memory.scalar(of["scalar"], dtype)] if "scalar" in of else []
        for target, *sources in memory.vectors(count, REPEAT // BYTES[dtype], *runs):
            memory.put(target, function(*map(memory.single, sources), *scalars))

    @classmethod
    def cycles(cls, costs: Costs, *values: Any) -> float:
        of = cls._named(values)
        return vector_cycles(costs, cls.SPEED, of["dtype"], of["count"])


class VectorBinary(Elementwise):
    """dst[i] = function(src0[i], src1[i])."""

    SOURCES: ClassVar = ("src0", "src1")
    FIELDS: ClassVar = (_DST, _source("src0"), _source("src1"), _DTYPE, _COUNT, *_strides("dst", "src0", "src1"))


class VectorScalar(Elementwise):
    """dst[i] = function(src[i], scalar)."""

    SOURCES: ClassVar = ("src",)
    FIELDS: ClassVar = (_DST, _source("src"), Float("scalar"), _DTYPE, _COUNT, *_strides("dst", "src"))


class VectorUnary(Elementwise):
    """dst[i] = function(src[i])."""

    SOURCES: ClassVar = ("src",)
    FIELDS: ClassVar = (_DST, _source("src"), _DTYPE, _COUNT, *_strides("dst", "src"))


class VectorReduce(Vector):
    """dst[r · dst_rep] = function over the elements of repeat r (a partial last repeat: over those it has).

    `dst_rep` counts elements. float16 is summed in float32 and rounded once.
    """

    FUNCTION: ClassVar[str]
    """The NumPy function that it reduces with."""

    FIELDS: ClassVar = (
        Address("dst", (Space.UB,), WRITE, align=2),
        _source("src"),
        _DTYPE,
        _COUNT,
        Integer("src_blk", 0, 65535, initial=1),
        Integer("src_rep", 0, 65535, initial=8),
        Integer("dst_rep", 1, 65535, initial=1),
    )

    @staticmethod
    def footprint(
        dst: int, src: int, dtype: str, count: int, src_blk: int, src_rep: int, dst_rep: int
    ) -> tuple[Access, ...]:
        size = BYTES[dtype]
        repeat = REPEAT // size
        return (
            *run_accesses(reads, "src", src, count, dtype, src_blk, src_rep, repeat),
            writes("dst", dst, size, -(-count // repeat), dst_rep * size),
        )

    @classmethod
    def execute(
        cls, memory: Memory, dst: int, src: int, dtype: str, count: int, src_blk: int, src_rep: int, dst_rep: int
    ) -> None:
        size = BYTES[dtype]
        repeat = REPEAT // size
        elements = memory.gather(count, repeat, (src, dtype, src_blk, src_rep))
        reduced = memory.reduce(cls.FUNCTION, elements, repeat)
        memory.put(memory.view("ub", dtype, dst, (len(reduced),), (dst_rep * size,)), reduced)

    @classmethod
    def cycles(cls, costs: Costs, dst: int, src: int, dtype: str, count: int, *_: int) -> float:
        return vector_cycles(costs, cls.SPEED, dtype, count)


def vector_cycles(costs: Costs, speed: str, dtype: str, count: int) -> float:
    """Cycles for `count` elements, rounded up to whole repeats."""
    repeat = REPEAT // BYTES[dtype]
    return -(-count // repeat) * repeat / costs.lanes(speed, dtype)


def _row(base: type[Vector], name: str, function: str, speed: str, meaning: str) -> type[Vector]:
    """One row of the table as a class."""
    members = {
        "__doc__": meaning,
        "__module__": __name__,
        "__annotations__": {"FUNCTION": ClassVar[str], "SPEED": ClassVar[str]},
        "name": f"cube.{name}",
        "FUNCTION": function,
        "SPEED": speed,
    }
    return irdl_op_definition(cast(type[Vector], type(name.capitalize(), (base,), members)))


Vadd = _row(VectorBinary, "vadd", "add", "simple", "dst = src0 + src1.")
Vsub = _row(VectorBinary, "vsub", "subtract", "simple", "dst = src0 - src1.")
Vmul = _row(VectorBinary, "vmul", "multiply", "simple", "dst = src0 * src1.")
Vdiv = _row(VectorBinary, "vdiv", "divide", "slow", "dst = src0 / src1.")
Vmax = _row(VectorBinary, "vmax", "maximum", "simple", "dst = the larger of src0 and src1; NaN if one is.")
Vmin = _row(VectorBinary, "vmin", "minimum", "simple", "dst = the smaller of src0 and src1; NaN if one is.")

Vadds = _row(VectorScalar, "vadds", "add", "simple", "dst = src + scalar.")
Vmuls = _row(VectorScalar, "vmuls", "multiply", "simple", "dst = src * scalar.")
Vmaxs = _row(VectorScalar, "vmaxs", "maximum", "simple", "dst = the larger of src and scalar.")
Vmins = _row(VectorScalar, "vmins", "minimum", "simple", "dst = the smaller of src and scalar.")

Vexp = _row(VectorUnary, "vexp", "exp", "slow", "dst = e to the power src.")
Vln = _row(VectorUnary, "vln", "log", "slow", "dst = natural logarithm of src.")
Vabs = _row(VectorUnary, "vabs", "absolute", "simple", "dst = magnitude of src.")
Vrelu = _row(VectorUnary, "vrelu", "relu", "simple", "dst = the larger of src and 0.")
Vrec = _row(VectorUnary, "vrec", "reciprocal", "simple", "dst = 1 / src.")
Vsqrt = _row(VectorUnary, "vsqrt", "sqrt", "slow", "dst = square root of src.")
Vrsqrt = _row(VectorUnary, "vrsqrt", "rsqrt", "simple", "dst = 1 / square root of src.")

Vcadd = _row(VectorReduce, "vcadd", "add", "reduce", "The sum of each repeat.")
Vcmax = _row(VectorReduce, "vcmax", "maximum", "reduce", "The largest element of each repeat.")
Vcmin = _row(VectorReduce, "vcmin", "minimum", "reduce", "The smallest element of each repeat.")


@irdl_op_definition
class Vconv(Vector):
    """dst[i] = src[i] in the other type, rounded to nearest even, saturating.

    A repeat is 8 blocks of the wider type, and as many elements of the other: 64 of four bytes, 128 of two.
    """

    name = "cube.vconv"
    SPEED: ClassVar = "simple"
    FIELDS: ClassVar = (
        _DST,
        _source("src"),
        Enum(
            "kind",
            (
                *("f32_f16", "f16_f32", "s32_f32", "f32_s32", "s32_f16"),
                *("f16_s8", "f16_u8", "s8_f16", "u8_f16"),
            ),
        ),
        _COUNT,
        Integer("dst_blk", 1, 65535, initial=1),
        Integer("src_blk", 0, 65535, initial=1),
        Integer("dst_rep", 0, 65535),
        Integer("src_rep", 0, 65535),
    )

    @staticmethod
    def repeat_elements(kind: str) -> int:
        """Elements of one repeat."""
        return REPEAT // max(BYTES[dtype] for dtype in kind.split("_"))

    @classmethod
    def footprint(
        cls, dst: int, src: int, kind: str, count: int, dst_blk: int, src_blk: int, dst_rep: int, src_rep: int
    ) -> tuple[Access, ...]:
        source, target = kind.split("_")
        repeat = cls.repeat_elements(kind)
        return (
            *run_accesses(reads, "src", src, count, source, src_blk, src_rep, repeat),
            *run_accesses(writes, "dst", dst, count, target, dst_blk, dst_rep, repeat),
        )

    @classmethod
    def execute(
        cls,
        memory: Memory,
        dst: int,
        src: int,
        kind: str,
        count: int,
        dst_blk: int,
        src_blk: int,
        dst_rep: int,
        src_rep: int,
    ) -> None:
        from_type, to_type = kind.split("_")
        runs = (dst, to_type, dst_blk, dst_rep), (src, from_type, src_blk, src_rep)
        for target, source in memory.vectors(count, cls.repeat_elements(kind), *runs):
            memory.put(target, source)

    @classmethod
    def cycles(cls, costs: Costs, dst: int, src: int, kind: str, count: int, *_: int) -> float:
        return vector_cycles(costs, cls.SPEED, "f32" if cls.repeat_elements(kind) == REPEAT // 4 else "f16", count)


@irdl_op_definition
class VectorDup(Elementwise):
    """dst[i] = scalar."""

    name = "cube.vector_dup"
    FUNCTION: ClassVar = "positive"
    SPEED: ClassVar = "simple"
    SOURCES: ClassVar = ()
    FIELDS: ClassVar = (_DST, Float("scalar"), _DTYPE, _COUNT, *_strides("dst"))


@irdl_op_definition
class VectorDupMasked(Vector):
    """dst[i] = scalar where bit i of the mask (mask_high · 2^64 + mask_low) is set, within one repeat."""

    name = "cube.vector_dup_masked"
    SPEED: ClassVar = "simple"
    FIELDS: ClassVar = (
        _DST,
        Float("scalar"),
        _DTYPE,
        Integer("mask_low", 0, (1 << 64) - 1),
        Integer("mask_high", 0, (1 << 64) - 1, initial=0),
    )

    @staticmethod
    def lanes(mask_low: int, mask_high: int) -> list[int]:
        """The elements that are written."""
        mask = mask_high << 64 | mask_low
        return [lane for lane in range(128) if mask >> lane & 1]

    @classmethod
    def footprint(cls, dst: int, scalar: float, dtype: str, mask_low: int, mask_high: int) -> tuple[Access, ...]:
        size = BYTES[dtype]
        return tuple(writes("dst", dst + lane * size, size) for lane in cls.lanes(mask_low, mask_high))

    @classmethod
    def execute(cls, memory: Memory, dst: int, scalar: float, dtype: str, mask_low: int, mask_high: int) -> None:
        size = BYTES[dtype]
        repeat = memory.view("ub", dtype, dst, (REPEAT // size,), (size,))
        repeat[cls.lanes(mask_low, mask_high)] = memory.scalar(scalar, dtype)

    @classmethod
    def cycles(cls, costs: Costs, dst: int, scalar: float, dtype: str, *_: int) -> float:
        return vector_cycles(costs, cls.SPEED, dtype, 1)

    def check(self) -> None:
        if self.field("dtype") == "f32" and self.field("mask_high") != 0:
            raise VerifyException("a repeat of f32 has 64 lanes: mask_high must be 0")


@irdl_op_definition
class Vnchwconv(Vector):
    """Transposes `repeat` squares of 16x16 float16: element j of source row i becomes element i of destination row j.

    The 16 rows of a square are `src_row`, `dst_row` bytes apart, the squares `src_rep`, `dst_rep` blocks.
    """

    name = "cube.vnchwconv"
    MOVES: ClassVar = True
    SPEED: ClassVar = "transpose"
    FIELDS: ClassVar = (
        _DST,
        _source("src"),
        Integer("repeat", 1, 255, initial=1),
        Integer("src_row", 0, 1 << 20, initial=BLOCK, multiple=BLOCK),
        Integer("dst_row", BLOCK, 1 << 20, initial=BLOCK, multiple=BLOCK),
        Integer("src_rep", 0, 65535, initial=LANES),
        Integer("dst_rep", 0, 65535, initial=LANES),
    )

    @staticmethod
    def footprint(
        dst: int, src: int, repeat: int, src_row: int, dst_row: int, src_rep: int, dst_rep: int
    ) -> tuple[Access, ...]:
        squares = range(repeat)
        return (
            *(reads("src", src + r * src_rep * BLOCK, BLOCK, LANES, src_row) for r in squares),
            *(writes("dst", dst + r * dst_rep * BLOCK, BLOCK, LANES, dst_row) for r in squares),
        )

    @staticmethod
    def execute(
        memory: Memory, dst: int, src: int, repeat: int, src_row: int, dst_row: int, src_rep: int, dst_rep: int
    ) -> None:
        shape = (repeat, LANES, LANES)
        source = memory.view("ub", "f16", src, shape, (src_rep * BLOCK, src_row, 2))
        memory.view("ub", "f16", dst, shape, (dst_rep * BLOCK, dst_row, 2))[...] = source.transpose(0, 2, 1)

    @classmethod
    def cycles(cls, costs: Costs, dst: int, src: int, repeat: int, *_: int) -> float:
        return repeat * LANES * LANES / costs.lanes(cls.SPEED, "f16")


VECTOR: tuple[type[Vector], ...] = (
    *(Vadd, Vsub, Vmul, Vdiv, Vmax, Vmin),
    *(Vadds, Vmuls, Vmaxs, Vmins),
    *(Vexp, Vln, Vabs, Vrelu, Vrec, Vsqrt, Vrsqrt),
    *(Vcadd, Vcmax, Vcmin),
    *(Vconv, VectorDup, VectorDupMasked, Vnchwconv),
)
