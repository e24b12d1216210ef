"""The pass `fold-conv-bn`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph import BatchNormOp, Conv2DOp, MatmulOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant, constant_array
from ge.dialects.onnx import OnnxOp
from ge.ir.rewriting import apply_rules, rewrite_rule
from ge.maths.floats import fits_type, round_to_type
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import Product, Vector, affine_of, describe, fuse_epilogue, only_user
from ge.passes.onnx.onnx_fold_conv_bn import CONVOLUTIONS, fold_batch_norm

NAME = "fold-conv-bn"


@dataclass(frozen=True)
class FoldConvBnPass(ModulePass):
    """Fold batch normalisation into the weights and bias of the convolution before it, or after it.

    Rewritten:

    1. a convolution or matrix product, followed by batch_norm or another affine operation per channel: cases 1 and 2 of
       `fuse-conv-bn-relu`, under the same conditions;
    2. batch_norm followed by a convolution without padding: the scale goes into the weights of each input channel, the
       shift through the weights into the bias.

    Left alone, besides cases 5 to 9 there: a batch_norm before a convolution that pads. The zeros of the padding come
    after the normalisation, and no bias can say that.

    At the onnx level, batch_norm after Conv or ConvTranspose is folded (:mod:`ge.passes.onnx.onnx_fold_conv_bn`).
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [fold_after, fold_before, fold_onnx])


@rewrite_rule(Conv2DOp, MatmulOp)
def fold_after(op: Product) -> bool:
    """Fold the affine operations after a convolution or matrix product."""
    return fuse_epilogue(op, NAME, activations=False)


@rewrite_rule(*CONVOLUTIONS)
def fold_onnx(op: OnnxOp) -> bool:
    """Fold the batch normalisation after a convolution of the onnx level."""
    return fold_batch_norm(op, NAME)


@rewrite_rule(Conv2DOp)
def fold_before(op: Conv2DOp) -> bool:
    """Fold the batch normalisation before a convolution."""
    norm = op.x.owner
    if not isinstance(norm, BatchNormOp) or only_user(norm.y) is not op:
        return False
    affine, w = affine_of(norm, norm.x, axis=1), constant_array(op.w)
    bias = None if op.bias is None else constant_array(op.bias)
    if affine is None or w is None or (op.bias is not None and bias is None):
        return False
    if any(op.pads.get_values()):
        report.missed(NAME, norm, "the convolution after it pads")
        return False
    if not (np.isfinite(affine.scale).all() and np.isfinite(affine.shift).all()):
        report.missed(NAME, norm, "the scale is not finite")
        return False
    scale, shift = (_per_filter(op, vector) for vector in (affine.scale, affine.shift))
    filters = w.astype(np.float64)
    through = (filters * shift).sum(axis=(1, 2, 3))
    new_bias = through if bias is None else through + bias.astype(np.float64)
    if not fits_type(filters * scale, w.dtype):
        report.missed(NAME, norm, "float16 does not hold the scaled weights")
        return False
    new_w = constant(round_to_type(filters * scale, w.dtype))
    new_b = constant(round_to_type(new_bias, w.dtype if bias is None else bias.dtype))
    new = Conv2DOp.create(operands=[norm.x, new_w.y, new_b.y], properties=dict(op.properties), result_types=[op.y.type])
    text = f"Fuse {describe(norm)} + {describe(op)} -> Conv2D"
    replace_chain([norm, op], [new_w, new_b, new])
    report.fused(NAME, text, new)
    return True


def _per_filter(op: Conv2DOp, vector: Vector) -> Vector:
    """A value per input channel in the shape [O, I, 1, 1] of the weights: a filter reads the channels of its group."""
    groups, filters = op.groups.value.data, shape_of(op.w)[0]
    return np.repeat(vector.reshape(groups, -1), filters // groups, axis=0)[:, :, None, None]
