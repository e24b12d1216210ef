"""The pass `fold-transpose-matmul`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph import BinaryKind, BinaryOp, MatmulOp, ReshapeOp, TransposeOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.fusing import number_of
from ge.dialects.graph.movement_kernels import joined_axes
from ge.ir.rewriting import apply_rules, erase_if_unused, replace, rewrite_rule
from ge.maths.layouts import C0
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.eliminate_identity import row_before_reshape
from ge.passes.graph.epilogue import only_user


@dataclass(frozen=True)
class FoldTransposeMatmulPass(ModulePass):
    """Multiply with the transpose of a right operand, instead of transposing it, as with the keys of an attention.

    Rewritten:

    1. matmul(a, transpose(b)) that exchanges the last two axes → matmul with `transpose_b` of b itself, or of a reshape
       of it where axes of size 1 move, too;
    2. the same where other axes move, too: they still do, in a transposition that leaves the last two in order. Heads
       that are split are then a view (`propagate-layout`);
    3. a product of a transpose and a number → the product first, so that the other cases see the transpose, and the
       kernel of what was transposed can take it; before a reshape, too, which splits the heads.

    Left alone:

    4. a transposition that keeps the last axis, and constants, which are packed beforehand;
    5. rows of b that do not fill blocks of 16: what pads them would meet what pads the rows of a;
    6. cases 2 and 3 when the transposition has another user.

    The same products are summed.
    """

    name = "fold-transpose-matmul"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [fold, scale_before, row_before_reshape])


@rewrite_rule(MatmulOp)
def fold(op: MatmulOp) -> bool:
    """Cases 1 and 2."""
    transpose = op.b.owner
    if op.transpose_b is not None or not isinstance(transpose, TransposeOp) or shape_of(op.b)[-2] % C0:
        return False
    *leading, columns, rows = transpose.perm.get_values()
    order = (*leading, rows, columns)
    if columns != len(order) - 1:
        return False
    others_move = len(joined_axes(shape_of(transpose.x), order)[1]) > 1
    if others_move and not transpose.y.has_one_use():
        return False
    rest = _rest(transpose, order, others_move)
    right = rest[-1].y if rest else transpose.x
    replace(op, [*rest, MatmulOp(op.a, right, op.bias, transpose_b=True, activation=op.activation)], fused=[transpose])
    erase_if_unused(transpose)
    return True


@rewrite_rule(BinaryOp)
def scale_before(op: BinaryOp) -> bool:
    """Case 3."""
    number = number_of(op)
    x = op.b if number is op.a else op.a
    transpose = x.owner
    if number is None or op.kind.data is not BinaryKind.MUL or shape_of(x) != shape_of(op.y):
        return False
    if not isinstance(transpose, TransposeOp) or only_user(x) is not op:
        return False
    scaled = BinaryOp(BinaryKind.MUL, transpose.x, number, activation=op.activation)
    scaled.location = op.location
    replace_chain([transpose, op], [scaled, TransposeOp(scaled, transpose.perm.get_values())])
    return True


def _rest(transpose: TransposeOp, order: Sequence[int], others_move: bool) -> list[TransposeOp | ReshapeOp]:
    """What is left of a transposition: another one, a reshape where only axes of size 1 move, or nothing."""
    shape = shape_of(transpose.x)
    if list(order) == sorted(order):
        return []
    rest = TransposeOp(transpose.x, order) if others_move else ReshapeOp(transpose.x, [shape[axis] for axis in order])
    rest.location = transpose.location
    return [rest]
