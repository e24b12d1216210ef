"""Loads from L1 into L0A and L0B, which hold the operands of the cube unit as fractals of 16 blocks of 32 bytes.

With K0 lanes in a block, 16 of float16 or 32 of 8 bits, L0A holds the left matrix [M, K] in the order Zz: (M/16, K/K0,
16 rows m, K0 lanes k). L0B holds the right matrix [K, N] in the order Zn: (K/K0, N/16, 16 rows n, K0 lanes k).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import READ, WRITE, Address, Field, Flag, Integer
from ge.dialects.cube.instruction import Access, Costs, Instruction, reads, writes
from ge.dialects.cube.spaces import BLOCK, FRACTAL_F16, LANES, Pipe, Space
from ge.dialects.cube.window import Window

if TYPE_CHECKING:
    from ge.dialects.cube.memory import Memory

_DST = Address("dst", (Space.L0A, Space.L0B), WRITE, align=FRACTAL_F16)
_SRC = Address("src", (Space.L1,), READ)


def _window_fields(lanes: int) -> tuple[Field, ...]:
    """The window of the im2col matrix, and the slab, of blocks of so many lanes."""
    return (
        Integer("height", 1, 32767),
        Integer("width", 1, 32767),
        Integer("channels", lanes, 65536 - lanes, multiple=lanes),
        Integer("k_start", 0, 65536 - lanes, initial=0, multiple=lanes),
        Integer("k_extent", lanes, 65536 - lanes, multiple=lanes),
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
        target = memory.l0_to_write(dst_space, dst, repeat, 1 + dst_gap)
        target.write_fractals(dst, 1 + dst_gap, fractals.transpose(0, 2, 1) if transpose else fractals)

    @staticmethod
    def cycles(costs: Costs, dst: int, dst_space: str, src: int, repeat: int, *_: int) -> float:
        return repeat * FRACTAL_F16 / costs.rate(f"l1->{dst_space}")


@irdl_op_definition
class Load2dB8(Instruction):
    """Copies `repeat` fractals of 16 rows of 32 lanes of 8 bits; otherwise as `load2d`."""

    name = "cube.load2d_b8"
    PIPE: ClassVar = Pipe.MTE1
    MOVES: ClassVar = True
    FIELDS: ClassVar = Load2d.FIELDS[:-1]

    @staticmethod
    def footprint(dst: int, dst_space: str, src: int, repeat: int, src_stride: int, dst_gap: int) -> tuple[Access, ...]:
        return Load2d.footprint(dst, dst_space, src, repeat, src_stride, dst_gap, transpose=0)

    @staticmethod
    def execute(memory: Memory, dst: int, dst_space: str, src: int, repeat: int, src_stride: int, dst_gap: int) -> None:
        fractals = memory.view("l1", "u8", src, (repeat, LANES, BLOCK), (src_stride * FRACTAL_F16, BLOCK, 1))
        memory.l0_to_write(dst_space, dst, repeat, 1 + dst_gap, "b8").write_fractals(dst, 1 + dst_gap, fractals)

    @staticmethod
    def cycles(costs: Costs, dst: int, dst_space: str, src: int, repeat: int, *_: int) -> float:
        return Load2d.cycles(costs, dst, dst_space, src, repeat)


class WindowLoad(Instruction):
    """A load of a window of the im2col matrix of a slab."""

    PIPE: ClassVar = Pipe.MTE1
    MOVES: ClassVar = True
    K0: ClassVar[int]
    """Lanes of a block."""

    @classmethod
    def footprint(
        cls,
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
        geometry = Window(height, width, *window[:10])
        written = writes("dst", dst, -(-m_extent // LANES) * LANES * k_extent // cls.K0 * BLOCK)
        first, last = geometry.input_rows(m_start, m_extent)
        if first >= last:
            return (written,)
        taps = geometry.kernel_h * geometry.kernel_w * cls.K0
        slice_first, slice_last = k_start // taps, -(-(k_start + k_extent) // taps)
        row, plane = width * BLOCK, height * width * BLOCK
        start = src + slice_first * plane + first * row
        return reads("src", start, (last - first) * row, slice_last - slice_first, plane), written

    @classmethod
    def cycles(
        cls,
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
        geometry = Window(height, width, *window[:10])
        fractals = -(-m_extent // LANES)
        rows = geometry.output_rows_of(m_start, m_extent)
        # A fractal of 16 rows m lies in one output row, or crosses into the next: the mean over the window, rounded up.
        crossed = -(-(rows + fractals - 1) // fractals)
        return fractals * LANES * k_extent // cls.K0 * BLOCK / costs.load3d_rate(dst_space, geometry.stride_w, crossed)

    def check(self) -> None:
        numbers = [self.field(field.name) for field in self.FIELDS[2:]]
        if any(isinstance(number, SSAValue) for number in numbers):
            return
        height, width, channels, k_start, k_extent, *rest = cast("list[int]", numbers)
        window = rest[2:12]
        geometry = Window(height, width, *window)
        columns = channels * geometry.kernel_h * geometry.kernel_w
        if k_start + k_extent > columns:
            raise VerifyException(f"columns [{k_start}, {k_start + k_extent}) of an im2col matrix of {columns} columns")
        if geometry.output_height < 1 or geometry.output_width < 1:
            raise VerifyException("the kernel is larger than the padded slab")


@irdl_op_definition
class Load3d(WindowLoad):
    """Loads a window of the im2col matrix of a feature map slab [channels/16, height, width, 16] in L1.

    Row m of that matrix is output position m = oh·Wo + ow of the convolution window, column k is
    ((c1·kernel_h + kh)·kernel_w + kw)·16 + c0; places in the padding read zero. Rows [m_start, m_start + m_extent) and
    columns [k_start, k_start + k_extent) are loaded. Rows past the last output position, and those that round m_extent
    up to a multiple of 16, are zero. L0A receives the window as left operand [M = rows, K = columns], L0B as right
    operand [K = rows, N = columns], for which every fractal is transposed.
    """

    name = "cube.load3d"
    K0: ClassVar = LANES
    FIELDS: ClassVar = (_DST, _SRC, *_window_fields(LANES))

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
        out = memory.l0_to_write(dst_space, dst, rows * columns).write_matrix(dst, rows, columns)
        memory.window(src, (height, width, *window), (k_start // LANES, columns), (m_start, m_extent), out)


@irdl_op_definition
class Load3dB8(WindowLoad):
    """Loads a window of a slab [channels/32, height, width, 32] of 8 bits into L0A, as `load3d` does of float16.

    Places in the padding, and rows past the last output position, read `pad_value`.

    Column k of the im2col matrix is ((c1·kernel_h + kh)·kernel_w + kw)·32 + c0.
    """

    name = "cube.load3d_b8"
    K0: ClassVar = BLOCK
    FIELDS: ClassVar = (
        _DST,
        _SRC,
        *_window_fields(BLOCK),
        Integer("pad_value", 0, 255, initial=0),
    )

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
        *taps, pad_value = window
        rows, columns = -(-m_extent // LANES), k_extent // BLOCK
        out = memory.l0_to_write(dst_space, dst, rows * columns, width="b8").write_matrix(dst, rows, columns)
        place = (k_start // BLOCK, columns), (m_start, m_extent)
        memory.byte_window(src, (height, width, *taps), *place, out, pad_value)

    def check(self) -> None:
        if self.space("dst") is not Space.L0A:
            raise VerifyException("a window of 8 bits is loaded into l0a: only squares of 16 bits are transposed")
        super().check()


LOADS = (Load2d, Load3d, Load2dB8, Load3dB8)
