"""NumPy kernels of the operators for which the reference implementation of the ``onnx`` package is too slow or inexact.

Each is a function of the operation and its inputs (None where one is absent) that gives the result, or None to leave
the case to the reference. Sizes are of the spatial axes, in order; a *tap* is one position in a convolution or pooling
kernel. float16 and bfloat16 are computed in float32 and rounded once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.linear_quantisation import dequantize_linear, quantize_linear
from ge.dialects.onnx.microsoft import centred, given, requantised
from ge.dialects.onnx.non_max_suppression import non_max_suppression
from ge.dialects.onnx.padding import pad
from ge.dialects.onnx.resize import resize
from ge.dialects.onnx.roi_align import roi_align
from ge.maths.slices import positions, python_slice

Array: TypeAlias = NDArray[Any]
Kernel: TypeAlias = Callable[[OnnxOp, Sequence[Any]], Array | None]


def widened(array: Array) -> Array:
    """The array in the type that sums are taken in: float32 for the 16-bit floats, otherwise its own."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 and array.dtype.kind in "fV" else array


@dataclass(frozen=True)
class Window:
    """How a kernel slides over an input: sizes per spatial axis. ``begin`` and ``end`` are paddings."""

    input: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    output: tuple[int, ...]

    @staticmethod
    def of(op: OnnxOp, input: Sequence[int], kernel: Sequence[int]) -> Window:
        """The window of a convolution or pooling operation over an input of the given spatial sizes."""
        rank = len(kernel)
        strides = op.attribute("strides") or [1] * rank
        dilations = op.attribute("dilations") or [1] * rank
        pads = op.attribute("pads") or [0] * (2 * rank)
        extents = [dilation * (size - 1) + 1 for size, dilation in zip(kernel, dilations, strict=True)]
        auto_pad = op.attribute("auto_pad")
        begin, end = list(pads[:rank]), list(pads[rank:])
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            for axis in range(rank):
                steps = math.ceil(input[axis] / strides[axis]) - 1
                total = max(0, steps * strides[axis] + extents[axis] - input[axis])
                small, large = total // 2, total - total // 2
                begin[axis], end[axis] = (small, large) if auto_pad == "SAME_UPPER" else (large, small)
        elif auto_pad == "VALID":
            begin, end = [0] * rank, [0] * rank
        ceil_mode = "ceil_mode" in op.operator.attributes and bool(op.attribute("ceil_mode"))
        output = [
            _output_size(input[axis], begin[axis], end[axis], extents[axis], strides[axis], ceil_mode)
            for axis in range(rank)
        ]
        sizes = (input, kernel, strides, dilations, begin, end, output)
        return Window(*(tuple(size) for size in sizes))

    def padded(self, x: Array, fill: float) -> Array:
        """``x`` with its spatial axes padded so that every tap of every output position is inside."""
        widths = [(0, 0)] * (x.ndim - len(self.kernel))
        for axis, begin in enumerate(self.begin):
            last = (self.output[axis] - 1) * self.strides[axis] + (self.kernel[axis] - 1) * self.dilations[axis]
            widths.append((begin, max(0, last + 1 - begin - self.input[axis])))
        if not any(map(any, widths)):
            return x
        return np.pad(x, widths, constant_values=fill)

    def taps(self, padded: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Each tap with the elements that it reads, of the shape of the output."""
        for tap in itertools.product(*map(range, self.kernel)):
            slices = tuple(
                slice(position * dilation, position * dilation + (size - 1) * stride + 1, stride)
                for position, dilation, size, stride in zip(tap, self.dilations, self.output, self.strides, strict=True)
            )
            yield tap, padded[(..., *slices)]


def _output_size(size: int, begin: int, end: int, extent: int, stride: int, ceil_mode: bool) -> int:
    """The number of output positions along an axis; with ``ceil_mode`` the last may begin anywhere before padding."""
    room = size + begin + end - extent
    if not ceil_mode:
        return room // stride + 1
    count = -(-room // stride) + 1
    return count - 1 if (count - 1) * stride >= size + begin else count


def conv(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """Convolution: one matrix product per group over the unfolded input; depthwise, a sum over taps."""
    x, w = widened(inputs[0]), widened(inputs[1])
    bias = inputs[2] if len(inputs) > 2 else None
    group = op.attribute("group")
    window = Window.of(op, x.shape[2:], w.shape[2:])
    padded = window.padded(x, 0)
    if w.shape[1] == 1 and group == x.shape[1] == w.shape[0]:
        y = _depthwise(window, padded, w)
    else:
        y = _grouped(window, padded, w, group)
    if bias is not None:
        y += widened(bias).reshape(-1, *[1] * len(window.kernel))
    return y.astype(inputs[0].dtype, copy=False)


def _depthwise(window: Window, padded: Array, w: Array) -> Array:
    y = np.zeros((*padded.shape[:2], *window.output), padded.dtype)
    product = np.empty_like(y)
    ones = [1] * len(window.kernel)
    for tap, read in window.taps(padded):
        np.multiply(read, w[(slice(None), 0, *tap)].reshape(-1, *ones), out=product)
        y += product
    return y


def _grouped(window: Window, padded: Array, w: Array, group: int) -> Array:
    batch, channels = padded.shape[:2]
    taps, positions = math.prod(window.kernel), math.prod(window.output)
    unfolded = np.empty((batch, channels, taps, *window.output), padded.dtype)
    for index, (_, read) in enumerate(window.taps(padded)):
        unfolded[:, :, index] = read
    columns = unfolded.reshape(batch, group, channels // group * taps, positions)
    rows = w.reshape(group, w.shape[0] // group, -1)
    return np.matmul(rows, columns).reshape(batch, w.shape[0], *window.output)


def qlinear_conv(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """Convolution of quantised tensors: exact sums in float64, one float32 factor, rounded to even as onnxruntime does.

    Inputs: X, scale, zero, W, scale, zero (one, or one per output channel), scale of Y, zero of Y, bias (int32).
    """
    x_scale, w_scale, y_scale, y_zero = inputs[1], inputs[4], inputs[6], inputs[7]
    column = (-1, *[1] * (inputs[0].ndim - 2))
    x = centred(inputs[0], inputs[2])
    w = centred(inputs[3], inputs[5].reshape(-1, *[1] * (x.ndim - 1)))
    window = Window.of(op, x.shape[2:], w.shape[2:])
    sums = _grouped(window, window.padded(x, 0), w, op.attribute("group"))
    if (bias := given(inputs, 8)) is not None:
        sums += bias.reshape(column)
    scale = (x_scale * w_scale / y_scale).astype(np.float32)
    return requantised(sums, scale.reshape(column), y_zero, y_zero.dtype)


def conv_integer(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """Convolution of integers of 8 bits less their zero points: sums are exact in float64, and wrap to int32.

    Inputs: X, W, zero point of X, zero point of W (one, or one for each output channel).
    """
    zero = given(inputs, 3)
    column = (-1, *[1] * (inputs[1].ndim - 1))
    x, w = centred(inputs[0], given(inputs, 2)), centred(inputs[1], None if zero is None else zero.reshape(column))
    window = Window.of(op, x.shape[2:], w.shape[2:])
    return _grouped(window, window.padded(x, 0), w, op.attribute("group")).astype(np.int64).astype(np.int32)


def conv_transpose(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """Transposed convolution: each input position adds its kernel, scaled, to the output."""
    x, w = widened(inputs[0]), widened(inputs[1])
    bias = inputs[2] if len(inputs) > 2 else None
    group, kernel = op.attribute("group"), w.shape[2:]
    rank = len(kernel)
    strides = op.attribute("strides") or [1] * rank
    dilations = op.attribute("dilations") or [1] * rank
    extents = [dilation * (size - 1) + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    full = [(size - 1) * stride + extent for size, stride, extent in zip(x.shape[2:], strides, extents, strict=True)]
    begin, output = _transposed_crop(op, x.shape[2:], strides, extents)
    batch, positions = x.shape[0], math.prod(x.shape[2:])
    rows = w.reshape(group, w.shape[0] // group, -1).swapaxes(1, 2)
    columns = np.matmul(rows, x.reshape(batch, group, x.shape[1] // group, positions))
    columns = columns.reshape(batch, group * w.shape[1], *kernel, *x.shape[2:])
    room = [max(size, first + wanted) for size, first, wanted in zip(full, begin, output, strict=True)]
    y = np.zeros((batch, group * w.shape[1], *room), x.dtype)
    for tap in itertools.product(*map(range, kernel)):
        target = tuple(
            slice(position * dilation, position * dilation + (size - 1) * stride + 1, stride)
            for position, dilation, size, stride in zip(tap, dilations, x.shape[2:], strides, strict=True)
        )
        y[(..., *target)] += columns[(slice(None), slice(None), *tap)]
    y = y[(..., *(slice(first, first + size) for first, size in zip(begin, output, strict=True)))]
    if bias is not None:
        y = y + widened(bias).reshape(-1, *[1] * rank)
    return np.ascontiguousarray(y).astype(inputs[0].dtype, copy=False)


def _transposed_crop(
    op: OnnxOp, input: Sequence[int], strides: Sequence[int], extents: Sequence[int]
) -> tuple[list[int], list[int]]:
    """What is cut off in front of the full result of a transposed convolution, and the sizes that remain."""
    rank = len(input)
    extra = op.attribute("output_padding") or [0] * rank
    auto_pad = op.attribute("auto_pad")
    full = [strides[i] * (input[i] - 1) + extra[i] + extents[i] for i in range(rank)]
    wanted = op.attribute("output_shape")
    if wanted is None and auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [input[i] * strides[i] for i in range(rank)]
    if wanted is None:
        pads = op.attribute("pads") or [0] * (2 * rank)
        return list(pads[:rank]), [full[i] - pads[i] - pads[rank + i] for i in range(rank)]
    totals = [max(0, full[i] - wanted[i]) for i in range(rank)]
    begin = [total - total // 2 if auto_pad == "SAME_LOWER" else total // 2 for total in totals]
    return begin, list(wanted[-rank:])


def max_pool(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """The maximum over taps; indices of the maxima are left to the reference."""
    if len(op.results) > 1:
        return None
    x = inputs[0]
    window = Window.of(op, x.shape[2:], op.attribute("kernel_shape"))
    lowest = -np.inf if x.dtype.kind in "fV" else np.iinfo(x.dtype).min
    reads = (read for _, read in window.taps(window.padded(x, lowest)))
    y = next(reads).copy()
    for read in reads:
        np.maximum(y, read, out=y)
    return y


def average_pool(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """The mean over taps; padding counts when the operation says so, and what lies beyond the padding never."""
    x = widened(inputs[0])
    window = Window.of(op, x.shape[2:], op.attribute("kernel_shape"))
    y = np.zeros((*x.shape[:2], *window.output), x.dtype)
    for _, read in window.taps(window.padded(x, 0)):
        y += read
    counts = np.ones((), x.dtype)
    for axis, size in enumerate(window.input):
        padded = op.attribute("count_include_pad")
        first = 0 if padded else window.begin[axis]
        last = window.begin[axis] + size + (window.end[axis] if padded else 0)
        starts = np.arange(window.output[axis])[:, None] * window.strides[axis]
        read = starts + np.arange(window.kernel[axis]) * window.dilations[axis]
        counts = counts[..., None] * ((read >= first) & (read < last)).sum(1).astype(x.dtype)
    y /= counts
    return y.astype(inputs[0].dtype, copy=False)


def lp_pool(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """The root of the sum of powers over taps; the reference has no padding of its own choice."""
    x, p = widened(inputs[0]), op.attribute("p")
    window = Window.of(op, x.shape[2:], op.attribute("kernel_shape"))
    y = np.zeros((*x.shape[:2], *window.output), x.dtype)
    for _, read in window.taps(window.padded(np.abs(x) ** p, 0)):
        y += read
    return (y ** (1 / p)).astype(inputs[0].dtype, copy=False)


def global_average_pool(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """The mean over all spatial axes."""
    x = widened(inputs[0])
    return x.mean(axis=tuple(range(2, x.ndim)), keepdims=True).astype(inputs[0].dtype, copy=False)


def global_max_pool(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """The largest element over all spatial axes (the reference is for two of them)."""
    x = inputs[0]
    return x.max(axis=tuple(range(2, x.ndim)), keepdims=True) if x.ndim > 2 and x.size else None


def batch_normalization(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """One factor and one offset per channel; training is left to the reference."""
    if op.attribute("training_mode") or len(op.results) > 1:
        return None
    x, scale, bias, mean, variance = (widened(array) for array in inputs)
    shape = (-1, *[1] * (x.ndim - 2))
    factor = scale / np.sqrt(variance + np.float32(op.attribute("epsilon")))
    offset = bias - mean * factor
    return (x * factor.reshape(shape) + offset.reshape(shape)).astype(inputs[0].dtype, copy=False)


def gemm(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """``alpha * A' B' + beta * C``."""
    a, b = widened(inputs[0]), widened(inputs[1])
    y = (a.T if op.attribute("transA") else a) @ (b.T if op.attribute("transB") else b)
    alpha, beta = op.attribute("alpha"), op.attribute("beta")
    if alpha != 1:
        y = y * y.dtype.type(alpha)
    if len(inputs) > 2 and inputs[2] is not None:
        c = widened(inputs[2])
        y = y + (c if beta == 1 else c * y.dtype.type(beta))
    return y.astype(inputs[0].dtype, copy=False)


def matmul(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """The matrix product, batched as in NumPy."""
    return np.asarray(np.matmul(widened(inputs[0]), widened(inputs[1]))).astype(inputs[0].dtype, copy=False)


def matmul_integer(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """The matrix product of integers of 8 bits less their zero points: sums are exact in float64, and wrap to int32.

    A vector of zero points has one for each row of A, and one for each column of B.
    """
    zero = given(inputs, 2)
    if zero is not None and zero.ndim == 1 and inputs[0].ndim > 1:
        zero = zero[:, None]
    a, b = centred(inputs[0], zero), centred(inputs[1], given(inputs, 3))
    return np.asarray(np.matmul(a, b)).astype(np.int64).astype(np.int32)


def lrn(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """Each element divided by a power of the squares of its neighbours across channels."""
    x, size = widened(inputs[0]), op.attribute("size")
    before = (size - 1) // 2
    squares = np.pad(x * x, [(0, 0), (before, size - 1 - before), *[(0, 0)] * (x.ndim - 2)])
    total = sum(squares[:, start : start + x.shape[1]] for start in range(size))
    scale = np.float32(op.attribute("bias")) + np.float32(op.attribute("alpha") / size) * total
    return (x / scale ** np.float32(op.attribute("beta"))).astype(inputs[0].dtype, copy=False)


def log_softmax(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """``x - log(sum(exp(x)))`` along an axis, without forming the softmax, whose small values vanish."""
    if not inputs[0].ndim or not inputs[0].size:
        return None
    x, axis = widened(inputs[0]), op.attribute("axis")
    shifted = x - x.max(axis=axis, keepdims=True)
    result = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return result.astype(inputs[0].dtype, copy=False)


def lp_normalization(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """Divided by the sum of sizes, or the root of that of squares; of zeros, zeros; the reference adds signs."""
    x = widened(inputs[0])
    norm = np.linalg.norm(x, op.attribute("p"), op.attribute("axis"), keepdims=True)
    return np.divide(x, norm, out=np.zeros_like(x), where=norm != 0).astype(inputs[0].dtype, copy=False)


def constant_of_shape(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """One value everywhere; memory of zeros is only taken where it is touched."""
    value = op.attribute("value", np.zeros(1, np.float32)).reshape(-1)
    shape = tuple(int(size) for size in inputs[0])
    if len(value) != 1 or min(shape, default=0) < 0:
        return None
    is_zero = value.tobytes() == bytes(value.nbytes)
    return np.zeros(shape, value.dtype) if is_zero else np.full(shape, value[0], value.dtype)


def gather_elements(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """The elements that indices name along one axis; along the others, indices may be fewer than the data."""
    data, indices = inputs
    axis = op.attribute("axis")
    if np.ndim(data) != np.ndim(indices) or not np.ndim(data):
        return None
    axis %= data.ndim
    part = tuple(slice(None) if i == axis else slice(size) for i, size in enumerate(indices.shape))
    return np.take_along_axis(data[part], indices, axis)


def one_hot(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """One of two values, without arithmetic on them: the reference adds their difference, NaN if one is infinite."""
    indices: Array = inputs[0].astype(np.int64)
    depth, (off, on) = int(inputs[1].reshape(())), inputs[2]
    axis = op.attribute("axis") % (indices.ndim + 1)
    positions = np.arange(depth).reshape([-1 if each == axis else 1 for each in range(indices.ndim + 1)])
    chosen: Array = np.expand_dims(np.where(indices < 0, indices + depth, indices), axis)
    return cast(Array, np.where(chosen == positions, on, off))


def flatten(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """Two dimensions: the product of those before `axis`, and of the others; also where one of them is 0."""
    x = inputs[0]
    axis = op.attribute("axis")
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def slice_(op: OnnxOp, inputs: Sequence[Any]) -> Array | None:
    """Parts of some axes; those that begin before the axis and go backwards the reference leaves empty."""
    x, starts, ends = inputs[:3]
    axes, steps = [*inputs[3:], None, None][:2]
    axes = np.arange(len(starts)) if axes is None else axes
    steps = np.ones(len(starts), np.int64) if steps is None else steps
    cuts = [slice(None)] * x.ndim
    for axis, start, end, step in np.stack([axes, starts, ends, steps], axis=1).tolist():
        cuts[axis] = python_slice(positions(start, end, step, x.shape[axis]))
    return x[tuple(cuts)]


KERNELS: Mapping[str, Kernel] = {
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "ConstantOfShape": constant_of_shape,
    "Conv": conv,
    "ConvInteger": conv_integer,
    "ConvTranspose": conv_transpose,
    "DequantizeLinear": dequantize_linear,
    "Flatten": flatten,
    "GatherElements": gather_elements,
    "Gemm": gemm,
    "GlobalAveragePool": global_average_pool,
    "GlobalMaxPool": global_max_pool,
    "LRN": lrn,
    "LogSoftmax": log_softmax,
    "LpPool": lp_pool,
    "LpNormalization": lp_normalization,
    "MatMul": matmul,
    "MatMulInteger": matmul_integer,
    "MaxPool": max_pool,
    "NonMaxSuppression": non_max_suppression,
    "OneHot": one_hot,
    "Pad": pad,
    "QLinearConv": qlinear_conv,
    "QuantizeLinear": quantize_linear,
    "Resize": resize,
    "RoiAlign": roi_align,
    "Slice": slice_,
}
"""The kernel of each operator of ai.onnx that has one."""
