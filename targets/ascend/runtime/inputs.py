"""The arrays that a caller gives for the inputs of a model: named, and checked against what the model says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from ge.ir.constants import numpy_dtype, tensor_type_of
from ge.ir.errors import GeError

Inputs: TypeAlias = Mapping[str, Any] | Sequence[Any] | NDArray[Any]
"""What a caller may give: arrays by name, arrays in order, or one array."""


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a model. Sequences and optional values have neither shape nor element type here.

    A size that is only known when the value is there is None.
    """

    name: str
    shape: tuple[int | None, ...] | None
    dtype: np.dtype[Any] | None

    @classmethod
    def of(cls, name: str, type: Attribute) -> TensorInfo:
        """What a type says of a value."""
        try:
            tensor = tensor_type_of(type)
            shape = tuple(None if size == DYNAMIC_INDEX else size for size in tensor.get_shape())
            return cls(name, shape, numpy_dtype(tensor.element_type))
        except GeError:  # no tensor of numbers, which only the host has
            return cls(name, None, None)

    def __str__(self) -> str:
        if self.dtype is None or self.shape is None:
            return f"{self.name}: any value"
        return f"{self.name}: {self.dtype.name}{self.sizes}"

    @property
    def sizes(self) -> str:
        """The shape as text; a question mark is a size that is not fixed."""
        return f"[{', '.join('?' if size is None else str(size) for size in self.shape or ())}]"

    def fits(self, shape: Sequence[int]) -> bool:
        """Whether an array of this shape may be its value."""
        wanted = self.shape or ()
        return len(shape) == len(wanted) and all(b is None or a == b for a, b in zip(shape, wanted, strict=True))


def named_inputs(inputs: Inputs, expected: Sequence[TensorInfo]) -> dict[str, Any]:
    """The given values by name; arrays have the shape and element type expected and are C-contiguous in native order.

    Raises GE6002 (missing), GE6003 (unknown), GE6004 (shape) or GE6005 (element type).
    """
    given = _by_name(inputs, expected)
    known = {info.name for info in expected}
    if unknown := next((name for name in given if name not in known), None):
        raise GeError("GE6003", f"the model has no input '{unknown}'; it has {_listed(expected)}")
    if missing := next((info for info in expected if info.name not in given), None):
        names = ", ".join(f"'{name}'" for name in given) or "none"
        raise GeError("GE6002", f"input {_described(missing)} is missing; given: {names}")
    return {info.name: _checked(given[info.name], info) for info in expected}


def _by_name(inputs: Inputs, expected: Sequence[TensorInfo]) -> Mapping[str, Any]:
    if isinstance(inputs, Mapping):
        return inputs
    values = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
    if len(values) > len(expected):
        raise GeError("GE6003", f"{len(values)} inputs are given; the model has {_listed(expected)}")
    return {info.name: value for info, value in zip(expected, values, strict=False)}


def _checked(value: Any, info: TensorInfo) -> Any:
    if info.dtype is None or info.shape is None:
        return value
    array = np.asarray(value)
    is_type = array.dtype.newbyteorder("=") == info.dtype
    if not is_type or not info.fits(array.shape):
        given = f"{array.dtype.name}{list(array.shape)}"
        what = f"input '{info.name}' is {given}, the model wants {info.dtype.name}{info.sizes}"
        raise GeError("GE6004" if is_type else "GE6005", what)
    return np.ascontiguousarray(array, info.dtype).reshape(array.shape)


def _listed(expected: Sequence[TensorInfo]) -> str:
    return ", ".join(_described(info) for info in expected) or "no inputs"


def _described(info: TensorInfo) -> str:
    """An input by name, with its type and shape where it is an array."""
    return f"'{info.name}'" if info.dtype is None else f"'{info.name}' ({info.dtype.name}{info.sizes})"
