"""The RoiAlign operator with NumPy: each region is sampled along its rows, then along its columns.

A region is divided into bins, and a bin is the mean of a grid of samples, each interpolated between four elements. The
weights of those are products of one for the row and one for the column, so that the two can be taken in turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.base import OnnxOp

Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Samples:
    """Where a region is sampled along one axis: `grid` samples in each bin, between two positions."""

    grid: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    low_weight: Floats
    high_weight: Floats

    @staticmethod
    def of(start: Any, end: Any, size: int, bins: int, ratio: int, half_pixel: bool) -> Samples:
        """The samples of a region from `start` to `end` of an axis; those more than 1 outside of it have no weight."""
        extent = end - start if half_pixel else max(end - start, np.float32(1))
        bin = np.float32(extent / np.float32(bins))
        grid = max(0, ratio if ratio > 0 else math.ceil(bin))
        inside = (np.arange(grid, dtype=np.float32) + np.float32(0.5)) * bin / np.float32(max(grid, 1))
        places = ((start + np.arange(bins, dtype=np.float32) * bin)[:, None] + inside).reshape(-1)
        has_weight = (places >= -1) & (places <= size)
        places = np.clip(places, np.float32(0), np.float32(size - 1))
        low = places.astype(np.int64)
        above = places - low.astype(np.float32)
        weights = (np.where(has_weight, each, np.float32(0)) for each in (1 - above, above))
        return Samples(grid, low, np.minimum(low + 1, size - 1), *weights)

    def sums(self, values: Floats, axis: int) -> Floats:
        """The sum of the samples of each bin along an axis of an array [C, H, W]."""
        shape = [-1 if each == axis else 1 for each in range(3)]
        taken = np.take(values, self.low, axis) * self.low_weight.reshape(shape)
        taken += np.take(values, self.high, axis) * self.high_weight.reshape(shape)
        bins = len(self.low) // max(self.grid, 1)
        return taken.reshape(*values.shape[:axis], bins, self.grid, *values.shape[axis + 1 :]).sum(axis + 1)


def roi_align(op: OnnxOp, inputs: Sequence[Any]) -> Any:
    """The means of the bins [regions, C, height, width] of regions (x0, y0, x1, y1); maxima are the reference's."""
    if op.attribute("mode") != "avg":
        return None
    x, regions, batches = inputs
    images = x.astype(np.float32, copy=False)
    bins = op.attribute("output_height"), op.attribute("output_width")
    half_pixel = op.attribute("coordinate_transformation_mode") == "half_pixel"
    scale, offset = np.float32(op.attribute("spatial_scale")), np.float32(0.5 if half_pixel else 0)
    y = np.empty((len(regions), x.shape[1], *bins), np.float32)
    for number, (region, batch) in enumerate(zip(regions.astype(np.float32), batches, strict=True)):
        left, top, right, bottom = region * scale - offset
        rows, columns = (
            Samples.of(start, end, size, count, op.attribute("sampling_ratio"), half_pixel)
            for start, end, size, count in zip((top, left), (bottom, right), x.shape[2:], bins, strict=True)
        )
        sums = columns.sums(rows.sums(images[batch], 1), 2) if rows.grid and columns.grid else np.float32(0)
        y[number] = sums / np.float32(max(rows.grid * columns.grid, 1))
    return y.astype(x.dtype, copy=False)
