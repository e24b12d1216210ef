"""The arrays that a caller gives for the inputs of a model: named, and checked against what the model says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ge.dialects.om.values import Area
from ge.ir.constants import numpy_dtype, static_shape, tensor_type_of
from ge.ir.errors import GeError
from ge.targets.ascend.om.model import Value

Inputs: TypeAlias = Mapping[str, Any] | Sequence[Any] | NDArray[Any]
"""What a caller may give: arrays by name, arrays in order, or one array."""


@dataclass(frozen=True)
class TensorInfo:
    """An input of a model. Strings, sequences and optional values have neither shape nor element type here."""

    name: str
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any] | None

    @classmethod
    def of(cls, name: str, value: Value) -> TensorInfo:
        """What the model says of a value."""
        if value.area is Area.HOST:
            return cls(name, None, None)
        return cls(name, static_shape(value.type), numpy_dtype(tensor_type_of(value.type).element_type))

    def __str__(self) -> str:
        if self.dtype is None or self.shape is None:
            return f"{self.name}: any value"
        return f"{self.name}: {self.dtype.name}{list(self.shape)}"


def named_inputs(inputs: Inputs, expected: Sequence[TensorInfo]) -> dict[str, Any]:
    """The given values by name; arrays have the shape and element type expected and are C-contiguous in native order.

    Raises GE6002 (missing), GE6003 (unknown), GE6004 (shape) or GE6005 (element type).
    """
    given = _by_name(inputs, expected)
    known = {info.name for info in expected}
    if unknown := next((name for name in given if name not in known), None):
        raise GeError("GE6003", f"the model has no input '{unknown}'; it has {_listed(expected)}")
    if missing := next((info for info in expected if info.name not in given), None):
        raise GeError("GE6002", f"input '{missing.name}' is missing; the model has {_listed(expected)}")
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
    if array.dtype.newbyteorder("=") != info.dtype:
        what = f"element type {array.dtype.name}, the model wants {info.dtype.name}"
        raise GeError("GE6005", f"input '{info.name}' has {what}")
    if array.shape != info.shape:
        what = f"shape {list(array.shape)}, the model wants {list(info.shape)}"
        raise GeError("GE6004", f"input '{info.name}' has {what}")
    return np.ascontiguousarray(array, info.dtype).reshape(info.shape)


def _listed(expected: Sequence[TensorInfo]) -> str:
    return ", ".join(f"'{info.name}'" for info in expected) or "no inputs"
