"""Masks that the operator Attention takes for the formula softmax(scores + mask) · v.

Runtimes give zeros where a mask leaves nothing of a row, and tell that by the largest score of the row: the lowest
float32, or less. The formula gives the mean of v for a row of lowest numbers, since they all are the same, and NaN for
a row of -inf.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ge.dialects.onnx import constant_value, make_constant, make_op
from ge.passes.onnx.value_bounds import value_bounds

LOWEST = float(np.finfo(np.float32).min)
"""What exporters add to the scores that a mask takes away."""

CUT = np.float32(-3.4e38)
"""A number just above the lowest: no runtime takes it for a mark, and sums of it and scores still all are the same."""


def is_takeable(mask: SSAValue) -> bool:
    """Whether no row of a mask can be lower than the lowest number: the operator may have it, cut off or as it is."""
    return _least(mask) >= LOWEST


def above_lowest(mask: SSAValue) -> list[Operation]:
    """Operations of which the last gives a mask without the lowest number; none where it is not there."""
    if _least(mask) > CUT:
        return []
    cut = make_constant(np.array(CUT, np.float32))
    return [cut, make_op("Max", [mask, cut.results[0]], [mask.type])]


def _least(mask: SSAValue) -> float:
    """A lower bound of the largest element of each row."""
    array = constant_value(mask)
    if array is None or not array.size:
        return value_bounds(mask)[0]
    return float(array.max(axis=-1).min())
