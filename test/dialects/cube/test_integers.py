"""Instructions on integers against NumPy: exact, to the ends of their types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.memory import DTYPES, Memory
from ge.dialects.cube.window import Window
from ge.maths.floats import to_float16, to_integers

SIZES = {"l1": 65536, "l0a": 32768, "l0b": 32768, "l0c": 65536, "ub": 65536}
Array = NDArray[Any]


def memory_with(space: str, data: Array, address: int = 0) -> Memory:
    memory = Memory(SIZES, data.reshape(-1).view(np.uint8).copy())
    memory.copy((space, address, 0), ("gm", 0, 0), 1, data.nbytes)
    return memory


def convert(values: Array, target: str) -> Array:
    """The result of `vconv`."""
    source = next(name for name, dtype in DTYPES.items() if dtype == values.dtype)
    memory = memory_with("ub", values)
    kind = f"{source}_{target}"
    repeat = INSTRUCTIONS["vconv"].repeat_elements(kind)  # pyright: ignore[reportAttributeAccessIssue]
    reps = {f"{side}_rep": repeat * DTYPES[dtype].itemsize // 32 for side, dtype in (("dst", target), ("src", source))}
    with np.errstate(all="ignore"):
        INSTRUCTIONS["vconv"].execute(memory, 32768, 0, kind, len(values), 1, 1, reps["dst_rep"], reps["src_rep"])
    return memory.view("ub", target, 32768, (len(values),), (DTYPES[target].itemsize,))


HALVES = [-0.5, 0.5, 1.5, 2.5, -1.5, -2.5, 126.5, 127.5, 128.5, 254.5, 255.5, -127.5, -128.5, -129.5]
HUGE = [60000.0, -60000.0, float("inf"), float("-inf")]


@pytest.mark.parametrize(("target", "low", "high"), [("s8", -128, 127), ("u8", 0, 255)])
def test_float16_rounds_half_to_even_and_saturates(target: str, low: int, high: int) -> None:
    values = np.array(HALVES * 20 + HUGE, np.float16)
    expected = [min(max(round(float(v)) if np.isfinite(v) else v, low), high) for v in values]
    assert convert(values, target).tolist() == expected
    assert convert(np.array([np.nan], np.float16), target).tolist() == [0]


def test_float32_to_int32() -> None:
    values = np.array([*HALVES, 8388607.5, -8388606.5, 3e9, -3e9, 2147483520.0, np.inf, -np.inf], np.float32)
    top, bottom = 2**31 - 1, -(2**31)
    expected = [*(round(v) for v in HALVES), 8388608, -8388606, top, bottom, 2147483520, top, bottom]
    assert convert(values, "s32").tolist() == expected
    # The middle of two numbers goes to the even one; other rounding would be seen here.
    assert [round(v) for v in HALVES[:4]] == [0, 0, 2, 2]


def test_integers_to_floats() -> None:
    every = np.arange(-128, 128)
    assert convert(every.astype(np.int8), "f16").tolist() == every.tolist()
    assert convert((every + 128).astype(np.uint8), "f16").tolist() == (every + 128).tolist()
    wide = np.array([0, 1, -1, 2**24 + 1, 2**24 + 3, -(2**31), 2**31 - 1, 65505, 70000, -70000, 2049], np.int32)
    assert np.array_equal(convert(wide, "f32"), wide.astype(np.float32))
    assert np.array_equal(convert(wide, "f16"), to_float16(wide.astype(np.float32)))


def test_to_integers_of_every_kind() -> None:
    assert to_integers(np.array([np.nan, 1e30, -1e30, 0.5]), np.dtype(np.int8)).tolist() == [0, 127, -128, 0]
    assert to_integers(np.array([-1.0, 300.0]), np.dtype(np.uint8)).tolist() == [0, 255]


def load_operand(memory: Memory, space: str, address: int, fractals: Array) -> None:
    """Bring fractals into L0A or L0B by way of L1."""
    data = fractals.reshape(-1).view(np.uint8)
    memory.bytes["gm"] = data
    memory.copy(("l1", 0, 0), ("gm", 0, 0), 1, len(data))
    INSTRUCTIONS["load2d_b8"].execute(memory, address, space, 0, len(data) // 512, 1, 0)


@settings(max_examples=40, deadline=None)
@given(
    m=st.integers(2, 40),
    k=st.integers(1, 900),
    n=st.integers(1, 20),
    unsigned=st.booleans(),
    init=st.booleans(),
    extreme=st.booleans(),
)
def test_mmad_is_exact(m: int, k: int, n: int, unsigned: bool, init: bool, extreme: bool) -> None:
    rng = np.random.default_rng(m * 1000 + k)
    left = np.uint8 if unsigned else np.int8
    low, high = np.iinfo(left).min, np.iinfo(left).max
    m1, k1, n1 = -(-m // 16), -(-k // 32), -(-n // 16)
    if k1 * max(m1, n1) * 512 > 32768:
        k, k1 = 256, 8
    a = rng.integers(low, high + 1, (m1, k1, 16, 32)).astype(left)
    b = rng.integers(-128, 128, (k1, n1, 16, 32)).astype(np.int8)
    if extreme:
        a[...], b[...] = low if low else high, -128
    memory = Memory(SIZES, np.zeros(0, np.uint8))
    load_operand(memory, "l0a", 0, a)
    load_operand(memory, "l0b", 0, b)
    before = rng.integers(-(2**30), 2**30, 16384).astype(np.int32)
    memory.bytes["l0c"].view(np.int32)[:] = before
    INSTRUCTIONS["mmad_b8"].execute(memory, 1024, 0, 0, m, k, n, int(init), "u8" if unsigned else "s8")

    rows = a.astype(np.int64).transpose(0, 2, 1, 3).reshape(m1 * 16, k1 * 32)[:m, :k]
    columns = b.astype(np.int64).transpose(0, 3, 1, 2).reshape(k1 * 32, n1 * 16)[:k, :n]
    expected = before.copy()
    result = expected[256 : 256 + n1 * m1 * 256].reshape(n1, m1 * 16, 16)
    product = rows @ columns
    for j in range(n):
        result[j // 16, :m, j % 16] = product[:, j] + (0 if init else result[j // 16, :m, j % 16])
    assert np.array_equal(memory.bytes["l0c"].view(np.int32), expected)


@settings(max_examples=40, deadline=None)
@given(
    height=st.integers(2, 7),
    width=st.integers(2, 7),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    stride=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    pads=st.tuples(*[st.integers(0, 2)] * 4),
    cut=st.integers(0, 3),
)
def test_load3d_reads_padding_as_it_is_told(
    height: int,
    width: int,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pads: tuple[int, int, int, int],
    cut: int,
) -> None:
    height, width = max(height, kernel[0]), max(width, kernel[1])
    slab = np.random.default_rng(height).integers(0, 256, (2, height, width, 32)).astype(np.uint8)
    memory = memory_with("l1", slab, 64)
    window = Window(height, width, *stride, *kernel, 1, 1, *pads)
    taps = kernel[0] * kernel[1]
    first = min(cut, window.positions - 1)
    count = min(window.positions - first, 40)
    fields = ("l0a", 64, height, width, 64, 0, 2 * taps * 32, first, count, *window[2:], 77)
    INSTRUCTIONS["load3d_b8"].execute(memory, 0, *fields)

    top, bottom, left, right = pads
    padded = np.pad(slab, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=77)
    got = memory.l0("l0a", "b8").matrix(0, count, 2 * taps * 32)
    for m in range(count):
        oh, ow = divmod(first + m, window.output_width)
        for k1 in range(2 * taps):
            c1, (i, j) = k1 // taps, divmod(k1 % taps, kernel[1])
            expected = padded[c1, oh * stride[0] + i, ow * stride[1] + j]
            assert np.array_equal(got[m, k1 * 32 : k1 * 32 + 32], expected)


def test_operands_of_another_type_are_not_seen() -> None:
    """What is loaded as 8 bits is no float16, and the other way round."""
    memory = memory_with("l1", np.ones(512, np.int8))
    INSTRUCTIONS["load2d_b8"].execute(memory, 0, "l0a", 0, 1, 1, 0)
    assert np.isnan(memory.l0("l0a").fractals(0, 1)).all()
    INSTRUCTIONS["load2d"].execute(memory, 0, "l0a", 0, 1, 1, 0, 0)
    assert (memory.l0("l0a", "b8").fractals(0, 1) == 0xFF).all()
