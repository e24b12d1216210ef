"""The NumPy kernel of `Pad`: the reference implementation of the ``onnx`` package refuses pads that are negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.base import OnnxOp

Array: TypeAlias = NDArray[Any]
Mode: TypeAlias = Literal["edge", "reflect", "wrap"]


def pad(op: OnnxOp, inputs: Sequence[Any]) -> Array:
    """Elements around a tensor; a negative pad takes some away, before others are added, as onnxruntime does it."""
    x, pads, value, axes = cast("tuple[Array, Array, Array | None, Array | None]", (*inputs, None, None)[:4])
    count = len(pads) // 2
    widths = np.zeros((x.ndim, 2), np.int64)
    widths[np.arange(count) if axes is None else axes] = pads.reshape(2, count).T
    less, more = np.maximum(-widths, 0), np.maximum(widths, 0)
    kept = [slice(before, size - after) for (before, after), size in zip(less.tolist(), x.shape, strict=True)]
    mode = op.attribute("mode")
    if mode == "constant":
        fill = np.zeros((), x.dtype) if value is None else value.reshape(())
        return np.pad(x[tuple(kept)], more, constant_values=fill)
    return np.pad(x[tuple(kept)], more, mode=cast(Mode, mode))
