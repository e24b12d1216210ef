"""What a shape rule sees of an operation, and the questions it asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from ge.dialects.onnx.shapes.values import (
    UNKNOWN_VALUE,
    Dim,
    Element,
    Shape,
    Tensor,
    Value,
    dim_text,
    integers,
    shape_text,
)
from ge.ir.errors import GeError
from ge.maths.symbols import differ, quotient, remainder

Result: TypeAlias = "Shape | Value | None"
"""What a rule gives for an output: a shape (None: rank unknown) of the element type in the table, or a value."""

Rule: TypeAlias = "Callable[[Node], Sequence[Result]]"
"""From an operation to what it gives, output by output. Its name is the name of the rule. Raises GE3015."""


def _no_region(name: str, args: Sequence[Value]) -> Sequence[Value]:
    raise KeyError(name)


@dataclass
class Node:
    """An operation as a shape rule sees it: no IR, only what is known of its inputs and its attributes."""

    op_type: str
    inputs: Sequence[Value | None] = ()
    """By position; None where one is absent."""
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """As Python values, those with a default in the standard included."""
    output_count: int = 1
    where: str | Callable[[], str] = ""
    """The place of the operation, for errors; or what tells it, which is asked only then."""
    region: Callable[[str, Sequence[Value]], Sequence[Value]] = _no_region
    """The values that a graph attribute gives for arguments."""

    # Attributes

    def attribute(self, name: str, default: Any = None) -> Any:
        """The attribute ``name``: what the model says, the default of the standard, or ``default``."""
        value = self.attributes.get(name)
        return default if value is None else value

    def numbers(self, name: str, count: int, default: int, least: int = 0) -> list[int]:
        """A list attribute that has ``count`` entries of at least ``least``; all ``default`` when it is absent."""
        values = self.attribute(name)
        if not values:
            return [default] * count
        if len(values) != count:
            self.fail(f"attribute '{name}' has {len(values)} entries, {count} are needed")
        if min(values) < least:
            self.fail(f"attribute '{name}' is {list(values)}, its entries must be at least {least}")
        return list(values)

    # Inputs

    def has(self, position: int) -> bool:
        """Whether an input is present."""
        return position < len(self.inputs) and self.inputs[position] is not None

    def value(self, position: int) -> Value:
        """What is known of an input; nothing when it is absent."""
        value = self.inputs[position] if position < len(self.inputs) else None
        return UNKNOWN_VALUE if value is None else value

    def tensor(self, position: int) -> Tensor:
        """An input as a tensor; one of which nothing is known when it is absent or of another kind."""
        value = self.value(position)
        return value if isinstance(value, Tensor) else Tensor()

    def element(self, position: int = 0) -> str | None:
        """The element type of an input."""
        return self.tensor(position).element

    def shape(self, position: int = 0) -> Shape | None:
        """The shape of an input; None when its rank is not known."""
        return self.tensor(position).shape

    def dim(self, position: int, axis: int) -> Dim:
        """One dimension of an input; None when it is not known or does not exist."""
        shape = self.shape(position)
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None

    def rank(self, position: int = 0) -> int | None:
        """The rank of an input."""
        shape = self.shape(position)
        return None if shape is None else len(shape)

    def integers(self, position: int) -> Shape | None:
        """The contents of an input as sizes; None when they are not followed."""
        return integers(self.tensor(position).contents)

    def scalar(self, position: int) -> Dim:
        """The one element of an input."""
        contents = self.integers(position)
        return contents[0] if contents is not None and len(contents) == 1 else None

    def number(self, position: int) -> Element:
        """The one element of an input, which may be a float."""
        contents = self.tensor(position).contents
        return contents[0] if contents is not None and len(contents) == 1 else None

    def length(self, position: int) -> Dim:
        """The number of elements of a vector input; a scalar counts as a vector of one, as runtimes do."""
        shape = self.shape(position)
        if shape is None:
            return None
        if len(shape) > 1:
            self.fail(f"{self.describe(position)} must be a vector")
        return shape[0] if shape else 1

    def describe(self, position: int) -> str:
        """An input for a message: ``input 1 of shape [2, ?]``."""
        return f"input {position} of shape {shape_text(self.shape(position))}"

    # Checks

    def fail(self, what: str) -> NoReturn:
        """Raise GE3015: what is known of the inputs and attributes cannot be true together."""
        place = self.where if isinstance(self.where, str) else self.where()
        raise GeError("GE3015", f"{self.op_type}: {what}", place or None)

    def axis(self, axis: int, rank: int, name: str = "axis") -> int:
        """An axis counted from the front. Fails when there is none."""
        if not -rank <= axis < rank:
            self.fail(f"{name} is {axis}, the rank is {rank}")
        return axis % rank

    def axes(self, axes: Sequence[int], rank: int) -> list[int]:
        """Axes counted from the front. Fails for one that does not exist or is there twice."""
        found = [self.axis(axis, rank, "one of axes") for axis in axes]
        if len(set(found)) != len(found):
            self.fail(f"axes {list(axes)} name one twice")
        return found

    def expect_rank(self, position: int, *ranks: int) -> Shape | None:
        """The shape of an input, which fails unless it is unknown or has one of ``ranks``."""
        shape = self.shape(position)
        if shape is not None and len(shape) not in ranks:
            self.fail(f"{self.describe(position)} must have rank {' or '.join(map(str, ranks))}")
        return shape

    def expect_least_rank(self, position: int, least: int) -> Shape | None:
        """The shape of an input, which fails unless it is unknown or has at least ``least`` dimensions."""
        shape = self.shape(position)
        if shape is not None and len(shape) < least:
            self.fail(f"{self.describe(position)} must have at least {least} dimensions")
        return shape

    def same(self, a: Dim, b: Dim, what: str) -> Dim:
        """Two sizes that must be equal: the one that says more. Fails when they certainly differ."""
        if a is None or b is None:
            return b if a is None else a
        if differ(a, b):
            self.fail(f"{what}: {dim_text(a)} and {dim_text(b)} differ")
        return a if isinstance(a, int) else b if isinstance(b, int) else a

    def same_shapes(self, a: Shape | None, b: Shape | None, what: str) -> Shape | None:
        """Two shapes that must be equal, joined to what both say. Fails when they certainly differ."""
        if a is None or b is None:
            return b if a is None else a
        if len(a) != len(b):
            self.fail(f"{what}: {shape_text(a)} and {shape_text(b)} differ in rank")
        return tuple(self.same(x, y, what) for x, y in zip(a, b, strict=True))

    def divided(self, dim: Dim, divisor: Dim, what: str) -> Dim:
        """A size by a size that divides it. Fails when it certainly does not."""
        if dim is None or divisor is None:
            return None
        if divisor == 0 or (isinstance(rest := remainder(dim, divisor), int) and rest):
            self.fail(f"{what}: {dim_text(dim)} is not a multiple of {dim_text(divisor)}")
        return quotient(dim, divisor)
