"""The functions that conditions and arithmetic of a rule may call, with what each parameter takes.

A parameter is a *value* of the model (asked for its type, users or origin) or *data*: numbers and arrays that are known
when the rule is applied. Data are float64, int64 (uint64 where a constant is), bool, text, or None for what is absent.
A function that cannot compute raises ValueError, and the rule does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, Signedness, bf16, f16, f32, f64
from xdsl.ir import Attribute, SSAValue
from xdsl.traits import IsTerminator

from ge.dialects.onnx import Constant, ranked
from ge.dialects.onnx.types import type_code

Data: TypeAlias = Any
Array: TypeAlias = NDArray[Any]
Value: TypeAlias = SSAValue

FLOATS: Mapping[str, Attribute] = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64}
INTEGERS: Mapping[str, Attribute] = {
    **{f"i{width}": IntegerType(width) for width in (8, 16, 32, 64)},
    **{f"ui{width}": IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64)},
}
ELEMENT_TYPES: Mapping[str, Attribute] = {**FLOATS, **INTEGERS, "i1": IntegerType(1)}
"""The element types that rules know, by their text."""


CONSTANTS: dict[str, Data] = {
    "true": True,
    "false": False,
    "pi": math.pi,
    "inf": math.inf,
    "none": None,
    "bool": "i1",
    **{code: code for code in ELEMENT_TYPES if code != "i1"},
}
"""Names that every rule knows; element types are text, as in the text of a tensor type."""

PRECISION = {"f64": 1e-6, "f32": 1e-6, "f16": 1e-3, "bf16": 1e-2}
"""How far a constant of a type may be from the number that it stands for, relatively: exporters round, some of them to
six digits, before they round to the type."""


@dataclass(frozen=True)
class Function:
    """A function of the language."""

    name: str
    usage: str
    """How it is called: ``reshape(array, shape)``."""
    kinds: tuple[str, ...]
    """The kind of each parameter, ``value`` or ``data``."""
    required: int
    """How many must be given."""
    repeats: bool
    """Whether the last parameter may be given any number of times."""
    call: Callable[..., Data]
    description: str


FUNCTIONS: dict[str, Function] = {}
"""The functions of conditions and arithmetic by name."""


def function(call: Callable[..., Data]) -> Callable[..., Data]:
    """Decorator: make a Python function one of conditions and arithmetic."""
    enter(FUNCTIONS, call)
    return call


def enter(table: dict[str, Function], call: Callable[..., Data], hidden: int = 0) -> None:
    """Enter a function in a table. Parameters annotated with ``Value`` take values, others data."""
    parameters = list(signature(call).parameters.values())[hidden:]
    name = call.__name__.rstrip("_")
    repeats = any(each.kind is Parameter.VAR_POSITIONAL for each in parameters)
    shown = [f"{each.name}..." if each.kind is Parameter.VAR_POSITIONAL else each.name for each in parameters]
    table[name] = Function(
        name,
        f"{name}({', '.join(shown)})",
        tuple("value" if "Value" in str(each.annotation) else "data" for each in parameters),
        sum(each.default is Parameter.empty for each in parameters),
        repeats,
        call,
        (call.__doc__ or "").strip(),
    )


# Values of the model


@function
def constant(*values: Value | None) -> bool:
    """Whether values are constants; one that is absent counts as constant."""
    return all(value is None or isinstance(value.owner, Constant) for value in values)


@function
def given(value: Value | None) -> bool:
    """Whether an optional input is there."""
    return value is not None


@function
def is_output(value: Value) -> bool:
    """Whether a value is an output of the model or of a subgraph."""
    return any(use.operation.has_trait(IsTerminator) for use in value.uses)


@function
def single_use(value: Value) -> bool:
    """Whether a value has one user."""
    return value.has_one_use()


@function
def dtype(value: Value) -> str:
    """The element type: f32, i64, ..."""
    return type_code(value.type)


@function
def is_float(*values: Value) -> bool:
    """Whether values are float16, bfloat16, float32 or float64."""
    return all(map(FLOATS.__contains__, map(dtype, values)))


@function
def is_integer(*values: Value) -> bool:
    """Whether values are integers of any width."""
    return all(dtype(value) in INTEGERS for value in values)


@function
def rank(value: Value) -> int:
    """The number of dimensions."""
    return len(_dims(value))


@function
def shape(value: Value) -> Array:
    """All dimensions; `shape(x)[1]` asks for one of them only, which must be a number."""
    return shape_part(value, slice(None))


def shape_part(value: Value, index: int | slice) -> Any:
    """One dimension, or a slice of them as an array. ValueError when it is not known."""
    part = np.array(_dims(value), np.int64)[index]
    if (part == DYNAMIC_INDEX).any():
        raise ValueError("a dimension is not known")
    return part


def _dims(value: Value) -> Sequence[int]:
    type = ranked(value)
    if type is None:
        raise ValueError("the rank is not known")
    return type.get_shape()


@function
def static(*values: Value) -> bool:
    """Whether all dimensions of values are known numbers."""
    return all((type := ranked(value)) is not None and DYNAMIC_INDEX not in type.get_shape() for value in values)


@function
def same_type(a: Value, b: Value) -> bool:
    """Whether two values have one element type and one shape, all of it known."""
    return a.type == b.type and static(a)


@function
def broadcasts_to(a: Value, b: Value) -> bool:
    """Whether `a` takes the shape of `b` when both are combined, so that `b` stays as it is."""
    small, large = _dims(a), _dims(b)
    if len(small) > len(large):
        return False
    tail = large[len(large) - len(small) :]
    return all(x == 1 or x == y != DYNAMIC_INDEX for x, y in zip(small, tail, strict=True))


# Data


@function
def or_else(data: Data, otherwise: Data) -> Data:
    """The first, or the second when an attribute or optional constant is absent."""
    return otherwise if data is None else data


@function
def close(a: Data, b: Data, precision: Data = PRECISION["f32"]) -> bool:
    """Whether data are equal as far as the types of the constants in them can tell."""
    left, right = np.asarray(a), np.asarray(b)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(right) & (np.abs(left - right) <= precision * np.abs(right))
    return _fit(left, right) and bool((near | (left == right)).all())


@function
def alike(a: Data, b: Data) -> bool:
    """Whether no sum loses the digits of either: they have one sign and a ratio of at most 3, or one of them is 0."""
    left, right = np.broadcast_arrays(a, b)
    small, large = np.minimum(np.abs(left), np.abs(right)), np.maximum(np.abs(left), np.abs(right))
    return bool(((small == 0) | ((np.sign(left) == np.sign(right)) & (large <= 3 * small))).all())


@function
def all_(condition: Data) -> bool:
    """Whether a condition holds for every element."""
    return bool(np.asarray(condition).all())


@function
def any_(condition: Data) -> bool:
    """Whether a condition holds for some element."""
    return bool(np.asarray(condition).any())


@function
def scalar(array: Data) -> Data:
    """The one element of an array, as a number."""
    return np.asarray(array).item()


@function
def is_power_of_two(array: Data) -> bool:
    """Whether every element is plus or minus a power of two, by which division is exact."""
    return bool((np.abs(np.frexp(np.asarray(array, np.float64))[0]) == 0.5).all())


@function
def size(array: Data) -> int:
    """The number of elements."""
    return int(np.asarray(array).size)


@function
def length(array: Data) -> int:
    """The length of a list, or of the first dimension."""
    return len(array)


@function
def sqrt(array: Data) -> Data:
    """Square root."""
    return np.sqrt(array)


@function
def exp(array: Data) -> Data:
    """Exponential."""
    return np.exp(array)


@function
def log(array: Data) -> Data:
    """Natural logarithm."""
    return np.log(array)


@function
def abs_(array: Data) -> Data:
    """Absolute value."""
    return np.abs(array)


@function
def floor(array: Data) -> Data:
    """The next integer below, as an integer."""
    return np.asarray(np.floor(array)).astype(np.int64)


@function
def ceil(array: Data) -> Data:
    """The next integer above, as an integer."""
    return np.asarray(np.ceil(array)).astype(np.int64)


@function
def min_(a: Data, b: Data) -> Data:
    """The smaller of two, element by element."""
    return np.minimum(a, b)


@function
def max_(a: Data, b: Data) -> Data:
    """The larger of two, element by element."""
    return np.maximum(a, b)


@function
def sum_(array: Data) -> Data:
    """The sum of all elements."""
    return np.sum(array)


@function
def prod(array: Data) -> Data:
    """The product of all elements."""
    return np.asarray(array).prod()


@function
def reshape(array: Data, shape: Data) -> Array:
    """The elements in another shape."""
    return np.reshape(array, sizes(shape))


@function
def transpose(array: Data, perm: Data = None) -> Array:
    """The axes in another order; without `perm`, the last one first."""
    return np.transpose(array, perm)


@function
def broadcast(array: Data, shape: Data) -> Array:
    """The array repeated to a shape."""
    return np.broadcast_to(array, sizes(shape))


@function
def matmul(a: Data, b: Data) -> Array:
    """The matrix product of two arrays."""
    return np.matmul(a, b)


@function
def channels(array: Data, axis: Data, rank: Data, count: Data) -> Array:
    """The numbers that `array` holds for each of `count` channels of a value that it is combined with.

    The value has `rank` dimensions, its channels lie along `axis`.
    ValueError when the array differs along another axis.
    """
    numbers = np.asarray(array)
    shape = (1,) * (int(rank) - numbers.ndim) + numbers.shape
    along: int = shape[int(axis)]
    if len(shape) != rank or numbers.size != along or along not in (1, count):
        raise ValueError("not one number for each channel")
    return np.broadcast_to(numbers.reshape(-1), (int(count),))


@function
def pads_of(pads: Data, axes: Data, rank: Data) -> Array:
    """The elements that Pad adds before each of all axes, and behind each; without `axes`, `pads` are those."""
    if axes is None:
        return np.reshape(pads, (2 * int(rank),))
    result = np.zeros((2, int(rank)), np.int64)
    result[:, np.atleast_1d(axes) % rank] = np.reshape(pads, (2, -1))
    return result.reshape(-1)


@function
def concat(parts: Data, axis: Data = 0) -> Array:
    """A list of arrays joined along an axis."""
    return np.concatenate([np.atleast_1d(part) for part in parts], axis)


@function
def ones(shape: Data) -> Array:
    """An array of ones."""
    return np.ones(sizes(shape))


@function
def zeros(shape: Data) -> Array:
    """An array of zeros."""
    return np.zeros(sizes(shape))


@function
def range_(start: Data, stop: Data) -> Array:
    """The integers from the first on, before the second."""
    return np.arange(start, stop, dtype=np.int64)


@function
def reverse(array: Data) -> Array:
    """A list backwards."""
    return np.asarray(array)[::-1]


@function
def inverse(perm: Data) -> Array:
    """The permutation that undoes another one."""
    return np.argsort(perm)


@function
def axes_of(axes: Data, rank: Data) -> Array:
    """Axes counted from the front, ascending: `axes_of([-1], 4)` is [3]."""
    listed = np.atleast_1d(axes)
    if ((listed < -rank) | (listed >= rank)).any():
        raise ValueError("an axis is out of range")
    return np.sort(listed % rank)


@function
def cast(array: Data, type: Data) -> TypedData:
    """Data rounded to an element type, where the operator that takes them does not say which."""
    return TypedData(np.asarray(array), type)


@dataclass(frozen=True)
class TypedData:
    """Data with the element type that they are to have as an operand."""

    array: Array
    type: str


# Operators


def same(a: Data, b: Data) -> bool:
    """Whether data are equal in shape and elements; a number is compared with each element."""
    return bool(np.all(equal(a, b)))


def equal(a: Data, b: Data) -> Any:
    """``a == b``: element by element when one side is a number, otherwise whether all of both is equal."""
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return a is b or (isinstance(a, str) and isinstance(b, str) and a == b)
    left, right = np.asarray(a), np.asarray(b)
    if left.ndim and right.ndim:
        return left.shape == right.shape and bool((left == right).all())
    return left == right


def unequal(a: Data, b: Data) -> Any:
    """``a != b``: element by element when one side is a number, otherwise whether something differs."""
    return np.logical_not(equal(a, b))


def member(item: Data, items: Sequence[Data]) -> bool:
    """``a in [b, c]``."""
    return any(same(item, each) for each in items)


def sizes(shape: Data) -> tuple[int, ...]:
    """A shape that arithmetic has computed."""
    return tuple(int(size) for size in np.atleast_1d(shape))


def _fit(a: Array, b: Array) -> bool:
    """Whether arrays have one shape, or one of them is a single number."""
    return a.shape == b.shape or a.ndim == 0 or b.ndim == 0


def listed(items: Sequence[Data]) -> Any:
    """``[a, b]``: an array of numbers; arrays of different shapes stay a list."""
    arrays = [np.asarray(item) for item in items]
    if any(array.ndim for array in arrays):
        return arrays
    return np.array(items, np.int64 if not arrays or all(array.dtype.kind in "iub" for array in arrays) else None)
