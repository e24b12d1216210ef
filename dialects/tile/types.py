"""Types of the ``tile`` dialect: tensors in device memory, and tiles.

Both are a static shape and an element type, row-major: ``!tile.gm<1x4x56x56x16xf16>`` is a tensor in global memory (a
storage shape, or a regrouping of one), ``!tile.tile<4x112x16xf16>`` a piece of one that is on the chip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, Float16Type, Float32Type, IntAttr, IntegerType, i8, i32
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge.ir.attributes import ui8

ElementType: TypeAlias = Float16Type | Float32Type | IntegerType
"""What tiles are made of."""

INTEGERS = (i8, ui8, i32)
"""Integers that tiles are made of: operands of the cube unit and what is stored of 8 bits, and the sums of products."""

BYTES_OF_BLOCK = 32
"""Bytes of the innermost dimension of what the matrix unit works on."""


@dataclass(frozen=True, init=False)
class _ShapedType(ParametrizedAttribute, TypeAttribute):
    """A static shape and an element type, written ``<4x16xf16>``."""

    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    def __init__(self, shape: Sequence[int], element_type: Attribute) -> None:
        super().__init__(ArrayAttr(IntAttr(size) for size in shape), element_type)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return tuple(size.data for size in self.shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def element_count(self) -> int:
        """The number of elements."""
        return math.prod(self.sizes)

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return cast(ElementType, self.element_type).size

    @property
    def lanes(self) -> int:
        """Elements of a block of 32 bytes."""
        return BYTES_OF_BLOCK // self.element_bytes

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.element_count * self.element_bytes

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            sizes, element_type = parser.parse_ranked_shape()
        return (ArrayAttr(IntAttr(size) for size in sizes), element_type)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_dimension_list(self.sizes)
            if self.sizes:
                printer.print_string("x")
            printer.print_attribute(self.element_type)

    def verify(self) -> None:
        if any(size < 1 for size in self.sizes):
            raise VerifyException(f"sizes must be positive, got {list(self.sizes)}")
        if not isinstance(self.element_type, Float16Type | Float32Type) and self.element_type not in INTEGERS:
            raise VerifyException(f"elements must be f16, f32, i8, ui8 or i32, got {self.element_type}")


@irdl_attr_definition
class GmType(_ShapedType):
    """``!tile.gm<4x56x56x16xf16>``: a tensor in device memory, row-major of exactly this shape."""

    name = "tile.gm"

    def __init__(self, shape: Sequence[int], element_type: Attribute) -> None:
        super().__init__(shape, element_type)


@irdl_attr_definition
class TileType(_ShapedType):
    """``!tile.tile<4x112x16xf16>``: an immutable value on the chip, row-major of exactly this shape."""

    name = "tile.tile"

    def __init__(self, shape: Sequence[int], element_type: Attribute) -> None:
        super().__init__(shape, element_type)

    def with_shape(self, *sizes: int) -> TileType:
        """The type of the same elements with other sizes."""
        return TileType(sizes, self.element_type)


def verify_floats(*types: TileType) -> None:
    """Check that tiles have elements that the vector unit computes with; integers are moved and converted only."""
    for type in types:
        if not isinstance(type.element_type, Float16Type | Float32Type):
            raise VerifyException(f"the vector unit computes on f16 and f32, got {type}")


def tile_type(value: SSAValue) -> TileType:
    """The type of a value that is a tile."""
    return cast(TileType, value.type)


def gm_type(value: SSAValue) -> GmType:
    """The type of a value that is a tensor in device memory."""
    return cast(GmType, value.type)
