"""Convolutions."""

from __future__ import annotations

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.compute import Conv2DOp
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.rules import Emitter, Results, Rules, feature, is_feature
from ge.lowering.onnx_to_graph.windows import as_plane, from_plane, window_of


def conv(op: OnnxOp, emit: Emitter) -> Results:
    """Conv of feature maps, or of rows [N, C, L] as feature maps of height 1; any stride, padding, dilation, groups."""
    x, w, bias = feature(op, "X"), feature(op, "W"), op.operand("B")
    if x is None or w is None or (bias is not None and not is_feature(bias)):
        return None
    window = window_of(op, x, list(shape_of(w)[2:]))
    if window is None:
        return None
    y = emit.add(
        Conv2DOp(
            as_plane(emit, x),
            as_plane(emit, w),
            bias,
            strides=window.strides,
            pads=window.pads,
            dilations=window.dilations,
            groups=op.attribute("group"),
        )
    )
    return from_plane(emit, y, x)


RULES: Rules = {"Conv": conv}
