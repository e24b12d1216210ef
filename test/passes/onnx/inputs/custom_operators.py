# pyright: basic
"""A plug-in with operators that are decomposed in each possible way."""

import numpy as np

from ge import register_operator
from ge.custom import Cost, broadcast_inputs, elements, like_input


def scaled(ops, x, *, factor):
    return ops.Mul(ops.Relu(x), factor)


@register_operator(
    "com.example",
    "ScaledRelu",
    "x: T -> y: T",
    attributes=["factor: float = 2.0"],
    types={"T": "f16 f32"},
    shapes=like_input,
    decomposition=scaled,
    cost=lambda node: Cost(flops=2 * elements(node.shape(0))),
)
def scaled_relu(x, *, factor):
    return np.maximum(x, 0) * x.dtype.type(factor)


@register_operator(
    "com.example",
    "ShiftedRelu",
    "x: T -> y: T",
    attributes=["shift: float = 0.5"],
    types={"T": "f32"},
    shapes=like_input,
    decomposition="shifted.gerules",
)
def shifted_relu(x, *, shift):
    return np.maximum(x + x.dtype.type(shift), 0)


def sum_and_count(ops, first, *others):
    if len(others) > 2:
        return None  # left to the host
    total = first
    for other in others:
        total = ops.Add(total, other)
    return total, np.array(1 + len(others))


@register_operator(
    "com.example",
    "SumAndCount",
    "first: T, others*: T -> total: T, count: i64",
    types={"T": "f32 i64"},
    shapes=lambda node: [broadcast_inputs(node)[0], ()],
    decomposition=sum_and_count,
)
def sums(first, *others):
    return np.asarray(sum(others, first), first.dtype), np.array(1 + len(others))


@register_operator(
    "com.example",
    "Biased",
    "x: T, bias?: T -> y: T",
    types={"T": "f32"},
    shapes=broadcast_inputs,
    decomposition=lambda ops, x, bias: ops.Neg(x) if bias is None else ops.Sub(bias, x),
)
def biased(x, bias):
    return -x if bias is None else bias - x


@register_operator("com.example", "Twist", "x: T -> y: T", types={"T": "f32"}, shapes=like_input)
def twist(x):
    return np.cumsum(x[..., ::-1], -1, dtype=x.dtype)
