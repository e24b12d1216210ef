"""Result shapes of the graph operations: one function per operation, on tuples of ints.

The verifiers and the constructors of the operations, and the lowering from ONNX, all ask here. A combination that has
no result raises ValueError with one sentence that says what does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

Shape = tuple[int, ...]


def window_positions(
    size: int, kernel: int, stride: int, pads: tuple[int, int], dilation: int = 1, ceil_mode: bool = False
) -> int:
    """The number of positions of a sliding window along one axis of `size` elements.

    `pads` are the elements added before and after. With `ceil_mode` a last window that is only partly inside counts,
    but not one that would start in the padding after the input (ONNX, and every framework that exports to it).
    """
    span = (kernel - 1) * dilation + 1
    room = size + pads[0] + pads[1] - span
    if room < 0:
        raise ValueError(f"a window of {span} does not fit into {size} elements padded by {pads[0]} and {pads[1]}")
    if not ceil_mode:
        return room // stride + 1
    positions = -(-room // stride) + 1
    return positions - 1 if (positions - 1) * stride >= size + pads[0] else positions


def _window(
    spatial: Shape,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool = False,
) -> Shape:
    """Output height and width; `pads` are top, left, bottom, right."""
    if (len(kernel), len(strides), len(dilations), len(pads)) != (2, 2, 2, 4):
        raise ValueError("a window has two sizes, strides and dilations, and four pads")
    if min(*kernel, *strides, *dilations) < 1 or min(pads) < 0:
        raise ValueError("kernel, strides and dilations are at least 1, pads at least 0")
    return tuple(
        window_positions(spatial[i], kernel[i], strides[i], (pads[i], pads[i + 2]), dilations[i], ceil_mode)
        for i in range(2)
    )


def _rank(shape: Shape, rank: int, what: str) -> None:
    if len(shape) != rank:
        raise ValueError(f"{what} has {len(shape)} dimensions, not {rank}")


def conv2d(
    x: Shape,
    w: Shape,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
    group_merge: int = 1,
) -> Shape:
    """`x` [N, C, H, W] with weights [O, I, kh, kw], I = C / groups · group_merge, gives [N, O, Ho, Wo]."""
    _rank(x, 4, "the input")
    _rank(w, 4, "the weights tensor")
    n, c, h, width = x
    o, i, kh, kw = w
    if groups < 1 or c % groups or o % groups:
        raise ValueError(f"{c} input and {o} output channels do not split into {groups} groups")
    if not 1 <= group_merge <= groups:
        raise ValueError(f"{group_merge} of {groups} groups cannot be merged")
    if i != c // groups * group_merge:
        raise ValueError(f"the weights take {i} channels, a group of the input has {c // groups * group_merge}")
    return (n, o, *_window((h, width), (kh, kw), strides, pads, dilations))


def pool2d(
    x: Shape,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool = False,
) -> Shape:
    """`x` [N, C, H, W] gives [N, C, Ho, Wo]."""
    _rank(x, 4, "the input")
    return (*x[:2], *_window(x[2:], kernel, strides, pads, dilations, ceil_mode))


def channel_vector(x: Shape, vector: Shape) -> None:
    """Check that `vector` is [C] for an `x` [N, C, ...]."""
    if len(x) < 2 or vector != (x[1],):
        raise ValueError(f"a vector of shape {list(vector)} does not fit the channels of {list(x)}")


def batch_norm(x: Shape, scale: Shape, bias: Shape, mean: Shape, var: Shape) -> Shape:
    """`x` [N, C, ...] with four vectors [C] gives the shape of `x`."""
    for vector in (scale, bias, mean, var):
        channel_vector(x, vector)
    return x


def layer_norm(x: Shape, scale: Shape, bias: Shape) -> Shape:
    """`x` [..., L] with two vectors [L] gives the shape of `x`."""
    if not x or scale != x[-1:] or bias != x[-1:]:
        raise ValueError(f"vectors of shapes {list(scale)} and {list(bias)} do not fit the rows of {list(x)}")
    return x


def lrn(x: Shape, size: int) -> Shape:
    """`x` [N, C, ...] itself; `size` channels are summed."""
    if size < 1:
        raise ValueError(f"{size} channels cannot be summed")
    return axis_of(x, 1)


def matmul(a: Shape, b: Shape, bias: Shape | None = None) -> Shape:
    """`a` [..., M, K] times `b` [..., K, N] gives [..., M, N]; the leading dimensions broadcast. `bias` is [N]."""
    if len(a) < 2 or len(b) < 2:
        raise ValueError("both operands have at least two dimensions")
    if a[-1] != b[-2]:
        raise ValueError(f"the left operand has {a[-1]} columns, the right one {b[-2]} rows")
    if bias is not None and bias != (b[-1],):
        raise ValueError(f"the bias has shape {list(bias)}, not [{b[-1]}]")
    return (*broadcast(a[:-2], b[:-2]), a[-2], b[-1])


def broadcast(*shapes: Shape) -> Shape:
    """The shape that `shapes` broadcast to, by the rule of NumPy and ONNX."""
    result: list[int] = []
    for axis in range(-max(len(shape) for shape in shapes), 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            raise ValueError(f"shapes {' and '.join(str(list(shape)) for shape in shapes)} do not broadcast")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def padded(shape: Shape, rank: int) -> Shape:
    """The shape with dimensions of size 1 in front, as broadcasting sees it beside one of a `rank`."""
    return (1,) * (rank - len(shape)) + shape


def joined_axes(result: Shape, operands: Sequence[Shape]) -> list[tuple[int, ...]]:
    """The axes of `result` in groups of neighbours along which each operand has all sizes, or repeats.

    Axes of size 1 are in no group.

    >>> joined_axes((2, 12, 64, 1, 100), [(2, 1, 1, 1, 100), (64, 1, 100)])
    [(0,), (1,), (2,), (4,)]
    """
    sizes = [padded(shape, len(result)) for shape in operands]
    groups = groupby(
        (axis for axis, size in enumerate(result) if size != 1), lambda axis: [shape[axis] == 1 for shape in sizes]
    )
    return [tuple(axes) for _, axes in groups]


def axis_of(x: Shape, axis: int) -> Shape:
    """The shape of `x` itself, after checking that it has an `axis` (negative counts from the end)."""
    if not -len(x) <= axis < len(x):
        raise ValueError(f"axis {axis} is not one of the {len(x)} dimensions")
    return x


def reduce(x: Shape, axes: Sequence[int]) -> Shape:
    """`x` with size 1 along `axes`, which are counted from the front, in order, each once."""
    if not axes or list(axes) != sorted({*axes}) or axes[0] < 0 or axes[-1] >= len(x):
        raise ValueError(f"axes {list(axes)} are not some of the {len(x)} dimensions in order")
    return tuple(1 if axis in axes else size for axis, size in enumerate(x))


def concat(shapes: Sequence[Shape], axis: int) -> Shape:
    """`shapes`, equal but for `axis`, laid end to end along it."""
    first = axis_of(shapes[0], axis)
    axis %= len(first)
    for shape in shapes[1:]:
        if len(shape) != len(first) or (*shape[:axis], *shape[axis + 1 :]) != (*first[:axis], *first[axis + 1 :]):
            raise ValueError(f"shapes {list(first)} and {list(shape)} differ outside axis {axis}")
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])


def slice_(x: Shape, axis: int, start: int, size: int) -> Shape:
    """`size` positions of `x` along `axis`, counted from the front, from `start` on."""
    if not 0 <= axis < len(x):
        raise ValueError(f"axis {axis} is not one of the {len(x)} dimensions")
    if start < 0 or size < 1 or start + size > x[axis]:
        raise ValueError(f"positions {start} to {start + size - 1} are not inside a dimension of {x[axis]}")
    return (*x[:axis], size, *x[axis + 1 :])


def gather_channels(shapes: Sequence[Shape], indices: Sequence[int]) -> Shape:
    """Channels `indices` of `shapes` [N, C_i, ...] laid end to end: [N, len(indices), ...]."""
    n, channels, *spatial = concat(shapes, 1)
    if not indices or min(indices) < 0 or max(indices) >= channels:
        raise ValueError(f"a channel index is not one of 0 to {channels - 1}")
    return (n, len(indices), *spatial)


def reshape(x: Shape, target: Shape) -> Shape:
    """`target`, after checking that it has as many elements as `x`."""
    if math.prod(x) != math.prod(target):
        raise ValueError(f"{list(x)} and {list(target)} have different numbers of elements")
    return target


def transpose(x: Shape, perm: Sequence[int]) -> Shape:
    """The dimensions of `x` in the order `perm`."""
    if sorted(perm) != list(range(len(x))):
        raise ValueError(f"{list(perm)} is not a permutation of {len(x)} dimensions")
    return tuple(x[axis] for axis in perm)
