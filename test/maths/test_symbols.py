"""Sizes as expressions: whatever is computed with names is what comes out for every value of the names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge.maths.symbol_evaluation import parse, substitute
from ge.maths.symbols import (
    Expression,
    Size,
    bounds,
    differ,
    exact_quotient,
    maximum,
    minimum,
    quotient,
    quotient_up,
    remainder,
    symbol,
    total,
)

NAMES = {"batch": (0, None), "seq": (1, 512), "h": (2, None)}
SIZES = st.fixed_dictionaries({"batch": st.integers(0, 40), "seq": st.integers(1, 512), "h": st.integers(2, 100)})


def named(name: str) -> Size:
    return symbol(name, *NAMES[name])


BATCH, SEQ, H = map(named, NAMES)


def value(size: Size, sizes: dict[str, int]) -> int:
    """What an expression is for values of its names."""
    found = substitute(size, sizes.get)
    assert isinstance(found, int)
    return found


Pair = tuple[Size, Callable[[dict[str, int]], int]]
"""An expression, and the same computation with numbers."""


def _leaf() -> st.SearchStrategy[Pair]:
    names = st.sampled_from(sorted(NAMES)).map(lambda name: (named(name), lambda sizes: sizes[name]))
    return names | st.integers(-9, 9).map(lambda number: (number, lambda _: number))


OPERATIONS: list[tuple[Callable[[Size, Size], Size], Callable[[int, int], int]]] = [
    (lambda a, b: a + b, lambda a, b: a + b),
    (lambda a, b: a - b, lambda a, b: a - b),
    (lambda a, b: a * b, lambda a, b: a * b),
    (minimum, min),
    (maximum, max),
]
DIVISIONS: list[tuple[Callable[[Size, Size], Size], Callable[[int, int], int]]] = [
    (quotient, lambda a, b: a // b),
    (quotient_up, lambda a, b: -(-a // b)),
    (remainder, lambda a, b: a % b),
]


def _combined(children: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def combine(operation: tuple[Callable[[Size, Size], Size], Callable[[int, int], int]], a: Pair, b: Pair) -> Pair:
        symbolic, numeric = operation
        return symbolic(a[0], b[0]), lambda sizes: numeric(a[1](sizes), b[1](sizes))

    divisors = st.integers(1, 7).map(lambda number: (number, lambda _: number))
    divided = st.builds(combine, st.sampled_from(DIVISIONS), children, divisors)
    return divided | st.builds(combine, st.sampled_from(OPERATIONS), children, children)


PAIRS: st.SearchStrategy[Pair] = st.recursive(_leaf(), _combined, max_leaves=8)


@given(PAIRS, SIZES)
def test_arithmetic(pair: Pair, sizes: dict[str, int]) -> None:
    size, numeric = pair
    assert value(size, sizes) == numeric(sizes)


@given(PAIRS, SIZES)
def test_bounds_hold(pair: Pair, sizes: dict[str, int]) -> None:
    low, high = bounds(pair[0])
    number = value(pair[0], sizes)
    assert low is None or low <= number
    assert high is None or number <= high


@given(PAIRS, PAIRS, SIZES)
def test_what_differs_is_never_equal(a: Pair, b: Pair, sizes: dict[str, int]) -> None:
    assert not (differ(a[0], b[0]) and value(a[0], sizes) == value(b[0], sizes))


@given(PAIRS)
def test_text(pair: Pair) -> None:
    size = pair[0]
    if isinstance(size, Expression):
        assert parse(str(size), named) == size


@given(PAIRS, PAIRS)
def test_order_does_not_matter(a: Pair, b: Pair) -> None:
    assert minimum(a[0], b[0]) == minimum(b[0], a[0])
    assert maximum(a[0], b[0]) == maximum(b[0], a[0])


@given(PAIRS, PAIRS)
def test_exact_quotient(a: Pair, b: Pair) -> None:
    found = exact_quotient(a[0] * b[0], b[0])
    assert b[0] == 0 or found == a[0]
    inexact = exact_quotient(a[0], b[0])
    assert inexact is None or inexact * b[0] == a[0]


def test_normal_form() -> None:
    assert total([BATCH, 2, SEQ, BATCH, -SEQ, 1]) == 2 * BATCH + 3
    assert total([BATCH, -BATCH]) == total([]) == 0
    assert BATCH * SEQ - SEQ * BATCH == 0
    assert 2 * BATCH + BATCH == BATCH * 3
    assert str((BATCH + SEQ) * (BATCH - SEQ)) == "batch*batch - seq*seq"
    assert exact_quotient(64 * BATCH * (BATCH + SEQ), BATCH + SEQ) == 64 * BATCH
    assert exact_quotient(3 * BATCH, 2) is None
    assert exact_quotient(BATCH, 0) is None


def test_repeated_halving_is_one_quotient() -> None:
    size = H
    for _ in range(5):
        size = quotient(size - 1, 2) + 1
    assert str(size) == "(h + 31)//32"


def test_bounds_decide() -> None:
    assert minimum(1, SEQ) == 1
    assert str(minimum(1, BATCH)) == "min(1, batch)"
    assert minimum(quotient(H, 2), H) == quotient(H, 2)
    assert maximum(0, H - 2) == H - 2
    assert bounds(SEQ) == (1, 512)
    assert differ(BATCH, BATCH + 1)
    assert not differ(BATCH, SEQ)
    few, many = symbol("few", 1, 4), symbol("many", 5)
    assert differ(few, many)
    assert differ(many, few)
    assert not differ(few + 1, many)
    assert differ(quotient(few, 2), 3)
    assert not differ(quotient(few, 2), 2)
    assert symbol("n", 3, 3) == 3


@pytest.mark.parametrize("text", ["batch-size", "batch size", "a.b", "None", "x/2", "f(x)", "2*", "1 // 0", "", "лист"])
def test_other_texts_are_names(text: str) -> None:
    assert parse(text) == symbol(text)


def test_substitution() -> None:
    assert substitute(quotient(H, 2) + BATCH, {"h": 7}.get) == 3 + BATCH
    assert substitute(minimum(1, BATCH), {"batch": 4}.get) == 1
