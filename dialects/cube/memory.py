"""The memories of one AI Core, as NumPy arrays that instructions read and write.

GM, L1, UB and L0C are bytes. What the cube unit consumes is kept as float32 besides, because converting float16 is the
slowest thing NumPy does here: L1 has a mirror of its blocks that follows every write, and L0A and L0B hold only float32
(`ge.dialects.cube.fractals`). float16 values are exact in float32, so the numbers are those of the bytes. Operands of 8
bits are apart in L0A and L0B, as bytes; a load of one type spoils what lay there of the other.

An address outside a memory raises ValueError or IndexError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ge.dialects.cube.fractals import FractalMemory
from ge.dialects.cube.spaces import BLOCK, FRACTAL_F16, FRACTAL_F32, LANES, Space
from ge.dialects.cube.window import Window
from ge.maths.floats import count_saturated, to_float16, to_integers

Array: TypeAlias = NDArray[Any]

DTYPES = {
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "s8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "s32": np.dtype(np.int32),
}
"""Element types of views, by the names that instructions use."""

EXACT_PRODUCTS = 512
"""Products of two numbers of 8 bits (at most 255 · 128) whose sum is exact in float32, in any order."""

_SPOILT = {"f16": float("nan"), "b8": 0xFF}
"""What L0A and L0B hold for one type of operand where the other was written last."""

_SURELY_FINITE = 65519.0
"""Magnitudes up to this round to a finite float16."""

_CACHE_LIMIT = 4096
"""Entries after which a cache starts anew; kernels repeat few distinct shapes."""

Run: TypeAlias = tuple[int, str, int, int]
"""A strided run of a vector operand: address, dtype, block stride, repeat stride (in blocks)."""

_UNARY: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, np.float32(0.0)),
    "rsqrt": lambda x: np.reciprocal(np.sqrt(x)),
}
"""Vector functions that NumPy lacks."""


class Memory:
    """All memories that one core sees. `sizes` gives the bytes of each on-chip memory; `gm` is global memory."""

    def __init__(self, sizes: Mapping[str, int], gm: NDArray[np.uint8]) -> None:
        self.bytes: dict[str, NDArray[np.uint8]] = {
            space: np.empty(sizes[space], np.uint8) for space in (Space.L1, Space.UB, Space.L0C)
        }
        self.bytes[Space.GM] = gm
        self._l1_lanes = np.empty((sizes[Space.L1] // BLOCK + 1, LANES), np.float32)
        """The blocks of L1 as float32, and after them one block of zeros that stands for padding."""
        self._l0: dict[str, dict[str, FractalMemory]] = {
            space: {"f16": FractalMemory(space, sizes[space])} for space in (Space.L0A, Space.L0B)
        }
        """By memory and width of operand; that for 8 bits is made when it is asked for."""
        self._filled_with = 0
        self.saturated = 0
        """How many results have saturated to the largest float16."""
        self._windows: dict[tuple[Any, ...], NDArray[np.intp]] = {}
        self._vectors: dict[tuple[Any, ...], list[tuple[Array, ...]]] = {}
        self._products: dict[tuple[int, int], NDArray[np.float32]] = {}
        self.poison()

    def reset(self, gm: NDArray[np.uint8]) -> None:
        """Begin anew on another global memory."""
        self.bytes[Space.GM] = gm
        self.saturated = 0
        self.poison()

    def poison(self) -> None:
        """Fill every on-chip memory with NaN, as float16 and float32 alike."""
        self.fill(0xFF)

    def fill(self, byte: int) -> None:
        """Set every byte of every on-chip memory."""
        for space in (Space.L1, Space.UB, Space.L0C):
            self.bytes[space].fill(byte)
        lane = np.full(2, byte, np.uint8).view(np.float16)[0]
        self._l1_lanes.fill(lane)
        self._l1_lanes[-1] = 0.0
        self._filled_with = byte
        for of_width in self._l0.values():
            for width, memory in of_width.items():
                memory.fill(float(lane) if width == "f16" else byte)

    def view(self, space: str, dtype: str, address: int, shape: Sequence[int], strides: Sequence[int]) -> Array:
        """A view of elements `strides` bytes apart in a memory that is bytes."""
        return np.ndarray(shape, DTYPES[dtype], self.bytes[space], address, strides)

    def l0(self, space: str, width: str = "f16") -> FractalMemory:
        """L0A or L0B, as it is seen by instructions on float16 or on 8 bits (`b8`)."""
        of_width = self._l0[space]
        if width not in of_width:
            memory = FractalMemory(Space(space), of_width["f16"].count * FRACTAL_F16, BLOCK, np.uint8)
            memory.fill(self._filled_with)
            of_width[width] = memory
        return of_width[width]

    def l0_to_write(self, space: str, address: int, count: int, step: int = 1, width: str = "f16") -> FractalMemory:
        """L0A or L0B for an instruction that writes `count` fractals of one type, `step` apart."""
        for other, memory in self._l0[space].items():
            if other != width:
                memory.spoil(address, count, step, _SPOILT[other])
        return self.l0(space, width)

    def copy(self, dst: tuple[str, int, int], src: tuple[str, int, int], bursts: int, length: int) -> None:
        """Copy `bursts` runs of `length` bytes; `dst` and `src`: memory, address, bytes between the starts of runs."""
        (target, to, to_stride), (source, at, at_stride) = dst, src
        moved = np.ndarray((bursts, length), DTYPES["u8"], self.bytes[source], at, (at_stride, 1))
        np.ndarray((bursts, length), DTYPES["u8"], self.bytes[target], to, (to_stride, 1))[...] = moved
        if target == Space.L1:
            blocks, shape = (to_stride * 2, 4), (bursts, length // 2)
            halves = np.ndarray(shape, DTYPES["f16"], self.bytes[target], to, (to_stride, 2))
            np.ndarray(shape, DTYPES["f32"], self._l1_lanes, to * 2, blocks)[...] = halves

    def lanes(self, address: int, shape: Sequence[int], strides: Sequence[int]) -> NDArray[np.float32]:
        """A float32 view of float16 elements of L1; `strides` are in bytes of float16."""
        return np.ndarray(shape, np.float32, self._l1_lanes, address * 2, [2 * stride for stride in strides])

    # Convolution windows.

    def window(
        self, src: int, window: Sequence[int], columns: tuple[int, int], rows: tuple[int, int], out: NDArray[np.float32]
    ) -> None:
        """Write a part of the im2col matrix of the slab at `src` to `out`, float32 [rows · blocks, 16].

        `columns` are first and number of blocks of 16, `rows` are first and number, as `cube.load3d` has them.
        """
        self._l1_lanes.take(self._window_blocks(src, window, columns, rows), axis=0, out=out, mode="clip")

    def byte_window(
        self,
        src: int,
        window: Sequence[int],
        columns: tuple[int, int],
        rows: tuple[int, int],
        out: NDArray[np.uint8],
        padding: int,
    ) -> None:
        """The same of a slab of 8 bits, with blocks of 32 lanes and `padding` outside."""
        blocks = self._window_blocks(src, window, columns, rows)
        self.bytes[Space.L1].reshape(-1, BLOCK).take(blocks, axis=0, out=out, mode="clip")
        out[blocks == len(self._l1_lanes) - 1] = self.padding(padding)

    def padding(self, value: int) -> int:
        """What a byte of padding is."""
        return value

    def _window_blocks(
        self, src: int, window: Sequence[int], columns: tuple[int, int], rows: tuple[int, int]
    ) -> NDArray[np.intp]:
        """The block of L1 (padding: the one after the last) for each row and column block, row-major."""
        key = (src, *window, *columns, *rows)
        indices = self._windows.get(key)
        if indices is None:
            indices = self._window_indices(src, Window(*window), columns, rows)
            _remember(self._windows, key, indices)
        return indices

    def _window_indices(
        self, src: int, window: Window, columns: tuple[int, int], rows: tuple[int, int]
    ) -> NDArray[np.intp]:
        zeros = len(self._l1_lanes) - 1
        m = np.arange(rows[0], rows[0] + -(-rows[1] // LANES) * LANES)
        c1, tap = np.divmod(np.arange(columns[0], columns[0] + columns[1]), window.kernel_h * window.kernel_w)
        h = (m // window.output_width * window.stride_h - window.pad_top)[:, None]
        h = h + tap // window.kernel_w * window.dilation_h
        w = (m % window.output_width * window.stride_w - window.pad_left)[:, None]
        w = w + tap % window.kernel_w * window.dilation_w
        inside = (h >= 0) & (h < window.height) & (w >= 0) & (w < window.width)
        inside &= (m < min(rows[0] + rows[1], window.positions))[:, None]
        block = src // BLOCK + (c1 * window.height + h) * window.width + w
        if src % BLOCK or (inside & ((block < 0) | (block >= zeros))).any():
            raise IndexError(f"a slab at L1 address {src} reaches outside L1")
        return np.where(inside, block, zeros).ravel()

    # The accumulator.

    def multiply(self, left: Array, right: Array) -> NDArray[np.float32]:
        """Left @ right in float32, into an array that the next product of the same shape overwrites."""
        key = (len(left), right.shape[1])
        out = self._products.get(key)
        if out is None:
            out = np.empty(key, np.float32)
            _remember(self._products, key, out)
        return np.matmul(left, right, out=out)

    def multiply_integers(self, left: Array, right: Array) -> NDArray[np.int32]:
        """Left @ right of numbers of 8 bits, exact: float32 products of as many columns as do not round, in int32."""
        total = np.zeros((len(left), right.shape[1]), np.int32)
        for start in range(0, left.shape[1], EXACT_PRODUCTS):
            columns = slice(start, start + EXACT_PRODUCTS)
            total += self.multiply(left[:, columns].astype(np.float32), right[columns].astype(np.float32)).astype(
                np.int32
            )
        return total

    def accumulate(self, dst: int, product: NDArray[Any], init: bool) -> None:
        """Add a product [m, n] of float32 or int32 to L0C at `dst` (order Nz), or set it."""
        m, n = product.shape
        stride = -(-m // LANES) * FRACTAL_F32
        whole, rest = divmod(n, LANES)
        parts = [(dst, product[:, : whole * LANES].reshape(m, whole, LANES))] if whole else []
        if rest:
            parts.append((dst + whole * stride, product[:, whole * LANES :].reshape(m, 1, rest)))
        for start, part in parts:
            columns = part.transpose(1, 0, 2)
            target = self.view(
                "l0c", "s32" if product.dtype == np.int32 else "f32", start, columns.shape, (stride, LANES * 4, 4)
            )
            if init:
                target[...] = columns
            else:
                target += columns

    # Vectors in the UB.

    def vectors(self, count: int, repeat: int, *runs: Run) -> list[tuple[Array, ...]]:
        """Views of strided runs of `count` elements, cut into pieces that have one shape for all runs."""
        key = (count, repeat, runs)
        views = self._vectors.get(key)
        if views is None:
            views = self._vector_views(count, repeat, runs)
            _remember(self._vectors, key, views)
        return views

    def _vector_views(self, count: int, repeat: int, runs: Sequence[Run]) -> list[tuple[Array, ...]]:
        sizes = [DTYPES[dtype].itemsize for _, dtype, _, _ in runs]
        if all(blk == 1 and rep * BLOCK == repeat * size for (_, _, blk, rep), size in zip(runs, sizes, strict=True)):
            return [
                tuple(
                    self.view("ub", dtype, address, (count,), (size,))
                    for (address, dtype, _, _), size in zip(runs, sizes, strict=True)
                )
            ]
        # Blocks hold 16 lanes of float16, 8 of float32: where both occur, a wide block is seen as two narrow ones.
        narrow, wide = BLOCK // max(sizes), BLOCK // min(sizes)
        return [
            tuple(
                self._piece(run, BLOCK // size, first, shape, repeat, wide)
                for run, size in zip(runs, sizes, strict=True)
            )
            for first, shape in _pieces(count, repeat, wide, narrow)
        ]

    def _piece(
        self, run: Run, lanes: int, first: int, shape: tuple[int, int, int, int], repeat: int, wide: int
    ) -> Array:
        """The view of (repeats, wide blocks, narrow blocks, lanes) elements of a run, from its element `first` on."""
        address, dtype, blk, rep = run
        size = BLOCK // lanes
        number, inside = divmod(first, repeat)
        start = address + number * rep * BLOCK + inside // lanes * blk * BLOCK + inside % lanes * size
        narrow_stride = BLOCK // 2 if lanes == wide else blk * BLOCK
        strides = (rep * BLOCK, wide // lanes * blk * BLOCK, narrow_stride, size)
        return self.view("ub", dtype, start, shape, strides)

    def gather(self, count: int, repeat: int, run: Run) -> NDArray[np.float32]:
        """The elements of a strided run, as one float32 array."""
        parts = [self.single(part).reshape(-1) for (part,) in self.vectors(count, repeat, run)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @staticmethod
    def function(name: str) -> Callable[..., Array]:
        """The float32 function that a vector instruction names."""
        return _UNARY.get(name) or getattr(np, name)

    @staticmethod
    def single(values: Array) -> NDArray[np.float32]:
        """Elements as float32."""
        return values if values.dtype == np.float32 else values.astype(np.float32)

    @staticmethod
    def scalar(value: float, dtype: str) -> np.float32:
        """A scalar operand rounded to the element type, as float32."""
        single = np.asarray(value, np.float32)
        return np.float32(to_float16(single) if dtype == "f16" else single)

    @staticmethod
    def reduce(function: str, elements: NDArray[np.float32], repeat: int) -> NDArray[np.float32]:
        """Each repeat reduced to one element."""
        ufunc = getattr(np, function)
        whole = len(elements) // repeat * repeat
        parts = [ufunc.reduce(elements[:whole].reshape(-1, repeat), axis=1)]
        if whole < len(elements):
            parts.append(ufunc.reduce(elements[whole:], keepdims=True))
        return np.concatenate(parts)

    def put(self, target: Array, values: Array) -> None:
        """Store results in `target`, rounding to float16 or to integers where that is its type."""
        if target.dtype.kind in "iu":
            target[...] = to_integers(self.single(values), target.dtype)
        elif target.dtype == np.float16 and values.dtype != np.float16:
            self.put_half(target, self.single(values))
        else:
            target[...] = values

    def put_half(self, target: Array, values: Array) -> None:
        """Store float32 `values` as float16, saturating, and count what saturates."""
        if values.max() <= _SURELY_FINITE and values.min() >= -_SURELY_FINITE:
            target[...] = values
        else:  # something saturates, or is NaN
            self.saturated += count_saturated(values)
            target[...] = to_float16(values)


def _pieces(count: int, repeat: int, wide: int, narrow: int) -> list[tuple[int, tuple[int, int, int, int]]]:
    """Cut a run into rectangles: first element and (repeats, wide blocks, narrow blocks, lanes) of each."""
    repeats, rest = divmod(count, repeat)
    blocks, rest = divmod(rest, wide)
    units, lanes = divmod(rest, narrow)
    shapes = (
        (repeats, repeat // wide, wide // narrow, narrow),
        (1, blocks, wide // narrow, narrow),
        (1, 1, units, narrow),
        (1, 1, 1, lanes),
    )
    found: list[tuple[int, tuple[int, int, int, int]]] = []
    first = 0
    for shape in shapes:
        size = shape[0] * shape[1] * shape[2] * shape[3]
        if size:
            found.append((first, shape))
        first += size
    return found


def _remember(cache: dict[Any, Any], key: Any, value: Any) -> None:
    if len(cache) >= _CACHE_LIMIT:
        cache.clear()
    cache[key] = value
