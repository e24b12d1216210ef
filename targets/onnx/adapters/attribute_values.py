"""The values that attributes may have, where that changed between versions.

The standard lists them in prose only: no check of the ``onnx`` package finds ``mode = "linear"`` on a GridSample of
opset 16.
"""

from __future__ import annotations

from collections.abc import Mapping

_PAD = ("constant", "reflect", "edge")
_REDUCE = ("none", "add", "mul")
_COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")

ALLOWED: Mapping[tuple[str, str], Mapping[int, tuple[str, ...]]] = {
    ("GridSample", "mode"): {16: ("bilinear", "nearest", "bicubic"), 20: ("linear", "nearest", "cubic")},
    ("Pad", "mode"): {1: _PAD, 19: (*_PAD, "wrap")},
    ("Resize", "coordinate_transformation_mode"): {
        11: (*_COORDINATES, "tf_half_pixel_for_nn"),
        13: _COORDINATES,
        19: (*_COORDINATES, "half_pixel_symmetric"),
    },
    ("Resize", "mode"): {10: ("nearest", "linear"), 11: ("nearest", "linear", "cubic")},
    ("ScatterElements", "reduction"): {16: _REDUCE, 18: (*_REDUCE, "max", "min")},
    ("ScatterND", "reduction"): {16: _REDUCE, 18: (*_REDUCE, "max", "min")},
    ("Upsample", "mode"): {1: ("nearest", "bilinear"), 7: ("nearest", "linear")},
}
"""Operator and attribute, then the values from each version on."""


def allowed_values(op_type: str, attribute: str, opset: int) -> tuple[str, ...] | None:
    """The values that an attribute may have at an opset; None when the table does not restrict it."""
    versions = ALLOWED.get((op_type, attribute))
    if versions is None:
        return None
    since = max((version for version in versions if version <= opset), default=None)
    return None if since is None else versions[since]
