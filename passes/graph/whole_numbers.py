"""What is known of numbers that were integers: bounds that follow from types, constants and arithmetic.

An analysis of ranges, for floats that are whole numbers. float16 ends at 65504, and has not all of them beyond 2048.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, Float16Type, IntegerType, Signedness, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.graph import (
    BatchNormOp,
    BinaryKind,
    BinaryOp,
    CastOp,
    ConcatOp,
    ConstantOp,
    Conv2DOp,
    GatherChannelsOp,
    LayerNormOp,
    MatmulOp,
    Pool2DOp,
    PoolKind,
    ReduceKind,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    SoftmaxOp,
    TransposeOp,
    UnaryKind,
    UnaryOp,
)
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant_array
from ge.dialects.onnx import OnnxOp, constant_value

EXACT = 2048
"""float16 has every whole number up to this."""


@dataclass(frozen=True)
class Whole:
    """Whole numbers, in a type of floats, between two bounds."""

    low: float
    high: float

    @property
    def fits(self) -> bool:
        """Whether float16 has all of them."""
        return max(abs(self.low), abs(self.high)) <= EXACT


ANY: Final = Whole(-math.inf, math.inf)
"""Numbers made of integers, and of a size of which nothing is known."""


class Scaled(Enum):
    """Integers that float16 may not hold, times something: it may take another factor before float16 holds them."""

    SCALED = auto()


SCALED: Final = Scaled.SCALED

Fact: TypeAlias = Whole | Scaled | None
"""What is known of the numbers in a value; None: they are like others."""

# Kinds of operations

MOVEMENTS = (ReshapeOp, TransposeOp, SliceOp, ConcatOp, GatherChannelsOp)
"""Device operations that hand elements on."""

PRODUCTS = (Conv2DOp, MatmulOp, BatchNormOp)
"""Those that multiply by weights, and so scale."""

SETTLED = (SoftmaxOp, LayerNormOp)
"""Those whose results are of one size, whatever they are made of."""

SCALING_KINDS = frozenset({BinaryKind.MUL, BinaryKind.DIV})
SCALING_FUNCTIONS = frozenset({UnaryKind.SQRT, UnaryKind.RSQRT, UnaryKind.RECIPROCAL})
SETTLED_FUNCTIONS = frozenset(
    {UnaryKind.SIGMOID, UnaryKind.HARD_SIGMOID, UnaryKind.TANH, UnaryKind.SOFTSIGN, UnaryKind.ERF, UnaryKind.LOG}
)

ONNX_MOVEMENTS = frozenset(
    (
        *("Cast", "Compress", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND"),
        *("GlobalMaxPool", "Identity", "If", "Loop", "MaxPool", "Pad", "Reshape", "ReverseSequence", "Scan"),
        *("ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "TopK", "Transpose"),
        *("Unsqueeze", "Where"),
    )
)
"""ONNX operators that hand elements on, also those of their subgraphs."""

ONNX_PRODUCTS = frozenset(
    (
        *("BatchNormalization", "Conv", "ConvTranspose", "Div", "Einsum", "Gemm", "MatMul", "Mul", "Pow", "Reciprocal"),
        *("ReduceL2", "ReduceProd", "ReduceSumSquare", "Sqrt"),
    )
)
"""ONNX operators that multiply."""

ONNX_SETTLED = frozenset(
    (
        *("Acos", "Asin", "Atan", "Cos", "DynamicQuantizeLinear", "Erf", "GRU", "GroupNormalization", "HardSigmoid"),
        *("Hardmax", "InstanceNormalization", "LSTM", "LayerNormalization", "Log", "LogSoftmax", "LpNormalization"),
        *("MeanVarianceNormalization", "RMSNormalization", "RNN", "Sigmoid", "Sign", "Sin", "Softmax", "Softsign"),
        "Tanh",
    )
)
"""ONNX operators whose results are of one size; those of all others may be as large as what they take."""


def is_large(fact: Fact) -> bool:
    """Whether numbers are whole, and float16 may not have them."""
    return isinstance(fact, Whole) and not fact.fits


def is_scaling(op: Operation) -> bool:
    """Whether a device operation multiplies or divides elements."""
    return isinstance(op, BinaryOp) and op.kind.data in SCALING_KINDS


def fact_of_device(op: Operation, known: Sequence[Fact]) -> Fact:
    """What is known of the result of a device operation, given what is known of its operands."""
    match op:
        case CastOp():
            return None if is_float16(op.y) else known[0]
        case UnaryOp():
            return _of_function(op, known[0])
        case BinaryOp():
            return _of_binary(op, known)
        case ReduceOp():
            return _of_reduction(op, known[0])
        case _:
            pass
    if isinstance(op, MOVEMENTS) or (isinstance(op, Pool2DOp) and op.kind.data is PoolKind.MAX):
        return _joined(known)
    if isinstance(op, PRODUCTS):
        return SCALED if any(map(is_large, known)) else None
    return ANY if any(map(is_large, known)) and not isinstance(op, SETTLED) else None


def fact_of_onnx(op: OnnxOp, known: Sequence[Fact]) -> Fact:
    """What is known of the floats that an ONNX operator gives, given what is known of the floats that it takes."""
    op_type = "" if op.domain else op.op_type
    if op_type == "Cast" and isinstance(element_type(op.operands[0]), IntegerType):
        return _of_integers(op.operands[0])
    if not any(known) or op_type in ONNX_SETTLED:
        return None
    if op_type in ONNX_MOVEMENTS:
        return _joined(known)
    if op_type in ONNX_PRODUCTS:
        return _scaled(known)
    return ANY if any(map(is_large, known)) else None


def _joined(known: Iterable[Fact]) -> Fact:
    """Of the numbers of several values, side by side."""
    facts = list(known)
    whole = [fact for fact in facts if isinstance(fact, Whole)]
    if len(whole) == len(facts):
        return Whole(min(fact.low for fact in whole), max(fact.high for fact in whole))
    return ANY if any(map(is_large, whole)) else SCALED if SCALED in facts else None


def _scaled(known: Sequence[Fact]) -> Fact:
    """Of a product."""
    return SCALED if SCALED in known or any(map(is_large, known)) else None


def _of_binary(op: BinaryOp, known: Sequence[Fact]) -> Fact:
    """Of a function of two elements; constants have bounds, too."""
    kind = op.kind.data
    a, b = (_of_constant(x) if fact is None else fact for x, fact in zip(op.operands, known, strict=True))
    found: Fact = None
    if isinstance(a, Whole) and isinstance(b, Whole) and kind in _BOUNDS and op.activation is None:
        found = _BOUNDS[kind](a, b)
    if kind in SCALING_KINDS:
        return found if isinstance(found, Whole) and found.fits and not any(map(is_large, known)) else _scaled(known)
    return found if found is not None else ANY if any(map(is_large, known)) else None


def _product(a: Whole, b: Whole) -> Whole:
    corners = [0.0 if 0.0 in (x, y) else x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Whole(min(corners), max(corners))


_BOUNDS: Mapping[BinaryKind, Callable[[Whole, Whole], Whole]] = {
    BinaryKind.ADD: lambda a, b: Whole(a.low + b.low, a.high + b.high),
    BinaryKind.SUB: lambda a, b: Whole(a.low - b.high, a.high - b.low),
    BinaryKind.MAX: lambda a, b: Whole(max(a.low, b.low), max(a.high, b.high)),
    BinaryKind.MIN: lambda a, b: Whole(min(a.low, b.low), min(a.high, b.high)),
    BinaryKind.MUL: _product,
}
"""The bounds of functions that give whole numbers for whole numbers."""


def _of_function(op: UnaryOp, x: Fact) -> Fact:
    """Of a function of one element."""
    if op.kind is UnaryKind.IDENTITY or not isinstance(x, Whole):
        return x if op.kind is UnaryKind.IDENTITY else None
    match op.kind:
        case UnaryKind.NEG:
            return Whole(-x.high, -x.low)
        case UnaryKind.ABS:
            return Whole(max(0.0, x.low, -x.high), max(abs(x.low), abs(x.high)))
        case UnaryKind.RELU:
            return Whole(max(x.low, 0.0), max(x.high, 0.0))
        case UnaryKind.CLIP:
            bounds = Whole(*(min(max(bound, op.function.alpha), op.function.beta) for bound in (x.low, x.high)))
            return bounds if is_large(bounds) else None
        case _:
            pass
    if x.fits or op.kind in SETTLED_FUNCTIONS:
        return None
    return SCALED if op.kind in SCALING_FUNCTIONS else ANY


def _of_reduction(op: ReduceOp, x: Fact) -> Fact:
    """Of elements combined into one."""
    if not isinstance(x, Whole):
        return None
    count = math.prod(shape_of(op.x)) // max(1, math.prod(shape_of(op.y)))
    match op.kind.data:
        case ReduceKind.MAX | ReduceKind.MIN:
            return x
        case ReduceKind.SUM:
            return Whole(count * x.low, count * x.high)
        case ReduceKind.SUM_SQUARE:
            return Whole(0.0, count * max(x.low**2, x.high**2))
        case _:
            return ANY if is_large(x) else None


def _of_constant(value: SSAValue) -> Whole | None:
    """Of a constant, when all its numbers are whole."""
    array = constant_array(value) if isinstance(value.owner, ConstantOp) else None
    return None if array is None else _of_array(array)


def _of_array(array: Any) -> Whole | None:
    numbers = np.asarray(array)
    if not numbers.size or not np.isfinite(numbers).all() or (numbers != np.rint(numbers)).any():
        return None
    return Whole(float(numbers.min()), float(numbers.max()))


def _of_integers(value: SSAValue) -> Whole | None:
    """Of integers: the bounds of a constant, or those of the type."""
    array = constant_value(value)
    if array is not None:
        return _of_array(array)
    element = cast("IntegerType[Any]", element_type(value))
    width = element.width.data
    if width == 1 or element.signedness.data is Signedness.UNSIGNED:
        return Whole(0.0, 2.0**width - 1)
    return Whole(-(2.0 ** (width - 1)), 2.0 ** (width - 1) - 1)


def element_type(value: SSAValue) -> Attribute | None:
    """The element type of a tensor; None for other values."""
    type = value.type
    return cast("TensorType[Attribute]", type).element_type if isinstance(type, TensorType) else None


def is_float(value: SSAValue) -> bool:
    """Whether a value is a tensor of floats."""
    return isinstance(element_type(value), AnyFloat)


def is_float16(value: SSAValue) -> bool:
    """Whether a value is a tensor of float16."""
    return isinstance(element_type(value), Float16Type)
