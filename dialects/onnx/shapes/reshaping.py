"""Rules of operators that give the same elements another shape, or repeat them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.elementwise import broadcast_shapes
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Dim, Shape, known_product, shape_text
from ge.maths.symbols import bounds, differ, quotient


def unknown_dims(node: Node, position: int) -> Shape | None:
    """Dimensions of which only the number is known: as many as an input, which lists them, is long."""
    length = node.length(position)
    return (None,) * length if isinstance(length, int) else None


# Reshape


def reshape(node: Node) -> Sequence[Result]:
    """The second input: 0 copies the dimension of the input, -1 is what is left of its elements."""
    x, target = node.shape(0), node.integers(1)
    if target is None:
        dims = unknown_dims(node, 1)
        return [dims if dims is None or x is None else _completed(node, x, dims, [])]
    copies = [] if node.attribute("allowzero", 0) else [axis for axis, dim in enumerate(target) if dim == 0]
    if target.count(-1) > 1:
        node.fail(f"shape {shape_text(target)} has -1 twice")
    if x is None:
        return [tuple(None if axis in copies or _is_negative(dim) else dim for axis, dim in enumerate(target))]
    if copies and copies[-1] >= len(x):
        node.fail(f"shape {shape_text(target)} copies dimension {copies[-1]} of {shape_text(x)}")
    dims = tuple(x[axis] if axis in copies else None if _is_negative(dim) else dim for axis, dim in enumerate(target))
    if all(dim == 0 or (dim is not None and not _is_negative(dim)) for dim in target):
        _check_count(node, x, dims)
        return [dims]
    return [_completed(node, x, dims, copies)]


def _is_negative(dim: Dim) -> bool:
    return dim is not None and (bounds(dim)[1] or 0) < 0


def _completed(node: Node, x: Shape, dims: Shape, copies: Sequence[int]) -> Shape:
    """A shape whose one unknown dimension, if it is only one, follows from the elements; ``copies`` cancel out."""
    unknown = [axis for axis, dim in enumerate(dims) if dim is None and axis not in copies]
    if len(unknown) != 1:
        return dims
    elements = known_product(tuple(dim for axis, dim in enumerate(x) if axis not in copies))
    others = known_product(tuple(dim for axis, dim in enumerate(dims) if axis not in (*copies, *unknown)))
    if elements is None or others is None or others == 0:
        return dims
    node.divided(elements, others, f"elements of {shape_text(x)} and of {shape_text(dims)}")
    return tuple(quotient(elements, others) if axis == unknown[0] else dim for axis, dim in enumerate(dims))


def _check_count(node: Node, x: Shape, dims: Shape) -> None:
    """Fail when two shapes certainly have different numbers of elements."""
    before, after = known_product(x), known_product(dims)
    if before is not None and after is not None and differ(before, after):
        node.fail(f"{shape_text(x)} has {before} elements, {shape_text(dims)} has {after}")


def flatten(node: Node) -> Sequence[Result]:
    """Two dimensions: the elements in front of the axis, and from it on."""
    x = node.shape(0)
    if x is None:
        return [(None, None)]
    axis = node.attribute("axis")
    if not -len(x) <= axis <= len(x):
        node.fail(f"axis is {axis}, the rank is {len(x)}")
    axis += len(x) if axis < 0 else 0
    return [(known_product(x[:axis]), known_product(x[axis:]))]


def squeeze(node: Node) -> Sequence[Result]:
    """The input without the axes that the second input names, which have size 1; without all of size 1 by default."""
    x, axes = node.shape(0), node.integers(1)
    if x is None:
        return [None]
    if not node.has(1):
        certain = all(dim is not None and (dim == 1 or differ(dim, 1)) for dim in x)
        return [tuple(dim for dim in x if dim != 1) if certain else None]
    if axes is None or not all(isinstance(axis, int) for axis in axes):
        length = node.length(1)
        if isinstance(length, int) and length > len(x):
            node.fail(f"{length} axes of an input of rank {len(x)}")
        return [(None,) * (len(x) - length) if isinstance(length, int) else None]
    gone = node.axes([axis for axis in axes if isinstance(axis, int)], len(x))
    for axis in gone:
        dim = x[axis]
        if dim is not None and differ(dim, 1):
            node.fail(f"axis {axis} of {shape_text(x)} has size {dim}, not 1")
    return [tuple(dim for axis, dim in enumerate(x) if axis not in gone)]


def unsqueeze(node: Node) -> Sequence[Result]:
    """The input with new axes of size 1, at the positions in the result that the second input names."""
    x, axes = node.shape(0), node.integers(1)
    if x is None:
        return [None]
    if axes is None or not all(isinstance(axis, int) for axis in axes):
        more = unknown_dims(node, 1)
        return [None if more is None else (None,) * (len(x) + len(more))]
    rank = len(x) + len(axes)
    new = node.axes([axis for axis in axes if isinstance(axis, int)], rank)
    dims = iter(x)
    return [tuple(1 if axis in new else next(dims) for axis in range(rank))]


def transpose(node: Node) -> Sequence[Result]:
    """The dimensions in the order of `perm`; reversed without it."""
    x, perm = node.shape(0), node.attribute("perm")
    if x is None:
        return [(None,) * len(perm) if perm else None]
    if perm is None:
        return [x[::-1]]
    if sorted(perm) != list(range(len(x))):
        node.fail(f"perm {list(perm)} is no order of {len(x)} axes")
    order: list[int] = perm
    return [tuple(x[axis] for axis in order)]


# Repetition


def expand(node: Node) -> Sequence[Result]:
    """What the input and the shape in the second input broadcast to."""
    target = node.integers(1)
    if target is None:
        target = unknown_dims(node, 1)
    elif any(map(_is_negative, target)):
        node.fail(f"shape {shape_text(target)} has a negative size")
    return [broadcast_shapes(node, [node.shape(0), target])]


def tile(node: Node) -> Sequence[Result]:
    """Each dimension times the entry of the second input."""
    x, repeats = node.shape(0), node.integers(1)
    if x is None:
        return [unknown_dims(node, 1)]
    length = node.length(1)
    if isinstance(length, int) and length != len(x):
        node.fail(f"{length} repeats for an input of rank {len(x)}")
    if repeats is None:
        return [(None,) * len(x)]
    if any(map(_is_negative, repeats)):
        node.fail(f"repeats {shape_text(repeats)} are negative")
    return [tuple(None if a is None or b is None else a * b for a, b in zip(x, repeats, strict=True))]


# Blocks


def _block(node: Node) -> int:
    block = node.attribute("blocksize")
    if block < 1:
        node.fail(f"attribute 'blocksize' is {block}")
    return block


def depth_to_space(node: Node) -> Sequence[Result]:
    """[N, C, H, W]: [N, C / block², H x block, W x block]."""
    x, block = node.expect_rank(0, 4) or (None,) * 4, _block(node)
    channels = node.divided(x[1], block * block, "channels and block")
    return [(x[0], channels, *(None if dim is None else dim * block for dim in x[2:]))]


def space_to_depth(node: Node) -> Sequence[Result]:
    """[N, C, H, W]: [N, C x block², H / block, W / block]."""
    x, block = node.expect_rank(0, 4) or (None,) * 4, _block(node)
    channels = None if x[1] is None else x[1] * block * block
    return [(x[0], channels, *(node.divided(dim, block, "size and block") for dim in x[2:]))]


RULES: Mapping[str, Rule] = {
    "DepthToSpace": depth_to_space,
    "Expand": expand,
    "Flatten": flatten,
    "Reshape": reshape,
    "SpaceToDepth": space_to_depth,
    "Squeeze": squeeze,
    "Tile": tile,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}
