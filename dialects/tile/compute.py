"""Operations that compute on the elements of tiles: constants, elementwise functions, casts and reductions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import auto

from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    f16,
    f32,
    i8,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ge.dialects.tile.base import SameTypeOperation, TileOperation
from ge.dialects.tile.text import (
    FloatLiteral,
    float_attr,
    float_value,
    verify_finite,
)
from ge.dialects.tile.types import TileType, tile_type, verify_floats
from ge.ir.attributes import ui8


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
        verify_floats(lhs, rhs)
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

    def verify_(self) -> None:
        verify_floats(tile_type(self.source))


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
        verify_floats(tile_type(self.source))


_CASTS = {
    *((f16, f32), (f32, f16)),
    *((small, f16) for small in (i8, ui8)),
    *((f16, small) for small in (i8, ui8)),
    *((i32, f32), (f32, i32), (i32, f16)),
}
"""From and to which element types the vector unit converts."""


@irdl_op_definition
class CastOp(TileOperation):
    """The same tile in another element type, rounded to nearest even and saturating.

    The vector unit goes between f16 and f32, i8 and ui8 and f16, i32 and f32, and from i32 to f16.
    """

    name = "tile.cast"

    source = operand_def(TileType)

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, element_type: Attribute) -> None:
        super().__init__(operands=[source], result_types=[TileType(tile_type(source).sizes, element_type)])

    def verify_(self) -> None:
        source, result = tile_type(self.source), tile_type(self.result)
        if source.sizes != result.sizes or source.element_type == result.element_type:
            raise VerifyException(f"a cast changes the element type only, got {source} to {result}")
        if (source.element_type, result.element_type) not in _CASTS:
            raise VerifyException(f"no instruction converts {source.element_type} to {result.element_type}")


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
        verify_floats(source)
        if not 0 <= self.axis_number < source.rank:
            raise VerifyException(f"axis {self.axis_number} of a tile of rank {source.rank}")
        sizes = [1 if axis == self.axis_number else size for axis, size in enumerate(source.sizes)]
        if tile_type(self.result) != source.with_shape(*sizes):
            raise VerifyException(f"the result is {source.with_shape(*sizes)}, got {self.result.type}")
