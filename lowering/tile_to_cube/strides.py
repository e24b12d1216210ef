"""How the elements of a tile lie in a buffer, and what one vector instruction covers of them. No IR.

A tile is row-major of its shape; its elements need not be: a slice skips some, a broadcast repeats some, a reshape
joins dimensions that are not contiguous. A :class:`Layout` gives, for each dimension of the tile, the *axes* that make
it up, outermost first. All sizes and strides are in elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

BLOCKS_PER_REPEAT = 8
"""Blocks that one repeat of a vector instruction reads from each operand and writes (of the wider type)."""


class Axis(NamedTuple):
    """`size` positions, `stride` elements apart."""

    size: int
    stride: int


@dataclass(frozen=True)
class Layout:
    """Where the elements of a tile lie, relative to its first one: axes for each dimension."""

    dims: tuple[tuple[Axis, ...], ...]

    @staticmethod
    def dense(sizes: Sequence[int], pitch: int | None = None) -> Layout:
        """The row-major layout of `sizes`; with `pitch`, rows of the last dimension are that many elements apart."""
        dims: list[tuple[Axis, ...]] = []
        stride = 1
        for position, size in enumerate(reversed(sizes)):
            dims.append((Axis(size, stride),) if size > 1 else ())
            stride = pitch if position == 0 and pitch is not None else stride * size
        return Layout(tuple(reversed(dims)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the tile."""
        return tuple(math.prod(axis.size for axis in axes) for axes in self.dims)

    @property
    def axes(self) -> list[Axis]:
        """All axes, outermost first, with those that continue each other joined."""
        return [Axis(size, strides[0]) for size, strides in refine([_flatten(self.dims)]) or []]

    @property
    def extent(self) -> int:
        """Elements from the first to the last, both included."""
        return 1 + sum((axis.size - 1) * axis.stride for axis in _flatten(self.dims))

    @property
    def is_dense(self) -> bool:
        """Whether the elements lie one after the other in row-major order."""
        axes = self.axes
        return not axes or (len(axes) == 1 and axes[0].stride == 1)

    def reshape(self, sizes: Sequence[int]) -> Layout | None:
        """The same elements as a tile of other `sizes`, or None when an axis would have to be cut unevenly."""
        pending = [axis for axis in _flatten(self.dims) if axis.size > 1]
        dims: list[tuple[Axis, ...]] = []
        for size in sizes:
            taken = _take(pending, size)
            if taken is None:
                return None
            dims.append(taken)
        return Layout(tuple(dims))

    def broadcast(self, sizes: Sequence[int]) -> Layout:
        """Dimensions of size 1 repeated to `sizes`: an axis of stride 0."""
        dims = [
            (Axis(size, 0),) if size > 1 and not axes else axes for axes, size in zip(self.dims, sizes, strict=True)
        ]
        return Layout(tuple(dims))

    def slice(self, starts: Sequence[int | None], sizes: Sequence[int], steps: Sequence[int]) -> Sliced | None:
        """Every `step`-th element from `start` (None: not known now) of each dimension; None if that is no layout."""
        dims: list[tuple[Axis, ...]] = []
        units: list[int] = []
        offset = 0
        for axes, start, size, step in zip(self.dims, starts, sizes, steps, strict=True):
            cut = _slice_axes(axes, start, size, step)
            if cut is None:
                return None
            dims.append(cut.axes)
            units.append(cut.unit)
            offset += cut.offset
        return Sliced(Layout(tuple(dims)), offset, tuple(units))


@dataclass(frozen=True)
class Sliced:
    """A part of a layout: its first element is at `offset` plus, for each start not known, the start times its unit."""

    layout: Layout
    offset: int
    units: tuple[int, ...]


class _Cut(NamedTuple):
    axes: tuple[Axis, ...]
    offset: int
    unit: int


def _slice_axes(axes: tuple[Axis, ...], start: int | None, size: int, step: int) -> _Cut | None:
    """Cut one dimension. A dimension of several axes is cut inside its last one, or in whole turns of its first one."""
    if not axes:
        return _Cut((), 0, 0)
    total = math.prod(axis.size for axis in axes)
    if size == total and step == 1:
        return _Cut(axes, 0, axes[-1].stride)
    first, *rest = axes
    if not rest:
        kept = (Axis(size, first.stride * step),) if size > 1 else ()
        return _Cut(kept, 0 if start is None else start * first.stride, first.stride)
    if start is None:
        return None
    inner = math.prod(axis.size for axis in rest)
    if step == 1 and start % inner == 0 and size % inner == 0:
        kept = (Axis(size // inner, first.stride),) if size > inner else ()
        return _Cut((*kept, *rest), start // inner * first.stride, 0)
    if start // inner == (start + (size - 1) * step) // inner:
        within = _slice_axes(tuple(rest), start % inner, size, step)
        return within and _Cut(within.axes, within.offset + start // inner * first.stride, 0)
    return None


def _flatten(dims: Iterable[Iterable[Axis]]) -> list[Axis]:
    return [axis for axes in dims for axis in axes]


def _take(pending: list[Axis], size: int) -> tuple[Axis, ...] | None:
    """Take axes of `size` elements in all from the front of `pending`, cutting the last one if that is even."""
    taken: list[Axis] = []
    while size > 1:
        axis = pending.pop(0)
        if size % axis.size == 0:
            taken.append(axis)
            size //= axis.size
        elif axis.size % size == 0:
            rest = axis.size // size
            taken.append(Axis(size, axis.stride * rest))
            pending.insert(0, Axis(rest, axis.stride))
            size = 1
        else:
            return None
    return tuple(taken)


class CommonAxis(NamedTuple):
    """`size` positions that several operands step through together, each with its own stride."""

    size: int
    strides: tuple[int, ...]


def refine(operands: Sequence[Sequence[Axis]]) -> list[CommonAxis] | None:
    """The axes, outermost first, in which all operands (of equally many elements) are regular; None if there are none.

    As few as possible: an axis that continues the next one in every operand is joined with it.
    """
    pending = [[axis for axis in axes if axis.size > 1] for axes in operands]
    inner_first: list[CommonAxis] = []
    while pending[0]:
        size = math.gcd(*(axes[-1].size for axes in pending))
        if size == 1:
            return None
        strides = tuple(axes[-1].stride for axes in pending)
        for axes in pending:
            last = axes.pop()
            if last.size > size:
                axes.append(Axis(last.size // size, last.stride * size))
        if inner_first and _continues(inner_first[-1], strides):
            inner_first[-1] = CommonAxis(inner_first[-1].size * size, inner_first[-1].strides)
        else:
            inner_first.append(CommonAxis(size, strides))
    return inner_first[::-1]


def _continues(inner: CommonAxis, strides: Sequence[int]) -> bool:
    return all(outer == inner.size * stride for outer, stride in zip(strides, inner.strides, strict=True))


@dataclass(frozen=True)
class VectorCall:
    """One vector instruction, and the loops around it.

    The operands start at `offsets` elements, plus the counter times the stride for each loop. The instruction covers
    `count` elements; operand i has blocks `blocks[i]` blocks apart and repeats `repeats[i]` blocks apart.
    """

    offsets: tuple[int, ...]
    loops: tuple[CommonAxis, ...]
    count: int
    blocks: tuple[int, ...]
    repeats: tuple[int, ...]

    @property
    def runs(self) -> int:
        """How many instructions this executes."""
        return math.prod(loop.size for loop in self.loops)


@dataclass(frozen=True)
class VectorLimits:
    """What the fields of a vector instruction can hold: elements, and strides in blocks."""

    count: int
    block_stride: int
    repeat_stride: int


def vector_calls(axes: Sequence[CommonAxis], lanes: Sequence[int], limits: VectorLimits) -> list[VectorCall] | None:
    """Cover `axes` by vector instructions, as few as possible; operand i has `lanes[i]` elements in a block.

    None when an operand is not regular in blocks: its elements are not contiguous within one, or do not start at one.
    """
    axes = _join_padded_rows(axes, lanes)
    candidates = [_rows(axes, lanes, limits), *_blockwise(axes, lanes, limits)]
    found = [calls for calls in candidates if calls is not None]
    return min(found, key=lambda calls: sum(call.runs for call in calls)) if found else None


def _join_padded_rows(axes: Sequence[CommonAxis], lanes: Sequence[int]) -> Sequence[CommonAxis]:
    """Rows that end inside a block and go on at the next one in every operand, as one run over the gaps, too."""
    if len(axes) < 2 or any(stride != 1 for stride in axes[-1].strides):
        return axes
    *outer, rows, inner = axes
    ends = {-(-inner.size // width) * width for width in lanes}
    if inner.size % min(lanes) == 0 or len(ends | set(rows.strides)) > 1:
        return axes
    run = (rows.size - 1) * rows.strides[0] + inner.size
    return [*outer, CommonAxis(run, inner.strides)]


def _rows(axes: Sequence[CommonAxis], lanes: Sequence[int], limits: VectorLimits) -> list[VectorCall] | None:
    """One instruction per contiguous run."""
    *outer, inner = axes or [CommonAxis(1, (1,) * len(lanes))]
    if any(stride != 1 for stride in inner.strides) or not _aligned(outer, lanes):
        return None
    per_repeat = BLOCKS_PER_REPEAT * min(lanes)
    blocks = (1,) * len(lanes)
    repeats = tuple(per_repeat // width for width in lanes)
    return _split(outer, inner.size, per_repeat, (per_repeat,) * len(lanes), blocks, repeats, limits)


def _blockwise(
    axes: Sequence[CommonAxis], lanes: Sequence[int], limits: VectorLimits
) -> Iterable[list[VectorCall] | None]:
    """Instructions whose blocks step along one axis, and whose repeats go on along it, or step along another axis.

    The step is a *unit* of as many elements as the widest block has; an operand with narrower blocks has its unit
    contiguous.
    """
    unit = max(lanes)
    if not axes or axes[-1].size % unit or any(stride != 1 for stride in axes[-1].strides):
        return
    *outer, inner = axes
    units = [*outer, CommonAxis(inner.size // unit, (unit,) * len(lanes))] if inner.size > unit else outer
    if not _aligned(outer, lanes):
        return
    per_repeat = BLOCKS_PER_REPEAT * min(lanes)
    turn = per_repeat // unit
    for along in range(len(units)):
        axis = units[along]
        blocks = _block_strides(axis, lanes, unit)
        if blocks is None or max(blocks) > limits.block_stride:
            continue
        others = [*units[:along], *units[along + 1 :]]
        repeats = tuple(turn * stride // width for stride, width in zip(axis.strides, lanes, strict=True))
        if max(repeats) <= limits.repeat_stride:
            steps = tuple(turn * stride for stride in axis.strides)
            yield _split(others, axis.size * unit, per_repeat, steps, blocks, repeats, limits)
        if axis.size % turn:
            continue
        turns = CommonAxis(axis.size // turn, tuple(turn * stride for stride in axis.strides))
        for across, other in enumerate(others):
            repeats = tuple(stride // width for stride, width in zip(other.strides, lanes, strict=True))
            if max(repeats) <= limits.repeat_stride:
                rest = [*others[:across], *others[across + 1 :], *([turns] if turns.size > 1 else [])]
                yield _split(rest, other.size * per_repeat, per_repeat, other.strides, blocks, repeats, limits)


def _block_strides(axis: CommonAxis, lanes: Sequence[int], unit: int) -> tuple[int, ...] | None:
    """The block stride of each operand along `axis`, or None when a narrow operand is not contiguous along it."""
    narrow = [stride == unit for stride, width in zip(axis.strides, lanes, strict=True) if width < unit]
    if not all(narrow):
        return None
    return tuple(stride // width if width == unit else 1 for stride, width in zip(axis.strides, lanes, strict=True))


def _aligned(axes: Iterable[CommonAxis], lanes: Sequence[int]) -> bool:
    return all(stride % width == 0 for axis in axes for stride, width in zip(axis.strides, lanes, strict=True))


def _split(
    loops: Sequence[CommonAxis],
    count: int,
    per_repeat: int,
    steps: tuple[int, ...],
    blocks: tuple[int, ...],
    repeats: tuple[int, ...],
    limits: VectorLimits,
) -> list[VectorCall]:
    """Calls of at most `limits.count` elements; `steps` is how far, in elements, one repeat moves each operand."""
    most = limits.count // per_repeat * per_repeat
    full, rest = divmod(count, most)
    jump = tuple(most // per_repeat * step for step in steps)
    calls: list[VectorCall] = []
    if full:
        many = [CommonAxis(full, jump)] if full > 1 else []
        calls.append(VectorCall((0,) * len(steps), (*loops, *many), most, blocks, repeats))
    if rest:
        calls.append(VectorCall(tuple(full * step for step in jump), tuple(loops), rest, blocks, repeats))
    return calls
