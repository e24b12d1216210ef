"""Where tiles live: the memory that each needs, and the place in it that the conversion has given it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects.builtin import f16, f32, i8, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ge.dialects import tile
from ge.dialects.cube.instructions.vector import BYTES
from ge.dialects.cube.spaces import Space
from ge.ir.attributes import ui8
from ge.lowering.tile_to_cube.index_math import Index, Truth
from ge.lowering.tile_to_cube.strides import Layout


@dataclass(frozen=True)
class Place:
    """A byte `offset` into a `buffer`."""

    buffer: SSAValue
    offset: Index


@dataclass(frozen=True)
class UbTile(Place):
    """A tile in the unified buffer: its first element is at `offset`, the others where `layout` says."""

    layout: Layout
    dtype: str
    """The element type, as instructions name it."""

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return BYTES[self.dtype]

    @property
    def lanes(self) -> int:
        """Elements of one block."""
        return 32 // self.element_bytes

    def with_layout(self, layout: Layout) -> UbTile:
        """The same buffer seen through another layout."""
        return replace(self, layout=layout)


@dataclass(frozen=True)
class Slab(Place):
    """Input rows of a convolution in L1: c1 planes of `height` rows of `width` blocks, each plane after the one before.

    Only what lies inside the tensor is there; rows outside are padding of the `load3d`, which reads as `fill`.
    """

    planes: int
    height: Index
    width: Index
    pad_top: Index
    pad_bottom: Index
    fill: int = 0


@dataclass(frozen=True)
class L1Tile(Place):
    """A tile of an operand of the cube unit in L1, or a part of one.

    Of a tile in FRACTAL_NZ (column blocks x rows x 16), a part has the rows from `row` of the `rows` of the whole.
    """

    layout: Layout
    dtype: str
    rows: int
    row: Index = 0


@dataclass(frozen=True)
class LeftTile(Place):
    """The left operand of a matmul in L0A, fractals in the order the cube unit reads."""


@dataclass(frozen=True)
class RightTile(Place):
    """The right operand of a matmul in L0B, fractals in the order the cube unit reads."""


@dataclass(frozen=True)
class Accumulator(Place):
    """A float32 or int32 tile N1 x M x 16 in L0C, dense.

    While `empty` holds, its value is zero and nothing is written yet.
    With `relu`, the value is the larger of what is there and zero.
    """

    sizes: tuple[int, ...]
    dtype: str
    empty: Truth
    relu: bool = False


@dataclass(frozen=True)
class Splat:
    """A tile whose elements are all `value`; it takes no memory until an instruction wants it there."""

    value: float


TilePlace: TypeAlias = UbTile | Slab | L1Tile | LeftTile | RightTile | Accumulator | Splat


_DTYPES: dict[Attribute, str] = {f16: "f16", f32: "f32", i8: "s8", ui8: "u8", i32: "s32"}


def dtype_of(type: tile.TileType) -> str:
    """The element type of a tile, as instructions name it."""
    return _DTYPES[type.element_type]


def block_around(value: SSAValue) -> Block | None:
    """The block in which a tile is defined."""
    return value.owner.parent if isinstance(value.owner, Operation) else value.owner


def is_slab(value: SSAValue) -> bool:
    """Whether a tile is read by im2col."""
    return any(isinstance(use.operation, tile.Im2colOp) for use in value.uses)


def needed(value: SSAValue) -> frozenset[Space]:
    """The memories in which the uses of a tile want it."""
    return frozenset(space for use in value.uses for space in _needed_by(use.operation, use.index, value))


def _needed_by(op: Operation, position: int, value: SSAValue) -> Iterator[Space]:
    match op:
        case tile.Im2colOp():
            yield Space.L1
        case tile.MatmulOp():
            yield (Space.L0A, Space.L0B, Space.L0C)[position]
        case tile.SliceOp() | tile.ReshapeOp():
            yield from (_source_of(space) for space in needed(op.result))
        case tile.ForOp():
            carried = op.carried[list(op.initial).index(value)]
            yield from (Space.UB if space is not Space.L0C else space for space in needed(carried))
        case tile.YieldOp():
            yield from (Space.L0C,) if is_accumulator(_loop_result(op, position)) else (Space.UB,)
        case _:
            yield Space.UB


def _source_of(space: Space) -> Space:
    """The memory from which a part of a tile in L0A or L0B is loaded."""
    return Space.L1 if space in (Space.L0A, Space.L0B) else space


def _loop_result(op: tile.YieldOp, position: int) -> OpResult:
    loop = op.parent_op()
    assert isinstance(loop, tile.ForOp)
    return loop.results[position]


def is_accumulator(value: SSAValue) -> bool:
    """Whether matmuls make this tile: it is the result of one, or carried through a loop of them."""
    match value.owner:
        case tile.MatmulOp():
            return True
        case tile.ForOp() as loop if isinstance(value, OpResult):
            return is_accumulator(loop.yielded[value.index])
        case Block() as block if isinstance(value, BlockArgument):
            loop = block.parent_op()
            return isinstance(loop, tile.ForOp) and value.index > 0 and _feeds_matmul(value)
        case _:
            return False


def _feeds_matmul(value: SSAValue) -> bool:
    """Whether a loop-carried tile is what a matmul adds to, here or in a loop inside."""
    for use in value.uses:
        match use.operation:
            case tile.MatmulOp() if use.index == 2:
                return True
            case tile.ForOp() as loop if value in loop.initial:
                if _feeds_matmul(loop.carried[list(loop.initial).index(value)]):
                    return True
            case _:
                pass
    return False
