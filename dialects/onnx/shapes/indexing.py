"""Rules of operators that join, cut out, pad, pick and place parts of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.reshaping import unknown_dims
from ge.dialects.onnx.shapes.values import Dim, Shape
from ge.maths.slices import positions
from ge.maths.symbols import Size, bounds, differ, maximum, minimum, quotient_up, total


def concatenated(node: Node, shapes: Sequence[Shape | None], axis: int) -> Shape | None:
    """The shape of tensors joined along an axis."""
    rank = next((len(shape) for shape in shapes if shape is not None), None)
    if rank is None:
        return None
    axis = node.axis(axis, rank)
    result: list[Dim] = [None] * rank
    for shape in shapes:
        if shape is not None and len(shape) != rank:
            node.fail("the inputs differ in rank")
        for other, dim in enumerate(shape or ()):
            if other != axis:
                result[other] = node.same(result[other], dim, f"dimension {other} of the inputs")
    result[axis] = sum_of([None if shape is None else shape[axis] for shape in shapes])
    return tuple(result)


def concat(node: Node) -> Sequence[Result]:
    """The inputs end to end along the axis; their other dimensions are equal."""
    shapes = [node.shape(position) for position in range(len(node.inputs))]
    return [concatenated(node, shapes, node.attribute("axis"))]


def split(node: Node) -> Sequence[Result]:
    """The parts that the second input tells the sizes of, or equal ones, the last perhaps smaller."""
    x, count = node.expect_least_rank(0, 1), node.output_count
    if x is None:
        return [None] * count
    axis = node.axis(node.attribute("axis"), len(x))
    sizes = _split_sizes(node, x[axis], count)
    return [(*x[:axis], size, *x[axis + 1 :]) for size in sizes]


def _split_sizes(node: Node, size: Dim, count: int) -> Sequence[Dim]:
    stated = node.attribute("num_outputs")
    if stated is not None and stated != count:
        node.fail(f"attribute 'num_outputs' is {stated}, there are {count} outputs")
    if node.has(1):
        parts, length = node.integers(1), node.length(1)
        if isinstance(length, int) and length != count:
            node.fail(f"{length} sizes for {count} outputs")
        if parts is None:
            return [None] * count
        whole = sum_of(parts)
        if size is not None and whole is not None and differ(size, whole):
            node.fail(f"the sizes of the parts add up to {whole}, not to {size}")
        return parts
    if size is None or count == 0:
        return [None] * count
    part = quotient_up(size, count)
    last = size - part * (count - 1)
    if isinstance(last, int) and last < 0:
        node.fail(f"{size} entries cannot be split into {count} parts")
    return [*[part] * (count - 1), last]


def sum_of(dims: Sequence[Dim]) -> Dim:
    """The sum of sizes; None when one is unknown."""
    known = [dim for dim in dims if dim is not None]
    return total(known) if len(known) == len(dims) else None


# Slice


def slice_axes(node: Node, rank: int) -> Sequence[int] | None:
    """The axes that a `Slice` cuts, in the order of its starts; None when they are not known."""
    axes = node.integers(3)
    if not node.has(3):
        length = node.length(1)
        axes = tuple(range(length)) if isinstance(length, int) else None
    if axes is None or not all(isinstance(axis, int) for axis in axes):
        return None
    return node.axes([axis for axis in axes if isinstance(axis, int)], rank)


def slice_(node: Node) -> Sequence[Result]:
    """The input with the positions start, start + step, ... before end along each axis."""
    x = node.expect_least_rank(0, 1)
    if x is None:
        return [None]
    axes = slice_axes(node, len(x))
    if axes is None:
        return [(None,) * len(x)]
    starts, ends, steps = node.integers(1), node.integers(2), node.integers(4)
    if not node.has(4):
        steps = (1,) * len(axes)
    result = list(x)
    for values in (starts, ends, steps):
        if values is not None and len(values) != len(axes):
            node.fail(f"starts, ends, axes and steps differ in length: {len(values)} and {len(axes)}")
    for position, axis in enumerate(axes):
        cut = (None if values is None else values[position] for values in (starts, ends, steps))
        result[axis] = sliced(node, x[axis], *cut)
    return [tuple(result)]


def sliced(node: Node, size: Dim, start: Dim, end: Dim, step: Dim) -> Dim:
    """How many of ``size`` positions a slice takes."""
    if step == 0:
        node.fail("a step of a slice is zero")
    if size is None or start is None or end is None or not isinstance(step, int):
        return 0 if size == 0 else None
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        return len(positions(start, end, step, size))
    if step < 0:
        everything = isinstance(end, int) and end < _LEAST and (start == -1 or _is_past(start, size))
        return quotient_up(size, -step) if everything else None
    first, last = _position(start, size), _position(end, size)
    if first is None or last is None:
        return None
    return maximum(0, quotient_up(last - first, step))


_LEAST = -(2**30)
"""What exporters write for the first position of a reversed slice of any length is less than this."""


def _is_past(start: Size, size: Size) -> bool:
    """Whether a position is the last or behind it."""
    if isinstance(start, int) and start >= -_LEAST:
        return True
    low, _ = bounds(start - size)
    return low is not None and low >= -1


def _position(position: Size, size: Size) -> Size | None:
    """A position between 0 and ``size``; negative ones count from the end."""
    if isinstance(position, int) and position >= -_LEAST:
        return size
    low, high = bounds(position)
    if low is not None and low >= 0:
        return minimum(position, size)
    if high is not None and high < 0:
        return maximum(0, position + size)
    return None


# Pad, crop


def pad(node: Node) -> Sequence[Result]:
    """Each padded dimension with its padding in front and behind, which may be negative."""
    x, pads = node.shape(0), node.integers(1)
    if x is None:
        return [None]
    axes: Shape | None = node.integers(3) if node.has(3) else tuple(range(len(x)))
    if axes is None or not all(isinstance(axis, int) for axis in axes):
        return [(None,) * len(x)]
    found = node.axes([axis for axis in axes if isinstance(axis, int)], len(x))
    length = node.length(1)
    if isinstance(length, int) and length != 2 * len(found):
        node.fail(f"{length} entries of pads for {len(found)} axes")
    result = list(x)
    for position, axis in enumerate(found):
        dim = x[axis]
        front, back = (None, None) if pads is None else (pads[position], pads[len(found) + position])
        padded = None if dim is None or front is None or back is None else dim + front + back
        if isinstance(padded, int) and padded < 0:
            node.fail(f"padding {front}, {back} takes more than dimension {axis} has, which is {dim}")
        result[axis] = padded
    return [tuple(result)]


def center_crop_pad(node: Node) -> Sequence[Result]:
    """The input with the sizes in the second input along the axes."""
    x, size = node.shape(0), node.integers(1)
    if x is None:
        return [unknown_dims(node, 1) if node.attribute("axes") is None else None]
    axes = node.attribute("axes")
    found = list(range(len(x))) if axes is None else node.axes(axes, len(x))
    length = node.length(1)
    if isinstance(length, int) and length != len(found):
        node.fail(f"{length} sizes for {len(found)} axes")
    result = list(x)
    for position, axis in enumerate(found):
        result[axis] = None if size is None else size[position]
    return [tuple(result)]


# Gather


def gather(node: Node) -> Sequence[Result]:
    """The input with the axis replaced by the dimensions of the indices."""
    x, indices = node.expect_least_rank(0, 1), node.shape(1)
    if x is None or indices is None:
        return [None]
    axis = node.axis(node.attribute("axis"), len(x))
    return [(*x[:axis], *indices, *x[axis + 1 :])]


def gather_elements(node: Node) -> Sequence[Result]:
    """The shape of the indices, which has the rank of the input."""
    x, indices = node.shape(0), node.shape(1)
    if x is not None and indices is not None and len(x) != len(indices):
        node.fail(f"{node.describe(0)} and {node.describe(1)} differ in rank")
    if x:
        node.axis(node.attribute("axis"), len(x))
    return [(None,) * len(x) if indices is None and x is not None else indices]


def gather_nd(node: Node) -> Sequence[Result]:
    """The indices without their last dimension, then the dimensions of the input that an index leaves open."""
    x, indices, batch = node.shape(0), node.expect_least_rank(1, 1), node.attribute("batch_dims")
    if x is None or indices is None or not isinstance(indices[-1], int):
        return [None]
    named = batch + indices[-1]
    if batch < 0 or batch >= len(indices) or named > len(x):
        node.fail(f"{indices[-1]} indices after {batch} batch dimensions are too many for {node.describe(0)}")
    shared = [node.same(a, b, "batch of input and indices") for a, b in zip(x[:batch], indices[:batch], strict=True)]
    return [(*shared, *indices[batch:-1], *x[named:])]


RULES: Mapping[str, Rule] = {
    "CenterCropPad": center_crop_pad,
    "Concat": concat,
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "Pad": pad,
    "Slice": slice_,
    "Split": split,
}
