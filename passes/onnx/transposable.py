"""How operators work on operands whose axes are in another order.

An operation that gives y for operands x is *transposable* when it can be changed so that it gives y' for operands x',
where x is x' transposed by a permutation p (x[i] has the size of x'[p[i]]), and y is y' transposed by a permutation q.
:data:`HANDLERS` has a handler for each operator for which that is known to hold; every other operator (a convolution, a
pooling, a normalisation of channels, a reshape, ...) is sensitive to the order of axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ge.dialects.onnx import OnnxOp, constant_value, ranked
from ge.passes.onnx.building import axes_of, integers

Perm: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """How an operation changes: which inputs are transposed, what the others and the attributes become."""

    moved: Sequence[int]
    """Positions of the inputs that have their axes in the other order."""
    result: Perm
    """The permutation that gives the results as they were."""
    constants: Mapping[int, Any] = field(default_factory=dict[int, Any])
    """New arrays for inputs by position."""
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


Handler: TypeAlias = Callable[[OnnxOp, Perm], "Plan | None"]
"""What an operation becomes; None when it must stay."""


def plan_for(op: OnnxOp, perm: Perm) -> Plan | None:
    """How an operation works on operands transposed by a permutation; None when that is not known."""
    handler = None if op.domain else HANDLERS.get(op.op_type)
    return None if handler is None else handler(op, perm)


def _elementwise(op: OnnxOp, perm: Perm) -> Plan | None:
    """Element by element: operands of one element stay, constants are transposed, others need all axes."""
    rank = len(perm)
    moved: list[int] = []
    constants: dict[int, Any] = {}
    for position, value in enumerate(op.input_list()):
        type = None if value is None else ranked(value)
        if value is None or (type is not None and type.get_num_dims() == 0):
            continue
        array = constant_value(value)
        if type is None or type.get_num_dims() > rank:
            return None
        if array is not None:
            full = array.reshape((1,) * (rank - array.ndim) + array.shape)
            constants[position] = full.transpose(inverse(perm))
        elif type.get_num_dims() == rank:
            moved.append(position)
        elif set(type.get_shape()) != {1}:
            return None
    return Plan(moved, perm, constants) if moved else None


def _along_axis(op: OnnxOp, perm: Perm) -> Plan | None:
    """Along one axis, which is an attribute: all variadic inputs move, others (the sizes of `Split`) stay."""
    count = len(op.operands) if op.op_type == "Concat" else 1
    return Plan(range(count), perm, attributes={"axis": perm[op.attribute("axis", -1)]})


def _slice(op: OnnxOp, perm: Perm) -> Plan | None:
    starts = integers(op.operand("starts"))
    if op.operand("axes") is not None:
        axes = axes_of(op.operand("axes"), len(perm))
    else:
        axes = None if starts is None else list(range(len(starts)))
    if axes is None:
        return None
    return Plan([0], perm, {3: np.array([perm[axis] for axis in axes], np.int64)})


def _pad(op: OnnxOp, perm: Perm) -> Plan | None:
    pads, rank = integers(op.operand("pads")), len(perm)
    if pads is None or op.operand("axes") is not None or len(pads) != 2 * rank:
        return None
    back = inverse(perm)
    new = [pads[side * rank + axis] for side in (0, 1) for axis in back]
    return Plan([0], perm, {1: np.array(new, np.int64)})


def _reduce(op: OnnxOp, perm: Perm) -> Plan | None:
    axes = axes_of(op.operand("axes"), len(perm))
    if not axes or (op.op_type in ("ReduceMax", "ReduceMean") and sorted(axes) == list(range(2, len(perm)))):
        return None  # over all axes behind the channels, it is a global pooling
    constants = {1: np.array([perm[axis] for axis in axes], np.int64)}
    if op.attribute("keepdims"):
        return Plan([0], perm, constants)
    kept = [perm[axis] for axis in range(len(perm)) if axis not in axes]
    return Plan([0], tuple(sorted(kept).index(axis) for axis in kept), constants)


def inverse(perm: Sequence[int]) -> Perm:
    """The permutation that undoes another one."""
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def transposed(shape: Sequence[int], perm: Sequence[int]) -> list[int]:
    """The sizes of a value whose transpose has these sizes."""
    back = inverse(perm)
    return [shape[axis] for axis in back]


_UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cast", "Ceil", "Celu", "Clip", "Cos"),
    *("Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN"),
    *("LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign"),
    *("Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu"),
)
_NARY = (
    *("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual"),
    *("Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "PRelu", "Pow", "Sub", "Sum", "Where", "Xor"),
)
ELEMENTWISE = frozenset((*_UNARY, *_NARY))
"""Operators that compute each element of the result from the elements at the same place."""

_REDUCE = (
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd"),
    *("ReduceSum", "ReduceSumSquare"),
)

HANDLERS: Mapping[str, Handler] = {
    **dict.fromkeys((*_UNARY, *_NARY), _elementwise),
    **dict.fromkeys(("Concat", "Hardmax", "LogSoftmax", "Softmax", "Split"), _along_axis),
    **dict.fromkeys(_REDUCE, _reduce),
    "Pad": _pad,
    "Slice": _slice,
}
"""The operators of ai.onnx that work on any order of axes."""
