"""What the graph operations compute, as NumPy functions on float32 (or float64) arrays in origin shape.

These are the reference of the kernels: written for clarity first, and fast enough for whole networks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ge.dialects.graph.attributes import ActivationAttr, BinaryKind, PoolKind, ReduceKind, UnaryKind
from ge.dialects.graph.shapes import window_positions
from ge.ir.constants import Array
from ge.maths.layouts import ceil_div


def sliding_windows(
    x: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], positions: Sequence[int]
) -> Array:
    """A view [N, C, Ho, Wo, kh, kw] of `x` [N, C, H, W]: the window at each of `positions` (Ho, Wo)."""
    n, c, h, w = x.strides
    return np.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:2], *positions, *kernel),
        (n, c, h * strides[0], w * strides[1], h * dilations[0], w * dilations[1]),
        writeable=False,
    )


def _pad_plane(x: Array, pads: Sequence[int], value: float) -> Array:
    """`x` [N, C, H, W] with `pads` (top, left, bottom, right) elements of `value` around each plane."""
    if not any(pads):
        return x
    top, left, bottom, right = pads
    return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=value)


def conv2d(
    x: Array,
    w: Array,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
    group_merge: int = 1,
) -> Array:
    """Convolution of `x` [N, C, H, W] with `w` [O, I, kh, kw]; see `graph.conv2d` for merged groups."""
    channels, outputs = x.shape[1], w.shape[0]
    merged = ceil_div(groups, group_merge)
    out_per_group = outputs // groups * group_merge
    x = _pad_plane(x, pads, 0.0)
    ragged = merged * w.shape[1] - channels
    if ragged:
        x = np.pad(x, ((0, 0), (0, ragged), (0, 0), (0, 0)))
    parts = [
        _conv_one_group(
            x[:, g * w.shape[1] : (g + 1) * w.shape[1]],
            w[g * out_per_group : (g + 1) * out_per_group],
            strides,
            dilations,
        )
        if w.shape[1] > 1
        else _conv_one_channel(x[:, g], w[g * out_per_group : (g + 1) * out_per_group, 0], strides, dilations)
        for g in range(merged)
    ]
    return parts[0] if merged == 1 else np.concatenate(parts, axis=1)


def _positions(x: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> tuple[int, int]:
    """Output height and width over an already padded plane (the last two axes of `x`)."""
    height, width = x.shape[-2:]
    return (
        window_positions(height, kernel[0], strides[0], (0, 0), dilations[0]),
        window_positions(width, kernel[1], strides[1], (0, 0), dilations[1]),
    )


def _conv_one_group(x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """A dense convolution without padding, as one matrix product per image (im2col)."""
    positions = _positions(x, w.shape[2:], strides, dilations)
    windows = sliding_windows(x, w.shape[2:], strides, dilations, positions).transpose(0, 1, 4, 5, 2, 3)
    filters = w.reshape(w.shape[0], -1)
    images = [filters @ image.reshape(filters.shape[1], -1) for image in windows]
    return np.stack(images).reshape(len(x), w.shape[0], *positions)


def _conv_one_channel(x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """Filters `w` [O, kh, kw] over one channel `x` [N, H, W], tap by tap."""
    height, width = _positions(x, w.shape[1:], strides, dilations)
    y = np.zeros((len(x), len(w), height, width), x.dtype)
    for (i, j), _ in np.ndenumerate(w[0]):
        top, left = i * dilations[0], j * dilations[1]
        rows = slice(top, top + (height - 1) * strides[0] + 1, strides[0])
        columns = slice(left, left + (width - 1) * strides[1] + 1, strides[1])
        y += w[None, :, i, j, None, None] * x[:, None, rows, columns]
    return y


def pool2d(
    x: Array,
    kind: PoolKind,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    positions: Sequence[int],
    count_include_pad: bool,
) -> Array:
    """Pooling of `x` [N, C, H, W] at `positions` (Ho, Wo); see `graph.pool2d` for what an average divides by."""
    fill = -np.inf if kind is PoolKind.MAX else 0.0
    reach = [(positions[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 for i in range(2)]
    beyond = [max(0, reach[i] - x.shape[2 + i] - pads[i] - pads[i + 2]) for i in range(2)]
    counted = _pad_plane(np.ones((1, 1, *x.shape[2:]), x.dtype), pads, float(count_include_pad))
    counted = _pad_plane(counted, (0, 0, *beyond), 0.0)
    x = _pad_plane(x, (pads[0], pads[1], pads[2] + beyond[0], pads[3] + beyond[1]), fill)
    windows = sliding_windows(x, kernel, strides, dilations, positions)
    if kind is PoolKind.MAX:
        return windows.max(axis=(4, 5))
    count = sliding_windows(counted, kernel, strides, dilations, positions).sum(axis=(4, 5))
    return windows.sum(axis=(4, 5)) / count


def batch_norm(x: Array, scale: Array, bias: Array, mean: Array, var: Array, epsilon: float) -> Array:
    """Normalisation with fixed statistics of channel axis 1."""
    factor = scale / np.sqrt(var + x.dtype.type(epsilon))
    return x * per_channel(factor, x.ndim) + per_channel(bias - mean * factor, x.ndim)


def per_channel(vector: Array, rank: int) -> Array:
    """A vector [C] in the shape that broadcasts over axis 1 of `rank` dimensions."""
    return vector.reshape(-1, *(1,) * (rank - 2))


def softmax(x: Array, axis: int, log: bool) -> Array:
    """Softmax along `axis`, or its logarithm."""
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    total = exponentials.sum(axis=axis, keepdims=True)
    return shifted - np.log(total) if log else exponentials / total


def layer_norm(x: Array, scale: Array, bias: Array, epsilon: float) -> Array:
    """Normalisation of rows to mean 0 and variance 1, then scaled and shifted."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + x.dtype.type(epsilon)) * scale + bias


def lrn(x: Array, size: int, alpha: float, beta: float, bias: float) -> Array:
    """Local response normalisation over channels."""
    before, after = (size - 1) // 2, size // 2
    squares = np.pad(x * x, ((0, 0), (before, after), *((0, 0),) * (x.ndim - 2)))
    total = sum(squares[:, i : i + x.shape[1]] for i in range(size))
    return x / (bias + alpha / size * total) ** x.dtype.type(beta)


_erf = np.frompyfunc(math.erf, 1, 1)


def erf(x: Array) -> Array:
    """The error function."""
    return np.asarray(_erf(x)).astype(x.dtype)


def _sigmoid(x: Array) -> Array:
    """1 / (1 + e⁻ˣ), from the side on which the exponential does not overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def _elu(x: Array, alpha: float, steepness: float = 1.0) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0) / steepness))


UNARY: dict[UnaryKind, Callable[[Array, float, float], Array]] = {
    UnaryKind.IDENTITY: lambda x, a, b: x,
    UnaryKind.NEG: lambda x, a, b: -x,
    UnaryKind.ABS: lambda x, a, b: np.abs(x),
    UnaryKind.SQUARE: lambda x, a, b: np.square(a * x),
    UnaryKind.POWER: lambda x, a, b: np.exp(a * np.log(x)),
    UnaryKind.SQRT: lambda x, a, b: np.sqrt(x),
    UnaryKind.RSQRT: lambda x, a, b: 1.0 / np.sqrt(x),
    UnaryKind.RECIPROCAL: lambda x, a, b: 1.0 / x,
    UnaryKind.EXP: lambda x, a, b: np.exp(x),
    UnaryKind.LOG: lambda x, a, b: np.log(x),
    UnaryKind.RELU: lambda x, a, b: np.maximum(x, 0.0),
    UnaryKind.LEAKY_RELU: lambda x, a, b: np.where(x > 0, x, a * x),
    UnaryKind.ELU: lambda x, a, b: _elu(x, a),
    UnaryKind.SELU: lambda x, a, b: b * _elu(x, a),
    UnaryKind.CELU: lambda x, a, b: _elu(x, a, a),
    UnaryKind.CLIP: lambda x, a, b: np.minimum(np.maximum(x, a), b),
    UnaryKind.SIGMOID: lambda x, a, b: _sigmoid(x),
    UnaryKind.HARD_SIGMOID: lambda x, a, b: np.clip(a * x + b, 0.0, 1.0),
    UnaryKind.TANH: lambda x, a, b: np.tanh(x),
    UnaryKind.SOFTPLUS: lambda x, a, b: _softplus(x),
    UnaryKind.SOFTSIGN: lambda x, a, b: x / (1.0 + np.abs(x)),
    UnaryKind.ERF: lambda x, a, b: erf(x),
    UnaryKind.GELU: lambda x, a, b: 0.5 * x * (1.0 + erf(x / math.sqrt(2.0))),
    UnaryKind.GELU_TANH: lambda x, a, b: (
        0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))
    ),
    UnaryKind.SWISH: lambda x, a, b: x * _sigmoid(a * x),
    UnaryKind.HARD_SWISH: lambda x, a, b: x * np.clip(x / 6.0 + 0.5, 0.0, 1.0),
    UnaryKind.MISH: lambda x, a, b: x * np.tanh(_softplus(x)),
}
"""Each unary function of (x, alpha, beta)."""

BINARY: dict[BinaryKind, Callable[[Array, Array], Array]] = {
    BinaryKind.ADD: np.add,
    BinaryKind.SUB: np.subtract,
    BinaryKind.MUL: np.multiply,
    BinaryKind.DIV: np.divide,
    BinaryKind.MAX: np.maximum,
    BinaryKind.MIN: np.minimum,
    BinaryKind.POW: np.power,
}
"""Each binary function."""


def unary(x: Array, function: ActivationAttr) -> Array:
    """`function` of each element, without warnings for what overflows or is undefined."""
    with np.errstate(all="ignore"):
        return UNARY[function.kind](x, function.alpha, function.beta).astype(x.dtype, copy=False)


def binary(kind: BinaryKind, a: Array, b: Array) -> Array:
    """`kind` of each pair of elements, without warnings for what overflows or is undefined."""
    with np.errstate(all="ignore"):
        return BINARY[kind](a, b)


REDUCE: dict[ReduceKind, Callable[[Array, tuple[int, ...]], Array]] = {
    ReduceKind.SUM: lambda x, axes: x.sum(axis=axes, keepdims=True),
    ReduceKind.MEAN: lambda x, axes: x.mean(axis=axes, keepdims=True),
    ReduceKind.MAX: lambda x, axes: x.max(axis=axes, keepdims=True),
    ReduceKind.MIN: lambda x, axes: x.min(axis=axes, keepdims=True),
    ReduceKind.SUM_SQUARE: lambda x, axes: np.square(x).sum(axis=axes, keepdims=True),
}
"""Each reduction over axes, which stay with size 1."""


def reduce(kind: ReduceKind, x: Array, axes: Sequence[int]) -> Array:
    """`kind` of the elements along `axes`, without warnings for what overflows or is undefined."""
    with np.errstate(all="ignore"):
        return REDUCE[kind](x, tuple(axes))


def gather_channels(xs: Sequence[Array], indices: Sequence[int]) -> Array:
    """Channels `indices` of `xs` laid end to end."""
    return np.concatenate(xs, axis=1)[:, list(indices)]


def slice_(x: Array, axis: int, start: int, size: int) -> Array:
    """`size` positions along `axis`, from `start` on."""
    return np.take(x, range(start, start + size), axis=axis)
