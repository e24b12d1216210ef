"""Merging the groups of a convolution until a group fills whole blocks of 16 channels. No IR.

The matrix unit takes 16 channels at a time. A depthwise convolution would leave 15 of them idle; instead, E groups
become one, whose weights are zero outside the diagonal blocks of its own groups (the layout FRACTAL_Z_G of the Ascend
compilers does the same).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ge.maths.layouts import C0


def merge_count(channels: int, filters: int, groups: int, lanes: int = C0) -> int:
    """Return how many groups to make one, for `channels` inputs and `filters` outputs in `groups` groups.

    It is the smallest E for which E groups have a multiple of 16 inputs and of 16 outputs (or of other `lanes`). Where
    the groups are not a multiple of E, they are all made one, unless E groups are one block of inputs and one of
    outputs: then the last block may be partly empty.
    """
    if groups == 1:
        return 1
    inputs, outputs = channels // groups, filters // groups
    count = math.lcm(lanes // math.gcd(lanes, inputs), lanes // math.gcd(lanes, outputs))
    one_block = count * inputs == lanes and count * outputs == lanes
    return count if count <= groups and (groups % count == 0 or one_block) else groups


def merge_weights(w: NDArray[np.generic], groups: int, count: int) -> NDArray[np.generic]:
    """Return weights [O, I, kh, kw] of `groups` groups as [O, count·I, kh, kw], `count` groups made one."""
    if count == 1:
        return w
    filters, inputs, *kernel = w.shape
    merged = np.zeros((filters, count * inputs, *kernel), w.dtype)
    outputs = filters // groups
    for group in range(groups):
        rows = slice(group * outputs, (group + 1) * outputs)
        start = group % count * inputs
        merged[rows, start : start + inputs] = w[rows]
    return merged


def split_weights(merged: NDArray[np.generic], channels: int, groups: int, count: int) -> NDArray[np.generic]:
    """Return weights [O, count·I, kh, kw] of groups that were merged as [O, I, kh, kw], for `channels` inputs.

    The inverse of `merge_weights`: without the zeros between groups.
    """
    outputs, inputs, width = len(merged) // groups, channels // groups, merged.shape[1]
    starts = [channel // outputs * inputs - channel // (count * outputs) * width for channel in range(len(merged))]
    return np.stack([filters[start : start + inputs] for filters, start in zip(merged, starts, strict=True)])
