"""The pass `fuse-requantise`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects.graph import (
    ActivationAttr,
    BinaryKind,
    BinaryOp,
    DequantiseOp,
    IntegerAddOp,
    IntegerConv2DOp,
    IntegerMatmulOp,
    Pool2DOp,
    PoolKind,
    QuantiseOp,
    ReshapeOp,
    UnaryKind,
    UnaryOp,
)
from ge.dialects.graph.base import int_attr, shape_of, tensor
from ge.dialects.graph.capabilities import obstacle
from ge.dialects.graph.constants import constant, constant_array, dtype_of
from ge.dialects.graph.integer import number_of
from ge.ir.rewriting import apply_rules, rewrite_rule
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import describe, only_user

NAME = "fuse-requantise"


@dataclass(frozen=True)
class FuseRequantisePass(ModulePass):
    """Let operations between a dequantisation and a quantisation give 8-bit integers themselves.

    1. quantise(P) of a product of integers P → P with an 8-bit result: its sums are scaled once, by the scale of the
       product over that of the quantisation, and rounded once.
    2. The same with relu or clip between: a bound that the type of the result has anyway goes away.
    3. quantise(add(dequantise(a), dequantise(b))) of equal shapes, and the same with a relu → `graph.integer_add`,
       where the lower bound of the type is that of the relu.
    4. quantise(M(dequantise(x))) with M the largest of windows or a reshape, and one scale and zero point for both → M
       of the integers: no number changes.

    Left alone: a float result that has another user or is returned; other functions and operations; what would have no
    kernel on integers (`ge.dialects.graph.capabilities`).
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [fuse])


@rewrite_rule(QuantiseOp)
def fuse(op: QuantiseOp) -> bool:
    """Fuse one quantisation with what it quantises."""
    path: Sequence[Operation] = [op]
    function = None
    if isinstance(op.x.owner, UnaryOp) and op.x.owner.function.kind in (UnaryKind.RELU, UnaryKind.CLIP):
        path, function = [op.x.owner, op], op.x.owner.function
    source = path[0].operands[0].owner
    if not all(only_user(user.operands[0]) is user for user in path):
        return False
    match source:
        case IntegerConv2DOp() | IntegerMatmulOp():
            return _fuse_product(source, path, op, function)
        case BinaryOp() if source.kind.data is BinaryKind.ADD:
            return _fuse_sum(source, path, op, function)
        case Pool2DOp() | ReshapeOp() if function is None:
            return _fuse_movement(source, op)
        case _:
            return False


def _remaining(function: ActivationAttr | None, op: QuantiseOp) -> ActivationAttr | None:
    """What is left of a relu or clip, in units of the scale, when the result saturates where its type ends."""
    if function is None:
        return None
    limits, point, scale = np.iinfo(dtype_of(op.y)), op.zero_point.value.data, number_of(op.scale)
    low, high = (0.0, np.inf) if function.kind is UnaryKind.RELU else function.arguments
    low, high = np.float32(low) / np.float32(scale), np.float32(high) / np.float32(scale)
    if np.rint(low) <= limits.min - point and np.rint(high) >= limits.max - point:
        return None
    return ActivationAttr(UnaryKind.CLIP, float(low), float(high))


def _fuse_product(
    product: IntegerConv2DOp | IntegerMatmulOp,
    path: Sequence[Operation],
    op: QuantiseOp,
    function: ActivationAttr | None,
) -> bool:
    """Cases 1 and 2."""
    old = constant_array(product.scale)
    if product.activation is not None or old is None:
        return False
    scale = constant((old / np.float32(number_of(op.scale))).astype(np.float32))
    new = type(product).create(
        operands=[*product.operands[:-1], scale.y],
        result_types=[op.y.type],
        properties={**product.properties, "zero_point": int_attr(op.zero_point.value.data)},
    )
    if (remaining := _remaining(function, op)) is not None:
        new.properties["activation"] = remaining
    text = f"Fuse {describe(product)} + {' + '.join(map(describe, path))} -> {describe(new)}"
    replace_chain([product, *path], [scale, new])
    report.fused(NAME, text, new)
    return True


def _fuse_sum(total: BinaryOp, path: Sequence[Operation], op: QuantiseOp, function: ActivationAttr | None) -> bool:
    """Case 3."""
    a, b = total.a.owner, total.b.owner
    function = total.activation if function is None else function
    if not isinstance(a, DequantiseOp) or not isinstance(b, DequantiseOp) or shape_of(a.x) != shape_of(b.x):
        return False
    if (total.activation is not None and len(path) > 1) or _remaining(function, op) is not None:
        return False
    points = (a.zero_point.value.data, b.zero_point.value.data, op.zero_point.value.data)
    scales = (number_of(a.scale), number_of(b.scale), number_of(op.scale))
    new = IntegerAddOp(a.x, b.x, tensor(op.y).element_type, scales, points)
    if obstacle(new) is not None:
        new.erase()
        return False
    text = f"Fuse {describe(total)} + {' + '.join(map(describe, path))} -> {describe(new)}"
    replace_chain(list(dict.fromkeys((a, b, total, *path))), [new])
    report.fused(NAME, text, new)
    return True


def _fuse_movement(move: Pool2DOp | ReshapeOp, op: QuantiseOp) -> bool:
    """Case 4."""
    before = move.x.owner
    if not isinstance(before, DequantiseOp) or (isinstance(move, Pool2DOp) and move.kind.data is not PoolKind.MAX):
        return False
    if (before.scale, before.zero_point) != (op.scale, op.zero_point):
        return False
    if tensor(before.x).element_type != tensor(op.y).element_type:
        return False
    new = type(move).create(operands=[before.x], result_types=[op.y.type], properties=dict(move.properties))
    if obstacle(new) is not None:
        new.erase()
        return False
    replace_chain([before, move, op], [new])
    report.fused(NAME, f"Fuse {describe(move)} + {describe(op)} -> {describe(new)}", new)
    return True
