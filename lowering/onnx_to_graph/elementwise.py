"""Functions of one, two or more tensors, element by element."""

from __future__ import annotations

from functools import reduce

import numpy as np
from xdsl.ir import SSAValue

from ge.dialects.graph.attributes import ActivationAttr, BinaryKind, UnaryKind
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.capabilities import COMPUTE_TYPES
from ge.dialects.graph.compute import BinaryOp, UnaryOp
from ge.dialects.graph.host import ONNX_BINARY, ONNX_UNARY
from ge.dialects.graph.movement import CastOp
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.rules import (
    Emitter,
    Results,
    Rule,
    Rules,
    is_feature,
    is_static,
    known_scalar,
    result_element,
    scalar_like,
)


def _unary(kind: UnaryKind, attribute_names: tuple[str, ...]) -> Rule:
    def rule(op: OnnxOp, emit: Emitter) -> Results:
        """An operator that is one function, with its parameters as attributes."""
        x = op.operands[0]
        if not is_feature(x):
            return None
        return emit.add(UnaryOp(x, kind, *(op.attribute(name) for name in attribute_names)))

    return rule


def _binary(kind: BinaryKind) -> Rule:
    def rule(op: OnnxOp, emit: Emitter) -> Results:
        """An operator of two or more tensors; more are a chain, one is itself."""
        if not all(is_feature(operand) for operand in op.operands):
            return None
        return reduce(lambda a, b: emit.add(BinaryOp(kind, a, b)), op.operands)

    return rule


def mean(op: OnnxOp, emit: Emitter) -> Results:
    """Mean of several tensors: their sum, divided by how many they are."""
    total = _binary(BinaryKind.ADD)(op, emit)
    if not isinstance(total, SSAValue):
        return None
    return emit.add(BinaryOp(BinaryKind.MUL, total, emit.constant(scalar_like(total, 1 / len(op.operands)))))


def clip(op: OnnxOp, emit: Emitter) -> Results:
    """Clip between constant bounds; an absent bound is infinite."""
    x, low, high = op.operand("input"), op.operand("min"), op.operand("max")
    bounds = [-np.inf if low is None else known_scalar(low), np.inf if high is None else known_scalar(high)]
    if x is None or not is_feature(x) or bounds[0] is None or bounds[1] is None:
        return None
    return emit.add(UnaryOp(x, ActivationAttr(UnaryKind.CLIP, bounds[0], bounds[1])))


def gelu(op: OnnxOp, emit: Emitter) -> Results:
    """Gelu, exact or by tanh."""
    x = op.operands[0]
    kind = UnaryKind.GELU_TANH if op.attribute("approximate") == "tanh" else UnaryKind.GELU
    return emit.add(UnaryOp(x, kind)) if is_feature(x) else None


POWERS: dict[float, tuple[UnaryKind, ...]] = {
    -1.0: (UnaryKind.RECIPROCAL,),
    -0.5: (UnaryKind.RSQRT,),
    0.5: (UnaryKind.SQRT,),
    1.0: (UnaryKind.IDENTITY,),
    2.0: (UnaryKind.SQUARE,),
    4.0: (UnaryKind.SQUARE, UnaryKind.SQUARE),
}
"""Constant exponents that are a chain of functions."""


def power(op: OnnxOp, emit: Emitter) -> Results:
    """Pow with a constant exponent that is a chain of functions, or 3; the exponent must not widen the result."""
    x, exponent = op.operands
    value = known_scalar(exponent)
    if not is_feature(x) or value is None or shape_of(x) != shape_of(op.results[0]):
        return None
    if value == 3.0:
        return emit.add(BinaryOp(BinaryKind.MUL, emit.add(UnaryOp(x, UnaryKind.SQUARE)), x))
    if value not in POWERS:
        return None
    return reduce(lambda y, kind: emit.add(UnaryOp(y, kind)), POWERS[value], x)


def prelu(op: OnnxOp, emit: Emitter) -> Results:
    """PRelu as max(x, 0) + slope · min(x, 0), with one slope or one per channel."""
    x, slope = op.operands
    if not is_feature(x) or not is_feature(slope):
        return None
    negative = emit.add(UnaryOp(x, ActivationAttr(UnaryKind.CLIP, -np.inf, 0.0)))
    scaled = emit.add(BinaryOp(BinaryKind.MUL, negative, slope))
    return emit.add(BinaryOp(BinaryKind.ADD, emit.add(UnaryOp(x, UnaryKind.RELU)), scaled))


def identity(op: OnnxOp, emit: Emitter) -> Results:
    """Identity of anything that the graph level can hold: its operand."""
    return op.operands[0]


def dropout(op: OnnxOp, emit: Emitter) -> Results:
    """Dropout at inference: its operand. In training mode, and when the mask is used, it stays on the host."""
    training = op.operand("training_mode")
    if any(result.uses for result in op.results[1:]):
        return None
    if training is not None and known_scalar(training) != 0.0:
        return None
    return [op.operands[0], *(None for _ in op.results[1:])]


def cast(op: OnnxOp, emit: Emitter) -> Results:
    """Cast between float16 and float32; a cast to the same type is its operand."""
    x, target = op.operands[0], result_element(op)
    if not is_static(x) or tensor(x).element_type not in COMPUTE_TYPES or target not in COMPUTE_TYPES:
        return None
    return x if tensor(x).element_type == target else emit.add(CastOp(x, target))


RULES: Rules = {
    **{name: _unary(kind, parameters) for kind, (name, parameters) in ONNX_UNARY.items()},
    **{name: _binary(kind) for kind, name in ONNX_BINARY.items()},
    "Sum": _binary(BinaryKind.ADD),
    "Mean": mean,
    "Clip": clip,
    "Gelu": gelu,
    "Pow": power,
    "PRelu": prelu,
    "Identity": identity,
    "Dropout": dropout,
    "Cast": cast,
}
