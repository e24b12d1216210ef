"""L0A and L0B: fractals of 512 bytes, held in the form that makes a matrix product cheap.

A fractal has 16 rows of one block: 16 lanes of float16, which are held as float32, or 32 of 8 bits, held as bytes.

The hardware's order of fractals, Zz or Zn, is not what a matrix product on this machine wants. So a matrix that
`load3d` writes as a whole is kept row-major, and the cube unit takes it as it is; fractals are made from it only if
someone asks for them, and a matrix is made from fractals (and kept) when it was written as fractals. Both are the same
bytes to a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ge.dialects.cube.spaces import FRACTAL_F16, LANES, Space


@dataclass
class _Matrix:
    """A matrix over `rows` x `columns` fractals, which occupy the fractals from `start` on."""

    start: int
    rows: int
    columns: int
    values: NDArray[Any]
    newer: bool
    """Whether the fractals it occupies have not been brought up to date with it."""

    @property
    def stop(self) -> int:
        return self.start + self.rows * self.columns


class FractalMemory:
    """L0A (fractals are rows m by lanes k) or L0B (fractals are rows n by lanes k)."""

    def __init__(self, space: Space, size: int, lanes: int = LANES, dtype: type[np.generic] = np.float32) -> None:
        self.is_right = space is Space.L0B
        self.count = size // FRACTAL_F16
        self.lanes = lanes
        """Lanes k of a fractal."""
        self._units = (lanes, LANES) if self.is_right else (LANES, lanes)
        """Height and width of the square of a matrix that a fractal holds."""
        self._fractals: NDArray[Any] = np.empty((self.count, LANES, lanes), dtype)
        self._rows: NDArray[Any] = np.empty(self.count * LANES * lanes, dtype)
        """Where matrices lie, each at the place of its fractals."""
        self._matrices: list[_Matrix] = []

    def fill(self, value: float) -> None:
        """Set every element."""
        self._fractals.fill(value)
        self._matrices.clear()

    def write_fractals(self, address: int, step: int, fractals: NDArray[Any]) -> None:
        """Write fractals [number, 16, lanes], `step` fractals apart."""
        start, stop = self._range(address, (len(fractals) - 1) * step + 1)
        self._settle(start, stop)
        self._fractals[start:stop:step] = fractals

    def write_matrix(self, address: int, rows: int, columns: int) -> NDArray[Any]:
        """The place to write a matrix of `rows` x `columns` fractals to, row-major, in runs of one fractal's width.

        In L0A it is the left operand, rows m and columns k; in L0B the right operand, rows k and columns n.
        """
        start, stop = self._range(address, rows * columns)
        self._settle(start, stop)
        height, width = self._units
        values = self._rows[start * height * width : stop * height * width]
        self._matrices.append(_Matrix(start, rows, columns, values.reshape(rows * height, columns * width), newer=True))
        return values.reshape(-1, width)

    def matrix(self, address: int, height: int, width: int) -> NDArray[Any]:
        """The operand of `height` x `width` elements at `address`: left [m, k] in L0A, right [k, n] in L0B."""
        rows, columns = -(-height // self._units[0]), -(-width // self._units[1])
        start, stop = self._range(address, rows * columns)
        for known in self._matrices:
            if known.start == start and known.columns == columns and known.rows >= rows:
                return known.values[:height, :width]
        return self._assemble(start, stop, rows, columns)[:height, :width]

    def fractals(self, address: int, count: int) -> NDArray[Any]:
        """The fractals from `address` on, as the hardware orders them: [count, 16, lanes], to read."""
        start, stop = self._range(address, count)
        self._bring_up_to_date(start, stop)
        return self._fractals[start:stop]

    def _range(self, address: int, count: int) -> tuple[int, int]:
        start = address // FRACTAL_F16
        if address % FRACTAL_F16 or start < 0 or start + count > self.count:
            raise IndexError(f"{count} fractals at address {address} of a memory of {self.count} fractals")
        return start, start + count

    def spoil(self, address: int, count: int, step: int, value: float) -> None:
        """Overwrite `count` fractals, `step` apart: somebody wrote numbers of another type there."""
        self.write_fractals(address, step, np.full((count, LANES, self.lanes), value, self._fractals.dtype))

    def _settle(self, start: int, stop: int) -> None:
        """Forget the matrices that a write to fractals [start, stop) changes; what of them it leaves is kept."""
        kept: list[_Matrix] = []
        for known in self._matrices:
            if known.stop <= start or stop <= known.start:
                kept.append(known)
            elif known.newer and not (start <= known.start and known.stop <= stop):
                self._store(known)
        self._matrices = kept

    def _bring_up_to_date(self, start: int, stop: int) -> None:
        for known in self._matrices:
            if known.newer and known.start < stop and start < known.stop:
                self._store(known)

    def _store(self, known: _Matrix) -> None:
        """Write a matrix to its fractals."""
        height, width = self._units
        tiles = known.values.reshape(known.rows, height, known.columns, width)
        order = (0, 2, 3, 1) if self.is_right else (0, 2, 1, 3)
        self._fractals[known.start : known.stop] = tiles.transpose(order).reshape(-1, LANES, self.lanes)
        known.newer = False

    def _assemble(self, start: int, stop: int, rows: int, columns: int) -> NDArray[Any]:
        """Make a matrix from fractals, and keep it."""
        self._bring_up_to_date(start, stop)
        height, width = self._units
        tiles = self._fractals[start:stop].reshape(rows, columns, LANES, self.lanes)
        if self.is_right:  # [k1, n1, n, k]: copy in runs of k, as the transposed matrix [n, k]
            values = tiles.transpose(1, 2, 0, 3).reshape(columns * width, rows * height).T
        else:
            values = tiles.transpose(0, 2, 1, 3).reshape(rows * height, columns * width)
        self._matrices.append(_Matrix(start, rows, columns, values, newer=False))
        return values
