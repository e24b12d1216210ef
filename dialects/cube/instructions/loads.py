"""Loads from L1 into L0A and L0B, which hold the operands of the cube unit as 16x16 fractals of float16.

L0A holds the left matrix [M, K] in the order Zz: (M/16, K/16, 16 rows m, 16 lanes k). L0B holds the right matrix [K, N]
in the order Zn: (K/16, N/16, 16 rows n, 16 lanes k).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import READ, WRITE, Address, Flag, Integer
from ge.dialects.cube.instruction import Access, Costs, Instruction, reads, writes
from ge.dialects.cube.spaces import BLOCK, FRACTAL_F16, LANES, Pipe, Space
from ge.dialects.cube.window import Window

if TYPE_CHECKING:
    from ge.dialects.cube.memory import Memory

_DST = Address("dst", (Space.L0A, Space.L0B), WRITE, align=FRACTAL_F16)
_SRC = Address("src", (Space.L1,), READ)


@irdl_op_definition
class Load2d(Instruction):
    """Copies `repeat` fractals, each transposed if asked.

    The sources are `src_stride` fractals apart (0 reads the same one again), the destinations have `dst_gap` fractals
    between them.
    """

    name = "cube.load2d"
    PIPE: ClassVar = Pipe.MTE1
    MOVES: ClassVar = True
    FIELDS: ClassVar = (
        _DST,
        _SRC,
        Integer("repeat", 1, 255),
        Integer("src_stride", 0, 65535, initial=1),
        Integer("dst_gap", 0, 65535, initial=0),
        Flag("transpose", initial=False),
    )

    @staticmethod
    def footprint(
        dst: int, dst_space: str, src: int, repeat: int, src_stride: int, dst_gap: int, transpose: int
    ) -> tuple[Access, ...]:
        return (
            reads("src", src, FRACTAL_F16, repeat, src_stride * FRACTAL_F16),
            writes("dst", dst, FRACTAL_F16, repeat, (1 + dst_gap) * FRACTAL_F16),
        )

    @staticmethod
    def execute(
        memory: Memory, dst: int, dst_space: str, src: int, repeat: int, src_stride: int, dst_gap: int, transpose: int
    ) -> None:
        fractals = memory.lanes(src, (repeat, LANES, LANES), (src_stride * FRACTAL_F16, BLOCK, 2))
        memory.l0(dst_space).write_fractals(dst, 1 + dst_gap, fractals.transpose(0, 2, 1) if transpose else fractals)

    @staticmethod
    def cycles(costs: Costs, dst: int, dst_space: str, src: int, repeat: int, *_: int) -> float:
        return repeat * FRACTAL_F16 / costs.rate(f"l1->{dst_space}")


@irdl_op_definition
class Load3d(Instruction):
    """Loads a window of the im2col matrix of a feature map slab [channels/16, height, width, 16] in L1.

    Row m of that matrix is output position m = oh·Wo + ow of the convolution window, column k is
    ((c1·kernel_h + kh)·kernel_w + kw)·16 + c0; places in the padding read zero. Rows [m_start, m_start + m_extent) and
    columns [k_start, k_start + k_extent) are loaded. Rows past the last output position, and those that round m_extent
    up to a multiple of 16, are zero. L0A receives the window as left operand [M = rows, K = columns], L0B as right
    operand [K = rows, N = columns], for which every fractal is transposed.
    """

    name = "cube.load3d"
    PIPE: ClassVar = Pipe.MTE1
    MOVES: ClassVar = True
    FIELDS: ClassVar = (
        _DST,
        _SRC,
        Integer("height", 1, 32767),
        Integer("width", 1, 32767),
        Integer("channels", LANES, 65520, multiple=LANES),
        Integer("k_start", 0, 65520, initial=0, multiple=LANES),
        Integer("k_extent", LANES, 65520, multiple=LANES),
        Integer("m_start", 0, 65535, initial=0),
        Integer("m_extent", 1, 65535),
        Integer("stride_h", 1, 63, initial=1),
        Integer("stride_w", 1, 63, initial=1),
        Integer("kernel_h", 1, 511, initial=1),
        Integer("kernel_w", 1, 511, initial=1),
        Integer("dilation_h", 1, 255, initial=1),
        Integer("dilation_w", 1, 255, initial=1),
        Integer("pad_top", 0, 255, initial=0),
        Integer("pad_bottom", 0, 255, initial=0),
        Integer("pad_left", 0, 255, initial=0),
        Integer("pad_right", 0, 255, initial=0),
    )

    @staticmethod
    def footprint(
        dst: int,
        dst_space: str,
        src: int,
        height: int,
        width: int,
        channels: int,
        k_start: int,
        k_extent: int,
        m_start: int,
        m_extent: int,
        *window: int,
    ) -> tuple[Access, ...]:
        geometry = Window(height, width, *window)
        written = writes("dst", dst, -(-m_extent // LANES) * LANES * k_extent * 2)
        first, last = geometry.input_rows(m_start, m_extent)
        if first >= last:
            return (written,)
        taps = geometry.kernel_h * geometry.kernel_w * LANES
        slice_first, slice_last = k_start // taps, -(-(k_start + k_extent) // taps)
        row, plane = width * BLOCK, height * width * BLOCK
        start = src + slice_first * plane + first * row
        return reads("src", start, (last - first) * row, slice_last - slice_first, plane), written

    @staticmethod
    def execute(
        memory: Memory,
        dst: int,
        dst_space: str,
        src: int,
        height: int,
        width: int,
        channels: int,
        k_start: int,
        k_extent: int,
        m_start: int,
        m_extent: int,
        *window: int,
    ) -> None:
        rows, columns = -(-m_extent // LANES), k_extent // LANES
        out = memory.l0(dst_space).write_matrix(dst, rows, columns)
        memory.window(src, (height, width, *window), (k_start // LANES, columns), (m_start, m_extent), out)

    @staticmethod
    def cycles(
        costs: Costs,
        dst: int,
        dst_space: str,
        src: int,
        height: int,
        width: int,
        channels: int,
        k_start: int,
        k_extent: int,
        m_start: int,
        m_extent: int,
        *window: int,
    ) -> float:
        geometry = Window(height, width, *window)
        fractals = -(-m_extent // LANES)
        rows = geometry.output_rows_of(m_start, m_extent)
        # A fractal of 16 rows m lies in one output row, or crosses into the next: the mean over the window, rounded up.
        crossed = -(-(rows + fractals - 1) // fractals)
        return fractals * LANES * k_extent * 2 / costs.load3d_rate(dst_space, geometry.stride_w, crossed)

    def check(self) -> None:
        numbers = [self.field(field.name) for field in self.FIELDS[2:]]
        if any(isinstance(number, SSAValue) for number in numbers):
            return
        height, width, channels, k_start, k_extent, *rest = cast("list[int]", numbers)
        window = rest[2:]
        geometry = Window(height, width, *window)
        columns = channels * geometry.kernel_h * geometry.kernel_w
        if k_start + k_extent > columns:
            raise VerifyException(f"columns [{k_start}, {k_start + k_extent}) of an im2col matrix of {columns} columns")
        if geometry.output_height < 1 or geometry.output_width < 1:
            raise VerifyException("the kernel is larger than the padded slab")


LOADS = (Load2d, Load3d)
