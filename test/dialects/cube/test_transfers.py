"""Copies, loads and the cube unit against their definitions, in plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.instructions.copies import COPIES, Copy
from ge.dialects.cube.memory import Memory
from ge.dialects.cube.window import Window

SIZES = {"l1": 65536, "l0a": 32768, "l0b": 32768, "l0c": 65536, "ub": 65536}


def memory_of_numbers(seed: int = 0) -> Memory:
    """A memory whose L1, UB and global memory hold float16 numbers, and L0C float32 numbers."""
    rng = np.random.default_rng(seed)
    memory = Memory(SIZES, rng.uniform(-4, 4, 32768).astype(np.float16).view(np.uint8))
    for space in ("l1", "ub"):
        halves = rng.uniform(-4, 4, SIZES[space] // 2).astype(np.float16).view(np.uint8)
        memory.bytes["gm"] = np.concatenate([memory.bytes["gm"], halves])
        start = len(memory.bytes["gm"]) - len(halves)
        memory.copy((space, 0, 0), ("gm", start, 0), 1, len(halves))
    memory.bytes["l0c"].view(np.float32)[:] = rng.uniform(-4, 4, SIZES["l0c"] // 4)
    return memory


def execute(name: str, memory: Memory, spaces: dict[str, str] | None = None, **fields: Any) -> Any:
    """Execute an instruction on values given by field name; `spaces` names the memory of ambiguous addresses."""
    cls = INSTRUCTIONS[name]
    values: list[Any] = []
    for field in cls.FIELDS:
        values.append(fields.get(field.name, field.default))
        if spaces and field.name in spaces:
            values.append(spaces[field.name])
    return cls.execute(memory, *values)


def slab_of(memory: Memory, address: int, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """A feature map in L1, from its bytes."""
    size = int(np.prod(shape)) * 2
    return memory.bytes["l1"][address : address + size].view(np.float16).reshape(shape).astype(np.float32)


@pytest.mark.parametrize("copy", COPIES, ids=lambda cls: cls.name)
@settings(max_examples=15, deadline=None)
@given(
    bursts=st.integers(1, 5),
    length=st.integers(1, 6),
    gaps=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    at=st.tuples(st.integers(0, 8), st.integers(0, 8)),
)
def test_copy(copy: type[Copy], bursts: int, length: int, gaps: tuple[int, int], at: tuple[int, int]) -> None:
    memory = memory_of_numbers()
    source, target = copy.PATH
    src, dst = at[0] * 32 + (3 if source == "gm" else 0), 8192 + at[1] * 32 + (5 if target == "gm" else 0)
    expected = memory.bytes[target].copy()
    before = memory.bytes[source].copy()
    for burst in range(bursts):
        first, to = src + burst * (length + gaps[0]) * 32, dst + burst * (length + gaps[1]) * 32
        expected[to : to + length * 32] = before[first : first + length * 32]
    name = copy.name.removeprefix("cube.")
    execute(name, memory, dst=dst, src=src, bursts=bursts, length=length, src_gap=gaps[0], dst_gap=gaps[1])
    assert np.array_equal(memory.bytes[target], expected)
    if target == "l1":  # what the loads see are the same numbers
        lanes = memory.lanes(0, (SIZES["l1"] // 2,), (2,))
        assert np.array_equal(lanes, expected.view(np.float16).astype(np.float32), equal_nan=True)


@settings(max_examples=20, deadline=None)
@given(
    space=st.sampled_from(["l0a", "l0b"]),
    repeat=st.integers(1, 6),
    src_stride=st.integers(0, 3),
    dst_gap=st.integers(0, 3),
    transpose=st.booleans(),
)
def test_load2d(space: str, repeat: int, src_stride: int, dst_gap: int, transpose: bool) -> None:
    memory = memory_of_numbers()
    memory.l0(space).fill(0.0)
    fields = {"repeat": repeat, "src_stride": src_stride, "dst_gap": dst_gap, "transpose": transpose}
    execute("load2d", memory, {"dst": space}, dst=1024, src=64, **fields)
    expected = np.zeros((64, 16, 16), np.float32)
    for r in range(repeat):
        fractal = slab_of(memory, 64 + r * src_stride * 512, (16, 16))
        expected[2 + r * (1 + dst_gap)] = fractal.T if transpose else fractal
    assert np.array_equal(memory.l0(space).fractals(0, 64), expected)


def im2col(slab: NDArray[np.float32], window: Window) -> NDArray[np.float32]:
    """The im2col matrix of a slab [c1, height, width, 16], with one loop for each index."""
    c1s, height, width, _ = slab.shape
    taps = window.kernel_h * window.kernel_w
    result = np.zeros((window.output_height * window.output_width, c1s * taps * 16), np.float32)
    for oh in range(window.output_height):
        for ow in range(window.output_width):
            for c1 in range(c1s):
                for i in range(window.kernel_h):
                    for j in range(window.kernel_w):
                        h = oh * window.stride_h - window.pad_top + i * window.dilation_h
                        w = ow * window.stride_w - window.pad_left + j * window.dilation_w
                        if 0 <= h < height and 0 <= w < width:
                            k = ((c1 * window.kernel_h + i) * window.kernel_w + j) * 16
                            result[oh * window.output_width + ow, k : k + 16] = slab[c1, h, w]
    return result


@st.composite
def windows(draw: st.DrawFn) -> Window:
    """A window that has at least one output position."""

    def number(low: int, high: int) -> int:
        return draw(st.integers(low, high))

    sizes = number(1, 7), number(1, 7)
    window = Window(*sizes, 1, 1, 1, 1, 1, 1, number(0, 2), number(0, 2), number(0, 3), number(0, 1))._replace(
        stride_h=number(1, 3),
        stride_w=number(1, 3),
        kernel_h=number(1, 3),
        kernel_w=number(1, 3),
        dilation_h=number(1, 3),
        dilation_w=number(1, 3),
    )
    height = max(window.height, (window.kernel_h - 1) * window.dilation_h + 1 - window.pad_top - window.pad_bottom)
    width = max(window.width, (window.kernel_w - 1) * window.dilation_w + 1 - window.pad_left - window.pad_right)
    return window._replace(height=height, width=width)


@settings(max_examples=60, deadline=None)
@given(
    window=windows(),
    channel_blocks=st.integers(1, 3),
    left=st.booleans(),
    cut=st.tuples(*(st.floats(0, 1) for _ in range(4))),
)
def test_load3d(window: Window, channel_blocks: int, left: bool, cut: tuple[float, float, float, float]) -> None:
    memory = memory_of_numbers()
    matrix = im2col(slab_of(memory, 96, (channel_blocks, window.height, window.width, 16)), window)
    positions, columns = matrix.shape
    # A window of the matrix; it may reach past the last position.
    k_first = int(cut[0] * (columns // 16 - 1))
    k_count = min(1 + int(cut[1] * (columns // 16 - k_first - 1)), 8)
    m_first = int(cut[2] * (positions - 1))
    m_count = min(1 + int(cut[3] * positions), 48)
    space = "l0a" if left else "l0b"
    fields: dict[str, Any] = window._asdict() | {"channels": channel_blocks * 16}
    fields |= {"k_start": k_first * 16, "k_extent": k_count * 16, "m_start": m_first, "m_extent": m_count}
    execute("load3d", memory, {"dst": space}, dst=512, src=96, **fields)

    rows = -(-m_count // 16)
    expected = np.zeros((rows * 16, k_count * 16), np.float32)
    taken = matrix[m_first : m_first + m_count, k_first * 16 : (k_first + k_count) * 16]
    expected[: len(taken)] = taken
    for m1 in range(rows):
        for k1 in range(k_count):
            fractal = memory.l0(space).fractals(512 * (1 + m1 * k_count + k1), 1)[0]
            block = expected[m1 * 16 : m1 * 16 + 16, k1 * 16 : k1 * 16 + 16]
            assert np.array_equal(fractal, block if left else block.T)


def put_fractals(memory: Memory, space: str, address: int, fractals: NDArray[np.float16]) -> None:
    """Bring fractals into L0A or L0B by way of L1."""
    data = fractals.reshape(-1).view(np.uint8)
    memory.bytes["gm"] = np.concatenate([memory.bytes["gm"], data])
    memory.copy(("l1", 0, 0), ("gm", len(memory.bytes["gm"]) - len(data), 0), 1, len(data))
    execute("load2d", memory, {"dst": space}, dst=address, src=0, repeat=len(data) // 512)


@settings(max_examples=40, deadline=None)
@given(m=st.integers(2, 50), k=st.integers(1, 50), n=st.integers(1, 50), init=st.booleans(), seed=st.integers(0, 9))
def test_mmad(m: int, k: int, n: int, init: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    memory = memory_of_numbers()
    m1, k1, n1 = (-(-extent // 16) for extent in (m, k, n))
    a = rng.uniform(-2, 2, (m1, k1, 16, 16)).astype(np.float16)
    b = rng.uniform(-2, 2, (k1, n1, 16, 16)).astype(np.float16)
    # What lies beyond m, k and n must not matter, not even if it is not a number.
    a[m // 16 :, :, m % 16 :] = np.nan if m % 16 else a[m // 16 :, :, m % 16 :]
    b[k // 16 :, :, :, k % 16 :] = np.nan if k % 16 else b[k // 16 :, :, :, k % 16 :]
    put_fractals(memory, "l0a", 1024, a)
    put_fractals(memory, "l0b", 512, b)
    before = memory.bytes["l0c"].view(np.float32).copy()
    execute("mmad", memory, dst=2048, a=1024, b=512, m=m, k=k, n=n, init=init)

    expected = before.copy()
    result = expected[512 : 512 + n1 * m1 * 256].reshape(n1, m1 * 16, 16)
    for j in range(n):
        for i in range(m):
            left = [float(a[i // 16, x // 16, i % 16, x % 16]) for x in range(k)]
            right = [float(b[x // 16, j // 16, j % 16, x % 16]) for x in range(k)]
            product = sum(x * y for x, y in zip(left, right, strict=True))
            result[j // 16, i, j % 16] = product + (0.0 if init else float(result[j // 16, i, j % 16]))
    got = memory.bytes["l0c"].view(np.float32)
    assert np.allclose(got, expected, rtol=1e-5, atol=1e-4)
    untouched = np.ones(len(got), np.bool_)
    grid = untouched[512 : 512 + n1 * m1 * 256].reshape(n1, m1 * 16, 16)
    for j in range(n):
        grid[j // 16, :m, j % 16] = False
    assert np.array_equal(got[untouched], before[untouched])


def test_convolution_of_load3d_and_mmad() -> None:
    """Two K steps of a 3x3 convolution, accumulated in L0C, are the convolution."""
    memory = memory_of_numbers()
    window = Window(6, 9, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1)
    slab = slab_of(memory, 0, (2, 6, 9, 16))
    weights = np.random.default_rng(1).uniform(-1, 1, (18, 3, 16, 16)).astype(np.float16)
    fields: dict[str, Any] = window._asdict() | {"channels": 32, "k_extent": 144, "m_extent": 54}
    slab_bytes = memory.bytes["l1"].copy()
    for step in (0, 1):
        put_fractals(memory, "l0b", 0, weights[9 * step : 9 * step + 9])
        memory.copy(("l1", 0, 0), ("gm", _append(memory, slab_bytes), 0), 1, len(slab_bytes))
        execute("load3d", memory, {"dst": "l0a"}, dst=0, src=0, **fields, k_start=144 * step)
        execute("mmad", memory, dst=0, a=0, b=0, m=54, k=144, n=48, init=step == 0)
    matrix = weights.transpose(0, 3, 1, 2).reshape(288, 48).astype(np.float64)
    expected = im2col(slab, window).astype(np.float64) @ matrix
    got = memory.bytes["l0c"].view(np.float32)[: 3 * 64 * 16].reshape(3, 64, 16).transpose(1, 0, 2).reshape(64, 48)
    assert np.allclose(got[:54], expected, rtol=1e-5, atol=1e-4)


def _append(memory: Memory, data: NDArray[np.uint8]) -> int:
    memory.bytes["gm"] = np.concatenate([memory.bytes["gm"], data])
    return len(memory.bytes["gm"]) - len(data)


def test_right_operand_by_load3d() -> None:
    """Activations as right operand: Nz [N/16, K, 16] in L1, taken as a slab of K positions and N channels."""
    memory = memory_of_numbers()
    a = np.random.default_rng(2).uniform(-1, 1, (2, 3, 16, 16)).astype(np.float16)
    l1 = memory.bytes["l1"].copy()
    put_fractals(memory, "l0a", 0, a)
    memory.copy(("l1", 0, 0), ("gm", _append(memory, l1), 0), 1, len(l1))
    right = slab_of(memory, 0, (2, 48, 16)).transpose(1, 0, 2).reshape(48, 32)
    execute(
        "load3d",
        memory,
        {"dst": "l0b"},
        dst=0,
        src=0,
        height=1,
        width=48,
        channels=32,
        k_start=0,
        k_extent=32,
        m_extent=48,
    )
    execute("mmad", memory, dst=0, a=0, b=0, m=32, k=48, n=32, init=True)
    left = a.transpose(0, 2, 1, 3).reshape(32, 48).astype(np.float64)
    got = memory.bytes["l0c"].view(np.float32)[: 2 * 32 * 16].reshape(2, 32, 16).transpose(1, 0, 2).reshape(32, 32)
    assert np.allclose(got, left @ right, rtol=1e-5, atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(n1=st.integers(1, 4), m1=st.integers(1, 5))
def test_broadcast_ub_to_l0c(n1: int, m1: int) -> None:
    memory = memory_of_numbers()
    bias = np.arange(n1 * 16, dtype=np.float32)
    memory.bytes["ub"][64 : 64 + n1 * 64] = bias.view(np.uint8)
    expected = memory.bytes["l0c"].view(np.float32).copy()
    for column in range(n1):
        for row in range(m1 * 16):
            at = 256 + (column * m1 * 16 + row) * 16
            expected[at : at + 16] = bias[column * 16 : column * 16 + 16]
    execute("broadcast_ub_to_l0c", memory, dst=1024, src=64, n1=n1, m1=m1)
    assert np.array_equal(memory.bytes["l0c"].view(np.float32), expected)


@pytest.mark.parametrize("mode", ["none", "f16", "f16_relu"])
@settings(max_examples=10, deadline=None)
@given(bursts=st.integers(1, 3), length=st.integers(1, 3), src_gap=st.integers(0, 2), dst_gap=st.integers(0, 3))
def test_copy_l0c_to_ub(mode: str, bursts: int, length: int, src_gap: int, dst_gap: int) -> None:
    memory = memory_of_numbers()
    memory.bytes["l0c"].view(np.float32)[256] = 70000.0
    expected = memory.bytes["ub"].copy()
    numbers = memory.bytes["l0c"].view(np.float32)
    size = 1024 if mode == "none" else 512
    for burst in range(bursts):
        first = 256 * (1 + burst * (length + src_gap))
        run = numbers[first : first + 256 * length]
        if mode == "f16_relu":
            run = np.maximum(run, 0)
        data = (run if mode == "none" else np.clip(run, -65504, 65504).astype(np.float16)).view(np.uint8)
        to = 2048 + burst * (length * size + dst_gap * 32)
        expected[to : to + length * size] = data
    fields: dict[str, Any] = {"bursts": bursts, "length": length, "src_gap": src_gap, "dst_gap": dst_gap, "mode": mode}
    execute("copy_l0c_to_ub", memory, dst=2048, src=1024, **fields)
    assert np.array_equal(memory.bytes["ub"], expected)
    assert memory.saturated == (0 if mode == "none" else 1)


@settings(max_examples=60, deadline=None)
@given(
    window=windows(),
    channel_blocks=st.integers(1, 3),
    cut=st.tuples(*(st.floats(0, 1) for _ in range(4))),
)
def test_load3d_reads_the_rows_it_needs(
    window: Window, channel_blocks: int, cut: tuple[float, float, float, float]
) -> None:
    """The footprint is the rows from the first to the last one that a position reads, of the channel blocks loaded."""
    taps, positions = window.kernel_h * window.kernel_w, window.positions
    k_first = int(cut[0] * (channel_blocks * taps - 1))
    k_count = 1 + int(cut[1] * (channel_blocks * taps - k_first - 1))
    m_first = int(cut[2] * (positions - 1))
    m_count = 1 + int(cut[3] * positions)
    rows = [
        oh * window.stride_h - window.pad_top + i * window.dilation_h
        for oh in range(
            m_first // window.output_width, (min(m_first + m_count, positions) - 1) // window.output_width + 1
        )
        for i in range(window.kernel_h)
    ]
    expected: set[tuple[int, int]] = set()
    for c1 in range(k_first // taps, (k_first + k_count - 1) // taps + 1):
        expected |= {(c1, row) for row in range(max(min(rows), 0), min(max(rows) + 1, window.height))}
    values = [0, "l0a", 96, window.height, window.width, channel_blocks * 16]
    values += [k_first * 16, k_count * 16, m_first, m_count, *window[2:]]
    found: set[tuple[int, int]] = set()
    for access in INSTRUCTIONS["load3d"].footprint(*values):
        if access.write:
            continue
        for burst in range(access.bursts):
            first, rest = divmod(access.start - 96 + burst * access.stride, window.width * 32)
            assert rest == 0
            for row in range(access.length // (window.width * 32)):
                found.add(divmod(first + row, window.height))
    assert found == expected
