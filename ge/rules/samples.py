"""The functions that the part `sample` of a rule may call besides those of :mod:`ge.rules.functions`.

They draw at random, so that instances of the rule fulfil its conditions: see :mod:`ge.rules.instances`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ge.rules.functions import Array, Data, Function, enter, sizes

DRAWS: dict[str, Function] = {}
"""Every function by name."""


def draw(call: Callable[..., Data]) -> Callable[..., Data]:
    """Decorator: make a Python function one of the part `sample`; its first parameter is the random generator."""
    enter(DRAWS, call, hidden=1)
    return call


@draw
def integer(random: np.random.Generator, low: Data, high: Data) -> int:
    """An integer from the first to the second, both included."""
    return int(random.integers(int(low), int(high) + 1))


@draw
def one_of(random: np.random.Generator, items: Data) -> Data:
    """One of a list."""
    return items[int(random.integers(len(items)))]


@draw
def permutation(random: np.random.Generator, length: Data) -> Array:
    """An order of so many axes."""
    return random.permutation(length)


@draw
def uniform(random: np.random.Generator, shape: Data, low: Data, high: Data) -> Array:
    """An array of numbers between two bounds."""
    return random.uniform(low, high, sizes(shape))


@draw
def integers(random: np.random.Generator, shape: Data, low: Data, high: Data) -> Array:
    """An array of integers between two bounds, both included."""
    return random.integers(low, high + 1, sizes(shape))


@draw
def tensor(random: np.random.Generator, shape: Data) -> Drawn:
    """Any numbers in a shape, hostile ones among them."""
    return Drawn(sizes(shape))


@draw
def finite(random: np.random.Generator, shape: Data) -> Drawn:
    """The same without NaN, for a rule that may lose one."""
    return Drawn(sizes(shape), has_nan=False)


@dataclass(frozen=True)
class Drawn:
    """A shape whose elements whoever makes the instance chooses."""

    shape: tuple[int, ...]
    has_nan: bool = True
    """Whether NaN may be among them."""
