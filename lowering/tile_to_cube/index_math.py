"""Arithmetic on positions that folds what is known while it builds the rest.

An :data:`Index` is a number known now or an `index` value of the kernel. :class:`IndexMath` adds operations only for
what it cannot compute, and remembers the bounds of each value, so that a clip that never applies costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

Index: TypeAlias = int | SSAValue
"""A position, a count or a byte offset: known now, or an `index` value."""

Truth: TypeAlias = bool | SSAValue
"""A condition: known now, or an `i1` value."""

UNBOUNDED = 1 << 62
"""Beyond every number that occurs."""


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest number that a value can be."""

    low: int
    high: int


class IndexMath:
    """Builds index arithmetic where `builder` points; constants go to the front of `entry`, once each."""

    def __init__(self, builder: Builder, entry: Block) -> None:
        self.builder = builder
        self._entry = entry
        self._constants: dict[int, SSAValue] = {}
        self._bounds: dict[SSAValue, Bounds] = {}
        self._divisors: dict[SSAValue, int] = {}
        self._built: dict[tuple[object, ...], SSAValue] = {}

    # Values and what is known about them.

    def value(self, index: Index) -> SSAValue:
        """`index` as a value."""
        if isinstance(index, SSAValue):
            return index
        if index not in self._constants:
            constant = arith.ConstantOp(IntegerAttr(index, IndexType()))
            constant.result.name_hint = f"c{index}" if index >= 0 else f"m{-index}"
            Builder(InsertPoint.at_start(self._entry)).insert(constant)
            self._constants[index] = constant.result
        return self._constants[index]

    def bounds(self, index: Index) -> Bounds:
        """Between which numbers `index` lies."""
        if isinstance(index, int):
            return Bounds(index, index)
        return self._bounds.get(index, Bounds(-UNBOUNDED, UNBOUNDED))

    def divisor(self, index: Index) -> int:
        """A number that divides `index` (0 for 0, which every number divides)."""
        return abs(index) if isinstance(index, int) else self._divisors.get(index, 1)

    def learn(self, value: SSAValue, low: int, high: int, divisor: int = 1) -> None:
        """Remember that `value` lies between `low` and `high`, both included, and is a multiple of `divisor`."""
        self._bounds[value] = Bounds(low, high)
        self._divisors[value] = divisor

    # Arithmetic. Divisors are positive, and remainders are of values that are not negative.

    def add(self, a: Index, b: Index) -> Index:
        """A + b."""
        if isinstance(a, int):
            a, b = b, a
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if b == 0:
            return a
        return self._build(arith.AddiOp, a, b, lambda x, y: x + y, self._common_divisor(a, b))

    def sum(self, *terms: Index) -> Index:
        """All of them together."""
        total: Index = 0
        for term in terms:
            if isinstance(term, SSAValue):
                total = self.add(total, term)
        return self.add(total, sum(term for term in terms if isinstance(term, int)))

    def sub(self, a: Index, b: Index) -> Index:
        """A - b."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        if isinstance(b, int):
            return self.add(a, -b)
        if a is b:
            return 0
        return self._build(arith.SubiOp, a, b, lambda x, y: x - y, self._common_divisor(a, b))

    def mul(self, a: Index, b: Index) -> Index:
        """A * b."""
        if isinstance(a, int):
            a, b = b, a
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if b == 0:
            return 0
        if b == 1:
            return a
        return self._build(arith.MuliOp, a, b, lambda x, y: x * y, self.divisor(a) * self.divisor(b))

    def div(self, a: Index, b: Index) -> Index:
        """A / b, rounded down."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        if b == 1:
            return a
        if isinstance(b, int) and self.bounds(a).low >= 0 and self.bounds(a).high < b:
            return 0
        op = arith.DivUIOp if self.bounds(a).low >= 0 else arith.FloorDivSIOp
        even = isinstance(b, int) and self.divisor(a) % b == 0
        divisor = self.divisor(a) // b if isinstance(b, int) and even else 1
        return self._build(op, a, b, lambda x, y: x // max(y, 1), divisor)

    def div_up(self, a: Index, b: int) -> Index:
        """A / b, rounded up."""
        return self.div(self.add(a, b - 1), b)

    def rem(self, a: Index, b: Index) -> Index:
        """The remainder of a / b."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        if b == 1:
            return 0
        if isinstance(b, int) and self.bounds(a).low >= 0 and self.bounds(a).high < b:
            return a
        result = self._insert(arith.RemUIOp(self.value(a), self.value(b)))
        self.learn(result, 0, self.bounds(b).high - 1)
        return result

    def parity(self, a: Index) -> Index:
        """The remainder of a / 2; always an operation of its own, by which later passes know it."""
        if isinstance(a, int):
            return a % 2
        result = self._insert(arith.RemUIOp(a, self.value(2)))
        self.learn(result, 0, 1)
        return result

    def min(self, a: Index, b: Index) -> Index:
        """The smaller one."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        if self.bounds(a).high <= self.bounds(b).low:
            return a
        if self.bounds(b).high <= self.bounds(a).low:
            return b
        return self._build(arith.MinSIOp, a, b, min, self._common_divisor(a, b))

    def max(self, a: Index, b: Index) -> Index:
        """The greater one."""
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        if self.bounds(a).low >= self.bounds(b).high:
            return a
        if self.bounds(b).low >= self.bounds(a).high:
            return b
        return self._build(arith.MaxSIOp, a, b, max, self._common_divisor(a, b))

    # Conditions.

    def equal(self, a: Index, b: Index) -> Truth:
        """Whether a = b."""
        x, y = self.bounds(a), self.bounds(b)
        return self._compare("eq", a, b, x.low == x.high == y.low == y.high, x.high < y.low or y.high < x.low)

    def less(self, a: Index, b: Index) -> Truth:
        """Whether a < b."""
        x, y = self.bounds(a), self.bounds(b)
        return self._compare("slt", a, b, x.high < y.low, x.low >= y.high)

    def both(self, a: Truth, b: Truth) -> Truth:
        """Whether both hold."""
        return self._logic(arith.AndIOp, a, b, neutral=True)

    def either(self, a: Truth, b: Truth) -> Truth:
        """Whether one of them holds, or both."""
        return self._logic(arith.OrIOp, a, b, neutral=False)

    # Building.

    def _compare(self, predicate: str, a: Index, b: Index, always: bool, never: bool) -> Truth:
        if always or never:
            return always
        return self._insert(arith.CmpiOp(self.value(a), self.value(b), predicate))

    def _logic(self, op: type[arith.AndIOp | arith.OrIOp], a: Truth, b: Truth, *, neutral: bool) -> Truth:
        if isinstance(a, bool):
            return b if a is neutral else not neutral
        if isinstance(b, bool):
            return a if b is neutral else not neutral
        return self._insert(op(a, b))

    def _common_divisor(self, a: Index, b: Index) -> int:
        return math.gcd(self.divisor(a), self.divisor(b))

    def _build(
        self,
        op: Callable[[SSAValue, SSAValue], Operation],
        a: Index,
        b: Index,
        function: Callable[[int, int], int],
        divisor: int = 1,
    ) -> Index:
        """An operation whose result is least and greatest where its operands are, and a multiple of `divisor`."""
        x, y = self.bounds(a), self.bounds(b)
        corners = [function(i, j) for i in (x.low, x.high) for j in (y.low, y.high)]
        if min(corners) == max(corners):
            return corners[0]
        result = self._insert(op(self.value(a), self.value(b)))
        self.learn(result, max(min(corners), -UNBOUNDED), min(max(corners), UNBOUNDED), divisor)
        return result

    def _insert(self, op: Operation) -> SSAValue:
        """Insert an operation outside of the loops that do not change it, unless the same is there already."""
        point = self.builder.insertion_point
        defined_in = {_block_of(operand) for operand in op.operands}
        while point.block not in defined_in:
            around = point.block.parent_op()
            assert around is not None and around.parent is not None, "operands dominate the insertion point"
            point = InsertPoint.before(around)
        key = (type(op), *op.operands, *op.properties.values())
        known = self._built.get(key)
        if known is not None and _block_of(known) is point.block:
            return known
        self._built[key] = self.builder.insert(op, point).results[0]
        return self._built[key]


def _block_of(value: SSAValue) -> Block | None:
    return value.owner.parent if isinstance(value.owner, Operation) else value.owner
