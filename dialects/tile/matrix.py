"""Operations of the matrix unit: windows as rows of a matrix, and the product of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    f16,
    f32,
    i8,
    i32,
    i64,
)
from xdsl.dialects.utils import DynamicIndexList
from xdsl.dialects.utils.dynamic_index_list import verify_dynamic_index_list
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ge.dialects.tile.base import SameTypeOperation, TileOperation
from ge.dialects.tile.text import (
    Index,
    IntegerList,
    integers,
    mixed,
    split,
)
from ge.dialects.tile.types import TileType, tile_type
from ge.ir.attributes import ui8

LANES = 16
"""Rows and columns of a square of the matrix unit; the float16 lanes of one 32-byte block."""


@irdl_op_definition
class Im2colOp(TileOperation):
    """The windows of a convolution as rows of a matrix: K blocks of 16 lanes from ``%k1``, M positions from ``%m``.

    The slab is ``c1 x rows x W x 16``, with the padding at top and bottom in it; ``pads`` are those at left and right,
    which read as zero. Row ``m`` is the output position ``oh * out_width + ow`` of the slab, K block
    ``(c1 * kh + ki) * kw + kj``. Positions after the last window that fits in the slab read as zero. Blocks of 8 bits
    have 32 lanes, and what reads as zero reads as ``padding`` instead::

        %a = tile.im2col %slab[%m, 0] kernel [3, 3] strides [1, 1] dilations [1, 1] pads [1, 1] out_width 56
           : !tile.tile<4x4x56x16xf16> -> !tile.tile<36x112x16xf16>
    """

    name = "tile.im2col"

    slab = operand_def(TileType)
    dynamic_offsets = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    kernel = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))
    dilations = prop_def(DenseArrayBase.constr(i64))
    pads = prop_def(DenseArrayBase.constr(i64))
    out_width = prop_def(IntegerAttr.constr(type=i64))
    padding = opt_prop_def(IntegerAttr.constr(type=i64))

    custom_directives = (DynamicIndexList, IntegerList)
    assembly_format = (
        "$slab `` custom<DynamicIndexList>($dynamic_offsets, $static_offsets) "
        "`kernel` custom<IntegerList>($kernel) `strides` custom<IntegerList>($strides) "
        "`dilations` custom<IntegerList>($dilations) `pads` custom<IntegerList>($pads) "
        "`out_width` $out_width (`padding` $padding^)? attr-dict `:` type($slab) `->` type($result)"
    )

    def __init__(
        self,
        slab: SSAValue,
        position: Index,
        k1: Index,
        sizes: tuple[int, int],
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        dilations: Sequence[int],
        pads: Sequence[int],
        out_width: int,
        padding: int = 0,
    ) -> None:
        """``sizes`` are the K blocks and the positions of the result."""
        static, dynamic = split([position, k1])
        blocks, positions = sizes
        super().__init__(
            operands=[slab, dynamic],
            properties={
                "static_offsets": static,
                "kernel": integers(kernel),
                "strides": integers(strides),
                "dilations": integers(dilations),
                "pads": integers(pads),
                "out_width": IntegerAttr(out_width, i64),
                "padding": IntegerAttr(padding, i64) if padding else None,
            },
            result_types=[tile_type(slab).with_shape(blocks, positions, tile_type(slab).lanes)],
        )

    @property
    def position(self) -> Index:
        """The first output position, in the slab."""
        return mixed(self.static_offsets, self.dynamic_offsets)[0]

    @property
    def pad_value(self) -> int:
        """What places beside the slab read as."""
        return 0 if self.padding is None else self.padding.value.data

    @property
    def k_block(self) -> Index:
        """The first K block."""
        return mixed(self.static_offsets, self.dynamic_offsets)[1]

    def verify_(self) -> None:
        slab, result = tile_type(self.slab), tile_type(self.result)
        verify_dynamic_index_list(list(self.static_offsets.iter_values()), self.dynamic_offsets, DYNAMIC_INDEX)
        if len(self.static_offsets) != 2:
            raise VerifyException("im2col has two offsets: the position and the K block")
        for name, values in (
            ("kernel", self.kernel),
            ("strides", self.strides),
            ("dilations", self.dilations),
            ("pads", self.pads),
        ):
            if len(values) != 2:
                raise VerifyException(f"{name} has two numbers")
        lanes = slab.lanes
        if slab.rank != 4 or slab.sizes[-1] != lanes or slab.element_type != result.element_type:
            raise VerifyException(f"a slab is c1 x rows x W x {lanes}, with the element type of the result, got {slab}")
        if result.rank != 3 or result.sizes[-1] != lanes or result.sizes[1] % LANES:
            raise VerifyException(f"the result is K1 x M x {lanes} with M a multiple of {LANES}, got {result}")
        low, high = (-128, 127) if slab.element_type == i8 else (0, 255) if slab.element_type == ui8 else (0, 0)
        if not low <= self.pad_value <= high:
            raise VerifyException(f"a slab of {slab.element_type} is not padded with {self.pad_value}")
        kernel_height, kernel_width = self.kernel.iter_values()
        stride, dilation = tuple(self.strides.iter_values())[1], tuple(self.dilations.iter_values())[1]
        width = (slab.sizes[2] + sum(self.pads.iter_values()) - dilation * (kernel_width - 1) - 1) // stride + 1
        if width != self.out_width.value.data:
            raise VerifyException(f"the windows of a row are {width}, out_width says {self.out_width.value.data}")
        blocks = slab.sizes[0] * kernel_height * kernel_width
        if isinstance(self.k_block, int) and not 0 <= self.k_block <= blocks - result.sizes[0]:
            raise VerifyException(f"K blocks [{self.k_block}, {self.k_block + result.sizes[0]}) of {blocks}")


_PRODUCTS = ((f16, f16, f32), (i8, i8, i32), (ui8, i8, i32))
"""Element types of what a matmul multiplies and adds up."""


@irdl_op_definition
class MatmulOp(SameTypeOperation):
    """``acc + a · b`` with float16 operands and float32 accumulation, or 8-bit operands and int32 accumulation.

    ``a`` is ``K1 x M x 16`` (M a multiple of 16), ``b`` either ``K1 x N1 x 16(n) x 16(k)`` (FRACTAL_Z) or
    ``N1 x K x 16`` with K = 16·K1 (FRACTAL_NZ), ``acc`` and the result ``N1 x M x 16``. Of 8 bits, ``a`` is
    ``K1 x M x 32``, signed or not, and ``b`` is signed ``K1 x N1 x 16(n) x 32(k)``.
    """

    name = "tile.matmul"

    a = operand_def(TileType)
    b = operand_def(TileType)
    acc = operand_def(SameTypeOperation.T)

    assembly_format = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)"

    def __init__(self, a: SSAValue, b: SSAValue, acc: SSAValue) -> None:
        super().__init__(operands=[a, b, acc], result_types=[acc.type])

    @property
    def b_is_fractal_z(self) -> bool:
        """Whether ``b`` is FRACTAL_Z; it is FRACTAL_NZ otherwise."""
        return tile_type(self.b).rank == 4

    def verify_(self) -> None:
        a, b, acc = tile_type(self.a), tile_type(self.b), tile_type(self.acc)
        if (a.element_type, b.element_type, acc.element_type) not in _PRODUCTS:
            products = ", ".join(f"{left} · {right} -> {sum}" for left, right, sum in _PRODUCTS)
            raise VerifyException(f"a matmul is one of {products}, got {a}, {b} and {acc}")
        if a.rank != 3 or a.sizes[-1] != a.lanes or a.sizes[1] % LANES:
            raise VerifyException(f"a is K1 x M x {a.lanes} with M a multiple of {LANES}, got {a}")
        k1, m, _ = a.sizes
        if acc.rank != 3 or acc.sizes[1:] != (m, LANES):
            raise VerifyException(f"the accumulator is N1 x {m} x {LANES}, got {acc}")
        n1 = acc.sizes[0]
        if b.element_type == i8:
            if b.sizes != (k1, n1, LANES, b.lanes):
                raise VerifyException(f"b is {k1} x {n1} x {LANES} x {b.lanes}, got {b}")
        elif b.sizes not in ((k1, n1, LANES, LANES), (n1, k1 * LANES, LANES)):
            raise VerifyException(f"b is {k1} x {n1} x {LANES} x {LANES} or {n1} x {k1 * LANES} x {LANES}, got {b}")
