"""Storage formats: packing against the index formulae, and when two formats have the same bytes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.layouts import C0, ceil_div, pack, round_up, same_bytes, storage_shape, storage_transposition, unpack

SIZES = st.integers(1, 40)
SMALL = st.integers(1, 3)


def numbered(*shape: int) -> np.ndarray:
    """An array whose elements say where they are; none is 0, which marks padding."""
    return np.arange(1, math.prod(shape) + 1, dtype=np.int32).reshape(shape)


@given(SMALL, SIZES, SMALL, SMALL)
def test_nc1hwc0_index(n: int, c: int, h: int, w: int) -> None:
    array = numbered(n, c, h, w)
    stored = pack(array, "NC1HWC0").reshape(-1)
    c1 = ceil_div(c, C0)
    for index in np.ndindex(*array.shape):
        i, ch, y, x = index
        assert stored[(((i * c1 + ch // C0) * h + y) * w + x) * C0 + ch % C0] == array[index]
    assert np.count_nonzero(stored) == array.size


@given(SMALL, SIZES, SIZES)
def test_fractal_nz_index(batch: int, m: int, k: int) -> None:
    array = numbered(batch, m, k)
    stored = pack(array, "FRACTAL_NZ").reshape(-1)
    k1 = ceil_div(k, C0)
    for index in np.ndindex(*array.shape):
        b, row, column = index
        assert stored[((b * k1 + column // C0) * m + row) * C0 + column % C0] == array[index]
    assert np.count_nonzero(stored) == array.size


@given(SIZES, SIZES, SMALL, SMALL)
def test_fractal_z_index(o: int, i: int, kh: int, kw: int) -> None:
    array = numbered(o, i, kh, kw)
    stored = pack(array, "FRACTAL_Z").reshape(-1)
    n1 = ceil_div(o, 16)
    for index in np.ndindex(*array.shape):
        out, c, y, x = index
        fractal = (((c // C0) * kh + y) * kw + x) * n1 + out // 16
        assert stored[(fractal * 16 + out % 16) * C0 + c % C0] == array[index]
    assert np.count_nonzero(stored) == array.size


@given(SIZES, SIZES)
def test_a_matrix_is_a_filter_of_one_element(k: int, n: int) -> None:
    matrix = numbered(k, n)
    np.testing.assert_array_equal(pack(matrix, "FRACTAL_Z"), pack(matrix.T.reshape(n, k, 1, 1), "FRACTAL_Z"))


@given(
    st.one_of(
        st.tuples(st.just("NC1HWC0"), st.tuples(SMALL, SIZES, SMALL, SMALL)),
        st.tuples(st.just("FRACTAL_NZ"), st.lists(SIZES, min_size=2, max_size=3).map(tuple)),
        st.tuples(st.just("FRACTAL_Z"), st.one_of(st.tuples(SIZES, SIZES), st.tuples(SIZES, SIZES, SMALL, SMALL))),
        st.tuples(st.just("ND"), st.lists(SMALL, max_size=4).map(tuple)),
    )
)
def test_unpack_undoes_pack(case: tuple[str, tuple[int, ...]]) -> None:
    layout, shape = case
    array = numbered(*shape)
    stored = pack(array, layout)
    assert stored.shape == storage_shape(layout, shape)
    np.testing.assert_array_equal(unpack(stored, layout, shape), array)


@pytest.mark.parametrize(
    ("layout", "shape"), [("NC1HWC0", (3, 4)), ("FRACTAL_NZ", (4,)), ("FRACTAL_Z", (1, 2, 3)), ("nonsense", (1,))]
)
def test_a_rank_that_does_not_fit_is_refused(layout: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no storage shape"):
        storage_shape(layout, shape)


@given(st.integers(0, 10000), st.integers(1, 100))
def test_rounding_up(a: int, b: int) -> None:
    assert (ceil_div(a, b) - 1) * b < a <= ceil_div(a, b) * b == round_up(a, b)


CHANNELS = st.sampled_from([1, 3, 8, 15, 16, 17, 32, 48])
FEATURE_MAPS = st.tuples(SMALL, CHANNELS, SMALL, SMALL)


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape, and another one with as many elements."""
    n, c, h, w = draw(FEATURE_MAPS)
    forms = [
        (n, c, h, w),
        (n, c * h * w),
        (n * c, h * w),
        (n, c, h * w, 1),
        (n, c, h * w),
        (n * c * h * w,),
        (1, n * c, h, w),
    ]
    return draw(st.sampled_from(forms)), draw(st.sampled_from(forms))


FORMATS = st.sampled_from(["ND", "NC1HWC0", "FRACTAL_NZ", "FRACTAL_Z"])


@settings(max_examples=500)
@given(FORMATS, FORMATS, reshapes())
def test_same_bytes(source: str, target: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """The claim that two formats have the same bytes is true, and is made wherever it is true, packed weights aside."""
    shape, target_shape = shapes
    claimed = same_bytes(source, shape, target, target_shape)
    try:
        array = numbered(*shape)
        stored = pack(array, source).reshape(-1)
        wanted = pack(array.reshape(target_shape), target).reshape(-1)
    except ValueError:
        assert not claimed
        return
    fits = wanted.size <= stored.size
    agrees = fits and bool(np.all((wanted == 0) | (wanted == stored[: wanted.size])))
    if "FRACTAL_Z" in (source, target):
        assert agrees or not claimed
    else:
        assert claimed == agrees


@settings(max_examples=300)
@given(st.data())
def test_same_bytes_after_transpositions(data: st.DataObject) -> None:
    """The claim is true, whatever is transposed between."""
    source, target = data.draw(FORMATS), data.draw(FORMATS)
    rows, heads, width = (data.draw(st.sampled_from([1, 2, 3, 8])) for _ in range(3))
    shape = (rows, heads * width * 8)
    seen = data.draw(st.sampled_from([(rows, heads, width * 8), (rows, heads, width, 8), (rows * heads, width * 8)]))
    order = data.draw(st.permutations(range(len(seen))))
    moved = numbered(*shape).reshape(seen).transpose(order)
    target_shape = data.draw(st.sampled_from([moved.shape, (moved.shape[0], math.prod(moved.shape[1:]))]))
    if same_bytes(source, shape, target, target_shape, [(seen, order)]):
        wanted = pack(moved.reshape(target_shape), target).reshape(-1)
        stored = pack(numbered(*shape), source).reshape(-1)[: wanted.size]
        assert bool(np.all((wanted == 0) | (wanted == stored)))


@settings(max_examples=300)
@given(st.data())
def test_storage_transpositions(data: st.DataObject) -> None:
    """The storage in the order that is claimed is the one that is wanted."""
    source, target = data.draw(FORMATS), data.draw(FORMATS)
    batch, rows, heads, width = (data.draw(st.sampled_from([1, 2, 3, 8])) for _ in range(4))
    shape = (batch, rows, heads * width * 8)
    seen = data.draw(st.sampled_from([(batch, rows, heads, width * 8), (batch * rows, heads, width, 8)]))
    order = data.draw(st.permutations(range(len(seen))))
    moved = numbered(*shape).reshape(seen).transpose(order)
    found = storage_transposition(source, shape, target, moved.shape, [(seen, order)])
    if found is not None:
        wanted, stored = pack(moved, target).reshape(-1), pack(numbered(*shape), source)
        np.testing.assert_array_equal(stored.reshape(found[0]).transpose(found[1]).reshape(-1), wanted)


def test_windows_and_heads_move_block_by_block() -> None:
    nz = "FRACTAL_NZ"
    windows = [((2, 3, 4, 5, 32), (0, 2, 1, 3, 4))]
    assert storage_transposition("ND", (6, 20, 32), nz, (8, 15, 32), windows) == (
        [2, 3, 4, 5, 2, 16],
        [0, 2, 4, 1, 3, 5],
    )
    heads = [((4, 8, 3, 32), (2, 0, 1, 3))]
    assert storage_transposition(nz, (4, 8, 96), nz, (3, 4, 8, 32), heads) == ([4, 3, 2, 8, 16], [1, 0, 2, 3, 4])
    assert storage_transposition(nz, (4, 8, 60), nz, (3, 4, 8, 20), [((4, 8, 3, 20), (2, 0, 1, 3))]) is None
    assert storage_transposition(nz, (4, 6), "ND", (4, 6)) is None


@given(SMALL, SMALL, SMALL, st.sampled_from([16, 32, 48]))
def test_heads_are_the_same_bytes(batch: int, rows: int, heads: int, width: int) -> None:
    """To split heads, and to join them, is a view in FRACTAL_NZ wherever they fill blocks, for one matrix."""
    joined, apart, split = (1, rows, heads * width), (1, rows, heads, width), (1, heads, rows, width)
    nz = "FRACTAL_NZ"
    assert same_bytes(nz, joined, nz, split, [(apart, (0, 2, 1, 3))])
    assert same_bytes(nz, split, nz, joined, [(split, (0, 2, 1, 3))])
    two = (batch + 1, *joined[1:])
    assert same_bytes(nz, two, nz, (batch + 1, *split[1:]), [((batch + 1, *apart[1:]), (0, 2, 1, 3))])
    assert not same_bytes(nz, (2, 3, 36), nz, (2, 2, 3, 18), [((2, 3, 2, 18), (0, 2, 1, 3))])


@pytest.mark.parametrize(
    ("layout", "shape", "stored"),
    [
        ("NC1HWC0", (2, 48, 3, 5), (2, 2, 3, 5, 32)),
        ("FRACTAL_NZ", (3, 7, 40), (3, 2, 7, 32)),
        ("FRACTAL_Z", (20, 33, 2, 3), (12, 2, 16, 32)),
        ("FRACTAL_Z", (33, 20), (2, 2, 16, 32)),
    ],
)
def test_blocks_of_8_bits_have_32_lanes(layout: str, shape: tuple[int, ...], stored: tuple[int, ...]) -> None:
    array = np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)
    packed = pack(array, layout)
    assert packed.shape == storage_shape(layout, shape, 32) == stored
    assert np.array_equal(unpack(packed, layout, shape), array)
    assert int(packed.astype(np.int64).sum()) == int(array.astype(np.int64).sum()), "lanes that pad are zero"


def test_bytes_are_the_same_for_whole_blocks_of_their_type_only() -> None:
    """48 channels at one position are three blocks of 16, and one and a half of 32."""
    assert same_bytes("NC1HWC0", (1, 48, 1, 1), "ND", (1, 48), c0=32)
    assert not same_bytes("NC1HWC0", (2, 48, 1, 1), "ND", (2, 48), c0=32)
    assert same_bytes("NC1HWC0", (2, 48, 1, 1), "ND", (2, 48))
    assert same_bytes("NC1HWC0", (2, 64, 1, 1), "ND", (2, 64), c0=32)
