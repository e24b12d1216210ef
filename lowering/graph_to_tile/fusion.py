"""`graph.fusion` to one tile kernel: that of its convolution or matrix product, or an elementwise one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.graph import BinaryOp, CastOp, Conv2DOp, FusionOp, MatmulOp, UnaryOp
from ge.dialects.graph.fusing import discard, fusion_obstacle, unfolded
from ge.lowering.graph_to_tile.contraction import FusedSteps
from ge.lowering.graph_to_tile.convolution import lower_conv2d
from ge.lowering.graph_to_tile.elementwise import binary_operator, cast_operator, lower_steps, unary_operator
from ge.lowering.graph_to_tile.matmul import lower_matmul
from ge.lowering.graph_to_tile.outline import Outlined, Target, attribute, no_kernel


def lower_fusion(op: FusionOp, target: Target) -> Outlined:
    """The kernel of a fusion. Raises GE4010 for steps that one kernel cannot hold."""
    steps = unfolded(op)
    try:
        if (reason := fusion_obstacle(steps)) is not None:
            raise no_kernel(op, reason)
        return _lower_steps(steps, target)
    finally:
        discard(steps)


def _lower_steps(steps: Sequence[Operation], target: Target) -> Outlined:
    match steps[0]:
        case Conv2DOp() as anchor:
            outlined = lower_conv2d(anchor, target, _after(anchor.y, steps[1:]))
        case MatmulOp() as anchor:
            outlined = lower_matmul(anchor, target, _after(anchor.y, steps[1:]))
        case _:
            b, inputs = lower_steps("fusion", steps, target)
            outlined = Outlined(b.kernel, inputs, *_operator(steps[-1]))
    outlined.op_attrs = {**outlined.op_attrs, "fused_ops": attribute(", ".join(_operator(step)[0] for step in steps))}
    return outlined


def _after(result: SSAValue, steps: Sequence[Operation]) -> FusedSteps | None:
    return FusedSteps(result, steps) if steps else None


def _operator(step: Operation) -> tuple[str, dict[str, Attribute]]:
    """The operator of Ascend IR for a step."""
    match step:
        case UnaryOp():
            return unary_operator(step.function)
        case BinaryOp():
            return binary_operator(step)
        case CastOp():
            return cast_operator(step)
        case _:
            return ("Conv2D" if isinstance(step, Conv2DOp) else "MatMulV2"), {}
