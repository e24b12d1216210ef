"""The pass `fuse-conv-bn-relu`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph import Conv2DOp, MatmulOp
from ge.dialects.onnx import OnnxOp
from ge.ir.rewriting import apply_rules, rewrite_rule
from ge.passes.graph.epilogue import Product, fuse_epilogue
from ge.passes.onnx.onnx_fold_conv_bn import CONVOLUTIONS, fold_batch_norm

NAME = "fuse-conv-bn-relu"


@dataclass(frozen=True)
class FuseConvBnReluPass(ModulePass):
    """Fuse a convolution (or matrix product) with the batch normalisation and the activation after it.

    Rewritten, with C a convolution or matrix product of constant weights:

    1. C + batch_norm → C, its weights and bias scaled (in float64, rounded once to the type of the weights);
    2. C + multiplication, division, addition or subtraction of a constant per channel or of a scalar → the same;
    3. C + activation → C with the activation, applied to the float32 accumulator;
    4. any chain of 1 and 2, then 3: one fusion, one line in the report.

    Left alone:

    5. a value between them has a second user or is returned: it would be lost;
    6. weights, bias or statistics that are not constant (3 still applies);
    7. statistics that give a scale that is not finite, or weights of float16 scaled ones that float16 does not hold;
    8. functions that could make a pad lane infinite (exp, log, sqrt, rsqrt, reciprocal);
    9. a C that has an activation already: what follows comes after it.

    Weights that several operations share are copied, never changed. A matrix product needs no constant weights for 3.

    A model at the onnx level keeps its activations: case 1 alone is done there, also for ConvTranspose
    (:mod:`ge.passes.onnx.onnx_fold_conv_bn`).
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [fuse, fold_onnx])


@rewrite_rule(Conv2DOp, MatmulOp)
def fuse(op: Product) -> bool:
    """Fuse the chain after one convolution or matrix product."""
    return fuse_epilogue(op, NAME, activations=True)


@rewrite_rule(*CONVOLUTIONS)
def fold_onnx(op: OnnxOp) -> bool:
    """Fold the batch normalisation after one convolution of the onnx level."""
    return fold_batch_norm(op, NAME)
