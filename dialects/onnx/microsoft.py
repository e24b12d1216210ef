"""What the quantised operators of com.microsoft compute that onnxruntime's quantiser writes.

A quantised tensor q of scale s and zero point z stands for ``s * (q - z)``. The order of the float32 operations is that
of onnxruntime's kernels for x86 (core/mlas/lib/qladd.cpp, qlgavgpool.cpp, quantize.cpp), so that ties round alike. Sums
of products of integers are taken in float64, which is exact below 2**53.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.base import OnnxOp

DOMAIN = "com.microsoft"

Array: TypeAlias = NDArray[Any]
Meaning: TypeAlias = Callable[[OnnxOp, Sequence[Any]], Sequence[Array]]


def given(inputs: Sequence[Any], position: int) -> Any:
    """An optional input; None when it is absent."""
    return inputs[position] if position < len(inputs) else None


def centred(values: Array, zero_point: Any) -> Array:
    """``values - zero_point`` in float64; an absent zero point is 0."""
    wide = values.astype(np.float64)
    return wide if zero_point is None else wide - zero_point.astype(np.float64)


def requantised(sums: Array, scale: Any, zero_point: Any, dtype: np.dtype[Any]) -> Array:
    """``sums * scale`` (float32), to even, saturated to ``dtype`` around its zero point."""
    zero = 0 if zero_point is None else int(zero_point.reshape(()))
    limits = np.iinfo(dtype)
    rounded = np.rint(sums.astype(np.float32) * scale)
    return (np.clip(rounded, limits.min - zero, limits.max - zero).astype(np.int64) + zero).astype(dtype)


def multiply_add(a: Array, b: Any, c: Any) -> Array:
    """``a * b + c`` of float32 with one rounding."""
    return (a.astype(np.float64) * np.float64(b) + np.float64(c)).astype(np.float32)


def qlinear_add(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """The sum of A and B, broadcast, in the scale of C.

    Inputs: A, scale, zero, B, scale, zero, scale of C, zero of C.
    """
    a, a_scale, a_zero, b, b_scale, b_zero, c_scale = inputs[:7]
    a_ratio, b_ratio = (np.float32(scale.reshape(()) / c_scale.reshape(())) for scale in (a_scale, b_scale))
    zeros = [np.float32(0 if zero is None else zero.reshape(())) for zero in (a_zero, b_zero, given(inputs, 7))]
    offset = np.float32(zeros[2] - np.float32(np.float32(a_ratio * zeros[0]) + np.float32(b_ratio * zeros[1])))
    terms = [(a, a_ratio), (b, b_ratio)]
    total: Any = offset
    for values, ratio in sorted(terms, key=lambda term: term[0].size != 1):  # what is one number is added first
        total = multiply_add(values, ratio, total)
    limits = np.iinfo(a.dtype)
    return [np.clip(np.rint(total), limits.min, limits.max).astype(a.dtype)]


def qlinear_mul(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """The product of A and B, broadcast, in the scale of C. Inputs: as those of QLinearAdd."""
    a, a_scale, a_zero, b, b_scale, b_zero, c_scale = inputs[:7]
    ratio = np.float32(np.float32(a_scale.reshape(()) * b_scale.reshape(())) / c_scale.reshape(()))
    product = centred(a, a_zero) * centred(b, b_zero)  # of integers, which float32 has, too
    return [requantised(product, ratio, given(inputs, 7), a.dtype)]


def qlinear_sigmoid(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """The logistic function. Inputs: X, scale, zero, scale of Y, zero of Y."""
    return [_by_table(inputs[:3], inputs[3], given(inputs, 4), sigmoid)]


def qlinear_leaky_relu(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """X, or alpha X below zero. Inputs: as those of QLinearSigmoid."""
    alpha = np.float32(op.attribute("alpha", 0.01))
    return [_by_table(inputs[:3], inputs[3], given(inputs, 4), lambda x: np.where(x >= 0, x, x * alpha))]


def qlinear_softmax(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """The softmax of integers: powers of e are whole numbers from a table, and so is the scale of Y as a divisor.

    Inputs: as those of QLinearSigmoid; the zero point of X has no effect. Attributes: axis, and the opset whose Softmax
    it stands for: before 13 all axes from `axis` on are one.
    """
    x, x_scale, _, y_scale = inputs[:4]
    axis = int(op.attribute("axis", -1)) % x.ndim
    flat = op.attribute("opset", 13) < 13
    rows = x.reshape(*x.shape[:axis], -1) if flat else np.moveaxis(x, axis, -1)
    limits = np.iinfo(x.dtype)
    largest = min((2**32 - 1) / rows.shape[-1], 0x7FFFFF)
    table = np.rint(largest * np.exp((np.arange(256) - 255) * float(x_scale.reshape(())))).astype(np.int64)
    levels = rows.astype(np.int64) - limits.min
    powers = table[levels + (255 - levels.max(-1, keepdims=True))]
    zero = 0 if (y_zero := given(inputs, 4)) is None else int(y_zero.reshape(()))
    found = np.rint(powers * float(np.floor(1 / y_scale.reshape(()))) / powers.sum(-1, keepdims=True)) + zero
    y = np.clip(found, limits.min, limits.max).astype(x.dtype)
    return [y.reshape(x.shape) if flat else np.moveaxis(y, -1, axis)]


def qlinear_concat(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """Values end to end, each in the scale of Y. Inputs: scale of Y, zero of Y, then value, scale, zero of each."""
    scale, zero, *parts = inputs
    values = [_by_table(parts[i : i + 3], scale, zero, lambda x: x) for i in range(0, len(parts), 3)]
    return [np.concatenate(values, op.attribute("axis", 0))]


def _by_table(x: Sequence[Any], scale: Any, zero: Any, function: Callable[[Array], Array]) -> Array:
    """A function of the float32 numbers that integers stand for (value, scale, zero), quantised again."""
    values, x_scale, x_zero = x
    result = function(centred(values, x_zero).astype(np.float32) * np.float32(x_scale.reshape(())))
    return requantised(result / np.float32(scale.reshape(())), np.float32(1), zero, values.dtype)


def qlinear_global_average_pool(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """The mean over the spatial axes in the scale of Y. Inputs: X, scale, zero, scale of Y, zero of Y."""
    x, x_scale, x_zero, y_scale, y_zero = inputs
    axes = tuple(range(1, x.ndim - 1) if op.attribute("channels_last", 0) else range(2, x.ndim))
    count = np.float32(np.prod([x.shape[axis] for axis in axes]))
    sums = centred(x, x_zero).sum(axes, keepdims=True)
    scale = np.float32(x_scale.reshape(()) / np.float32(y_scale.reshape(()) * count))
    return [requantised(sums, scale, y_zero, x.dtype)]


def qgemm(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """``alpha * (A' B' + C)`` in the scale of Y, or as float32 when Y has none.

    Inputs: A, scale, zero, B, scale, zero (one, or one per column), C (int32 of scale a x b), scale of Y, zero of Y.
    """
    a, a_scale, a_zero, b, b_scale, b_zero = inputs[:6]
    left, right = centred(a, a_zero), b.T if op.attribute("transB", 0) else b
    sums = (left.T if op.attribute("transA", 0) else left) @ centred(right, b_zero)
    if (c := given(inputs, 6)) is not None:
        sums = sums + c
    scale = np.float32(op.attribute("alpha", 1.0)) * a_scale * b_scale
    if (y_scale := given(inputs, 7)) is None:
        return [sums.astype(np.float32) * scale]
    y_zero = given(inputs, 8)
    return [requantised(sums, scale / y_scale, y_zero, a.dtype if y_zero is None else y_zero.dtype)]


# Recurrent layers


def quantised_product(x: Array, weights: Array, scale: Array) -> Array:
    """``x`` by centred weights: x becomes ui8 in the range of all its values, as DynamicQuantizeLinear does."""
    least, most = np.minimum(x.min(initial=0), np.float32(0)), np.maximum(x.max(initial=0), np.float32(0))
    x_scale = np.float32((most - least) / np.float32(255)) if most > least else np.float32(1)
    zero = np.rint(np.clip(-least / x_scale, 0, 255))
    levels = np.clip(np.rint(x / x_scale) + zero, 0, 255)
    sums = (levels - zero).astype(np.float64) @ weights
    return sums.astype(np.float32) * (x_scale * scale)


def sigmoid(x: Array) -> Array:
    """``1 / (1 + exp(-x))``, also far from zero."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(np.float32)


ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, np.float32(0)),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
}
"""Activations without parameters, by name in small letters."""


def dynamic_quantize_lstm(op: OnnxOp, inputs: Sequence[Any]) -> Sequence[Array]:
    """LSTM over int8 weights; X as a whole, and H of each step, become ui8 before each product.

    Inputs: X [T, N, I], W [D, I, 4H], R [D, H, 4H], B, lengths, initial H and C, P, and scale and zero point of W and R
    (one, or one per column, for each direction). Results: Y [T, D, N, H], the last H and C [D, N, H].
    """
    directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
    reversed_ones = directions[str(op.attribute("direction", "forward"))]
    parts = [_lstm_direction(op, inputs, number, back) for number, back in enumerate(reversed_ones)]
    return [np.stack([part[0] for part in parts], 1), *(np.stack([part[i] for part in parts]) for i in (1, 2))]


def _lstm_direction(op: OnnxOp, inputs: Sequence[Any], number: int, back: bool) -> tuple[Array, Array, Array]:
    """One direction of an LSTM: all hidden states [T, N, H], the last hidden state and the last cell state [N, H]."""
    x, size = inputs[0], op.attribute("hidden_size")
    steps, batch = x.shape[:2]
    lengths = np.full(batch, steps) if (found := given(inputs, 4)) is None else found.astype(np.int64)
    longest = int(lengths.max(initial=0))
    w, w_scale = _weights(inputs, 1, 8, number)
    r, r_scale = _weights(inputs, 2, 10, number)
    gates = quantised_product(x[:longest].reshape(-1, x.shape[2]), w, w_scale).reshape(longest, batch, 4 * size)
    bias = _part(inputs, 3, number, (2, 4 * size)).sum(0)
    h, c = (_part(inputs, position, number, (batch, size)) for position in (5, 6))
    cell = _Cell(op, _part(inputs, 7, number, (3, size)), 3 * number)
    y = np.zeros((steps, batch, size), np.float32)
    rows = np.array(range(batch), np.int64)
    for step in range(longest):
        active = step < lengths
        at = np.where(active, lengths - 1 - step if back else step, 0)
        running = np.where((step <= lengths)[:, None], h, np.float32(0))  # what has ended does not widen the range
        new_h, new_c = cell.step(gates[at, rows] + quantised_product(running, r, r_scale) + bias, c)
        h, c = (np.where(active[:, None], new, old) for new, old in ((new_h, h), (new_c, c)))
        y[at[active], rows[active]] = h[active]
    return y, h, c


def _weights(inputs: Sequence[Any], position: int, scale: int, number: int) -> tuple[Array, Array]:
    """The centred weights of a direction and their scale, which is input ``scale``; the zero point follows it."""
    return centred(inputs[position][number], inputs[scale + 1][number]), inputs[scale][number]


def _part(inputs: Sequence[Any], position: int, number: int, shape: tuple[int, ...]) -> Array:
    """What an optional input has for a direction; zeros when it is absent."""
    value = given(inputs, position)
    return np.zeros(shape, np.float32) if value is None else value[number].reshape(shape)


class _Cell:
    """The equations of one step of an LSTM; peepholes are [3, H] of input, output and forget gate."""

    def __init__(self, op: OnnxOp, peepholes: Array, first_activation: int) -> None:
        names = op.attribute("activations") or ["Sigmoid", "Tanh", "Tanh"] * 2
        chosen = [str(name).lower() for name in names[first_activation : first_activation + 3]]
        if unknown := [name for name in chosen if name not in ACTIVATIONS]:
            raise ValueError(f"activation {unknown[0]} is not one of {', '.join(ACTIVATIONS)}")
        self._f, self._g, self._h = (ACTIVATIONS[name] for name in chosen)
        self._peepholes = peepholes
        self._coupled = bool(op.attribute("input_forget", 0))
        self._clip = op.attribute("clip")

    def step(self, gates: Array, c: Array) -> tuple[Array, Array]:
        """The next hidden and cell state, from the sums [N, 4H] of input, output, forget and cell gate."""
        i, o, f, g = np.split(gates, 4, axis=1)
        p_i, p_o, p_f = self._peepholes
        i = self._f(self._clipped(i + p_i * c))
        f = 1 - i if self._coupled else self._f(self._clipped(f + p_f * c))
        c = f * c + i * self._g(self._clipped(g))
        o = self._f(self._clipped(o + p_o * c))
        return o * self._h(c), c

    def _clipped(self, x: Array) -> Array:
        return x if self._clip is None else np.clip(x, -self._clip, self._clip)


MEANINGS: Mapping[str, Meaning] = {
    "DynamicQuantizeLSTM": dynamic_quantize_lstm,
    "QGemm": qgemm,
    "QLinearAdd": qlinear_add,
    "QLinearConcat": qlinear_concat,
    "QLinearGlobalAveragePool": qlinear_global_average_pool,
    "QLinearLeakyRelu": qlinear_leaky_relu,
    "QLinearMul": qlinear_mul,
    "QLinearSigmoid": qlinear_sigmoid,
    "QLinearSoftmax": qlinear_softmax,
}
"""What the operators of com.microsoft compute that have a meaning here; results that are not used are dropped."""


def meaning_of(domain: str, op_type: str) -> Meaning | None:
    """What an operator computes; None when nothing here says it."""
    return MEANINGS.get(op_type) if domain == DOMAIN else None
