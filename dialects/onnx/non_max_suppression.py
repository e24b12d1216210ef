"""The NonMaxSuppression operator with NumPy: one vector step per box that is selected.

Boxes are taken by falling score (of equal scores, the first); each takes those out that overlap it by more than the
threshold, as a fraction of the area that both cover together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.base import OnnxOp

Floats: TypeAlias = NDArray[np.float32]


def non_max_suppression(op: OnnxOp, inputs: Sequence[Any]) -> Any:
    """The selected boxes as rows [batch, class, box], in the order in which they are selected."""
    boxes, scores = inputs[:2]
    most, overlap, score = [*inputs[2:], None, None, None][:3]
    limit = 0 if most is None else int(most.reshape(-1)[0])
    threshold = np.float32(0 if overlap is None else overlap.reshape(-1)[0])
    rows: list[tuple[int, int, int]] = []
    for batch in range(scores.shape[0] if limit > 0 else 0):
        corners = _corners(boxes[batch], bool(op.attribute("center_point_box")))
        for category in range(scores.shape[1]):
            given = scores[batch, category]
            candidates = np.argsort(-given, kind="stable")
            if score is not None and score.size:
                candidates = candidates[given[candidates] > score.reshape(-1)[0]]
            rows += [(batch, category, box) for box in _select(corners, candidates, limit, threshold)]
    return np.array(rows, np.int64).reshape(-1, 3)


def _corners(boxes: Floats, from_centre: bool) -> Floats:
    """The lower and upper corner of each box: [y0, x0, y1, x1]."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if from_centre:
        half = second * np.float32(0.5)
        return np.hstack([first - half, first + half]).astype(np.float32)
    return np.hstack([np.minimum(first, second), np.maximum(first, second)])


def _select(corners: Floats, candidates: NDArray[np.int64], limit: int, threshold: np.float32) -> list[int]:
    """The boxes among the candidates (the best first) that stay."""
    areas = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
    selected: list[int] = []
    while len(candidates) and len(selected) < limit:
        best, candidates = int(candidates[0]), candidates[1:]
        selected.append(best)
        sides = np.minimum(corners[best, 2:], corners[candidates, 2:]) - np.maximum(
            corners[best, :2], corners[candidates, :2]
        )
        common = np.where((sides > 0).all(axis=1), sides[:, 0] * sides[:, 1], np.float32(0))
        together = areas[best] + areas[candidates] - common
        suppressed = (common > 0) & (areas[best] > 0) & (areas[candidates] > 0) & (common / together > threshold)
        candidates = candidates[~suppressed]
    return selected
