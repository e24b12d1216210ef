"""Fusing what follows a convolution or matrix product into it: per-channel scaling and shifting, then an activation.

The passes `fold-conv-bn` and `fuse-conv-bn-relu` are this with and without activations. See docs/fusion.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import (
    ActivationAttr,
    BatchNormOp,
    BinaryKind,
    BinaryOp,
    Conv2DOp,
    MatmulOp,
    UnaryKind,
    UnaryOp,
)
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import can_fuse_activation
from ge.dialects.graph.constants import constant, constant_array, dtype_of
from ge.maths.floats import fits_type, round_to_type
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain

Vector: TypeAlias = NDArray[np.float64]
Product: TypeAlias = Conv2DOp | MatmulOp


@dataclass(frozen=True)
class Affine:
    """The function y = scale · x + shift of each channel, in float64."""

    scale: Vector
    shift: Vector

    @property
    def only_shifts(self) -> bool:
        """Whether the scale is 1 everywhere."""
        return bool(np.all(self.scale == 1.0))

    def then(self, other: Affine) -> Affine:
        """This function followed by another."""
        return Affine(self.scale * other.scale, self.shift * other.scale + other.shift)


def channel_axis(op: Product) -> int:
    """The axis of the result along which the weights have one filter or column each."""
    return 1 if isinstance(op, Conv2DOp) else len(shape_of(op.y)) - 1


def affine_of(op: Operation, x: SSAValue, axis: int) -> Affine | None:
    """What `op` does to its operand `x`, if that is one scale and one shift for each index along `axis`, all constant.

    It is for a batch normalisation (of axis 1) and for adding, subtracting, multiplying or dividing by a constant.
    """
    if isinstance(op, BatchNormOp) and op.x is x and axis == 1:
        return _affine_of_batch_norm(op)
    if isinstance(op, BinaryOp) and op.activation is None:
        return _affine_of_binary(op, x, axis)
    return None


def _affine_of_batch_norm(op: BatchNormOp) -> Affine | None:
    arrays = [constant_array(value) for value in (op.scale, op.bias, op.mean, op.var)]
    if any(array is None for array in arrays):
        return None
    scale, bias, mean, var = (np.asarray(array, np.float64) for array in arrays)
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = scale / np.sqrt(var + op.epsilon.value.data)
        return Affine(factor, bias - mean * factor)


def _affine_of_binary(op: BinaryOp, x: SSAValue, axis: int) -> Affine | None:
    other = op.b if op.a is x else op.a
    vector = _vector_along(other, shape_of(x), axis) if shape_of(op.y) == shape_of(x) else None
    if vector is None:
        return None
    ones, zeros = np.ones_like(vector), np.zeros_like(vector)
    match op.kind.data:
        case BinaryKind.ADD:
            return Affine(ones, vector)
        case BinaryKind.SUB:
            return Affine(ones, -vector) if op.a is x else Affine(-ones, vector)
        case BinaryKind.MUL:
            return Affine(vector, zeros)
        case BinaryKind.DIV if op.a is x and np.all(vector != 0):
            return Affine(1 / vector, zeros)
        case _:
            return None


def _vector_along(value: SSAValue, shape: tuple[int, ...], axis: int) -> Vector | None:
    """A constant that only varies along `axis` of `shape`, as a vector of that axis."""
    array = constant_array(value)
    if array is None or array.ndim > len(shape):
        return None
    padded = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
    if any(size != 1 for i, size in enumerate(padded.shape) if i != axis):
        return None
    return np.broadcast_to(padded.reshape(-1).astype(np.float64), (shape[axis],))


def fuse_epilogue(op: Product, rule: str, *, activations: bool) -> bool:
    """Fuse the chain of operations after `op` into it, as far as they can be. Whether there were any.

    A chain is followed while each value has one use, which is not to leave the function: affine operations first, then
    (with `activations`) one activation.
    """
    if op.activation is not None:
        return False
    chain: list[Operation] = []
    affine: Affine | None = None
    y: SSAValue = op.y
    while (user := only_user(y)) is not None and (step := affine_of(user, y, channel_axis(op))) is not None:
        affine = step if affine is None else affine.then(step)
        chain.append(user)
        y = user.results[0]
    activation = _activation_of(user) if activations else None
    if affine is not None and (reason := _cannot_scale(op, affine)) is not None:
        report.missed(rule, chain[-1], reason)
        return False
    _report_missed_batch_norm(op, rule, user, y)
    if activation is not None and user is not None:
        chain.append(user)
    if not chain:
        return False
    _replace_chain(op, rule, chain, affine, activation)
    return True


def only_user(value: SSAValue) -> Operation | None:
    """The operation that is the only use of a value; None when there are more uses, or none."""
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def _activation_of(user: Operation | None) -> ActivationAttr | None:
    if isinstance(user, UnaryOp) and can_fuse_activation(user.kind):
        return user.function
    return None


def _cannot_scale(op: Product, affine: Affine) -> str | None:
    """Why weights and bias cannot take in a scale and a shift; None if they can."""
    if not affine.only_shifts and constant_array(op.operands[1]) is None:
        return "the weights are not constant"
    if isinstance(op, MatmulOp) and op.transpose_b is not None and not affine.only_shifts:
        return "the weights are transposed"
    if op.bias is not None and constant_array(op.bias) is None:
        return "the bias is not constant"
    if not (np.isfinite(affine.scale).all() and np.isfinite(affine.shift).all()):
        return "the scale is not finite"
    if not affine.only_shifts and not fits_type(_scaled_weights(op, affine), dtype_of(op.operands[1])):
        return "float16 does not hold the scaled weights"
    return None


def _scaled_weights(op: Product, affine: Affine) -> Vector:
    """The constant weights of `op` times the scale of each output, in float64."""
    w = constant_array(op.operands[1])
    assert w is not None, "asked for where weights are constant"
    scale = affine.scale.reshape((-1,) + (1,) * (w.ndim - 1) if isinstance(op, Conv2DOp) else (-1,))
    return w.astype(np.float64) * scale


def _report_missed_batch_norm(op: Product, rule: str, user: Operation | None, y: SSAValue) -> None:
    """Say why a batch normalisation right after `op` stays."""
    if user is None and any(isinstance(use.operation, BatchNormOp) for use in y.uses):
        report.missed(rule, op, "the result has other users")
    elif isinstance(user, BatchNormOp):
        report.missed(rule, user, "the statistics are not constant")


def _replace_chain(
    op: Product, rule: str, chain: list[Operation], affine: Affine | None, activation: ActivationAttr | None
) -> None:
    """Put one fused operation in the place of the last of `chain`, and take out the others."""
    x, w, bias = op.operands[0], op.operands[1], op.bias
    new_ops: list[Operation] = []
    if affine is not None:
        w, bias = _scaled(op, affine, new_ops)
    new = type(op).create(
        operands=[x, w] if bias is None else [x, w, bias],
        properties={**op.properties, **({} if activation is None else {"activation": activation})},
        result_types=[op.y.type],
    )
    text = " + ".join([describe(op), *map(describe, chain)])
    replace_chain([op, *chain], [*new_ops, new])
    report.fused(rule, f"Fuse {text} -> Fused{_NAMES[type(op)]}", new)


def _scaled(op: Product, affine: Affine, new_ops: list[Operation]) -> tuple[SSAValue, SSAValue]:
    """Weights and bias of `op` followed by `affine`: new constants, put into `new_ops`, of the types of the old ones.

    Weights that are only shifted stay, so that operations that share them go on sharing.
    """
    old_w, bias = op.operands[1], constant_array(op.bias) if op.bias is not None else None
    shift = affine.shift if bias is None else affine.shift + affine.scale * bias.astype(np.float64)
    new_bias = constant(round_to_type(shift, dtype_of(old_w) if bias is None else bias.dtype))
    new_bias.location = op.location
    new_ops.append(new_bias)
    if affine.only_shifts:
        return old_w, new_bias.y
    new_w = constant(round_to_type(_scaled_weights(op, affine), dtype_of(old_w)))
    new_w.location, new_w.y.name_hint = op.location, old_w.name_hint
    new_ops.append(new_w)
    return new_w.y, new_bias.y


_NAMES: dict[type[Operation], str] = {Conv2DOp: "Conv2D", MatmulOp: "MatMul"}


def describe(op: Operation) -> str:
    """An operation as reports call it: `Conv2D(32)`, `BatchNorm`, `ReLU`."""
    if isinstance(op, Conv2DOp | MatmulOp):
        return f"{_NAMES[type(op)]}({shape_of(op.y)[channel_axis(op)]})"
    if isinstance(op, UnaryOp):
        return describe_activation(op.function)
    if isinstance(op, BinaryOp):
        return op.kind.data.capitalize()
    return "".join(word.capitalize() for word in op.name.removeprefix("graph.").split("_"))


def describe_activation(function: ActivationAttr) -> str:
    """A function as reports call it: `ReLU`, `ReLU6`, `HardSwish`."""
    if function.kind is UnaryKind.CLIP and function.arguments == (0.0, 6.0):
        return "ReLU6"
    words = str(function.kind).split("_")
    return "".join(word.capitalize() for word in words).replace("Relu", "ReLU")
