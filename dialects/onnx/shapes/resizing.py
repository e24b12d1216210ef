"""The rule of `Resize`, whose sizes come from scales or are given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Dim, Element, Shape, float32, shape_text
from ge.maths.symbols import Expression, Size


def resize(node: Node) -> Sequence[Result]:
    """Each axis times its scale, rounded down, or of the size given; a size may be reduced to keep the aspect ratio."""
    x = node.shape(0)
    given = [position for position in (2, 3) if node.has(position) and node.shape(position) != (0,)]
    if not given or (len(given) == 2 and all(isinstance(node.length(position), int) for position in given)):
        node.fail("exactly one of scales and sizes must be given")
    if len(given) == 2:
        return [None if x is None else (None,) * len(x)]
    position, by_scale = given[0], given == [2]
    length = node.length(position)
    if x is None:
        axes_given = node.attribute("axes") is not None
        return [(None,) * length if isinstance(length, int) and not axes_given else None]
    stated = node.attribute("axes")
    axes = list(range(len(x))) if stated is None else node.axes(stated, len(x))
    if isinstance(length, int) and length != len(axes):
        node.fail(f"{length} {'scales' if by_scale else 'sizes'} for {len(axes)} axes")
    if by_scale:
        factors = _cropped(node, node.tensor(2).contents, len(axes))
        return [_placed(x, axes, [_scaled(x[axis], factors[i]) for i, axis in enumerate(axes)])]
    sizes = node.integers(3) or (None,) * len(axes)
    if any(isinstance(size, int) and size < 0 for size in sizes):
        node.fail(f"sizes {shape_text(sizes)} are negative")
    return [_placed(x, axes, _kept_ratio(node, x, axes, sizes))]


def _placed(x: Shape, axes: Sequence[int], sizes: Sequence[Dim]) -> Shape:
    result = list(x)
    for axis, size in zip(axes, sizes, strict=True):
        result[axis] = size
    return tuple(result)


def _cropped(node: Node, scales: Sequence[Element] | None, count: int) -> Sequence[Element]:
    """The factor of each axis: its scale, times the part of the input that is cropped out."""
    if scales is None:
        return [None] * count
    if node.attribute("coordinate_transformation_mode") != "tf_crop_and_resize":
        return scales
    roi = node.tensor(1).contents
    if roi is None or len(roi) != 2 * count:
        return [None] * count
    parts = zip(scales, roi[:count], roi[count:], strict=True)
    return [
        None if scale is None or begin is None or end is None else _times(scale, _minus(end, begin))
        for scale, begin, end in parts
    ]


def _minus(a: Size | float, b: Size | float) -> Element:
    return None if isinstance(a, Expression) or isinstance(b, Expression) else float32(a - b)


def _times(a: Size | float, b: Element) -> Element:
    return None if isinstance(a, Expression) or isinstance(b, Expression) or b is None else float32(a * b)


def _scaled(size: Dim, factor: Element) -> Dim:
    """A size times a factor, rounded down, as float32 computes it."""
    if size is None or factor is None or isinstance(factor, Expression):
        return None
    if isinstance(size, int):
        product = float32(size * factor)
        return math.floor(product) if math.isfinite(product) and product >= 0 else None
    return size * int(factor) if factor > 0 and math.isfinite(factor) and factor == int(factor) else None


def _kept_ratio(node: Node, x: Shape, axes: Sequence[int], sizes: Shape) -> Sequence[Dim]:
    """The sizes; with a policy other than `stretch`, all axes are scaled alike and the sizes only bound the result."""
    policy = node.attribute("keep_aspect_ratio_policy")
    if policy == "stretch":
        return sizes
    pairs = [(x[axis], size) for axis, size in zip(axes, sizes, strict=True)]
    numbers = [(dim, size) for dim, size in pairs if isinstance(dim, int) and isinstance(size, int) and dim]
    if len(numbers) < len(pairs) or not pairs:
        return [None] * len(axes)
    choose = min if policy == "not_larger" else max
    scale = choose(size / dim for dim, size in numbers)
    return [math.floor(scale * dim + 0.5) for dim, _ in numbers]


RULES: Mapping[str, Rule] = {"Resize": resize}
