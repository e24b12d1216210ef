"""Pooling and global pooling."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from ge.dialects.graph.attributes import PoolKind
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import obstacle
from ge.dialects.graph.compute import Pool2DOp
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.rules import Emitter, Results, Rule, Rules, feature, is_feature, is_quantised
from ge.lowering.onnx_to_graph.windows import as_plane, from_plane, window_of


def _pool(kind: PoolKind) -> Rule:
    def rule(op: OnnxOp, emit: Emitter) -> Results:
        """MaxPool and AveragePool of feature maps or rows; a MaxPool that also gives indices stays on the host."""
        x = op.operand("X")
        if x is None or not (is_feature(x) or is_quantised(x)) or any(result.uses for result in op.results[1:]):
            return None
        window = window_of(op, x, op.attribute("kernel_shape"))
        if window is None:
            return None
        pool = Pool2DOp(
            as_plane(emit, x),
            kind,
            window.kernel,
            strides=window.strides,
            pads=window.pads,
            dilations=window.dilations,
            ceil_mode=bool(op.attribute("ceil_mode")),
            count_include_pad=kind is PoolKind.AVERAGE and bool(op.attribute("count_include_pad")),
        )
        y = emit.add(pool)
        if is_quantised(x) and obstacle(pool) is not None:
            return None
        return [from_plane(emit, y, x), *(None for _ in op.results[1:])]

    return rule


def _global_pool(kind: PoolKind) -> Rule:
    def rule(op: OnnxOp, emit: Emitter) -> Results:
        """GlobalMaxPool and GlobalAveragePool of any rank from [N, C, L] on."""
        x = feature(op, "X")
        if x is None or len(shape_of(x)) < 3:
            return None
        n, c, *spatial = shape_of(x)
        return emit.reshape(pool_all(emit, kind, x), (n, c, *(1 for _ in spatial)))

    return rule


def pool_all(emit: Emitter, kind: PoolKind, x: SSAValue) -> SSAValue:
    """Pool all of `x` [N, C, ...] behind the channels: [N, C, 1, 1]."""
    n, c, *spatial = shape_of(x)
    plane = spatial if len(spatial) == 2 else [1, math.prod(spatial)]
    return emit.add(Pool2DOp(emit.reshape(x, (n, c, *plane)), kind, plane))


RULES: Rules = {
    "MaxPool": _pool(PoolKind.MAX),
    "AveragePool": _pool(PoolKind.AVERAGE),
    "GlobalMaxPool": _global_pool(PoolKind.MAX),
    "GlobalAveragePool": _global_pool(PoolKind.AVERAGE),
}
