"""Operations that move the elements of tiles without computing: parts, transposes, other shapes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    Float16Type,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.dialects.utils import DynamicIndexList
from xdsl.dialects.utils.dynamic_index_list import verify_dynamic_index_list
from xdsl.ir import SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ge.dialects.tile.base import TileOperation
from ge.dialects.tile.matrix import LANES
from ge.dialects.tile.text import (
    Index,
    IntegerList,
    integers,
    mixed,
    split,
)
from ge.dialects.tile.types import TileType, tile_type


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
    """Tiles one after the other along an axis, the first unless `axis` says otherwise.

    Along axis 1, parts n x 1 x P become rows of n x g x P: their rows take turns.
    """

    name = "tile.concat"

    parts = var_operand_def(TileType)
    axis = opt_prop_def(IntegerAttr.constr(i64))

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$parts attr-dict `:` type($parts) `->` type($result)"

    def __init__(self, parts: Sequence[SSAValue], axis: int = 0) -> None:
        sizes = list(tile_type(parts[0]).sizes)
        sizes[axis] = sum(tile_type(part).sizes[axis] for part in parts)
        super().__init__(
            operands=[list(parts)],
            properties={"axis": IntegerAttr(axis, i64) if axis else None},
            result_types=[tile_type(parts[0]).with_shape(*sizes)],
        )

    @property
    def axis_number(self) -> int:
        """The axis."""
        return 0 if self.axis is None else self.axis.value.data

    def verify_(self) -> None:
        result, axis = tile_type(self.result), self.axis_number
        if not 0 <= axis < result.rank:
            raise VerifyException(f"{result} has no axis {axis}")
        length = 0
        for part in map(tile_type, self.parts):
            sizes = list(part.sizes)
            sizes[axis : axis + 1] = result.sizes[axis : axis + 1]
            if part.rank != result.rank or part.with_shape(*sizes) != result:
                raise VerifyException(f"{part} is no part of {result}")
            length += part.sizes[axis]
        if length != result.sizes[axis]:
            what = "rows" if axis == 0 else f"elements along axis {axis}"
            raise VerifyException(f"the parts have {length} {what}, the result {result.sizes[axis]}")


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
