"""Detections of two runs of a detector, whatever their order: which are found again, and how near their scores are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

SAME = 0.95
"""Two boxes are the same when what they have in common is this part of what they cover together."""

OUTPUTS = {"boxes", "scores", "labels"}


def detections(found: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, Any] | None:
    """How the detections of a run agree with those expected; None for a model that has no such outputs.

    ``again``: how many of them have one of the same label and place. ``score``: the most that the scores of those are
    apart; ``gap``: how much neighbours are, in the order of their scores (the median of all).
    """
    if not set(expected) >= OUTPUTS:
        return None
    common = overlaps(expected["boxes"], found["boxes"])
    common[expected["labels"][:, None] != found["labels"][None, :]] = 0
    again = common.max(axis=1, initial=0) >= SAME
    apart = np.abs(expected["scores"][:, None] - found["scores"][None, :])
    score = np.where(common >= SAME, apart, np.inf).min(axis=1, initial=np.inf)[again].max(initial=0)
    gaps = np.abs(np.diff(np.sort(expected["scores"].astype(np.float64))))
    gap = float(np.median(gaps)) if gaps.size else 0.0
    return {"count": len(again), "again": int(again.sum()), "score": float(score), "gap": gap}


def overlaps(a: Any, b: Any) -> Floats:
    """Of each box (x0, y0, x1, y1) of `a` [A, 4] and each of `b` [B, 4]: the area in common by the area of both."""
    first, second = (np.asarray(boxes, np.float64) for boxes in (a, b))
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    common = np.prod(np.clip(high - low, 0, None), axis=2)
    areas = [np.prod(boxes[:, 2:] - boxes[:, :2], axis=1) for boxes in (first, second)]
    return common / np.maximum(areas[0][:, None] + areas[1][None, :] - common, 1e-12)
