"""The pass `hoist-reshape`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph import MatmulOp, ReshapeOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.shapes import Shape
from ge.ir.rewriting import apply_rules, erase_if_unused, rewrite_rule
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import only_user


@dataclass(frozen=True)
class HoistReshapePass(ModulePass):
    """Reshape the left operand of a matrix product instead of its result, so that what follows can join the product.

    Exporters write a Gemm between two reshapes, since its operands are matrices: [1, M, K] → [M, K] → [M, N] →
    [1, M, N]. The residual that is added then has another shape than the product.

    Rewritten:

    1. reshape(matmul(a, b)) that adds or takes away leading dimensions of 1 → matmul(reshape(a), b), with its bias and
       activation;
    2. the same where a is a reshape of such a tensor → the tensor itself, and no reshape.

    Left alone:

    3. a reshape of other dimensions, as one that splits heads or batches;
    4. a product that has another user, or is returned;
    5. a right operand that is more than one matrix: its leading dimensions are those of the left one.

    The same products are summed.
    """

    name = "hoist-reshape"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [hoist])


@rewrite_rule(MatmulOp)
def hoist(op: MatmulOp) -> bool:
    """Both cases."""
    reshape = only_user(op.y)
    if not isinstance(reshape, ReshapeOp) or len(shape_of(op.b)) != 2:
        return False
    wanted, given = shape_of(reshape.y), shape_of(op.y)
    if wanted == given or len(wanted) < 2 or _matrices(wanted) != _matrices(given):
        return False
    before = op.a.owner
    source = before.x if isinstance(before, ReshapeOp) else op.a
    shape = (*wanted[:-1], shape_of(op.a)[-1])
    reshaped = [] if shape_of(source) == shape else [ReshapeOp(source, shape)]
    left = reshaped[0].y if reshaped else source
    product = MatmulOp(left, op.b, op.bias, transpose_b=op.transpose_b is not None, activation=op.activation)
    product.location = op.location
    replace_chain([op, reshape], [*reshaped, product])
    if isinstance(before, ReshapeOp):
        erase_if_unused(before)
    return True


def _matrices(shape: Shape) -> Shape:
    """A shape without leading dimensions of 1, but for those of a matrix."""
    first = next((axis for axis, size in enumerate(shape[:-2]) if size != 1), len(shape) - 2)
    return tuple(shape[first:])
