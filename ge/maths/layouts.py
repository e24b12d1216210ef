"""Storage formats of tensors on the device: shapes, packing and unpacking.

C0 lanes of one 32-byte block hold the innermost piece of the channel (or K) axis: 16 of float16, 32 of 8-bit integers
(`lanes_of`). The index maps are those of the Ascend formats of the same names:

* NC1HWC0: `[N, C, H, W]` is stored as `[N, ceil(C/C0), H, W, C0]`.
* FRACTAL_NZ: `[..., M, K]` is stored as `[..., ceil(K/C0), M, C0]` (M is not padded here).
* FRACTAL_Z: `[O, I, kh, kw]` is stored as `[ceil(I/C0)*kh*kw, ceil(O/16), 16, C0]`; a matrix `[K, N]` is the same with
  O = N, I = K, kh = kw = 1.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

C0 = 16
"""float16 lanes of one 32-byte block."""

C0_BYTES = 32
"""Lanes of one 32-byte block of 8-bit integers."""

ND_FORMATS = frozenset({"ND", "NCHW", "NHWC"})
"""Formats whose storage is the origin shape itself, row-major."""

FORMATS = (*sorted(ND_FORMATS), "NC1HWC0", "FRACTAL_Z", "FRACTAL_NZ")
"""Every storage format by name."""


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded up, for b > 0."""
    return -(-a // b)


def round_up(a: int, b: int) -> int:
    """Return the smallest multiple of b that is not below a."""
    return ceil_div(a, b) * b


def lanes_of(dtype: np.dtype[Any]) -> int:
    """Return the lanes of a block of that element type (of wider ones, those of the float16 that they become)."""
    return C0_BYTES if dtype.kind in "iu" and dtype.itemsize == 1 else C0


def storage_shape(layout: str, shape: Sequence[int], c0: int = C0) -> tuple[int, ...]:
    """Return the storage shape of a tensor of origin `shape` in `layout`, in blocks of `c0` lanes.

    Raises ValueError where the rank does not fit.
    """
    if layout in ND_FORMATS:
        return tuple(shape)
    if layout == "NC1HWC0" and len(shape) == 4:
        n, c, h, w = shape
        return (n, ceil_div(c, c0), h, w, c0)
    if layout == "FRACTAL_NZ" and len(shape) >= 2:
        *batch, m, k = shape
        return (*batch, ceil_div(k, c0), m, c0)
    if layout == "FRACTAL_Z" and len(shape) in (2, 4):
        o, i, kh, kw = _as_filter(shape)
        return (ceil_div(i, c0) * kh * kw, ceil_div(o, 16), 16, c0)
    raise ValueError(f"no storage shape for rank {len(shape)} in format {layout}")


def storage_axis(layout: str, rank: int, axis: int) -> int | None:
    """Return the axis of the storage that is the origin `axis`, for activations; None for one that is cut in blocks."""
    if layout == "NC1HWC0":
        return None if axis == 1 else axis
    if layout == "FRACTAL_NZ":
        return None if axis == rank - 1 else axis + (axis == rank - 2)
    return axis


def pack(array: NDArray[np.generic], layout: str) -> NDArray[np.generic]:
    """Return `array` (origin shape) in storage order, padded with zeros where the format pads."""
    shape, c0 = array.shape, lanes_of(array.dtype)
    target = storage_shape(layout, shape, c0)
    if layout in ND_FORMATS:
        return array
    if layout == "NC1HWC0":
        n, c1, h, w, _ = target
        padded = _pad_axis(array, 1, c1 * c0)
        return np.ascontiguousarray(padded.reshape(n, c1, c0, h, w).transpose(0, 1, 3, 4, 2))
    if layout == "FRACTAL_NZ":
        k1 = target[-3]
        padded = _pad_axis(array, array.ndim - 1, k1 * c0)
        return np.ascontiguousarray(np.moveaxis(padded.reshape(*shape[:-1], k1, c0), -2, -3))
    filters = array.T.reshape(_as_filter(shape)) if array.ndim == 2 else array
    o, i, kh, kw = filters.shape
    o1, i1 = ceil_div(o, 16), ceil_div(i, c0)
    padded = _pad_axis(_pad_axis(filters, 0, o1 * 16), 1, i1 * c0)
    blocks = padded.reshape(o1, 16, i1, c0, kh, kw).transpose(2, 4, 5, 0, 1, 3)
    return np.ascontiguousarray(blocks).reshape(target)


def unpack(array: NDArray[np.generic], layout: str, shape: Sequence[int]) -> NDArray[np.generic]:
    """Return the tensor of origin `shape` that `array` (storage order) holds; the inverse of `pack`."""
    c0 = lanes_of(array.dtype)
    stored = array.reshape(storage_shape(layout, shape, c0))
    if layout in ND_FORMATS:
        return stored
    if layout == "NC1HWC0":
        n, c, h, w = shape
        return np.ascontiguousarray(stored.transpose(0, 1, 4, 2, 3).reshape(n, round_up(c, c0), h, w)[:, :c])
    if layout == "FRACTAL_NZ":
        *batch, m, k = shape
        return np.ascontiguousarray(np.moveaxis(stored, -3, -2).reshape(*batch, m, round_up(k, c0))[..., :k])
    o, i, kh, kw = _as_filter(shape)
    blocks = stored.reshape(ceil_div(i, c0), kh, kw, ceil_div(o, 16), 16, c0).transpose(3, 4, 0, 5, 1, 2)
    filters = blocks.reshape(round_up(o, 16), round_up(i, c0), kh, kw)[:o, :i]
    return np.ascontiguousarray(filters.reshape(o, i).T if len(shape) == 2 else filters)


Axes: TypeAlias = list[tuple[int, int]]
"""How elements, counted row-major, spread over a storage: sizes and strides, the outermost axis first."""

Transposition: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""The shape in which a tensor is seen, and the order of its dimensions afterwards."""


def same_bytes(
    source: str,
    shape: Sequence[int],
    target: str,
    target_shape: Sequence[int],
    transpositions: Sequence[Transposition] = (),
    c0: int = C0,
) -> bool:
    """Tell whether a tensor of `shape` stored in `source` is, byte for byte, its reshape to `target_shape` in `target`.

    Between, it may be seen in other shapes and transposed. The target may leave out bytes at the end of the source (pad
    lanes), not the other way round. Packed weights, and ranks that a format does not have, are never the same.

    >>> same_bytes("FRACTAL_NZ", (8, 64), "FRACTAL_NZ", (2, 8, 32), [((8, 2, 32), (1, 0, 2))])  # two heads
    True
    """
    axes, wanted = _moved_axes(source, shape, transpositions, c0), _axes(target, target_shape, c0)
    if axes is None or wanted is None or math.prod(shape) != math.prod(target_shape):
        return False
    larger = math.prod(storage_shape(source, shape, c0)) >= math.prod(storage_shape(target, target_shape, c0))
    return larger and _joined(axes) == _joined(wanted)


def storage_transposition(
    source: str,
    shape: Sequence[int],
    target: str,
    target_shape: Sequence[int],
    transpositions: Sequence[Transposition] = (),
    c0: int = C0,
) -> Transposition | None:
    """Return the shape and order in which the storage of the source, transposed, is that of the target.

    Between, the tensor may be seen in other shapes and transposed, as in `same_bytes`. None where that is no matter of
    order alone: where one of the formats pads, or elements that follow each other in one are cut apart in the other.

    >>> storage_transposition("FRACTAL_NZ", (4, 8, 96), "FRACTAL_NZ", (3, 4, 8, 32), [((4, 8, 3, 32), (2, 0, 1, 3))])
    ([4, 3, 2, 8, 16], [1, 0, 2, 3, 4])
    """
    axes, wanted = _moved_axes(source, shape, transpositions, c0), _axes(target, target_shape, c0)
    if axes is None or wanted is None:
        return None
    stored = storage_shape(source, shape, c0), storage_shape(target, target_shape, c0)
    sizes = {math.prod(each) for each in (shape, *stored)}
    if sizes != {math.prod(target_shape)}:
        return None
    digits = _common_axes(axes, wanted)
    if digits is None:
        return None
    before = sorted(digits, key=lambda digit: -digit[1])
    after = sorted(digits, key=lambda digit: -digit[2])
    if not _is_dense([(size, stride) for size, stride, _ in before]):
        return None
    if not _is_dense([(size, stride) for size, _, stride in after]):
        return None
    return [size for size, _, _ in before], [before.index(digit) for digit in after]


def _common_axes(a: Axes, b: Axes) -> list[tuple[int, int, int]] | None:
    """Return axes of which both `a` and `b` consist, with the strides in either; None where they overlap, or pad."""
    left, right = ([axis for axis in axes if axis[0] != 1] for axes in (a, b))
    common: list[tuple[int, int, int]] = []
    while left and right:
        (size, stride), (other_size, other_stride) = left.pop(), right.pop()
        smaller, larger = sorted((size, other_size))
        if larger % smaller or stride < 0 or other_stride < 0:
            return None
        if size > smaller:
            left.append((size // smaller, stride * smaller))
        if other_size > smaller:
            right.append((other_size // smaller, other_stride * smaller))
        common.insert(0, (smaller, stride, other_stride))
    return common


def _is_dense(axes: Axes) -> bool:
    """Tell whether axes, outermost first, lie one in the other without gaps."""
    return all(stride == math.prod(size for size, _ in axes[i + 1 :]) for i, (_, stride) in enumerate(axes))


def _moved_axes(layout: str, shape: Sequence[int], transpositions: Sequence[Transposition], c0: int) -> Axes | None:
    """Return the axes of a stored tensor after it was seen in other shapes and transposed; None as in `_transposed`."""
    axes = _axes(layout, shape, c0)
    for seen, order in transpositions:
        axes = None if axes is None else _transposed(axes, seen, order)
    return axes


def _transposed(axes: Axes, shape: Sequence[int], order: Sequence[int]) -> Axes | None:
    """Return the axes of a tensor that is seen in `shape`, in another order; None where a dimension has no axes."""
    left = [axis for axis in axes if axis[0] != 1]
    dimensions: list[Axes] = []
    for missing in reversed(shape):
        own: Axes = []
        while missing > 1:
            size, stride = left.pop()
            if missing % size == 0:
                own.insert(0, (size, stride))
                missing //= size
            elif stride > 0 and size % missing == 0:
                own.insert(0, (missing, stride))
                left.append((size // missing, stride * missing))
                missing = 1
            else:
                return None
        dimensions.insert(0, own)
    return [axis for dimension in order for axis in dimensions[dimension]]


def _joined(axes: Axes) -> Axes:
    """Return axes without those of size 1 and with those joined that continue each other: equal lists, equal order."""
    joined: Axes = []
    for size, stride in axes:
        if size == 1:
            continue
        if joined and joined[-1][1] == size * stride:
            joined[-1] = (joined[-1][0] * size, stride)
        else:
            joined.append((size, stride))
    return joined


def _axes(layout: str, shape: Sequence[int], c0: int) -> Axes | None:
    """Return size and stride of each axis, with a blocked axis as two; None for packed weights and unfit ranks."""
    if layout in ND_FORMATS:
        return [(math.prod(shape), 1)]
    if layout == "NC1HWC0" and len(shape) == 4:
        n, c, h, w = shape
        return [(n, ceil_div(c, c0) * h * w * c0), *_blocked_axis(c, h * w * c0, c0), (h, w * c0), (w, c0)]
    if layout == "FRACTAL_NZ" and len(shape) >= 2:
        *batch, m, k = shape
        return [(math.prod(batch), ceil_div(k, c0) * m * c0), (m, c0), *_blocked_axis(k, m * c0, c0)]
    return None


def _blocked_axis(size: int, block_stride: int, c0: int) -> Axes:
    """Return the axes of `size` elements in blocks of c0 that lie `block_stride` elements apart.

    Where the last block ends early, no sizes and strides say it: that is one axis with the negative distance of blocks.
    """
    if size <= c0 or block_stride == c0:
        return [(size, 1)]
    return [(size // c0, block_stride), (c0, 1)] if size % c0 == 0 else [(size, -block_stride)]


def _as_filter(shape: Sequence[int]) -> tuple[int, int, int, int]:
    """Return (O, I, kh, kw) of a filter, or of a matrix [K, N] seen as one."""
    if len(shape) == 2:
        k, n = shape
        return (n, k, 1, 1)
    o, i, kh, kw = shape
    return (o, i, kh, kw)


def _pad_axis(array: NDArray[np.generic], axis: int, size: int) -> NDArray[np.generic]:
    """Return `array` with zeros appended along `axis` up to `size`."""
    missing = size - array.shape[axis]
    if missing == 0:
        return array
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, missing)
    return np.pad(array, widths)
