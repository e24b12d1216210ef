"""The form of a lowering rule, and what rules ask of ONNX values.

A rule is a function of one `onnx` operation and an :class:`Emitter`. It emits `graph` operations and returns what
replaces the results of the operation: a value for an operator with one result, otherwise a list. None says that the
operator, as it is here, has no form at the graph level: what was emitted is dropped, and the operator runs on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.capabilities import COMPUTE_TYPES
from ge.dialects.graph.constants import constant, constant_array, dtype_of
from ge.dialects.graph.integer_kernels import makes_integers
from ge.dialects.graph.movement import ReshapeOp
from ge.dialects.onnx import OnnxOp, constant_value
from ge.ir.constants import Array


class Emitter:
    """Collects the operations that replace one `onnx` operation."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def add(self, op: Operation) -> SSAValue:
        """Emit an operation; its first result."""
        self.ops.append(op)
        return op.results[0]

    def drop(self) -> None:
        """Give up what was emitted, so that it uses no value of the model."""
        for op in reversed(self.ops):
            op.erase()
        self.ops.clear()

    def constant(self, array: Array) -> SSAValue:
        """Emit a constant."""
        return self.add(constant(array))

    def reshape(self, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """`x` under another shape: itself if that is its shape, a new constant if it is one, otherwise a reshape."""
        if shape_of(x) == tuple(shape):
            return x
        array = known(x)
        return self.add(ReshapeOp(x, shape)) if array is None else self.constant(array.reshape(tuple(shape)))


Results: TypeAlias = SSAValue | Sequence[SSAValue | None] | None
Rule: TypeAlias = Callable[[OnnxOp, Emitter], Results]
Rules: TypeAlias = Mapping[str, Rule]
"""Rules by the name of the ONNX operator."""


def known(value: SSAValue | None) -> Array | None:
    """The elements of a value that is a constant, here or in ONNX; None for any other."""
    if value is None:
        return None
    array = cast("Array | None", constant_value(value))
    return constant_array(value) if array is None else array


def known_ints(value: SSAValue | None) -> list[int] | None:
    """The elements of a constant of integers."""
    array = known(value)
    return None if array is None else [int(element) for element in array.reshape(-1)]


def known_scalar(value: SSAValue | None) -> float | None:
    """The number of a constant with one element."""
    array = known(value)
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def is_static(value: SSAValue) -> bool:
    """Whether a value is a tensor whose shape is known and has no zero in it."""
    if not isinstance(value.type, TensorType):
        return False
    shape = shape_of(value)
    return DYNAMIC_INDEX not in shape and 0 not in shape


def result_element(op: OnnxOp) -> Attribute:
    """The element type of the first result. Raises ValueError when it is not known, so that no rule applies."""
    type = op.results[0].type
    if not isinstance(type, TensorType):
        raise ValueError(f"nothing is known of the result of {op.op_type}")
    return cast("TensorType[Attribute]", type).element_type


def is_feature(value: SSAValue | None) -> bool:
    """Whether a value is a static, non-empty tensor of a type that the graph level computes on."""
    return value is not None and is_static(value) and tensor(value).element_type in COMPUTE_TYPES


def is_quantised(value: SSAValue | None) -> bool:
    """Whether a value is one of 8 bits that an operation of the graph level makes, for kernels that take those."""
    return value is not None and isinstance(value.owner, Operation) and is_static(value) and makes_integers(value)


def feature(op: OnnxOp, name: str) -> SSAValue | None:
    """The input `name` if it is a tensor that the graph level computes on, otherwise None."""
    value = op.operand(name)
    return value if is_feature(value) else None


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises ValueError when a tensor of that rank has no such axis."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is not one of {rank}")
    return axis % rank


def scalar_like(value: SSAValue, number: float) -> Array:
    """A constant with one element in the element type of `value`."""
    return np.asarray([number], dtype_of(value))
