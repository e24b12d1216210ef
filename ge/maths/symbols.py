"""Integers that are not known yet: sums and products of named sizes, in a normal form.

    batch, seq = symbol("batch"), symbol("seq")
    2 * batch * seq + batch - 2 * seq * batch   # batch
    quotient(6 * batch, 2)                      # 3*batch
    exact_quotient(12 * batch * seq, 4 * batch) # 3*seq
    minimum(1, batch)                           # min(1, batch), or 1 when batch is known to be at least 1

A size is an ``int`` or an :class:`Expression`, and every function here takes and gives either, so that arithmetic on
known and unknown sizes is written once. Two expressions that are equal as polynomials are equal as Python objects.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

Size: TypeAlias = "int | Expression"
"""An integer that is a number, or known as an expression."""

Interval: TypeAlias = "tuple[int | None, int | None]"
"""The least and the greatest value of a size, both included; None where there is no bound."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for one integer, which lies between ``low`` and ``high`` (both included; None: no bound)."""

    name: str
    low: int | None = field(default=0, compare=False)
    high: int | None = field(default=None, compare=False)
    anonymous: bool = field(default=False, compare=False)
    """Whether the name only tells the integer from others, and means nothing to the user."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Call:
    """A function of sizes that is not a polynomial: the rounded down quotient, its remainder, minimum or maximum."""

    function: Literal["//", "%", "min", "max"]
    left: Size
    right: Size

    def __str__(self) -> str:
        if self.function in ("min", "max"):
            return f"{self.function}({self.left}, {self.right})"
        return f"{_factor(self.left)}{self.function}{_factor(self.right)}"


Atom: TypeAlias = Symbol | Call
Monomial: TypeAlias = tuple[Atom, ...]
"""A product of atoms, sorted by their text; a power is a repeated atom, the empty product is one."""


class Expression:
    """A sum of products of symbols with integer factors; never a plain number. See the module for its functions."""

    __match_args__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms
        """The factor of each product, none of them zero."""

    @cached_property
    def _key(self) -> frozenset[tuple[Monomial, int]]:
        return frozenset(self.terms.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _text(self) -> str:
        ordered = sorted(self.terms.items(), key=lambda term: (-len(term[0]), _product(term[0]), term[1]))
        text = " + ".join(_term(monomial, factor) for monomial, factor in ordered)
        return text.replace("+ -", "- ")

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __add__(self, other: Size) -> Size:
        return _sum([(self, 1), (other, 1)])

    __radd__ = __add__

    def __sub__(self, other: Size) -> Size:
        return _sum([(self, 1), (other, -1)])

    def __rsub__(self, other: Size) -> Size:
        return _sum([(other, 1), (self, -1)])

    def __neg__(self) -> Size:
        return _sum([(self, -1)])

    def __mul__(self, other: Size) -> Size:
        terms: dict[Monomial, int] = {}
        for a, x in self.terms.items():
            for b, y in _terms(other).items():
                product = tuple(sorted((*a, *b), key=str))
                terms[product] = terms.get(product, 0) + x * y
        return _size(terms)

    __rmul__ = __mul__

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols in the expression, also inside calls."""
        return frozenset(found for monomial in self.terms for atom in monomial for found in _symbols(atom))

    @property
    def is_anonymous(self) -> bool:
        """Whether a symbol in it has no name that means something."""
        return any(symbol.anonymous for symbol in self.symbols)

    @cached_property
    def bounds(self) -> Interval:
        """Bounds that follow from those of the symbols; not always the tightest."""
        low, high = _lower(self.terms), _lower({monomial: -factor for monomial, factor in self.terms.items()})
        return None if low is None else math.ceil(low), None if high is None else math.floor(-high)


def symbol(name: str, low: int | None = 0, high: int | None = None, *, anonymous: bool = False) -> Size:
    """The size called ``name``; a number when its bounds meet."""
    if low is not None and low == high:
        return low
    return Expression({(Symbol(name, low, high, anonymous),): 1})


def _symbols(atom: Atom) -> Iterable[Symbol]:
    if isinstance(atom, Symbol):
        return (atom,)
    return (found for part in (atom.left, atom.right) if isinstance(part, Expression) for found in part.symbols)


def _terms(size: Size) -> Mapping[Monomial, int]:
    if isinstance(size, Expression):
        return size.terms
    return {(): size} if size else {}


def _size(terms: Mapping[Monomial, int]) -> Size:
    """The size of some terms, zero factors left out; a number when it is one."""
    if 0 in terms.values():
        terms = {monomial: factor for monomial, factor in terms.items() if factor}
    if not terms:
        return 0
    return terms[()] if len(terms) == 1 and () in terms else Expression(terms)


def _sum(parts: Iterable[tuple[Size, int]]) -> Size:
    terms: dict[Monomial, int] = {}
    for size, sign in parts:
        for monomial, factor in _terms(size).items():
            terms[monomial] = terms.get(monomial, 0) + sign * factor
    return _size(terms)


def _term(monomial: Monomial, factor: int) -> str:
    if not monomial:
        return str(factor)
    if factor == 1:
        return _product(monomial)
    atoms = "*".join(map(_grouped, monomial))
    return f"-{atoms}" if factor == -1 else f"{factor}*{atoms}"


def _product(monomial: Monomial) -> str:
    return "*".join(map(_grouped, monomial)) if len(monomial) > 1 else "".join(map(str, monomial))


def _grouped(atom: Atom) -> str:
    """An atom as a factor: quotients in parentheses."""
    return f"({atom})" if isinstance(atom, Call) and atom.function in "//%" else str(atom)


def _factor(size: Size) -> str:
    """A size as part of a quotient: in parentheses unless it is a number or a symbol."""
    return str(size) if isinstance(size, int) or str(size).isidentifier() else f"({size})"


# Division, minimum, maximum


def quotient(a: Size, b: Size) -> Size:
    """``a / b`` rounded down. Raises ZeroDivisionError when ``b`` is the number zero."""
    if isinstance(b, Expression):
        exact = exact_quotient(a, b)
        return Expression({(Call("//", a, b),): 1}) if exact is None else exact
    if isinstance(a, int):
        return a // b
    if b < 0:
        return quotient(-a, -b)
    whole = _size({monomial: factor // b for monomial, factor in a.terms.items() if factor % b == 0 or not monomial})
    rest = a - whole * b
    low, high = bounds(rest)
    if low is not None and high is not None and low // b == high // b:
        return whole + low // b
    return whole + _reduced_quotient(rest, b)


def _reduced_quotient(a: Size, b: int) -> Size:
    """``a // b`` without common factors, and with ``(x//m + r) // b`` written as ``(x + r*m) // (m*b)``."""
    common = math.gcd(b, *_terms(a).values())
    a, b = _size({monomial: factor // common for monomial, factor in _terms(a).items()}), b // common
    for monomial, factor in _terms(a).items():
        if factor == 1 and len(monomial) == 1 and isinstance(call := monomial[0], Call):
            rest = a - Expression({monomial: 1})
            if call.function == "//" and isinstance(call.right, int) and call.right > 0:
                return quotient(call.left + rest * call.right, call.right * b)
    return Expression({(Call("//", a, b),): 1})


def quotient_up(a: Size, b: Size) -> Size:
    """``a / b`` rounded up. Raises ZeroDivisionError when ``b`` is the number zero."""
    return quotient(a + b - 1, b) if isinstance(b, int) and b > 0 else -quotient(-a, b)


def remainder(a: Size, b: Size) -> Size:
    """``a - b * quotient(a, b)``. Raises ZeroDivisionError when ``b`` is the number zero."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    whole = quotient(a, b)
    if isinstance(whole, int) or not any(_has_call(monomial) for monomial in whole.terms):
        return a - whole * b
    return Expression({(Call("%", a, b),): 1})


def _has_call(monomial: Monomial) -> bool:
    return any(isinstance(atom, Call) for atom in monomial)


def exact_quotient(a: Size, b: Size) -> Size | None:
    """The size ``q`` with ``q * b == a`` as polynomials, or None when there is none (or ``b`` is zero)."""
    rest, divisor = dict(_terms(a)), _terms(b)
    if not divisor:
        return None
    lead = max(divisor, key=_order)
    result: dict[Monomial, int] = {}
    while rest:
        monomial = max(rest, key=_order)
        factor = _without(monomial, lead)
        if factor is None or rest[monomial] % divisor[lead]:
            return None
        result[factor] = rest[monomial] // divisor[lead]
        step = _size({factor: result[factor]}) * b
        rest = dict(_terms(_size(rest) - step))
        if rest and _order(max(rest, key=_order)) >= _order(monomial):
            return None
    return _size(result)


def _order(monomial: Monomial) -> tuple[int, list[str]]:
    return len(monomial), list(map(str, monomial))


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """A product divided by another, or None when it does not have all its atoms."""
    left = list(monomial)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def minimum(a: Size, b: Size) -> Size:
    """The smaller of two sizes."""
    return _extreme("min", a, b)


def maximum(a: Size, b: Size) -> Size:
    """The greater of two sizes."""
    return _extreme("max", a, b)


def _extreme(function: Literal["min", "max"], a: Size, b: Size) -> Size:
    """The smaller or the greater one, the same in either order: ``a - b`` may have other bounds than ``b - a``."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b) if function == "min" else max(a, b)
    a, b = sorted((a, b), key=str)
    low, high = _difference(a, b)
    if low is not None and low >= 0:
        return b if function == "min" else a
    if high is not None and high <= 0:
        return a if function == "min" else b
    return Expression({(Call(function, a, b),): 1})


def total(sizes: Iterable[Size]) -> Size:
    """The sum of sizes; zero for none."""
    return _sum((size, 1) for size in sizes)


def product(sizes: Iterable[Size]) -> Size:
    """The product of sizes; one for none."""
    result: Size = 1
    for size in sizes:
        result = result * size
    return result


# Bounds


def bounds(size: Size) -> Interval:
    """Bounds of a size that follow from those of its symbols; not always the tightest."""
    return (size, size) if isinstance(size, int) else size.bounds


def differ(a: Size, b: Size) -> bool:
    """Whether two sizes are certainly different."""
    if a == b:
        return False
    low, high = _difference(a, b)
    return (low is not None and low > 0) or (high is not None and high < 0)


def _difference(a: Size, b: Size) -> Interval:
    """Bounds of ``a - b``, from those of each where no symbol is in both: then the difference tells no more."""
    if isinstance(a, Expression) and isinstance(b, Expression) and not a.symbols.isdisjoint(b.symbols):
        return bounds(a - b)
    (a_low, a_high), (b_low, b_high) = bounds(a), bounds(b)
    low = None if a_low is None or b_high is None else a_low - b_high
    return low, None if a_high is None or b_low is None else a_high - b_low


_MAX_CALLS = 6
"""How many calls a bound looks into; each may double the work."""


Sum: TypeAlias = "Mapping[Monomial, int | Fraction]"


def _lower(terms: Sum, depth: int = 0) -> int | Fraction | None:
    """A lower bound of a sum whose factors need not be integers: calls are replaced by what bounds them."""
    calls = [monomial[0] for monomial in terms if len(monomial) == 1 and isinstance(monomial[0], Call)]
    if calls:
        if depth == _MAX_CALLS:
            return None
        call = min(calls, key=str)  # not the one that was added first: equal sums have equal bounds
        factor, rest = terms[call,], {other: value for other, value in terms.items() if other != (call,)}
        worst, candidates = _replacements(call, factor > 0)
        lows = [_lower(_add(rest, candidate, factor), depth + 1) for candidate in candidates]
        known = [low for low in lows if low is not None]
        if worst:
            return min(known) if known and len(known) == len(lows) else None
        return max(known, default=None)
    total: int | Fraction = 0
    for monomial, factor in terms.items():
        low, high = _monomial_bounds(monomial)
        bound = low if factor > 0 else high
        if bound is None:
            return None
        total += factor * bound
    return total


def _replacements(call: Call, below: bool) -> tuple[bool, list[Sum]]:
    """Sums that bound a call from below, or from above; and whether only the worst of them does."""
    left, right = _terms(call.left), _terms(call.right)
    match call.function:
        case "min" | "max":
            return (call.function == "min") == below, [left, right]
        case "//" if isinstance(call.right, int):
            shifted = _add(left, {(): 1 - call.right}, 1) if below else left
            return False, [{monomial: Fraction(factor) / call.right for monomial, factor in shifted.items()}]
        case "%" if isinstance(call.right, int) and call.right > 0:
            return False, [{} if below else {(): call.right - 1}]
        case _:
            positive = bounds(call.right)[0] or 0
            return False, [{}] if below and (bounds(call.left)[0] or -1) >= 0 and positive > 0 else []


def _add(a: Sum, b: Sum, factor: int | Fraction) -> dict[Monomial, int | Fraction]:
    terms = dict(a)
    for monomial, value in b.items():
        terms[monomial] = terms.get(monomial, 0) + factor * value
    return {monomial: value for monomial, value in terms.items() if value}


def _monomial_bounds(monomial: Monomial) -> Interval:
    """The bounds of a product, when all its atoms are bounded by zero from below."""
    low: int | None = 1
    high: int | None = 1
    for atom in monomial:
        least, most = (atom.low, atom.high) if isinstance(atom, Symbol) else bounds(Expression({(atom,): 1}))
        if least is None or least < 0:
            return (None, None) if len(monomial) > 1 else (least, most)
        low *= least
        high = None if high is None or most is None else high * most
    return low, high
