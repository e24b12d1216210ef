"""Index arithmetic: what is known folds, the rest is right, built once, and outside of loops that it does not need."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ge.dialects.cube.scalars import SCALAR_BY_CLASS, SCALAR_FUNCTIONS, constant_value
from ge.lowering.tile_to_cube.index_math import Index, IndexMath


def build() -> tuple[IndexMath, Block, SSAValue]:
    """Arithmetic in a block with one argument."""
    block = Block(arg_types=[IndexType()])
    return IndexMath(Builder(InsertPoint.at_end(block)), block), block, block.args[0]


def evaluate(index: Index, argument: SSAValue, number: int) -> int:
    """The number that an index is when the argument of the block is `number`."""
    if isinstance(index, int):
        return index
    if index is argument:
        return number
    constant = constant_value(index)
    if constant is not None:
        return int(constant)
    assert isinstance(index.owner, Operation)
    operands = [evaluate(operand, argument, number) for operand in index.owner.operands]
    return eval(SCALAR_BY_CLASS[type(index.owner)].python.format(*operands), dict(SCALAR_FUNCTIONS))


FUNCTIONS: dict[str, tuple[Callable[[IndexMath, Index, Index], Index], Callable[[int, int], int]]] = {
    "add": (IndexMath.add, lambda a, b: a + b),
    "sub": (IndexMath.sub, lambda a, b: a - b),
    "mul": (IndexMath.mul, lambda a, b: a * b),
    "min": (IndexMath.min, min),
    "max": (IndexMath.max, max),
    "div": (IndexMath.div, lambda a, b: a // b),
    "rem": (IndexMath.rem, lambda a, b: a % b),
}


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(FUNCTIONS)), st.integers(1, 40), st.booleans()), max_size=6),
    st.integers(0, 30),
    st.integers(0, 30),
)
def test_values_lie_where_they_are_said_to(steps: list[tuple[str, int, bool]], low: int, width: int) -> None:
    """Chains of operations on a number of known bounds: right, within the bounds, a multiple of the divisor."""
    math, _, argument = build()
    math.learn(argument, low, low + width)
    index: Index = argument
    expected = {number: number for number in range(low, low + width + 1)}
    for name, operand, swap in steps:
        ours, theirs = FUNCTIONS[name]
        commutes = name in ("add", "mul", "min", "max") or name == "sub"
        a, b = (operand, index) if swap and commutes else (index, operand)
        if name == "rem" and math.bounds(index).low < 0:
            continue
        index = ours(math, a, b)
        expected = {
            number: theirs(operand, old) if swap and commutes else theirs(old, operand)
            for number, old in expected.items()
        }
    for number, want in expected.items():
        assert evaluate(index, argument, number) == want
        assert math.bounds(index).low <= want <= math.bounds(index).high
        assert want % divisor == 0 if (divisor := math.divisor(index)) else want == 0


@pytest.mark.parametrize("name", ["add", "sub", "mul", "min", "max", "div", "rem"])
def test_numbers_fold(name: str) -> None:
    math, block, _ = build()
    ours, theirs = FUNCTIONS[name]
    assert ours(math, 17, 5) == theirs(17, 5)
    assert not block.ops


def test_what_changes_nothing_is_not_built() -> None:
    math, block, x = build()
    math.learn(x, 3, 9)
    assert math.add(x, 0) is x and math.add(0, x) is x and math.sub(x, 0) is x and math.sub(x, x) == 0
    assert math.mul(x, 1) is x and math.mul(0, x) == 0 and math.div(x, 1) is x and math.rem(x, 1) == 0
    assert math.max(x, 3) is x and math.max(x, 9) == 9 and math.min(x, 9) is x and math.min(2, x) == 2
    assert math.div(x, 10) == 0 and math.rem(x, 10) is x
    assert math.less(x, 10) is True and math.less(x, 3) is False and math.equal(x, 2) is False
    assert not block.ops


def test_the_same_is_built_once() -> None:
    math, block, x = build()
    assert math.mul(x, 3) is math.mul(3, x)
    assert math.less(x, 3) is math.less(x, 3)
    assert sum(isinstance(op, arith.MuliOp | arith.CmpiOp) for op in block.ops) == 2


def test_a_parity_is_always_a_remainder() -> None:
    """Also of what is known to be 0 or 1: later passes look for it."""
    math, _, x = build()
    math.learn(x, 0, 1)
    result = math.parity(x)
    assert isinstance(result, SSAValue) and isinstance(result.owner, arith.RemUIOp)
    assert math.parity(7) == 1


def test_what_a_loop_does_not_change_is_built_before_it() -> None:
    math, block, x = build()
    body = Block([scf.YieldOp()], arg_types=[IndexType()])
    zero, four, one = (math.value(number) for number in (0, 4, 1))
    loop = math.builder.insert(scf.ForOp(zero, four, one, [], body))
    assert body.last_op is not None
    math.builder.insertion_point = InsertPoint.before(body.last_op)
    outside, inside = math.mul(x, 3), math.mul(body.args[0], 3)
    assert isinstance(outside, SSAValue) and isinstance(inside, SSAValue)
    assert outside.owner.parent is block and inside.owner.parent is body
    assert list(block.ops)[-1] is loop


def test_conditions_fold() -> None:
    math, _, x = build()
    condition = math.less(x, 5)
    assert math.both(True, condition) is condition and math.both(condition, False) is False
    assert math.either(False, condition) is condition and math.either(condition, True) is True
