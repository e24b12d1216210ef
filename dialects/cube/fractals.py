"""L0A and L0B: 16x16 fractals of float16, held as float32 in the form that makes a matrix product cheap.

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

_ELEMENTS = LANES * LANES


@dataclass
class _Matrix:
    """A matrix over `rows` x `columns` fractals, which occupy the fractals from `start` on."""

    start: int
    rows: int
    columns: int
    values: NDArray[np.float32]
    newer: bool
    """Whether the fractals it occupies have not been brought up to date with it."""

    @property
    def stop(self) -> int:
        return self.start + self.rows * self.columns


class FractalMemory:
    """L0A (fractals are rows m by lanes k) or L0B (fractals are rows n by lanes k)."""

    def __init__(self, space: Space, size: int) -> None:
        self.is_right = space is Space.L0B
        self.count = size // FRACTAL_F16
        self._fractals = np.empty((self.count, LANES, LANES), np.float32)
        self._rows = np.empty(self.count * _ELEMENTS, np.float32)
        """Where matrices lie, each at the place of its fractals."""
        self._matrices: list[_Matrix] = []

    def fill(self, value: float) -> None:
        """Set every element."""
        self._fractals.fill(value)
        self._matrices.clear()

    def write_fractals(self, address: int, step: int, fractals: NDArray[Any]) -> None:
        """Write fractals [number, 16, 16], `step` fractals apart."""
        start, stop = self._range(address, (len(fractals) - 1) * step + 1)
        self._settle(start, stop)
        self._fractals[start:stop:step] = fractals

    def write_matrix(self, address: int, rows: int, columns: int) -> NDArray[np.float32]:
        """The place to write a matrix of `rows` x `columns` fractals to, float32 [rows · 16 · columns, 16], row-major.

        In L0A it is the left operand, rows m and columns k; in L0B the right operand, rows k and columns n.
        """
        start, stop = self._range(address, rows * columns)
        self._settle(start, stop)
        values = self._rows[start * _ELEMENTS : stop * _ELEMENTS]
        self._matrices.append(_Matrix(start, rows, columns, values.reshape(rows * LANES, columns * LANES), newer=True))
        return values.reshape(-1, LANES)

    def matrix(self, address: int, height: int, width: int) -> NDArray[np.float32]:
        """The operand of `height` x `width` elements at `address`: left [m, k] in L0A, right [k, n] in L0B."""
        rows, columns = -(-height // LANES), -(-width // LANES)
        start, stop = self._range(address, rows * columns)
        for known in self._matrices:
            if known.start == start and known.columns == columns and known.rows >= rows:
                return known.values[:height, :width]
        return self._assemble(start, stop, rows, columns)[:height, :width]

    def fractals(self, address: int, count: int) -> NDArray[np.float32]:
        """The fractals from `address` on, as the hardware orders them: [count, 16, 16], to read."""
        start, stop = self._range(address, count)
        self._bring_up_to_date(start, stop)
        return self._fractals[start:stop]

    def _range(self, address: int, count: int) -> tuple[int, int]:
        start = address // FRACTAL_F16
        if address % FRACTAL_F16 or start < 0 or start + count > self.count:
            raise IndexError(f"{count} fractals at address {address} of a memory of {self.count} fractals")
        return start, start + count

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
        tiles = known.values.reshape(known.rows, LANES, known.columns, LANES)
        order = (0, 2, 3, 1) if self.is_right else (0, 2, 1, 3)
        self._fractals[known.start : known.stop] = tiles.transpose(order).reshape(-1, LANES, LANES)
        known.newer = False

    def _assemble(self, start: int, stop: int, rows: int, columns: int) -> NDArray[np.float32]:
        """Make a matrix from fractals, and keep it."""
        self._bring_up_to_date(start, stop)
        tiles = self._fractals[start:stop].reshape(rows, columns, LANES, LANES)
        if self.is_right:  # [k1, n1, n, k]: copy in runs of k, as the transposed matrix [n, k]
            values = tiles.transpose(1, 2, 0, 3).reshape(columns * LANES, rows * LANES).T
        else:
            values = tiles.transpose(0, 2, 1, 3).reshape(rows * LANES, columns * LANES)
        self._matrices.append(_Matrix(start, rows, columns, values, newer=False))
        return values
