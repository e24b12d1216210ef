"""What is known of a value before the model runs: its type, its shape, and its contents when these are small integers.

A dimension is a number, an expression of named sizes (:mod:`ge.maths.symbols`), or None when nothing is known of it. A
tensor of unknown rank has the shape None. Contents are the elements in row-major order, each like a dimension: the
`Shape` of ``[batch, 3]`` has the contents ``(batch, 3)``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ge.maths.symbols import Expression, Size, differ, product

Dim: TypeAlias = "Size | None"
Shape: TypeAlias = "tuple[Dim, ...]"
Element: TypeAlias = "Size | float | None"

MAX_CONTENTS = 1024
"""The most elements of a tensor whose contents are followed: a shape, an index, a table of sizes."""

MAX_FLOATS = 16
"""The most elements of a tensor of floats whose contents are followed: scales, and bounds of ranges."""


def may_be_followed(element: str, count: int) -> bool:
    """Whether the contents of a tensor of an element type and a number of elements are followed."""
    return count <= (MAX_FLOATS if element[:1] in ("f", "b") else MAX_CONTENTS)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: element type as the operator table writes it (``f32``; None: unknown), shape and contents."""

    element: str | None = None
    shape: Shape | None = None
    contents: tuple[Element, ...] | None = None

    def __str__(self) -> str:
        return f"{self.element or 'unknown'}{shape_text(self.shape)}"


@dataclass(frozen=True, slots=True)
class SequenceOf:
    """A list of values of one type; ``items`` are the values themselves while their number is known."""

    element: Value
    items: tuple[Value, ...] | None = None

    def __str__(self) -> str:
        return f"seq({self.element})"


@dataclass(frozen=True, slots=True)
class OptionalOf:
    """A value or nothing."""

    element: Value

    def __str__(self) -> str:
        return f"optional({self.element})"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A table from integers or strings to values."""

    key: str
    value: Value

    def __str__(self) -> str:
        return f"map({self.key}, {self.value})"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value of which not even the type is known."""

    def __str__(self) -> str:
        return "unknown"


Value: TypeAlias = "Tensor | SequenceOf | OptionalOf | MapOf | Unknown"

UNKNOWN_VALUE = Unknown()


def dim_text(dim: Dim) -> str:
    """A dimension for a message or table: a number, a name, or ``?``."""
    return "?" if dim is None else str(dim)


def shape_text(shape: Shape | None) -> str:
    """A shape for a message or table: ``[batch, 3, ?]``, or ``[*]`` when the rank is unknown."""
    return "[*]" if shape is None else f"[{', '.join(map(dim_text, shape))}]"


def is_static(value: Value) -> bool:
    """Whether a value is a tensor all of whose dimensions are numbers."""
    return isinstance(value, Tensor) and value.shape is not None and all(isinstance(d, int) for d in value.shape)


def known_product(dims: Shape | None) -> Dim:
    """The product of sizes, such as the number of elements of a shape; None when one is unknown and none is zero."""
    if dims is None or None in dims:
        return 0 if dims is not None and 0 in dims else None
    return product(dim for dim in dims if dim is not None)


# What two values have in common, and what they tell of each other


def join(a: Value, b: Value) -> Value:
    """What is true of both values: the type of a value that is one or the other. Contents are not compared."""
    match a, b:
        case Tensor(), Tensor():
            return Tensor(a.element if a.element == b.element else None, join_shapes(a.shape, b.shape))
        case SequenceOf(), SequenceOf():
            return _join_sequences(a, b)
        case OptionalOf(), OptionalOf():
            return OptionalOf(join(a.element, b.element))
        case MapOf(), MapOf() if a.key == b.key:
            return MapOf(a.key, join(a.value, b.value))
        case _:
            return UNKNOWN_VALUE


def _join_sequences(a: SequenceOf, b: SequenceOf) -> SequenceOf:
    """A sequence that is known to be empty says nothing of the shape of elements."""
    if a.items is not None and a.items == b.items:
        return a
    if a.items == () or b.items == ():
        return SequenceOf(b.element if a.items == () else a.element)
    return SequenceOf(join(a.element, b.element))


def join_all(values: Iterable[Value]) -> Value:
    """What is true of all values; nothing when there are none."""
    joined: Value | None = None
    for value in values:
        joined = value if joined is None else join(joined, value)
    return UNKNOWN_VALUE if joined is None else joined


def join_shapes(a: Shape | None, b: Shape | None) -> Shape | None:
    """The dimensions that two shapes share; None when the ranks differ."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def refine(known: Value, stated: Value, *, numbers: bool = True) -> Value:
    """``known`` with what ``stated`` adds where nothing is known; only names of dimensions unless ``numbers``."""
    match known, stated:
        case Tensor(), Tensor():
            shape = _refined_shape(known.shape, stated.shape, numbers)
            return Tensor(known.element or stated.element, shape, known.contents)
        case SequenceOf(), SequenceOf():
            return SequenceOf(refine(known.element, stated.element, numbers=numbers), known.items)
        case OptionalOf(), OptionalOf():
            return OptionalOf(refine(known.element, stated.element, numbers=numbers))
        case Unknown(), _:
            return stated
        case _:
            return known


def _refined_shape(known: Shape | None, stated: Shape | None, numbers: bool) -> Shape | None:
    if known is None:
        return stated if numbers else None
    if stated is None or len(known) != len(stated):
        return known
    adds = [b if numbers or isinstance(b, Expression) else None for b in stated]
    return tuple(b if a is None else a for a, b in zip(known, adds, strict=True))


def contradict(a: Value, b: Value) -> bool:
    """Whether no value is both: other kinds, element types, ranks, or sizes that are certainly different."""
    match a, b:
        case Tensor(), Tensor():
            return (a.element is not None and b.element is not None and a.element != b.element) or shapes_contradict(
                a.shape, b.shape
            )
        case (SequenceOf(), SequenceOf()) | (OptionalOf(), OptionalOf()):
            return contradict(a.element, b.element)
        case MapOf(), MapOf():
            return a.key != b.key or contradict(a.value, b.value)
        case (Unknown(), _) | (_, Unknown()):
            return False
        case _:
            return True


def shapes_contradict(a: Shape | None, b: Shape | None) -> bool:
    """Whether no shape is both."""
    if a is None or b is None:
        return False
    return len(a) != len(b) or any(x is not None and y is not None and differ(x, y) for x, y in zip(a, b, strict=True))


def float32(value: float) -> float:
    """The nearest float32."""
    try:
        return struct.unpack("<f", struct.pack("<f", float(value)))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def integers(contents: Sequence[Element] | None) -> Shape | None:
    """Contents as dimensions; floats and what is not known are None."""
    if contents is None:
        return None
    return tuple(item if isinstance(item, int | Expression) else None for item in contents)
