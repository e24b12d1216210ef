"""Which rows the AI Core has kernels for: part of :mod:`ge.dialects.graph.capabilities`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.normalization import LayerNormOp, SoftmaxOp
from ge.dialects.graph.program import ConstantOp
from ge.maths.layouts import C0

SOFTMAX_ROW_ELEMENTS = 8192
"""The longest row of a softmax: a row and its float32 intermediates lie in the unified buffer."""

LAYER_NORM_ROW_ELEMENTS = 8192
"""The longest row of a normalisation of rows: with scale, bias and float32 values it lies in the unified buffer."""

LAYER_NORM_RAGGED_ELEMENTS = 512
"""The same for rows that do not fill blocks: 16 of them lie there."""

FRACTAL_ROW_ELEMENTS = 768
"""The longest row of either in FRACTAL_NZ, of which 16 always lie there together."""


def softmax_obstacle(op: SoftmaxOp) -> str | None:
    """Why a softmax has no kernel; None if it has one."""
    shape = shape_of(op.x)
    if op.axis.value.data % len(shape) != len(shape) - 1:
        return "the axis is not the last"
    if shape[-1] > SOFTMAX_ROW_ELEMENTS:
        return f"a row is longer than {SOFTMAX_ROW_ELEMENTS}"
    return None


def layer_norm_obstacle(op: LayerNormOp) -> str | None:
    """Why a normalisation of rows has no kernel; None if it has one."""
    if not all(isinstance(vector.owner, ConstantOp) for vector in (op.scale, op.bias)):
        return "scale and bias are not constant"
    length = shape_of(op.x)[-1]
    limit = LAYER_NORM_ROW_ELEMENTS if length % C0 == 0 else LAYER_NORM_RAGGED_ELEMENTS
    if length % C0 and math.prod(shape_of(op.x)) == length:
        return "a single row does not fill blocks"
    return None if length <= limit else f"a row is longer than {limit}"


def row_formats(op: SoftmaxOp | LayerNormOp, *, ragged: bool) -> Sequence[str]:
    """The formats in which kernels go along rows; `ragged`: also along those that do not fill blocks in FRACTAL_NZ."""
    shape = shape_of(op.x)
    short = len(shape) >= 2 and shape[-1] <= FRACTAL_ROW_ELEMENTS and (ragged or shape[-1] % C0 == 0)
    return ("ND", "FRACTAL_NZ")[: 1 + short]
