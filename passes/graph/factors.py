"""Constant factors that float16 does not hold, as products of numbers that it holds.

    x · 1e5         x · 25000 · 4
    x / 1e-6        x / 0.000512 · 512
    1e5 / x         25000 / (x / 4)
    conv(x, w)      conv(x, w · 4096) / 4096, where no weight is as large as 2^-15

float16 ends at 65504 and has fewer digits below 2**-14, none below 2**-25: a factor of 1e5 would be one of 65504, while
x · 1e5 may be a number like any other. What is taken out are powers of two, which round nothing, in an order in which
what is between them is lost only where the result is. Each element of a constant has its own.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import BinaryKind, BinaryOp, Conv2DOp, MatmulOp, UnaryOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant, constant_array, dtype_of
from ge.ir.constants import Array
from ge.ir.rewriting import replace
from ge.maths.floats import FLOAT16_MAX, FLOAT16_TOLERANCE, fits_type, largest_size, to_float16

INFINITE = 2.0**29
"""A factor as large as this stands for infinity, as in masks: what it multiplies saturates as it would by 65504."""

SMALLEST_NORMAL = 2.0**-14
"""The smallest number of float16 with all its digits."""

LARGE, SMALL = 15, -10
"""The exponents of large factors, and of small ones, when their powers of two are taken out."""

STEPS = (-14, 15)
"""The exponents of the smallest and the largest power of two that is one factor."""

MOST = 45
"""An exponent beyond which nothing of float16 is left, and everything is beyond it."""


def split_factors(block: Block) -> None:
    """Split the float32 constants of the device's products and quotients that float16 does not hold.

    Left alone: constants of which elements are lost that are small beside the others; those with infinities or NaN;
    factors from `INFINITE` on; matrices that are read transposed, which are values of the device; sums, where what is
    beyond 65504 saturates; float16 of the model.
    """
    for op in list(block.ops):
        match op:
            case BinaryOp() if op.kind.data in (BinaryKind.MUL, BinaryKind.DIV) and shape_of(op.y):
                _split_binary(op)
            case Conv2DOp() | MatmulOp():
                _split_weights(op)
            case _:
                pass


def _split_binary(op: BinaryOp) -> None:
    """Split the one constant of a product or quotient of elements."""
    arrays = [constant_array(side) for side in op.operands]
    position = 0 if arrays[1] is None else 1
    array, x = arrays[position], op.operands[1 - position]
    if array is None or arrays[1 - position] is not None or dtype_of(x) != np.float32:
        return
    divides = op.kind.data is BinaryKind.DIV and position == 1
    if not _is_lost(array, divides=divides):
        return
    exponents = _exponents(abs(array), np.inf if divides else INFINITE)
    new: list[Operation] = [constant(_times_powers(array, -exponents))]
    if op.kind.data is BinaryKind.DIV and position == 0:
        x = _scaled(x, -exponents, new)
        new.append(BinaryOp(BinaryKind.DIV, new[0].results[0], x))
    else:
        sides = [new[0].results[0] if i == position else side for i, side in enumerate(op.operands)]
        new.append(BinaryOp(op.kind.data, *sides))
        _scaled(new[-1].results[0], -exponents if divides else exponents, new)
    _finish(op, new)


def _split_weights(op: Conv2DOp | MatmulOp) -> None:
    """Split the constant matrix or filters of a product, with one power of two for each output, or one for all.

    A bias is added before the result is multiplied by a large power, and after it is multiplied by a small one.
    """
    position = 0 if isinstance(op, MatmulOp) and constant_array(op.b) is None else 1
    array = constant_array(op.operands[position])
    if array is None or dtype_of(op.y) != np.float32 or not _is_lost(array, divides=False):
        return
    if isinstance(op, MatmulOp) and op.transpose_b is not None:  # its outputs are along another axis
        return
    exponents = _exponents_of_outputs(op, array, position)
    if not exponents.any():
        return
    spread = exponents.reshape(-1, 1, 1, 1) if isinstance(op, Conv2DOp) else exponents
    new: list[Operation] = [constant(_times_powers(array, -spread))]
    operands = [new[0].results[0] if i == position else side for i, side in enumerate(op.operands[:2])]
    bias = None if op.bias is None else constant_array(op.bias)
    is_large = bool((exponents > 0).any())
    if bias is not None and is_large:
        new.append(constant(_times_powers(bias, -exponents)))
        operands.append(new[-1].results[0])
    properties = {name: value for name, value in op.properties.items() if name != "activation"}
    new.append(type(op).create(operands=operands, properties=properties, result_types=[op.y.type]))
    outputs = (-1, 1, 1) if isinstance(op, Conv2DOp) else (-1,)
    y = _scaled(new[-1].results[0], exponents.reshape(outputs), new)
    if bias is not None and not is_large:
        vector = constant(bias.reshape(outputs))
        new += [vector, BinaryOp(BinaryKind.ADD, y, vector.y)]
    _finish(op, new)


def _finish(op: BinaryOp | Conv2DOp | MatmulOp, new: list[Operation]) -> None:
    """Put new operations in the place of one, and its activation behind them."""
    if op.activation is not None:
        new.append(UnaryOp(new[-1].results[0], op.activation))
    replace(op, new)


def _is_lost(array: Array, *, divides: bool) -> bool:
    """Whether a constant is another one in float16: some of its elements, or of their reciprocals."""
    largest = largest_size(array)
    if not math.isfinite(largest):
        return False
    if not divides:
        factors = array if largest < INFINITE else array[abs(array) < INFINITE]
        return not fits_type(factors, np.dtype(np.float16))
    exact = array[array != 0].astype(np.float64)
    with np.errstate(divide="ignore"):
        wanted, held = 1 / exact, 1 / to_float16(exact).astype(np.float64)
    return bool((abs(held - wanted) > FLOAT16_TOLERANCE * abs(wanted).max(initial=0)).any())


def _exponents(sizes: Array, infinite: float) -> NDArray[np.int64]:
    """The exponents of the powers of two that are taken out of numbers of these sizes; 0 where float16 holds them."""
    exponents = np.frexp(sizes.astype(np.float64))[1].astype(np.int64)
    large = (sizes > FLOAT16_MAX) & (sizes < infinite)
    small = (sizes > 0) & (sizes < SMALLEST_NORMAL)
    return np.where(large, exponents - LARGE, np.where(small, exponents - SMALL, 0))


def _exponents_of_outputs(op: Conv2DOp | MatmulOp, array: Array, position: int) -> NDArray[np.int64]:
    """The same of weights: for each output, where some are large; or one number for all of them."""
    sizes = abs(array)
    if isinstance(op, Conv2DOp):
        sizes = sizes.max(axis=(1, 2, 3))
    elif position == 1:
        sizes = sizes.max(axis=tuple(range(array.ndim - 1)))
    else:
        sizes = sizes.reshape(-1)
    exponents = np.maximum(_exponents(sizes, INFINITE), 0)
    if not exponents.any():
        return _exponents(sizes.max(keepdims=True), INFINITE)
    return exponents if position == 1 else exponents.max(keepdims=True)


def _times_powers(array: Array, exponents: NDArray[np.int64]) -> Array:
    return np.ldexp(array.astype(np.float64), exponents).astype(np.float32)


def _scaled(x: SSAValue, exponents: NDArray[np.int64], new: list[Operation]) -> SSAValue:
    """`x` times powers of two, in products with such as float16 holds; they are put behind `new`."""
    left = np.clip(exponents, -MOST, MOST)
    if left.size == 1 or left.min() == left.max():
        left = left.reshape(-1)[:1]
    while left.any():
        step = np.clip(left, *STEPS)
        left = left - step
        powers = constant(np.exp2(step).astype(np.float32))
        product = BinaryOp(BinaryKind.MUL, x, powers.y)
        new += [powers, product]
        x = product.y
    return x
