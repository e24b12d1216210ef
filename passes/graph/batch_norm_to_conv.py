"""The pass `batch-norm-to-conv`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import BatchNormOp, BinaryOp, Conv2DOp, UnaryOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import can_fuse_activation
from ge.dialects.graph.constants import constant, dtype_of
from ge.ir.rewriting import apply_rules, rewrite_rule
from ge.maths.floats import fits_type, round_to_type
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import affine_of, describe, only_user

NAME = "batch-norm-to-conv"


@dataclass(frozen=True)
class BatchNormToConvPass(ModulePass):
    """Compute a batch normalisation that no convolution could take in as a depthwise 1 x 1 convolution.

    It is one multiplication and one addition per element, which is what that convolution does; the affine operations
    and the activation after it become part of it. This is for feature maps [N, C, H, W] with constant statistics;
    others are left alone, as is one whose scale is not finite, or none that float16 holds, where the model has that.

    Runs after `fuse-conv-bn-relu` and `fold-conv-bn`.
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [convert])


@rewrite_rule(BatchNormOp)
def convert(op: BatchNormOp) -> bool:
    """Convert one batch normalisation and what follows it."""
    affine, shape, dtype = affine_of(op, op.x, axis=1), shape_of(op.x), dtype_of(op.x)
    if affine is None or len(shape) != 4:
        return False
    if not fits_type(affine.scale, dtype):
        report.missed(NAME, op, "float16 does not hold the scale")
        return False
    chain: list[Operation] = [op]
    y: SSAValue = op.y
    while isinstance(user := only_user(y), BatchNormOp | BinaryOp) and (step := affine_of(user, y, axis=1)):
        joined = affine.then(step)
        if not fits_type(joined.scale, dtype):
            break
        affine = joined
        chain.append(user)
        y = user.results[0]
    activation = user.function if isinstance(user, UnaryOp) and can_fuse_activation(user.kind) else None
    if activation is not None and user is not None:
        chain.append(user)
    if not (np.isfinite(affine.scale).all() and np.isfinite(affine.shift).all()):
        report.missed(NAME, op, "the scale is not finite")
        return False
    w = constant(round_to_type(affine.scale.reshape(-1, 1, 1, 1), dtype))
    bias = constant(round_to_type(affine.shift, dtype))
    new = Conv2DOp(op.x, w, bias, groups=shape[1], activation=activation)
    text = f"Convert {' + '.join(map(describe, chain))} -> DepthwiseConv2D({shape[1]})"
    replace_chain(chain, [w, bias, new])
    report.fused(NAME, text, new)
    return True
