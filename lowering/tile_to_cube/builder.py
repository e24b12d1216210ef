"""The state of the conversion of a kernel: where operations go, where tiles are, which copy of a buffer is in turn."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import gcd
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ge.dialects import cube, tile
from ge.dialects.cube.kernel import AllocOp
from ge.dialects.cube.spaces import BLOCK, Space
from ge.ir.errors import GeError
from ge.ir.locations import is_unknown, where
from ge.lowering.tile_to_cube.index_math import Index, IndexMath, Truth
from ge.lowering.tile_to_cube.places import Place, TilePlace, UbTile, dtype_of
from ge.lowering.tile_to_cube.strides import Layout
from ge.targets.ascend.soc import Soc

OpT = TypeVar("OpT", bound=Operation)
PlaceT = TypeVar("PlaceT")

UNROLLED = 4
"""Loops over at most this many instructions are written out."""


@dataclass
class Scope:
    """What is valid in one loop body: places of tiles, and which copy of a doubled buffer this turn uses."""

    places: dict[SSAValue, dict[type, TilePlace]] = field(default_factory=dict[SSAValue, "dict[type, TilePlace]"])
    slot: Index | None = None
    turn: Index = 0
    """A number that grows by an odd number from turn to turn of the loop, also across the loops around it."""


class KernelBuilder:
    """Builds the body of a `cube.kernel` from the operations of a `tile.kernel`."""

    def __init__(self, kernel: cube.CubeKernelOp, soc: Soc) -> None:
        entry = kernel.body.block
        self.kernel = kernel
        self.soc = soc
        self.builder = Builder(InsertPoint.at_end(entry), operation_insertion_handler=[self._locate])
        self.math = IndexMath(self.builder, entry)
        self.scopes = [Scope()]
        self.indices: dict[SSAValue, Index] = {}
        """The index values of the tile kernel."""
        self.memories: dict[SSAValue, SSAValue] = {}
        """The arguments of the tile kernel."""
        self.targets: dict[SSAValue, UbTile] = {}
        """Where a tile that is about to be computed has to go."""
        self.temporaries: set[SSAValue] = set()
        """Tiles that have a buffer of their own in the unified buffer, written by vector instructions."""
        self.source: Operation | None = None
        """The operation being converted."""

    def _locate(self, op: Operation) -> None:
        if self.source is not None and is_unknown(op.location):
            op.location = self.source.location

    def fail(self, what: str, remedy: str | None = None) -> GeError:
        """The error that the operation at hand has no instructions."""
        assert self.source is not None
        return GeError("GE4020", f"kernel '{self.kernel.sym_name.data}': {what}", where(self.source), remedy=remedy)

    # Operations.

    def add(self, op: OpT) -> OpT:
        """Append an operation."""
        return self.builder.insert(op)

    def index(self, value: Index) -> Index:
        """The position that the tile kernel calls `value`."""
        return value if isinstance(value, int) else self.indices[value]

    @contextmanager
    def loop(self, lower: Index, upper: Index, step: Index = 1) -> Generator[SSAValue]:
        """A loop around what is built inside; gives the counter."""
        body = Block([scf.YieldOp()], arg_types=[IndexType()])
        math = self.math
        self.add(scf.ForOp(math.value(lower), math.value(upper), math.value(step), [], body))
        first, last = math.bounds(lower), math.bounds(upper).high - 1
        if isinstance(step, int) and first.low == first.high < last:
            last -= (last - first.low) % step
        math.learn(body.args[0], first.low, max(first.low, last), gcd(math.divisor(lower), math.divisor(step)))
        with self._inside(body):
            yield body.args[0]

    @contextmanager
    def when(self, condition: Truth) -> Generator[None]:
        """What is built inside runs when `condition` holds; it must not be known to fail."""
        if isinstance(condition, bool):
            yield
            return
        body = Block([scf.YieldOp()])
        self.add(scf.IfOp(condition, [], [body]))
        with self._inside(body):
            yield

    @contextmanager
    def _inside(self, body: Block) -> Generator[None]:
        outside = self.builder.insertion_point
        last = body.last_op
        assert last is not None
        self.builder.insertion_point = InsertPoint.before(last)
        yield
        self.builder.insertion_point = outside

    def positions(self, count: Index) -> Generator[Index]:
        """Positions 0 to `count`: what a `for` over them builds is written out when they are few, else looped."""
        if isinstance(count, int) and count <= UNROLLED:
            yield from range(count)
            return
        with self.loop(0, count) as position:
            yield position

    @contextmanager
    def before_loops(self) -> Generator[None]:
        """What is built inside comes before the outermost loop of the place at hand."""
        outside = self.builder.insertion_point
        op = outside.block.parent_op()
        while op is not None and op is not self.kernel:
            self.builder.insertion_point = InsertPoint.before(op)
            op = op.parent_op()
        yield
        self.builder.insertion_point = outside

    # Places.

    @property
    def scope(self) -> Scope:
        """The innermost scope."""
        return self.scopes[-1]

    def put(self, value: SSAValue, place: TilePlace) -> None:
        """Remember that a tile is at `place`, as long as this scope lasts."""
        self.scope.places.setdefault(value, {})[type(place)] = place

    def find(self, value: SSAValue, kind: type[PlaceT]) -> PlaceT | None:
        """The place of that kind that a tile has, if it has one."""
        for scope in reversed(self.scopes):
            place = scope.places.get(value, {}).get(kind)
            if isinstance(place, kind):
                return place
        return None

    def get(self, value: SSAValue, kind: type[PlaceT]) -> PlaceT:
        """The place of that kind that a tile must have."""
        place = self.find(value, kind)
        if place is None:
            raise self.fail(f"tile %{value.name_hint or '?'} of type {value.type} is not where this operation needs it")
        return place

    def alloc(self, space: Space, nbytes: int, name: str | None, *, doubled: bool = True) -> Place:
        """Bytes for a tile; if `doubled` and the loop asks for it two copies, of which this is the one in turn."""
        slot = self.scope.slot if doubled else None
        op = self.reserve(space, nbytes, name, 1 if slot is None else 2)
        return Place(op.result, 0 if slot is None else self.math.mul(slot, op.copy_bytes))

    def reserve(self, space: Space, nbytes: int, name: str | None, copies: int) -> AllocOp:
        """A buffer of whole blocks, called after what it is for."""
        op = self.add(AllocOp(space, -(-nbytes // BLOCK) * BLOCK, copies))
        op.result.name_hint = f"{name}_{space}" if name else str(space)
        return op

    def alloc_tile(self, type: tile.TileType, name: str | None, *, doubled: bool) -> UbTile:
        """A new place in the unified buffer for a tile. Rows that end inside a block start at the next one."""
        layout = ub_layout(type)
        place = self.alloc(Space.UB, layout.extent * type.element_bytes, name, doubled=doubled)
        return UbTile(place.buffer, place.offset, layout, dtype_of(type))


def ub_layout(type: tile.TileType) -> Layout:
    """How a tile lies in the unified buffer: dense, but for several rows that end inside a block."""
    sizes = type.sizes
    lanes = BLOCK // type.element_bytes
    several = type.element_count > (sizes[-1] if sizes else 1) > 1
    if several and sizes[-1] % lanes:
        return Layout.dense(sizes, pitch=-(-sizes[-1] // lanes) * lanes)
    return Layout.dense(sizes)
