"""Rules of operators on sequences and optional values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.elements import DATA_TYPES
from ge.dialects.onnx.shapes.indexing import concatenated, sum_of
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import (
    UNKNOWN_VALUE,
    Dim,
    OptionalOf,
    SequenceOf,
    Shape,
    Tensor,
    Unknown,
    Value,
    join,
    join_all,
)
from ge.maths.symbols import differ

_MAX_ITEMS = 64
"""The longest sequence whose items are followed one by one."""


def sequence_of(items: Sequence[Value], empty: Value = UNKNOWN_VALUE) -> SequenceOf:
    """The sequence of known items, which is of type ``empty`` when there are none."""
    return SequenceOf(join_all(items) if items else empty, tuple(items) if len(items) <= _MAX_ITEMS else None)


def _sequence(node: Node) -> SequenceOf:
    value = node.value(0)
    if not isinstance(value, SequenceOf | Unknown):
        node.fail(f"input 0 is {value}, not a sequence")
    return value if isinstance(value, SequenceOf) else SequenceOf(UNKNOWN_VALUE)


def _position(node: Node, position: int, count: int, default: int) -> int | None:
    """The entry that an input names, counted from the front; None when it is not known. Fails when there is none."""
    index: Dim = node.scalar(position) if node.has(position) else default
    if not isinstance(index, int):
        return None
    return node.axis(index, count, "the position") if count else node.fail("the sequence is empty")


def sequence_construct(node: Node) -> Sequence[Result]:
    """The sequence of the inputs."""
    return [sequence_of([node.value(position) for position in range(len(node.inputs))])]


def sequence_empty(node: Node) -> Sequence[Result]:
    """A sequence without entries."""
    return [SequenceOf(Tensor(DATA_TYPES.get(node.attribute("dtype", 1))), ())]


def sequence_at(node: Node) -> Sequence[Result]:
    """The entry at a position; what is true of all entries when the position is not known."""
    sequence = _sequence(node)
    if sequence.items is None:
        return [sequence.element]
    position = _position(node, 1, len(sequence.items), 0)
    return [sequence.element if position is None else sequence.items[position]]


def sequence_insert(node: Node) -> Sequence[Result]:
    """The sequence with one more entry, at the end by default."""
    sequence, new = _sequence(node), node.value(1)
    if sequence.items is None:
        return [SequenceOf(join(sequence.element, new))]
    count = len(sequence.items)
    index: Dim = node.scalar(2) if node.has(2) else count
    if not isinstance(index, int):
        return [SequenceOf(join_all([*sequence.items, new]))]
    if not -count <= index <= count:
        node.fail(f"the position {index} is outside a sequence of {count}")
    index += count if index < 0 else 0
    return [sequence_of([*sequence.items[:index], new, *sequence.items[index:]])]


def sequence_erase(node: Node) -> Sequence[Result]:
    """The sequence without one entry, the last by default."""
    sequence = _sequence(node)
    if sequence.items is None:
        return [sequence]
    position = _position(node, 1, len(sequence.items), -1)
    if position is None:
        return [SequenceOf(sequence.element)]
    left = (*sequence.items[:position], *sequence.items[position + 1 :])
    return [sequence_of(left, sequence.element)]


def concat_from_sequence(node: Node) -> Sequence[Result]:
    """The entries end to end along an axis, or along a new one."""
    sequence, axis, stack = _sequence(node), node.attribute("axis"), bool(node.attribute("new_axis"))
    element = sequence.element if isinstance(sequence.element, Tensor) else Tensor()
    if sequence.items:
        shapes = [item.shape if isinstance(item, Tensor) else None for item in sequence.items]
        if stack:
            shapes = [None if shape is None else _with_axis(node, shape, axis, 1) for shape in shapes]
        return [Tensor(element.element, concatenated(node, shapes, axis))]
    if element.shape is None:
        return [element]
    if stack:
        return [Tensor(element.element, _with_axis(node, element.shape, axis, None))]
    axis = node.axis(axis, len(element.shape))
    return [Tensor(element.element, (*element.shape[:axis], None, *element.shape[axis + 1 :]))]


def _with_axis(node: Node, shape: Shape, axis: int, size: Dim) -> Shape:
    axis = node.axis(axis, len(shape) + 1)
    return (*shape[:axis], size, *shape[axis:])


def split_to_sequence(node: Node) -> Sequence[Result]:
    """Parts of the sizes in the second input; of one size, the last perhaps smaller, when that is a scalar."""
    x, element = node.expect_least_rank(0, 1), node.element()
    if x is None:
        return [SequenceOf(Tensor(element))]
    axis = node.axis(node.attribute("axis"), len(x))
    if not node.has(1) and not node.attribute("keepdims"):
        item, count = Tensor(element, (*x[:axis], *x[axis + 1 :])), x[axis]
        return [SequenceOf(item, (item,) * count if isinstance(count, int) and count <= _MAX_ITEMS else None)]
    sizes = _part_sizes(node, x[axis])
    if sizes is None:
        equal = 1 if not node.has(1) else None
        return [SequenceOf(Tensor(element, (*x[:axis], equal, *x[axis + 1 :])))]
    parts = [Tensor(element, (*x[:axis], size, *x[axis + 1 :])) for size in sizes]
    return [sequence_of(parts, Tensor(element, (*x[:axis], None, *x[axis + 1 :])))]


def _part_sizes(node: Node, size: Dim) -> Sequence[Dim] | None:
    """The sizes of the parts of an axis, when their number is known."""
    parts = node.integers(1) if node.has(1) else (1,)
    if node.has(1) and node.rank(1) == 1:
        if parts is None:
            length = node.length(1)
            return (None,) * length if isinstance(length, int) and length <= _MAX_ITEMS else None
        total = sum_of(parts)
        if size is not None and total is not None and differ(size, total):
            node.fail(f"the sizes of the parts add up to {total}, not to {size}")
        return parts
    is_scalar = not node.has(1) or node.rank(1) == 0
    if not is_scalar or parts is None or not isinstance(parts[0], int):
        return None
    if parts[0] < 1:
        node.fail(f"the size of the parts is {parts[0]}")
    if not isinstance(size, int) or size > _MAX_ITEMS * parts[0]:
        return None
    part = parts[0]
    return [min(part, size - begin) for begin in range(0, size, part)]


# Optional values


def optional(node: Node) -> Sequence[Result]:
    """The input, or nothing of the type in attribute `type`."""
    if node.has(0):
        return [OptionalOf(node.value(0))]
    stated = node.attribute("type")
    return [OptionalOf(UNKNOWN_VALUE if stated is None else stated)]


def optional_get_element(node: Node) -> Sequence[Result]:
    """The value in the input."""
    value = node.value(0)
    return [value.element if isinstance(value, OptionalOf) else value]


def optional_has_element(node: Node) -> Sequence[Result]:
    """A scalar; certain for an input that is not optional, or absent."""
    value = node.value(0)
    known = None if isinstance(value, OptionalOf) or (node.has(0) and isinstance(value, Unknown)) else int(node.has(0))
    return [Tensor("i1", (), None if known is None else (known,))]


RULES: Mapping[str, Rule] = {
    "ConcatFromSequence": concat_from_sequence,
    "Optional": optional,
    "OptionalGetElement": optional_get_element,
    "OptionalHasElement": optional_has_element,
    "SequenceAt": sequence_at,
    "SequenceConstruct": sequence_construct,
    "SequenceEmpty": sequence_empty,
    "SequenceErase": sequence_erase,
    "SequenceInsert": sequence_insert,
    "SplitToSequence": split_to_sequence,
}
