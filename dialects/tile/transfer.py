"""Transfers of the ``tile`` dialect: slices of tensors in device memory, to and from tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    i64,
)
from xdsl.dialects.utils import DynamicIndexList
from xdsl.dialects.utils.dynamic_index_list import verify_dynamic_index_list
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
)
from xdsl.utils.exceptions import VerifyException

from ge.dialects.tile.text import (
    FloatLiteral,
    Index,
    IntegerList,
    Integers,
    float_attr,
    float_value,
    integers,
    mixed,
    split,
    verify_finite,
)
from ge.dialects.tile.types import GmType, TileType, gm_type, tile_type


@irdl_op_definition
class LoadOp(IRDLOperation):
    """A slice of a tensor in device memory, as a tile: one offset and one size for each dimension of the tensor.

    The tile has as many elements as the slice, in the same order, in any shape. With ``fill``, positions outside the
    tensor read as that number (an offset may be negative); without it the slice lies inside::

        %rows = tile.load %x[0, %c1, %top, -1, 0] sizes [1, 1, 4, 58, 16] fill 0
              : !tile.gm<1x4x56x56x16xf16> -> !tile.tile<1x4x58x16xf16>
    """

    name = "tile.load"

    source = operand_def(GmType)
    dynamic_offsets = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    sizes = prop_def(DenseArrayBase.constr(i64))
    fill = opt_prop_def(FloatAttr)
    result = result_def(TileType)

    traits = traits_def(MemoryReadEffect())
    irdl_options = (ParsePropInAttrDict(),)
    custom_directives = (DynamicIndexList, FloatLiteral, IntegerList)
    assembly_format = (
        "$source `` custom<DynamicIndexList>($dynamic_offsets, $static_offsets) `sizes` custom<IntegerList>($sizes) "
        "(`fill` custom<FloatLiteral>($fill)^)? attr-dict `:` type($source) `->` type($result)"
    )

    def __init__(
        self,
        source: SSAValue,
        offsets: Sequence[Index],
        sizes: Sequence[int],
        fill: float | None = None,
        shape: Sequence[int] | None = None,
    ) -> None:
        static, dynamic = split(offsets)
        super().__init__(
            operands=[source, dynamic],
            properties={
                "static_offsets": static,
                "sizes": integers(sizes),
                "fill": None if fill is None else float_attr(fill),
            },
            result_types=[TileType(sizes if shape is None else shape, gm_type(source).element_type)],
        )

    @property
    def offsets(self) -> list[Index]:
        """Where the slice starts, for each dimension of the tensor."""
        return mixed(self.static_offsets, self.dynamic_offsets)

    @property
    def slice_sizes(self) -> tuple[int, ...]:
        """The sizes of the slice, for each dimension of the tensor."""
        return tuple(self.sizes.iter_values())

    @property
    def fill_value(self) -> float | None:
        """What positions outside the tensor read as; None when there are none."""
        return None if self.fill is None else float_value(self.fill)

    def verify_(self) -> None:
        verify_finite(self.fill)
        _verify_slice(self.source, self.static_offsets, self.dynamic_offsets, self.slice_sizes, self.result)
        if self.fill is not None:
            return
        for offset, size, bound in zip(self.offsets, self.slice_sizes, gm_type(self.source).sizes, strict=True):
            if isinstance(offset, int) and not 0 <= offset <= bound - size:
                raise VerifyException(f"slice [{offset}, {offset + size}) is outside of a dimension of size {bound}")


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Writes a tile to a slice of a tensor in device memory.

    Positions outside the tensor are dropped::

    tile.store %out, %y[0, %n1, %m, 0] sizes [1, 4, 112, 16] : !tile.tile<4x112x16xf16> -> !tile.gm<1x4x3136x16xf16>
    """

    name = "tile.store"

    value = operand_def(TileType)
    target = operand_def(GmType)
    dynamic_offsets = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    sizes = prop_def(DenseArrayBase.constr(i64))

    traits = traits_def(MemoryWriteEffect())
    irdl_options = (ParsePropInAttrDict(),)
    custom_directives = (DynamicIndexList, IntegerList)
    assembly_format = (
        "$value `,` $target `` custom<DynamicIndexList>($dynamic_offsets, $static_offsets) "
        "`sizes` custom<IntegerList>($sizes) attr-dict `:` type($value) `->` type($target)"
    )

    def __init__(self, value: SSAValue, target: SSAValue, offsets: Sequence[Index], sizes: Sequence[int]) -> None:
        static, dynamic = split(offsets)
        super().__init__(
            operands=[value, target, dynamic], properties={"static_offsets": static, "sizes": integers(sizes)}
        )

    @property
    def offsets(self) -> list[Index]:
        """Where the slice starts, for each dimension of the tensor."""
        return mixed(self.static_offsets, self.dynamic_offsets)

    @property
    def slice_sizes(self) -> tuple[int, ...]:
        """The sizes of the slice, for each dimension of the tensor."""
        return tuple(self.sizes.iter_values())

    def verify_(self) -> None:
        _verify_slice(self.target, self.static_offsets, self.dynamic_offsets, self.slice_sizes, self.value)


def _verify_slice(
    memory: SSAValue, static: Integers, dynamic: Sequence[SSAValue], sizes: Sequence[int], tile: SSAValue
) -> None:
    """Check that a slice has one offset and size for each dimension, and holds what the tile holds."""
    tensor, value = gm_type(memory), tile_type(tile)
    verify_dynamic_index_list(list(static.iter_values()), dynamic, DYNAMIC_INDEX)
    if not len(static) == len(sizes) == tensor.rank:
        raise VerifyException(f"a slice of a tensor of rank {tensor.rank} has as many offsets and sizes")
    if math.prod(sizes) != value.element_count:
        raise VerifyException(f"a slice of {math.prod(sizes)} elements does not fill {value}")
    if tensor.element_type != value.element_type:
        raise VerifyException("tile and tensor have different element types")
