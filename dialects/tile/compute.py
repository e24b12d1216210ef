"""Operations on tiles: all pure, from tiles to one tile."""

from __future__ import annotations

from collections.abc import Sequence
from enum import auto
from typing import ClassVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    Float16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.dialects.utils import DynamicIndexList, EnumAttribute
from xdsl.dialects.utils.dynamic_index_list import verify_dynamic_index_list
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ge.dialects.tile.text import (
    FloatLiteral,
    Index,
    IntegerList,
    float_attr,
    float_value,
    integers,
    mixed,
    split,
    verify_finite,
)
from ge.dialects.tile.types import TileType, tile_type

LANES = 16
"""The innermost size of a matrix operand: the float16 lanes of one 32-byte block."""


class BinaryKind(StrEnum):
    """Elementwise functions of two tiles."""

    ADD = auto()
    SUB = auto()
    MUL = auto()
    DIV = auto()
    MAX = auto()
    MIN = auto()


class UnaryKind(StrEnum):
    """Elementwise functions of one tile; ``rec`` is 1/x, ``rsqrt`` 1/sqrt(x), ``ln`` the natural logarithm."""

    EXP = auto()
    LN = auto()
    ABS = auto()
    RELU = auto()
    REC = auto()
    SQRT = auto()
    RSQRT = auto()
    NEG = auto()


class ScalarKind(StrEnum):
    """Elementwise functions of a tile and a number."""

    ADDS = auto()
    MULS = auto()
    MAXS = auto()
    MINS = auto()


class ReduceKind(StrEnum):
    """What combines the elements along an axis."""

    SUM = auto()
    MAX = auto()


@irdl_attr_definition
class BinaryKindAttr(EnumAttribute[BinaryKind], SpacedOpaqueSyntaxAttribute):
    """The function of ``tile.binary``."""

    name = "tile.binary_kind"


@irdl_attr_definition
class UnaryKindAttr(EnumAttribute[UnaryKind], SpacedOpaqueSyntaxAttribute):
    """The function of ``tile.unary``."""

    name = "tile.unary_kind"


@irdl_attr_definition
class ScalarKindAttr(EnumAttribute[ScalarKind], SpacedOpaqueSyntaxAttribute):
    """The function of ``tile.scalar``."""

    name = "tile.scalar_kind"


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReduceKind], SpacedOpaqueSyntaxAttribute):
    """The function of ``tile.reduce``."""

    name = "tile.reduce_kind"


class TileOperation(IRDLOperation):
    """An operation with one result, a tile."""

    result = result_def(TileType)
    traits = traits_def(Pure())


class SameTypeOperation(IRDLOperation):
    """An operation whose result has the type ``T`` of an operand."""

    T: ClassVar = VarConstraint("T", base(TileType))

    result = result_def(T)
    traits = traits_def(Pure())


@irdl_op_definition
class Im2colOp(TileOperation):
    """The windows of a convolution as rows of a matrix: K blocks of 16 lanes from ``%k1``, M positions from ``%m``.

    The slab is ``c1 x rows x W x 16``, with the padding at top and bottom in it; ``pads`` are those at left and right,
    which read as zero. Row ``m`` is the output position ``oh * out_width + ow`` of the slab, K block
    ``(c1 * kh + ki) * kw + kj``. Positions after the last window that fits in the slab read as zero::

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

    custom_directives = (DynamicIndexList, IntegerList)
    assembly_format = (
        "$slab `` custom<DynamicIndexList>($dynamic_offsets, $static_offsets) "
        "`kernel` custom<IntegerList>($kernel) `strides` custom<IntegerList>($strides) "
        "`dilations` custom<IntegerList>($dilations) `pads` custom<IntegerList>($pads) "
        "`out_width` $out_width attr-dict `:` type($slab) `->` type($result)"
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
            },
            result_types=[tile_type(slab).with_shape(blocks, positions, LANES)],
        )

    @property
    def position(self) -> Index:
        """The first output position, in the slab."""
        return mixed(self.static_offsets, self.dynamic_offsets)[0]

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
        if slab.rank != 4 or slab.sizes[-1] != LANES or slab.element_type != result.element_type:
            raise VerifyException(f"a slab is c1 x rows x W x {LANES}, with the element type of the result, got {slab}")
        if result.rank != 3 or result.sizes[-1] != LANES or result.sizes[1] % LANES:
            raise VerifyException(f"the result is K1 x M x {LANES} with M a multiple of {LANES}, got {result}")
        kernel_height, kernel_width = self.kernel.iter_values()
        stride, dilation = tuple(self.strides.iter_values())[1], tuple(self.dilations.iter_values())[1]
        width = (slab.sizes[2] + sum(self.pads.iter_values()) - dilation * (kernel_width - 1) - 1) // stride + 1
        if width != self.out_width.value.data:
            raise VerifyException(f"the windows of a row are {width}, out_width says {self.out_width.value.data}")
        blocks = slab.sizes[0] * kernel_height * kernel_width
        if isinstance(self.k_block, int) and not 0 <= self.k_block <= blocks - result.sizes[0]:
            raise VerifyException(f"K blocks [{self.k_block}, {self.k_block + result.sizes[0]}) of {blocks}")


@irdl_op_definition
class MatmulOp(SameTypeOperation):
    """``acc + a · b`` with float16 operands and float32 accumulation.

    ``a`` is ``K1 x M x 16`` (M a multiple of 16), ``b`` either ``K1 x N1 x 16(n) x 16(k)`` (FRACTAL_Z) or
    ``N1 x K x 16`` with K = 16·K1 (FRACTAL_NZ), ``acc`` and the result ``N1 x M x 16``.
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
        if not (isinstance(a.element_type, Float16Type) and isinstance(b.element_type, Float16Type)):
            raise VerifyException("the operands of a matmul are f16")
        if not isinstance(acc.element_type, Float32Type):
            raise VerifyException("the accumulator of a matmul is f32")
        if a.rank != 3 or a.sizes[-1] != LANES or a.sizes[1] % LANES:
            raise VerifyException(f"a is K1 x M x {LANES} with M a multiple of {LANES}, got {a}")
        k1, m, _ = a.sizes
        if acc.rank != 3 or acc.sizes[1:] != (m, LANES):
            raise VerifyException(f"the accumulator is N1 x {m} x {LANES}, got {acc}")
        n1 = acc.sizes[0]
        if b.sizes not in ((k1, n1, LANES, LANES), (n1, k1 * LANES, LANES)):
            raise VerifyException(f"b is {k1} x {n1} x {LANES} x {LANES} or {n1} x {k1 * LANES} x {LANES}, got {b}")


@irdl_op_definition
class ConstantOp(TileOperation):
    """A tile of which every element is the same number."""

    name = "tile.constant"

    value = prop_def(FloatAttr)

    custom_directives = (FloatLiteral,)
    assembly_format = "custom<FloatLiteral>($value) attr-dict `:` type($result)"

    def __init__(self, value: float, type: TileType) -> None:
        super().__init__(properties={"value": float_attr(value)}, result_types=[type])

    @property
    def number(self) -> float:
        """The number."""
        return float_value(self.value)

    def verify_(self) -> None:
        verify_finite(self.value)


@irdl_op_definition
class BroadcastOp(TileOperation):
    """The same tile with dimensions of size 1 repeated."""

    name = "tile.broadcast"

    source = operand_def(TileType)

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, shape: Sequence[int]) -> None:
        super().__init__(operands=[source], result_types=[tile_type(source).with_shape(*shape)])

    def verify_(self) -> None:
        source, result = tile_type(self.source), tile_type(self.result)
        same_rank = source.rank == result.rank and source.element_type == result.element_type
        if not same_rank or any(s not in (1, r) for s, r in zip(source.sizes, result.sizes, strict=True)):
            raise VerifyException(f"{source} does not broadcast to {result}")


@irdl_op_definition
class BinaryOp(TileOperation):
    """An elementwise function of two tiles; a dimension of size 1 is repeated to that of the other."""

    name = "tile.binary"

    kind = prop_def(BinaryKindAttr)
    lhs = operand_def(TileType)
    rhs = operand_def(TileType)

    assembly_format = "$kind $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"

    def __init__(self, kind: BinaryKind, lhs: SSAValue, rhs: SSAValue) -> None:
        sizes = (max(a, b) for a, b in zip(tile_type(lhs).sizes, tile_type(rhs).sizes, strict=True))
        super().__init__(
            operands=[lhs, rhs],
            properties={"kind": BinaryKindAttr(kind)},
            result_types=[tile_type(lhs).with_shape(*sizes)],
        )

    def verify_(self) -> None:
        lhs, rhs, result = tile_type(self.lhs), tile_type(self.rhs), tile_type(self.result)
        if not lhs.element_type == rhs.element_type == result.element_type or not lhs.rank == rhs.rank == result.rank:
            raise VerifyException("operands and result have the same element type and rank")
        for a, b, size in zip(lhs.sizes, rhs.sizes, result.sizes, strict=True):
            if size != max(a, b) or min(a, b) not in (1, size):
                raise VerifyException(f"{lhs} and {rhs} do not broadcast to {result}")


@irdl_op_definition
class UnaryOp(SameTypeOperation):
    """An elementwise function of one tile."""

    name = "tile.unary"

    kind = prop_def(UnaryKindAttr)
    source = operand_def(SameTypeOperation.T)

    assembly_format = "$kind $source attr-dict `:` type($result)"

    def __init__(self, kind: UnaryKind, source: SSAValue) -> None:
        super().__init__(operands=[source], properties={"kind": UnaryKindAttr(kind)}, result_types=[source.type])


@irdl_op_definition
class ScalarOp(SameTypeOperation):
    """An elementwise function of a tile and a number."""

    name = "tile.scalar"

    kind = prop_def(ScalarKindAttr)
    source = operand_def(SameTypeOperation.T)
    value = prop_def(FloatAttr)

    custom_directives = (FloatLiteral,)
    assembly_format = "$kind $source `,` custom<FloatLiteral>($value) attr-dict `:` type($result)"

    def __init__(self, kind: ScalarKind, source: SSAValue, value: float) -> None:
        super().__init__(
            operands=[source],
            properties={"kind": ScalarKindAttr(kind), "value": float_attr(value)},
            result_types=[source.type],
        )

    @property
    def number(self) -> float:
        """The number."""
        return float_value(self.value)

    def verify_(self) -> None:
        verify_finite(self.value)


@irdl_op_definition
class CastOp(TileOperation):
    """The same tile in the other float type; to float16, rounded to nearest even and saturating."""

    name = "tile.cast"

    source = operand_def(TileType)

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, element_type: Attribute) -> None:
        super().__init__(operands=[source], result_types=[TileType(tile_type(source).sizes, element_type)])

    def verify_(self) -> None:
        source, result = tile_type(self.source), tile_type(self.result)
        if source.sizes != result.sizes or source.element_type == result.element_type:
            raise VerifyException(f"a cast changes the element type only, got {source} to {result}")


@irdl_op_definition
class SliceOp(TileOperation):
    """A strided part of a tile: element ``i`` of a dimension is element ``offset + i * stride`` of the source.

    Of a tile in L1 or L0C it is an address when only leading dimensions are cut and the strides are 1.
    """

    name = "tile.slice"

    source = operand_def(TileType)
    dynamic_offsets = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    sizes = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))

    custom_directives = (DynamicIndexList, IntegerList)
    assembly_format = (
        "$source `` custom<DynamicIndexList>($dynamic_offsets, $static_offsets) `sizes` custom<IntegerList>($sizes) "
        "`strides` custom<IntegerList>($strides) attr-dict `:` type($source) `->` type($result)"
    )

    def __init__(
        self, source: SSAValue, offsets: Sequence[Index], sizes: Sequence[int], strides: Sequence[int] | None = None
    ) -> None:
        static, dynamic = split(offsets)
        super().__init__(
            operands=[source, dynamic],
            properties={
                "static_offsets": static,
                "sizes": integers(sizes),
                "strides": integers([1] * len(sizes) if strides is None else strides),
            },
            result_types=[tile_type(source).with_shape(*sizes)],
        )

    @property
    def offsets(self) -> list[Index]:
        """Where the part starts, for each dimension."""
        return mixed(self.static_offsets, self.dynamic_offsets)

    def verify_(self) -> None:
        source, result = tile_type(self.source), tile_type(self.result)
        verify_dynamic_index_list(list(self.static_offsets.iter_values()), self.dynamic_offsets, DYNAMIC_INDEX)
        sizes, strides = tuple(self.sizes.iter_values()), tuple(self.strides.iter_values())
        if not len(self.static_offsets) == len(strides) == len(sizes) == source.rank:
            raise VerifyException(f"a slice of a tile of rank {source.rank} has as many offsets, sizes and strides")
        if sizes != result.sizes or source.element_type != result.element_type:
            raise VerifyException(f"a slice of sizes {list(sizes)} is not {result}")
        for offset, size, stride, bound in zip(self.offsets, sizes, strides, source.sizes, strict=True):
            first = offset if isinstance(offset, int) else 0
            if stride < 1 or first < 0 or first + (size - 1) * stride >= bound:
                raise VerifyException(f"{size} elements from {first}, {stride} apart, are outside of a size of {bound}")


@irdl_op_definition
class ReduceOp(TileOperation):
    """The sum or the largest of the elements along one axis, which stays with size 1."""

    name = "tile.reduce"

    kind = prop_def(ReduceKindAttr)
    source = operand_def(TileType)
    axis = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$kind $source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, kind: ReduceKind, source: SSAValue, axis: int) -> None:
        sizes = list(tile_type(source).sizes)
        sizes[axis] = 1
        super().__init__(
            operands=[source],
            properties={"kind": ReduceKindAttr(kind), "axis": IntegerAttr(axis, i64)},
            result_types=[tile_type(source).with_shape(*sizes)],
        )

    @property
    def axis_number(self) -> int:
        """The axis."""
        return self.axis.value.data

    def verify_(self) -> None:
        source = tile_type(self.source)
        if not 0 <= self.axis_number < source.rank:
            raise VerifyException(f"axis {self.axis_number} of a tile of rank {source.rank}")
        sizes = [1 if axis == self.axis_number else size for axis, size in enumerate(source.sizes)]
        if tile_type(self.result) != source.with_shape(*sizes):
            raise VerifyException(f"the result is {source.with_shape(*sizes)}, got {self.result.type}")


@irdl_op_definition
class TransposeOp(TileOperation):
    """A float16 matrix of 16 columns (or rows) transposed; the other size is a multiple of 16."""

    name = "tile.transpose"

    source = operand_def(TileType)

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue) -> None:
        super().__init__(
            operands=[source], result_types=[tile_type(source).with_shape(*reversed(tile_type(source).sizes))]
        )

    def verify_(self) -> None:
        source, result = tile_type(self.source), tile_type(self.result)
        if source.rank != 2 or LANES not in source.sizes or any(size % LANES for size in source.sizes):
            raise VerifyException(
                f"a transpose takes R x {LANES} or {LANES} x R, R a multiple of {LANES}, got {source}"
            )
        if not isinstance(source.element_type, Float16Type) or result != source.with_shape(*reversed(source.sizes)):
            raise VerifyException(f"the transpose of an f16 tile is its reversed shape, got {source} to {result}")


@irdl_op_definition
class ConcatOp(TileOperation):
    """Tiles one after the other along the first axis."""

    name = "tile.concat"

    parts = var_operand_def(TileType)

    assembly_format = "$parts attr-dict `:` type($parts) `->` type($result)"

    def __init__(self, parts: Sequence[SSAValue]) -> None:
        first = tile_type(parts[0])
        rows = sum(tile_type(part).sizes[0] for part in parts)
        super().__init__(operands=[list(parts)], result_types=[first.with_shape(rows, *first.sizes[1:])])

    def verify_(self) -> None:
        result = tile_type(self.result)
        rows = 0
        for part in map(tile_type, self.parts):
            if part.rank != result.rank or part.with_shape(*result.sizes[:1], *part.sizes[1:]) != result:
                raise VerifyException(f"{part} is no part of {result}")
            rows += part.sizes[0]
        if rows != result.sizes[0]:
            raise VerifyException(f"the parts have {rows} rows, the result {result.sizes[0]}")


@irdl_op_definition
class ReshapeOp(TileOperation):
    """The same elements in the same order in another shape."""

    name = "tile.reshape"

    source = operand_def(TileType)

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, shape: Sequence[int]) -> None:
        super().__init__(operands=[source], result_types=[tile_type(source).with_shape(*shape)])

    def verify_(self) -> None:
        source, result = tile_type(self.source), tile_type(self.result)
        if source.element_count != result.element_count or source.element_type != result.element_type:
            raise VerifyException(f"{source} and {result} do not hold the same elements")
