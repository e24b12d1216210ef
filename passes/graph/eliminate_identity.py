"""The pass `graph-eliminate-identity`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import (
    ActivationAttr,
    BinaryKind,
    BinaryOp,
    CastOp,
    ConcatOp,
    ConstantOp,
    GatherChannelsOp,
    Pool2DOp,
    ReshapeOp,
    SliceOp,
    TransDataOp,
    TransposeOp,
    UnaryKind,
    UnaryOp,
)
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant, constant_array
from ge.ir.rewriting import apply_rules, erase_if_unused, replace, rewrite_rule
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import only_user


@dataclass(frozen=True)
class GraphEliminateIdentityPass(ModulePass):
    """Take out operations that change nothing, and join pairs that undo each other or are one operation.

    Taken out: identity; clip without bounds; a cast, trans_data, reshape or transpose to what the value is already;
    concat of one tensor; gather_channels of all channels in order; pooling over single elements; + 0, - 0, · 1, / 1.

    Joined: reshape of a reshape; transpose of a transpose; clip from 0 on is relu; a transpose that moves only
    dimensions of size 1 is a reshape. A function of reshaped values, or of one and a number or constant row that the
    reshape keeps, is the reshaped function of the values: so it meets what made them, and reshapes meet each other.
    Dimensions of size 1 take no part in a slice: without them, its operand has fewer storage formats to differ in.

    Left alone: a pair of casts, of which the first may lose bits; an addition of zero that broadcasts its other
    operand.
    """

    name = "graph-eliminate-identity"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [unary, neutral, before_reshape, before_equal_reshapes, row_before_reshape]
        apply_rules(op, [*functions, same_type, reshape, transpose, slice_without_ones, single, gather, pool])


@rewrite_rule(UnaryOp)
def unary(op: UnaryOp) -> bool:
    """Identity and clips that are less than a clip."""
    if op.kind is UnaryKind.IDENTITY or (op.kind is UnaryKind.CLIP and op.alpha == -math.inf and op.beta == math.inf):
        return _drop(op, op.x)
    if op.kind is UnaryKind.CLIP and op.alpha == 0.0 and op.beta == math.inf:
        replace(op, UnaryOp(op.x, ActivationAttr(UnaryKind.RELU)))
        return True
    return False


@rewrite_rule(UnaryOp)
def before_reshape(op: UnaryOp) -> bool:
    """A function of a reshaped value that nothing else uses."""
    reshaped = op.x.owner
    if not isinstance(reshaped, ReshapeOp) or only_user(reshaped.y) is not op:
        return False
    function = UnaryOp(reshaped.x, op.function)
    function.location = op.location
    replace_chain([reshaped, op], [function, ReshapeOp(function, shape_of(op.y))])
    return True


@rewrite_rule(BinaryOp)
def before_equal_reshapes(op: BinaryOp) -> bool:
    """A function of two values of one shape, reshaped alike, that nothing else uses."""
    a, b = op.a.owner, op.b.owner
    if not isinstance(a, ReshapeOp) or not isinstance(b, ReshapeOp) or a is b or a.x.type != b.x.type:
        return False
    if a.y.type != b.y.type or only_user(a.y) is not op or only_user(b.y) is not op:
        return False
    function = BinaryOp(op.kind.data, a.x, b.x, activation=op.activation)
    function.location = op.location
    replace_chain([a, b, op], [function, ReshapeOp(function, shape_of(op.y))])
    return True


@rewrite_rule(BinaryOp)
def row_before_reshape(op: BinaryOp) -> bool:
    """A function of a reshaped value that nothing else uses, and of a number or a constant row along the last axis."""
    position = 0 if isinstance(op.a.owner, ReshapeOp) else 1
    reshaped, row = op.operands[position].owner, constant_array(op.operands[1 - position])
    if row is None or not isinstance(reshaped, ReshapeOp) or only_user(reshaped.y) is not op:
        return False
    before, after = shape_of(reshaped.x), shape_of(reshaped.y)
    is_kept = before[-1:] == after[-1:] == row.shape[-1:] == (row.size,)
    if not before or not (row.size == 1 or is_kept) or shape_of(op.y) != after:
        return False
    vector = constant(row.reshape(-1))
    sides = (reshaped.x, vector.y) if position == 0 else (vector.y, reshaped.x)
    function = BinaryOp(op.kind.data, *sides, activation=op.activation)
    function.location = op.location
    replace_chain([reshaped, op], [vector, function, ReshapeOp(function, after)])
    return True


@rewrite_rule(CastOp, TransDataOp)
def same_type(op: CastOp | TransDataOp) -> bool:
    """A conversion to the type that the value has."""
    return _drop(op, op.x) if op.x.type == op.y.type else False


@rewrite_rule(ReshapeOp)
def reshape(op: ReshapeOp) -> bool:
    """A reshape to the same shape, or of a reshape."""
    if op.x.type == op.y.type:
        return _drop(op, op.x)
    if isinstance(op.x.owner, ReshapeOp):
        replace_chain([op.x.owner, op], [ReshapeOp(op.x.owner.x, shape_of(op.y))])
        return True
    return False


@rewrite_rule(TransposeOp)
def transpose(op: TransposeOp) -> bool:
    """A transpose that moves nothing, or only dimensions of size 1, or of a transpose."""
    perm = op.perm.get_values()
    if list(perm) == sorted(perm):
        return _drop(op, op.x)
    moved = [axis for axis in perm if shape_of(op.x)[axis] != 1]
    if moved == sorted(moved):
        replace(op, ReshapeOp(op.x, shape_of(op.y)))
        return True
    if isinstance(inner := op.x.owner, TransposeOp):
        first = inner.perm.get_values()
        replace_chain([inner, op], [TransposeOp(inner.x, [first[axis] for axis in perm])])
        return True
    return False


@rewrite_rule(SliceOp)
def slice_without_ones(op: SliceOp) -> bool:
    """A slice along another dimension than those of size 1."""
    shape, axis = shape_of(op.x), op.axis.value.data
    kept = [i for i, size in enumerate(shape) if size != 1 or i == axis]
    if len(kept) == len(shape):
        return False
    narrow = ReshapeOp(op.x, [shape[i] for i in kept])
    part = SliceOp(narrow, kept.index(axis), op.start.value.data, op.size.value.data)
    replace(op, [narrow, part, ReshapeOp(part, shape_of(op.y))])
    return True


@rewrite_rule(ConcatOp)
def single(op: ConcatOp) -> bool:
    """A concat of one tensor."""
    return _drop(op, op.xs[0]) if len(op.xs) == 1 else False


@rewrite_rule(GatherChannelsOp)
def gather(op: GatherChannelsOp) -> bool:
    """All channels of one tensor in order."""
    if len(op.xs) != 1 or list(op.indices.get_values()) != list(range(shape_of(op.xs[0])[1])):
        return False
    return _drop(op, op.xs[0])


@rewrite_rule(Pool2DOp)
def pool(op: Pool2DOp) -> bool:
    """Pooling over windows of one element, one by one."""
    alone = all(size == 1 for size in (*op.kernel.get_values(), *op.strides.get_values()))
    return _drop(op, op.x) if alone and not any(op.pads.get_values()) else False


NEUTRAL = {BinaryKind.ADD: 0.0, BinaryKind.SUB: 0.0, BinaryKind.MUL: 1.0, BinaryKind.DIV: 1.0}
"""The right operand that changes nothing."""


@rewrite_rule(BinaryOp)
def neutral(op: BinaryOp) -> bool:
    """An operation with its neutral element: on the right, or on either side where the sides are alike."""
    element = NEUTRAL.get(op.kind.data) if op.activation is None else None
    sides = [(op.a, op.b), (op.b, op.a)][: 2 if op.kind.data in (BinaryKind.ADD, BinaryKind.MUL) else 1]
    for x, other in sides:
        array = constant_array(other)
        if element is not None and array is not None and (array == element).all() and x.type == op.y.type:
            return _drop(op, x)
    return False


def _drop(op: Operation, x: SSAValue) -> bool:
    producers = [operand.owner for operand in op.operands if isinstance(operand.owner, ConstantOp)]
    replace(op, [], [x])
    for producer in producers:
        erase_if_unused(producer)
    return True
