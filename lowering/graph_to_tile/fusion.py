"""`graph.fusion` to one tile kernel: that of its anchor, or an elementwise one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Attribute, Operation

from ge.dialects.graph import (
    BinaryOp,
    CastOp,
    ConcatOp,
    Conv2DOp,
    FusionOp,
    LayerNormOp,
    MatmulOp,
    ReduceOp,
    SliceOp,
    SoftmaxOp,
    TransDataOp,
    TransposeOp,
    UnaryOp,
)
from ge.dialects.graph.fusing import Around, discard, unfolded
from ge.dialects.graph.fusion_limits import fusion_obstacle
from ge.lowering.graph_to_tile.boxes import lower_slice
from ge.lowering.graph_to_tile.contraction import FusedSteps
from ge.lowering.graph_to_tile.convolution import lower_conv2d
from ge.lowering.graph_to_tile.elementwise import binary_operator, cast_operator, lower_steps, unary_operator
from ge.lowering.graph_to_tile.gather_channels import lower_concat
from ge.lowering.graph_to_tile.layer_norm import lower_layer_norm
from ge.lowering.graph_to_tile.matmul import lower_matmul
from ge.lowering.graph_to_tile.outline import Outlined, Target, attribute, no_kernel
from ge.lowering.graph_to_tile.reduce import lower_reduce
from ge.lowering.graph_to_tile.softmax import lower_softmax
from ge.lowering.graph_to_tile.trans_data import lower_trans_data
from ge.lowering.graph_to_tile.transpose import lower_transpose


def lower_fusion(op: FusionOp, target: Target) -> Outlined:
    """The kernel of a fusion. Raises GE4010 for steps that one kernel cannot hold."""
    steps = unfolded(op)
    try:
        if (reason := fusion_obstacle(steps, target.ub)) is not None:
            raise no_kernel(op, reason)
        return _lower_steps(steps, target)
    finally:
        discard(steps)


def _lower_steps(steps: Sequence[Operation], target: Target) -> Outlined:
    around = Around.of(steps)
    if around.anchor is None:
        b, inputs = lower_steps("fusion", steps, target)
        outlined = Outlined(b.kernel, inputs, *_operator(steps[-1]))
    else:
        outlined = _ANCHORED[type(around.anchor)](around.anchor, target, around)
    names = ", ".join(outlined.op_type if step is around.anchor else _operator(step)[0] for step in around.steps)
    outlined.op_attrs = {**outlined.op_attrs, "fused_ops": attribute(names)}
    return outlined


def _after_product(lower: Callable[[Any, Target, FusedSteps | None], Outlined]) -> AnchorLowering:
    """The lowering of a convolution or matrix product, which takes the steps after it."""

    def lower_with(op: Any, target: Target, around: Around) -> Outlined:
        return lower(op, target, FusedSteps(op.y, around.after) if around.after else None)

    return lower_with


AnchorLowering: TypeAlias = Callable[[Any, Target, Around], Outlined]
"""From an anchor, with the steps around it, to the kernel."""

_ANCHORED: Mapping[type[Operation], AnchorLowering] = {
    Conv2DOp: _after_product(lower_conv2d),
    MatmulOp: _after_product(lower_matmul),
    SoftmaxOp: lower_softmax,
    LayerNormOp: lower_layer_norm,
    ReduceOp: lower_reduce,
    TransposeOp: lower_transpose,
    SliceOp: lower_slice,
    ConcatOp: lower_concat,
    TransDataOp: lower_trans_data,
}
"""The lowering of each of :data:`ge.dialects.graph.fusing.ANCHORS`."""


def _operator(step: Operation) -> tuple[str, dict[str, Attribute]]:
    """The operator of Ascend IR for an elementwise step."""
    match step:
        case UnaryOp():
            return unary_operator(step.function)
        case BinaryOp():
            return binary_operator(step)
        case CastOp():
            return cast_operator(step)
        case _:
            raise AssertionError(f"{step.name} is not elementwise")
