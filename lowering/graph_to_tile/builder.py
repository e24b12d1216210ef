"""Writing a tile kernel: one method for each operation, index arithmetic that folds numbers, loops as blocks of Python.

::

    b = KernelBuilder("relu", [x_type], [y_type], blocks=8)
    with b.loop(b.core, tiles, 8) as turn:
        row = b.mul(turn.counter, 64)
        b.store(b.unary("relu", b.load(b.inputs[0], [row, 0], [64, 16])), b.outputs[0], [row, 0], [64, 16])
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float16Type, IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge.dialects.tile import compute, movement, structure, transfer
from ge.dialects.tile.compute import BinaryKind, ReduceKind, ScalarKind, UnaryKind
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import GmType, TileType, gm_type, tile_type

OpT = TypeVar("OpT", bound=Operation)
ValueT = TypeVar("ValueT", int | SSAValue, SSAValue)


@dataclass
class Turn:
    """The inside of a loop: its counter, its loop-carried tiles, and what it hands on."""

    counter: Index
    carried: list[SSAValue]
    results: list[SSAValue] = field(default_factory=list["SSAValue"])
    """The tiles handed to the next turn; after the loop, its results."""


class KernelBuilder:
    """A kernel under construction; operations go to the end of the innermost open loop."""

    def __init__(self, name: str, inputs: Sequence[GmType], outputs: Sequence[GmType], blocks: int) -> None:
        self.kernel = structure.KernelOp(name, [*inputs, *outputs], blocks, len(outputs))
        self.inputs = self.kernel.arguments[: len(inputs)]
        self.outputs = self.kernel.arguments[len(inputs) :]
        self.core: Index = self.kernel.core if blocks > 1 else 0
        self._block: Block = self.kernel.body.block
        self._numbers: dict[int, SSAValue] = {}
        self.kernel.core.name_hint = "core"
        for values, letter in ((self.inputs, "x"), (self.outputs, "y")):
            for number, value in enumerate(values):
                value.name_hint = letter if len(values) == 1 else f"{letter}{number}"

    def name_arguments(self, *names: str) -> None:
        """Give the arguments, inputs first, names for the text."""
        for argument, name in zip(self.kernel.arguments, names, strict=True):
            argument.name_hint = name

    def named(self, name: str, value: ValueT) -> ValueT:
        """The value, with a name for the text unless it has one; a number stays a number."""
        if isinstance(value, SSAValue) and value.name_hint is None:
            value.name_hint = name
        return value

    def add(self, op: OpT) -> OpT:
        """Put an operation at the end of the innermost loop."""
        self._block.add_op(op)
        return op

    # index arithmetic

    def number(self, value: Index) -> SSAValue:
        """An index as a value; numbers stand at the head of the kernel, each once."""
        if isinstance(value, SSAValue):
            return value
        if value not in self._numbers:
            constant = arith.ConstantOp(IntegerAttr(value, IndexType()))
            constant.result.name_hint = f"c{value}" if value >= 0 else f"minus{-value}"
            self._insert_at_head(constant)
            self._numbers[value] = constant.result
        return self._numbers[value]

    def _insert_at_head(self, op: Operation) -> None:
        """Put an operation after the numbers that stand at the head of the kernel already."""
        block = self.kernel.body.block
        rest = next((other for other in block.ops if not isinstance(other, arith.ConstantOp)), None)
        if rest is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, rest)

    def plus(self, a: Index, b: Index) -> Index:
        """``a + b``."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if 0 in (a, b):
            return b if a == 0 else a
        return self.add(arith.AddiOp(self.number(a), self.number(b))).result

    def minus(self, a: Index, b: Index) -> Index:
        """``a - b``."""
        if isinstance(b, int):
            return self.plus(a, -b)
        return self.add(arith.SubiOp(self.number(a), b)).result

    def times(self, a: Index, b: int) -> Index:
        """``a * b``."""
        if isinstance(a, int):
            return a * b
        return 0 if b == 0 else a if b == 1 else self.add(arith.MuliOp(a, self.number(b))).result

    def divide(self, a: Index, b: int) -> Index:
        """``a / b`` rounded down, for ``a`` that is not negative."""
        if isinstance(a, int):
            return a // b
        return a if b == 1 else self.add(arith.DivUIOp(a, self.number(b))).result

    def modulo(self, a: Index, b: int) -> Index:
        """The remainder of ``a / b``, for ``a`` that is not negative."""
        if isinstance(a, int):
            return a % b
        return 0 if b == 1 else self.add(arith.RemUIOp(a, self.number(b))).result

    def split(self, number: Index, *sizes: int) -> tuple[Index, ...]:
        """The coordinates of a number that counts through a box of ``sizes``, the slowest first."""
        coordinates: list[Index] = []
        left = math.prod(sizes)
        for size in reversed(sizes):
            coordinates.append(number if left == size else self.modulo(number, size))
            left //= size
            number = 0 if left == 1 else self.divide(number, size)
        return tuple(reversed(coordinates))

    # loops

    @contextmanager
    def loop(
        self, lower: Index, upper: int, step: int, initial: Sequence[SSAValue] = (), stages: int = 1
    ) -> Generator[Turn]:
        """A loop around what the ``with`` block adds; a single turn that is known to happen is written without one."""
        if isinstance(lower, int) and lower < upper <= lower + step:
            turn = Turn(lower, list(initial), list(initial))
            yield turn
            return
        loop = self.add(structure.ForOp(lower, upper, step, initial, stages))
        self.named("i", loop.counter)
        outside, self._block = self._block, loop.body.block
        for value in (*loop.carried, *loop.results):
            self.named("acc", value)
        turn = Turn(loop.counter, list(loop.carried), list(loop.carried))
        yield turn
        self.add(structure.YieldOp(*turn.results))
        self._block = outside
        turn.results = list(loop.results)

    @contextmanager
    def loop_or_once(self, first: Index, total: int, step: int, stages: int = 1) -> Generator[Index]:
        """A loop over ``first``, ``first + step``, ... below ``total``, where ``first`` is below ``step``.

        When ``total`` is ``step`` there is exactly one turn, and no loop.
        """
        if total == step:
            yield first
            return
        with self.loop(first, total, step, stages=stages) as turn:
            yield turn.counter

    @contextmanager
    def deal(self, tiles: int, stages: int = 1) -> Generator[Index]:
        """A loop over ``tiles``, dealt to the cores of the kernel one by one."""
        with self.loop_or_once(self.core, tiles, self.kernel.block_count, stages) as number:
            yield number

    # transfers

    def load(
        self,
        source: SSAValue,
        offsets: Sequence[Index],
        sizes: Sequence[int],
        fill: float | None = None,
        shape: Sequence[int] | None = None,
    ) -> SSAValue:
        """A slice of a tensor; ``fill`` is dropped when the slice is known to lie inside."""
        bounds = gm_type(source).sizes
        if all(
            isinstance(offset, int) and 0 <= offset <= bound - size
            for offset, size, bound in zip(offsets, sizes, bounds, strict=True)
        ):
            fill = None
        return self.add(transfer.LoadOp(source, offsets, sizes, fill, shape)).result

    def store(self, value: SSAValue, target: SSAValue, offsets: Sequence[Index], sizes: Sequence[int]) -> None:
        """Write a tile to a slice of a tensor."""
        self.add(transfer.StoreOp(value, target, offsets, sizes))

    # tiles

    def constant(self, value: float, shape: Sequence[int], element_type: Attribute) -> SSAValue:
        """A tile of one number."""
        return self.add(compute.ConstantOp(value, TileType(shape, element_type))).result

    def unary(self, kind: UnaryKind | str, source: SSAValue) -> SSAValue:
        """An elementwise function."""
        return self.add(compute.UnaryOp(UnaryKind(kind), source)).result

    def binary(self, kind: BinaryKind | str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """An elementwise function of two tiles."""
        return self.add(compute.BinaryOp(BinaryKind(kind), lhs, rhs)).result

    def scalar(self, kind: ScalarKind | str, source: SSAValue, value: float) -> SSAValue:
        """An elementwise function of a tile and a number."""
        return self.add(compute.ScalarOp(ScalarKind(kind), source, value)).result

    def cast(self, source: SSAValue, element_type: Attribute) -> SSAValue:
        """The tile in an element type; itself when it has that already."""
        if tile_type(source).element_type == element_type:
            return source
        return self.add(compute.CastOp(source, element_type)).result

    def broadcast(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The tile with dimensions of size 1 repeated."""
        return (
            source if tile_type(source).sizes == tuple(shape) else self.add(compute.BroadcastOp(source, shape)).result
        )

    def slice(
        self, source: SSAValue, offsets: Sequence[Index], sizes: Sequence[int], strides: Sequence[int] | None = None
    ) -> SSAValue:
        """A part of a tile; the tile itself when it is all of it."""
        if tile_type(source).sizes == tuple(sizes):
            return source
        return self.add(movement.SliceOp(source, offsets, sizes, strides)).result

    def reduce(self, kind: ReduceKind | str, source: SSAValue, axis: int) -> SSAValue:
        """The sum or maximum along an axis, which stays with size 1."""
        if tile_type(source).sizes[axis] == 1:
            return source
        return self.add(compute.ReduceOp(ReduceKind(kind), source, axis)).result

    def transpose(self, source: SSAValue) -> SSAValue:
        """The transpose of a float16 matrix with 16 rows or columns."""
        return self.add(movement.TransposeOp(source)).result

    def concat(self, parts: Sequence[SSAValue], axis: int = 0) -> SSAValue:
        """Tiles one after the other along an axis."""
        return parts[0] if len(parts) == 1 else self.add(movement.ConcatOp(parts, axis)).result

    def reshape(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in another shape."""
        return source if tile_type(source).sizes == tuple(shape) else self.add(movement.ReshapeOp(source, shape)).result


def is_f16(value: SSAValue) -> bool:
    """Whether a tile or tensor holds float16."""
    return isinstance(cast(TileType, value.type).element_type, Float16Type)
