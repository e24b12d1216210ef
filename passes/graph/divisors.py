"""Divisors that are above zero in the model, however little, and would be zero in float16.

    x / max(norm(x), 1e-12)         1 / sqrt(variance + 1e-12)         p * log(p + 1e-9)

The smallest number of float16 is 2**-24, about 6e-8: 1e-12 becomes zero, and where x is zero, too, the quotient NaN. So
such a divisor is kept at 2**-24 or more, and zero over it is zero. What float16 has lost before is not brought back:
where the square of a small number has become zero, the quotient of that number and its root is wrong either way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import (
    BinaryKind,
    BinaryOp,
    CastOp,
    ConcatOp,
    GatherChannelsOp,
    HostOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    SoftmaxOp,
    TransposeOp,
    UnaryKind,
    UnaryOp,
)
from ge.dialects.graph.constants import constant, constant_array, dtype_of
from ge.maths.bounds import UNKNOWN, Bounds, known_bounds, result_bounds
from ge.passes.onnx.value_bounds import value_bounds

SMALLEST = 2.0**-24
"""The smallest positive number of float16."""

_DEPTH = 12
"""How many operations a bound looks through."""

_SINGULAR = frozenset({UnaryKind.RECIPROCAL, UnaryKind.RSQRT, UnaryKind.LOG})
"""Functions that are not finite at zero."""

_MOVEMENTS = (CastOp, ConcatOp, GatherChannelsOp, ReshapeOp, SliceOp, TransposeOp)


def keep_divisors(block: Block) -> None:
    """Keep float32 divisors of the device's operations at the smallest number of float16 where that is not zero.

    Left alone: divisors of which it is not known that they are above zero, and those that stay it in float16;
    float16 of the model, in which it has zeros of its own; what runs on the host, in float32.
    """
    kept: dict[SSAValue, SSAValue] = {}
    for op in list(block.ops):
        for index in _divisors(op):
            divisor = op.operands[index]
            if divisor not in kept and dtype_of(divisor) == np.float32 and _becomes_zero(divisor):
                smallest = constant(np.array(SMALLEST, np.float32))
                floor = BinaryOp(BinaryKind.MAX, divisor, smallest.y)
                floor.location = op.location
                block.insert_ops_before([smallest, floor], op)
                kept[divisor] = floor.y
            op.operands[index] = kept.get(divisor, divisor)


def _divisors(op: Operation) -> Iterator[int]:
    """The operands of a device operation for which zero is a pole."""
    if isinstance(op, BinaryOp) and op.kind.data is BinaryKind.DIV:
        yield 1
    if isinstance(op, UnaryOp) and (op.kind in _SINGULAR or (op.kind is UnaryKind.POWER and op.alpha < 0)):
        yield 0


def _becomes_zero(value: SSAValue) -> bool:
    """Whether a value is above zero, but may not be any more when it, or what it is made of, is rounded to float16."""
    return _bounds(value)[0] > 0 >= _bounds(value, rounded=True)[0]


def _bounds(value: SSAValue, depth: int = _DEPTH, *, rounded: bool = False) -> Bounds:
    """Bounds of the elements of a value (`ge.maths.bounds`); where they are `rounded`, little numbers become zero."""
    least, most = _exact_bounds(value, depth, rounded)
    return (0.0 if rounded and 0 < least < SMALLEST else least), most


def _exact_bounds(value: SSAValue, depth: int, rounded: bool) -> Bounds:
    """Bounds of a value that is not rounded itself, whether what it is made of is or not."""
    array, op = constant_array(value), value.owner
    if array is not None and array.size:
        return known_bounds(float(array.min()), float(array.max()))
    if not depth or not isinstance(op, Operation):
        return UNKNOWN
    if isinstance(op, HostOp):
        outer: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.inputs, strict=True))
        inside: dict[SSAValue, SSAValue] = dict(zip(op.outputs, op.results_inside, strict=True))
        return value_bounds(
            inside[value], depth - 1, lambda argument: _exact_bounds(outer[argument], depth - 1, rounded)
        )
    operands = [_bounds(operand, depth - 1, rounded=rounded) for operand in op.operands]
    return result_bounds(_onnx_name(op), operands + _parameters(op))


def _onnx_name(op: Operation) -> str:
    """The ONNX operator that moves or computes elements as a device operation does; empty for no such one."""
    match op:
        case BinaryOp(activation=None) if op.kind.data is BinaryKind.MUL and op.a is op.b:
            return "Square"
        case BinaryOp(activation=None):
            return _titled(op.kind.data)
        case UnaryOp():
            return _titled(op.kind)
        case ReduceOp():
            return f"Reduce{_titled(op.kind.data)}"
        case SoftmaxOp():
            return "Softmax" if op.log is None else "LogSoftmax"
        case _:
            return "Concat" if isinstance(op, _MOVEMENTS) else ""


def _titled(kind: str) -> str:
    return "".join(word.title() for word in kind.split("_"))


def _parameters(op: Operation) -> list[Bounds]:
    """What a function takes beside its operand, as operands."""
    if not isinstance(op, UnaryOp) or op.kind is not UnaryKind.CLIP:
        return []
    return [(op.alpha, op.alpha), (op.beta, op.beta)]
