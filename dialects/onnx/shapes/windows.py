"""Rules of operators that slide a window over the spatial dimensions: convolutions and pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Dim, Shape, known_product
from ge.maths.symbols import Size, bounds, quotient, quotient_up


def window_positions(node: Node, sizes: Shape, kernel: Shape) -> Shape:
    """How many positions a window of size ``kernel`` has in each spatial dimension.

    Attributes read: strides, dilations, pads, auto_pad and ceil_mode. A window may only begin inside the input or its
    padding in front, which matters when sizes are rounded up.
    """
    count = len(sizes)
    strides, dilations = node.numbers("strides", count, 1, least=1), node.numbers("dilations", count, 1, least=1)
    pads = node.numbers("pads", 2 * count, 0, least=-(2**31))
    return tuple(
        None if size is None else _positions(node, size, width, strides[i], dilations[i], pads[i], pads[count + i])
        for i, (size, width) in enumerate(zip(sizes, kernel, strict=True))
    )


def _positions(node: Node, size: Size, kernel: Dim, stride: int, dilation: int, front: int, back: int) -> Dim:
    match node.attribute("auto_pad", "NOTSET"):
        case "SAME_UPPER" | "SAME_LOWER":
            return quotient_up(size, stride)
        case "VALID":
            front = back = 0
        case _:
            pass
    if kernel is None:
        return None
    room = size + front + back - ((kernel - 1) * dilation + 1)
    if isinstance(room, int) and room < -stride:
        node.fail(f"a window of {kernel} with dilation {dilation} does not fit in {size} with padding {front}, {back}")
    if not node.attribute("ceil_mode", 0):
        return quotient(room, stride) + 1
    count = quotient_up(room, stride) + 1
    low, high = bounds((count - 1) * stride - (size + front))
    if high is not None and high < 0:
        return count
    return count - 1 if low is not None and low >= 0 else None


def _kernel(node: Node, weights: Shape | None, rank: int) -> Shape:
    """The size of the window: the attribute, or the spatial dimensions of the weights. Fails when they differ."""
    stated = node.attribute("kernel_shape")
    if stated and (len(stated) != rank or min(stated) < 0):
        node.fail(f"kernel_shape is {list(stated)} for {rank} spatial dimensions")
    if weights is None:
        return tuple(stated) if stated else (None,) * rank
    if not stated:
        return weights
    return tuple(node.same(a, b, "kernel_shape and weights") for a, b in zip(stated, weights, strict=True))


def _shapes(node: Node, weights_position: int) -> tuple[Shape | None, Shape | None]:
    """The shapes of input and weights, brought to one rank; both None when neither has a known one."""
    x, w = node.expect_least_rank(0, 3), node.expect_least_rank(weights_position, 3)
    if x is not None and w is not None and len(x) != len(w):
        node.fail(f"{node.describe(0)} and {node.describe(weights_position)} differ in rank")
    rank = len(x or w or ())
    return (x or (None,) * rank, w or (None,) * rank) if rank else (None, None)


def _group(node: Node) -> int:
    group = node.attribute("group", 1)
    if group < 1:
        node.fail(f"attribute 'group' is {group}")
    return group


def _convolve(node: Node, weights_position: int) -> Sequence[Result]:
    x, w = _shapes(node, weights_position)
    if x is None or w is None:
        return [None]
    group = _group(node)
    if w[1] is not None:
        node.same(x[1], w[1] * group, "channels of input and weights times groups")
    node.divided(w[0], group, "output channels and groups")
    kernel = _kernel(node, w[2:], len(x) - 2)
    return [(x[0], w[0], *window_positions(node, x[2:], kernel))]


def convolution(node: Node) -> Sequence[Result]:
    """[N, C, ...] by weights [O, C/group, kernel...]: [N, O, positions of the window...]."""
    return _convolve(node, 1)


def quantised_convolution(node: Node) -> Sequence[Result]:
    """The same, with the weights after scale and zero point of the input."""
    return _convolve(node, 3)


def transposed_convolution(node: Node) -> Sequence[Result]:
    """[N, C, ...] by weights [C, O/group, kernel...]: [N, O, ...] of attribute `output_shape`, or from the strides."""
    x, w = _shapes(node, 1)
    if x is None or w is None:
        return [None]
    node.same(x[1], w[0], "channels of input and weights")
    channels = None if w[1] is None else w[1] * _group(node)
    return [(x[0], channels, *_unwound(node, x[2:], _kernel(node, w[2:], len(x) - 2)))]


def _unwound(node: Node, sizes: Shape, kernel: Shape) -> Shape:
    """The sizes that windows at ``sizes`` positions cover: the inverse of :func:`window_positions`."""
    count = len(sizes)
    stated = node.attribute("output_shape")
    if stated:
        if len(stated) != count:
            node.fail(f"output_shape is {list(stated)} for {count} spatial dimensions")
        return tuple(stated)
    strides, dilations = node.numbers("strides", count, 1, least=1), node.numbers("dilations", count, 1, least=1)
    pads, extra = node.numbers("pads", 2 * count, 0), node.numbers("output_padding", count, 0)
    result: list[Dim] = []
    for i, (size, width) in enumerate(zip(sizes, kernel, strict=True)):
        if size is not None and node.attribute("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER"):
            result.append(size * strides[i])
            continue
        if size is None or width is None:
            result.append(None)
            continue
        padding = 0 if node.attribute("auto_pad", "NOTSET") == "VALID" else pads[i] + pads[count + i]
        found = strides[i] * (size - 1) + extra[i] + (width - 1) * dilations[i] + 1 - padding
        if isinstance(found, int) and found < 0:
            node.fail(f"padding {padding} is more than {size} positions cover")
        result.append(found)
    return tuple(result)


def causal_convolution(node: Node) -> Sequence[Result]:
    """The shape of the input [N, C, length], and a state [N, C, k - 1] for weights [C, 1, k]."""
    x, w = node.expect_rank(0, 3), node.expect_rank(1, 3)
    last = None if w is None or w[2] is None else w[2] - 1
    channels = node.same(node.dim(0, 1), node.dim(1, 0), "channels of input and weights")
    batch = node.same(node.dim(0, 0), node.dim(3, 0), "batch of input and state")
    return [x, (batch, channels, last)]


def column_to_image(node: Node) -> Sequence[Result]:
    """[N, C x block, L]: [N, C, image_shape...]."""
    x, image, block = node.expect_rank(0, 3), node.integers(1), node.integers(2)
    if image is None:
        length = node.length(1)
        image = (None,) * length if isinstance(length, int) else None
    if image is None:
        return [None]
    elements = known_product(block)
    channels = None if x is None else node.divided(x[1], elements, "channels times block size")
    return [(None if x is None else x[0], channels, *image)]


# Pooling


def pooling(node: Node) -> Sequence[Result]:
    """[N, C, ...]: [N, C, positions of the window...]; the same for the indices."""
    x = node.expect_least_rank(0, 3)
    if x is None:
        return [None, None]
    shape = (*x[:2], *window_positions(node, x[2:], _kernel(node, None, len(x) - 2)))
    return [shape, shape]


def global_pooling(node: Node) -> Sequence[Result]:
    """[N, C, ...]: [N, C, 1...]."""
    x = node.expect_least_rank(0, 2)
    return [None if x is None else (*x[:2], *(1,) * (len(x) - 2))]


def unpooling(node: Node) -> Sequence[Result]:
    """The contents of `output_shape`, or what windows at all positions of the input cover."""
    x = node.expect_least_rank(0, 3)
    if node.has(2):
        stated = node.integers(2)
        return [stated if stated is not None or x is None else (*x[:2], *(None,) * (len(x) - 2))]
    if x is None:
        return [None]
    return [(*x[:2], *_unwound(node, x[2:], _kernel(node, None, len(x) - 2)))]


def region_pooling(node: Node) -> Sequence[Result]:
    """One result [C, height, width] of a fixed size for each region of interest."""
    size = node.attribute("pooled_shape") or (node.attribute("output_height"), node.attribute("output_width"))
    node.expect_rank(0, 4)
    regions = node.expect_rank(1, 2)
    return [(None if regions is None else regions[0], node.dim(0, 1), *size)]


def grid_sampling(node: Node) -> Sequence[Result]:
    """[N, C, ...] at the positions [N, sizes..., r]: [N, C, sizes...]."""
    x, grid = node.expect_least_rank(0, 3), node.expect_least_rank(1, 3)
    batch = node.same(node.dim(0, 0), node.dim(1, 0), "batch of input and grid")
    if grid is not None:
        if x is not None and len(x) != len(grid):
            node.fail(f"{node.describe(0)} and {node.describe(1)} differ in rank")
        return [(batch, node.dim(0, 1), *grid[1:-1])]
    return [None if x is None else (batch, x[1], *(None,) * (len(x) - 2))]


def affine_grid(node: Node) -> Sequence[Result]:
    """[N, r, r + 1] and the size [N, C, sizes...]: [N, sizes..., r]."""
    theta, size = node.expect_rank(0, 3), node.integers(1)
    batch = None if theta is None else theta[0]
    if size is not None:
        return [(node.same(batch, size[0], "batch") if size else batch, *size[2:], len(size) - 2)]
    length = node.length(1)
    spatial = length - 2 if isinstance(length, int) else None if theta is None else theta[1]
    return [(batch, *(None,) * spatial, spatial) if isinstance(spatial, int) and spatial >= 0 else None]


RULES: Mapping[str, Rule] = {
    "AffineGrid": affine_grid,
    "AveragePool": pooling,
    "CausalConvWithState": causal_convolution,
    "Col2Im": column_to_image,
    "Conv": convolution,
    "ConvInteger": convolution,
    "ConvTranspose": transposed_convolution,
    "DeformConv": convolution,
    "GlobalAveragePool": global_pooling,
    "GlobalLpPool": global_pooling,
    "GlobalMaxPool": global_pooling,
    "GridSample": grid_sampling,
    "LpPool": pooling,
    "MaxPool": pooling,
    "MaxRoiPool": region_pooling,
    "MaxUnpool": unpooling,
    "QLinearConv": quantised_convolution,
    "RoiAlign": region_pooling,
}
