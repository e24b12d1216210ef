"""Rules of contents: what an operation on small integer tensors gives, so that computed shapes become known.

Contents are arrays of Python objects here: numbers, expressions, and None for an element that is not known. This is the
only module of the package that needs NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.shapes import arithmetic
from ge.dialects.onnx.shapes.indexing import slice_axes
from ge.dialects.onnx.shapes.node import Node
from ge.dialects.onnx.shapes.values import Element, Tensor, Value, is_static, may_be_followed
from ge.maths.slices import positions, python_slice

Objects: TypeAlias = NDArray[np.object_]

ContentsRule: TypeAlias = "Callable[[Node, Tensor], Objects | None]"
"""From an operation and what is known of its first result to the elements of that, of any shape with their number."""


def with_contents(node: Node, values: Sequence[Value]) -> list[Value]:
    """The results of an operation with their contents, where these are followed and its inputs tell them."""
    if node.op_type == "Split":
        return _split(node, values)
    first = values[0] if values else None
    rule = CONTENTS_RULES.get(node.op_type)
    if rule is None or not isinstance(first, Tensor) or first.contents is not None or _count(first) is None:
        return list(values)
    if _count(first) == 0:
        return [Tensor(first.element, first.shape, ()), *values[1:]]
    array = rule(node, first)
    if array is None or array.size != _count(first):
        return list(values)
    return [_filled(first, array), *values[1:]]


def _count(tensor: Tensor) -> int | None:
    """The number of elements of a tensor whose contents may be followed."""
    if not is_static(tensor):
        return None
    count = math.prod(cast("tuple[int, ...]", tensor.shape))
    return count if may_be_followed(tensor.element or "", count) else None


def _filled(tensor: Tensor, array: Objects) -> Tensor:
    elements = [arithmetic.fitted(element, tensor.element or "") for element in array.reshape(-1).tolist()]
    if elements and all(element is None for element in elements):
        return tensor
    return Tensor(tensor.element, tensor.shape, tuple(elements))


def _array(value: Value) -> Objects | None:
    """The contents of a value as an array; unknown elements when only its small static shape is known."""
    if not isinstance(value, Tensor) or (count := _count(value)) is None:
        return None
    array = np.empty(count, object)
    array[:] = value.contents or (None,) * count
    return array.reshape(cast("tuple[int, ...]", value.shape))


def _inputs(node: Node) -> list[Objects] | None:
    """All inputs as arrays, or None when the shape of one is not static."""
    arrays = [_array(value) for value in node.inputs if value is not None]
    return None if None in [None if array is None else 0 for array in arrays] else cast("list[Objects]", arrays)


def _numbers(node: Node, position: int) -> list[int] | None:
    """The contents of an input when all of them are numbers."""
    contents = node.integers(position)
    if contents is None or not all(isinstance(item, int) for item in contents):
        return None
    return [item for item in contents if isinstance(item, int)]


# Element by element


def _binary(node: Node, result: Tensor) -> Objects | None:
    arrays, element = _inputs(node), node.element(0)
    if not arrays or not element:
        return None
    fit = element if result.element != "i1" else "i1"

    def combine(a: Element, b: Element) -> Element:
        if node.op_type == "Mod" and node.attribute("fmod"):
            return None
        return arithmetic.fitted(arithmetic.binary(node.op_type, a, b, element), fit)

    return reduce(lambda a, b: _each(combine, a, b), arrays)


def _unary(node: Node, result: Tensor) -> Objects | None:
    return _each(partial(arithmetic.unary, node.op_type), _array(node.value(0)))


def _cast(node: Node, result: Tensor) -> Objects | None:
    return _each(partial(arithmetic.converted, element=result.element or ""), _array(node.value(0)))


def _where(node: Node, result: Tensor) -> Objects | None:
    arrays = _inputs(node)

    def choose(condition: Element, a: Element, b: Element) -> Element:
        return (a if a == b else None) if condition is None else a if condition else b

    return None if arrays is None else _each(choose, *arrays)


def _each(function: Callable[..., Element], *arrays: Objects | None) -> Objects | None:
    """Apply a function to elements at the same place, after broadcasting."""
    known = [array for array in arrays if array is not None]
    if len(known) < len(arrays):
        return None
    broadcast = np.broadcast_arrays(*known)
    result = np.empty(broadcast[0].shape, object)
    places = zip(*(array.reshape(-1) for array in broadcast), strict=True)
    result.reshape(-1)[:] = [function(*elements) for elements in places]
    return result


# Moving elements


def _same(node: Node, result: Tensor) -> Objects | None:
    return _array(node.value(0))


def _transpose(node: Node, result: Tensor) -> Objects | None:
    array = _array(node.value(0))
    return None if array is None else np.transpose(array, node.attribute("perm"))


def _concat(node: Node, result: Tensor) -> Objects | None:
    arrays = _inputs(node)
    return None if arrays is None else np.concatenate(arrays, node.attribute("axis"))


def _gather(node: Node, result: Tensor) -> Objects | None:
    array, indices = _array(node.value(0)), _array(node.value(1))
    if array is None or indices is None:
        return None
    size = array.shape[node.attribute("axis")]
    known = all(isinstance(index, int) and -size <= index < size for index in indices.reshape(-1))
    if not known:
        return None
    return np.take(array, indices.reshape(-1).astype(np.int64), node.attribute("axis"))


def _slice(node: Node, result: Tensor) -> Objects | None:
    array, axes = _array(node.value(0)), None if node.rank() is None else slice_axes(node, node.rank() or 0)
    starts, ends = _numbers(node, 1), _numbers(node, 2)
    steps = _numbers(node, 4) if node.has(4) else [1] * len(starts or ())
    if array is None or axes is None or starts is None or ends is None or steps is None:
        return None
    cuts = [slice(None)] * array.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        cuts[axis] = python_slice(positions(start, end, step, array.shape[axis]))
    return array[tuple(cuts)]


def _split(node: Node, values: Sequence[Value]) -> list[Value]:
    array = _array(node.value(0))
    if array is None or not all(isinstance(value, Tensor) and is_static(value) for value in values):
        return list(values)
    axis = node.attribute("axis")
    tensors = [cast(Tensor, value) for value in values]
    sizes = [cast(int, (tensor.shape or ())[axis]) for tensor in tensors]
    parts = np.split(array, np.cumsum(sizes)[:-1], axis)
    return [_filled(tensor, part) for tensor, part in zip(tensors, parts, strict=True)]


def _expand(node: Node, result: Tensor) -> Objects | None:
    array = _array(node.value(0))
    return None if array is None else np.broadcast_to(array, cast("tuple[int, ...]", result.shape))


def _tile(node: Node, result: Tensor) -> Objects | None:
    array, repeats = _array(node.value(0)), _numbers(node, 1)
    return None if array is None or repeats is None else np.tile(array, repeats)


# New elements


def _constant_of_shape(node: Node, result: Tensor) -> Objects | None:
    value = node.attribute("value")
    contents = value.contents if isinstance(value, Tensor) else (0.0,)
    if not contents:
        return None
    return np.full(_count(result) or 0, contents[0], object)


def _range(node: Node, result: Tensor) -> Objects | None:
    start, delta = node.scalar(0), node.scalar(2)
    count = _count(result)
    if start is None or delta is None or count is None:
        return None
    array = np.empty(count, object)
    array[:] = [start + delta * step for step in range(count)]
    return array


def _reduction(node: Node, result: Tensor) -> Objects | None:
    """Integers only: sums and products of floats depend on the order."""
    if (result.element or "f")[0] == "f":
        return None
    array, axes = _array(node.value(0)), _numbers(node, 1) if node.has(1) else []
    if array is None or axes is None or array.size == 0:
        return None
    if not axes:
        if node.attribute("noop_with_empty_axes", 0):
            return array
        axes = list(range(array.ndim))
    op_type = {"ReduceSum": "Add", "ReduceProd": "Mul", "ReduceMax": "Max", "ReduceMin": "Min"}[node.op_type]
    for axis in sorted((axis % array.ndim for axis in axes), reverse=True):
        parts = [np.take(array, [index], axis) for index in range(array.shape[axis])]
        array = reduce(lambda a, b: cast(Objects, _each(partial(arithmetic.binary, op_type), a, b)), parts)
    return array


CONTENTS_RULES: Mapping[str, ContentsRule] = {
    **dict.fromkeys(arithmetic.BINARY, _binary),
    **dict.fromkeys(arithmetic.UNARY, _unary),
    **dict.fromkeys(("Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"), _same),
    **dict.fromkeys(("ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum"), _reduction),
    "Cast": _cast,
    "CastLike": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Gather": _gather,
    "Range": _range,
    "Slice": _slice,
    "Tile": _tile,
    "Transpose": _transpose,
    "Where": _where,
}
"""The operators of ai.onnx whose contents are followed."""
