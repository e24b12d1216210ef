"""Layouts enumerate the right elements, and vector calls cover each element once with the right operands."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ge.lowering.tile_to_cube.strides import Axis, Layout, VectorCall, VectorLimits, refine, vector_calls


def offsets(layout: Layout) -> list[int]:
    """The offset of every element of a layout, in row-major order."""
    axes = [axis for dim in layout.dims for axis in dim]
    return [
        sum(i * axis.stride for i, axis in zip(index, axes, strict=True))
        for index in itertools.product(*(range(axis.size) for axis in axes))
    ]


LIMITS = VectorLimits(count=255 * 64, block_stride=255, repeat_stride=255)

shapes = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@settings(deadline=None)
@given(shapes)
def test_dense_is_row_major(sizes: list[int]) -> None:
    layout = Layout.dense(sizes)
    assert layout.sizes == tuple(sizes)
    assert offsets(layout) == list(range(math.prod(sizes)))
    assert layout.is_dense


@settings(deadline=None)
@given(shapes, st.data())
def test_slice_reads_what_numpy_reads(sizes: list[int], data: st.DataObject) -> None:
    steps = [data.draw(st.integers(1, 3)) for _ in sizes]
    starts = [data.draw(st.integers(0, size - 1)) for size in sizes]
    kept = [
        data.draw(st.integers(1, (size - start - 1) // step + 1))
        for size, start, step in zip(sizes, starts, steps, strict=True)
    ]
    array = np.arange(math.prod(sizes)).reshape(sizes)
    expected = array[tuple(slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, kept, steps, strict=True))]
    known = Layout.dense(sizes).slice(starts, kept, steps)
    assert known is not None
    assert [known.offset + o for o in offsets(known.layout)] == expected.ravel().tolist()
    unknown = Layout.dense(sizes).slice([None] * len(sizes), kept, steps)
    assert unknown is not None and unknown.offset == 0
    moved = sum(start * unit for start, unit in zip(starts, unknown.units, strict=True) if start)
    assert [moved + o for o in offsets(unknown.layout)] == expected.ravel().tolist()


@settings(deadline=None)
@given(shapes, st.data())
def test_reshape_keeps_the_order(sizes: list[int], data: st.DataObject) -> None:
    other = data.draw(st.permutations(sizes))
    step = data.draw(st.integers(1, 2))
    source = Layout.dense([size * step for size in sizes]).slice([0] * len(sizes), sizes, [step] * len(sizes))
    assert source is not None
    reshaped = source.layout.reshape(other)
    if reshaped is not None:
        assert reshaped.sizes == tuple(other)
        assert offsets(reshaped) == offsets(source.layout)


def test_reshape_of_columns_keeps_two_axes() -> None:
    """One row of a K1 x M x 16 tile, as 1 x K: blocks that are M * 16 elements apart."""
    row = Layout.dense([63, 5, 16]).slice([0, 3, 0], [63, 1, 16], [1, 1, 1])
    assert row is not None
    flat = row.layout.reshape([1, 1008])
    assert flat is not None
    assert flat.dims == ((), (Axis(63, 80), Axis(16, 1)))
    head = flat.slice([0, 0], [1, 992], [1, 1])
    assert head is not None and head.layout.dims == ((), (Axis(62, 80), Axis(16, 1)))


def test_broadcast_repeats() -> None:
    layout = Layout.dense([4, 1, 16]).broadcast([4, 3, 16])
    assert layout.dims == ((Axis(4, 16),), (Axis(3, 0),), (Axis(16, 1),))


@settings(deadline=None)
@given(shapes, st.data())
def test_refine_enumerates_all_operands_together(sizes: list[int], data: st.DataObject) -> None:
    padded = Layout.dense([size + data.draw(st.integers(0, 2)) for size in sizes])
    sliced = padded.slice([0] * len(sizes), sizes, [1] * len(sizes))
    assert sliced is not None
    layouts = [Layout.dense(sizes), sliced.layout]
    common = refine([[axis for dim in layout.dims for axis in dim] for layout in layouts])
    assert common is not None
    for position, layout in enumerate(layouts):
        axes = Layout((tuple(Axis(axis.size, axis.strides[position]) for axis in common),))
        assert offsets(axes) == offsets(layout)


def covered(calls: Sequence[VectorCall], lanes: Sequence[int]) -> list[tuple[int, ...]]:
    """The offsets, one for each operand, of every element that `calls` process."""
    elements: list[tuple[int, ...]] = []
    per_repeat = 8 * min(lanes)
    for call in calls:
        assert call.count <= LIMITS.count
        for index in itertools.product(*(range(loop.size) for loop in call.loops)):
            base = [
                offset + sum(i * loop.strides[operand] for i, loop in zip(index, call.loops, strict=True))
                for operand, offset in enumerate(call.offsets)
            ]
            assert all(b % width == 0 for b, width in zip(base, lanes, strict=True))
            for repeat, within in (divmod(element, per_repeat) for element in range(call.count)):
                elements.append(
                    tuple(
                        base[i] + (repeat * call.repeats[i] + within // width * call.blocks[i]) * width + within % width
                        for i, width in enumerate(lanes)
                    )
                )
    return elements


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), min_size=1, max_size=3),
    st.sampled_from([(16, 16), (8, 8, 8), (16, 8), (8, 16)]),
    st.booleans(),
    st.data(),
)
def test_vector_calls_cover_every_element_once(
    dims: list[tuple[int, int]], lanes: tuple[int, ...], broadcast: bool, data: st.DataObject
) -> None:
    """The destination is dense or padded, the last source may repeat one dimension."""
    sizes = [size for size, _ in dims] + [16]
    layouts = [Layout.dense(sizes)]
    for _ in lanes[1:]:
        padding = [data.draw(st.integers(0, 3)) for _ in dims]
        source = Layout.dense([*(size + more for size, more in zip(sizes, padding, strict=False)), 16])
        sliced = source.slice([0] * len(sizes), sizes, [1] * len(sizes))
        assert sliced is not None
        layouts.append(sliced.layout)
    if broadcast:
        layouts[-1] = Layout.dense([1 if i == 0 else size for i, size in enumerate(sizes)]).broadcast(sizes)
    common = refine([[axis for dim in layout.dims for axis in dim] for layout in layouts])
    assert common is not None
    calls = vector_calls(common, lanes, LIMITS)
    assume(calls is not None)
    assert calls is not None
    expected = list(zip(*(offsets(layout) for layout in layouts), strict=True))
    assert sorted(covered(calls, lanes)) == sorted(expected)


def calls_of(layouts: Sequence[Layout], lanes: Sequence[int]) -> list[VectorCall]:
    common = refine([[axis for dim in layout.dims for axis in dim] for layout in layouts])
    assert common is not None
    calls = vector_calls(common, lanes, LIMITS)
    assert calls is not None
    return calls


def test_dense_tiles_take_one_instruction() -> None:
    tile = Layout.dense([4, 112, 16])
    (call,) = calls_of([tile, tile, tile], (8, 8, 8))
    assert call == VectorCall((0, 0, 0), (), 7168, (1, 1, 1), (8, 8, 8))


def test_large_tiles_are_cut_at_the_count_limit() -> None:
    tile = Layout.dense([40000])
    most = 127 * 128
    calls = calls_of([tile, tile], (16, 16))
    assert [(call.offsets[0], call.runs, call.count) for call in calls] == [
        (0, 2, most),
        (2 * most, 1, 40000 - 2 * most),
    ]


def test_rows_that_end_inside_a_block_are_one_run() -> None:
    tile = Layout.dense([4, 10], pitch=16)
    (call,) = calls_of([tile, tile], (16, 16))
    assert (call.runs, call.count) == (1, 3 * 16 + 10)
    wide, narrow = Layout.dense([4, 20], pitch=24), Layout.dense([4, 20], pitch=32)
    (call,) = calls_of([wide, narrow], (8, 16))
    assert (call.runs, call.count) == (4, 20)


def test_a_bias_per_block_of_channels_takes_one_instruction_each() -> None:
    tile, bias = Layout.dense([4, 112, 16]), Layout.dense([4, 1, 16]).broadcast([4, 112, 16])
    (call,) = calls_of([tile, tile, bias], (16, 16, 16))
    assert (call.runs, call.count, call.blocks, call.repeats) == (4, 112 * 16, (1, 1, 0), (8, 8, 0))
    (call,) = calls_of([tile, tile, bias], (8, 8, 8))
    assert (call.runs, call.count, call.blocks, call.repeats) == (8, 112 * 8, (2, 2, 0), (16, 16, 0))


def test_every_second_column_of_an_image() -> None:
    """Rows of 56 of 112 columns: one instruction per row, or with eight columns as blocks and rows as repeats."""
    image = Layout.dense([4, 112, 16]).slice([0, 0, 0], [4, 56, 16], [1, 2, 1])
    assert image is not None
    (call,) = calls_of([Layout.dense([4, 56, 16]), image.layout], (16, 16))
    assert (call.runs, call.count, call.blocks) == (1, 4 * 56 * 16, (1, 2))
    rows = Layout.dense([20, 113, 16]).slice([0, 0, 0], [20, 56, 16], [1, 2, 1])
    assert rows is not None
    (call,) = calls_of([Layout.dense([20, 56, 16]), rows.layout], (16, 16))
    assert (call.runs, call.count, call.blocks, call.repeats) == (7, 20 * 128, (1, 2), (56, 113))


def test_unaligned_rows_have_no_calls() -> None:
    tile, part = Layout.dense([4, 10]), Layout.dense([4, 20]).slice([0, 0], [4, 10], [1, 1])
    assert part is not None
    common = refine([[axis for dim in layout.dims for axis in dim] for layout in (tile, part.layout)])
    assert common is not None and vector_calls(common, (16, 16), LIMITS) is None
