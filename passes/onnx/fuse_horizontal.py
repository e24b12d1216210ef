"""The pass `fuse-horizontal`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ge.dialects.onnx import OnnxOp, constant_value, make_constant, make_op, op_class, ranked, static_shape
from ge.dialects.onnx.types import tensor_type
from ge.ir.locations import fused_loc
from ge.ir.rewriting import RewriteRule, replace, replace_value, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.graph import report
from ge.passes.onnx.building import erase_unused, in_program_order, only_user
from ge.passes.onnx.quantised import unless_quantised

Array: TypeAlias = NDArray[Any]

_UNARY = tuple(
    map(op_class, ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Swish", "HardSwish", "HardSigmoid", "Gelu", "Elu", "Mish"))
)
"""Functions of one element, which may as well be taken before a value is split."""


@dataclass(frozen=True)
class FuseHorizontalPass(RulePass):
    """Compute side by side products of one value as one product.

    1. Three or more Conv, MatMul or Gemm of the same value with equal attributes and constant weights (the query, key
       and value of an attention; the branches of an inception block): one of them, and a Split.
    2. Two or more whose results are all, and in this order, what one Concat along their channels joins: one of them.
    3. The same function, or a constant added or multiplied, behind every part of a Split: once, before it.

    Left alone: two products that would need a Split, which are as many operators afterwards; grouped convolutions and
    filters of different sizes; weights that are computed; element types that differ; products in different graphs;
    parts that something else uses or that are outputs, in case 3; products that are quantised afterwards
    (`ge.passes.onnx.quantised`).
    """

    name = "fuse-horizontal"

    def rules(self) -> list[RewriteRule[Any]]:
        return [*unless_quantised([side_by_side, joined]), same_function, constants_behind]


@rewrite_rule(*map(op_class, ("Conv", "Gemm", "MatMul")))
def side_by_side(op: OnnxOp) -> bool:
    """Case 1."""
    beside = (use for use in op.operands[0].uses if type(use.operation) is type(op))
    if len(list(islice(beside, 3))) < 3:
        return False
    family = _family(op)
    if len(family) < 3 or family[0] is not op:
        return False
    new = _wide(family)
    axis, sizes = _axis(op), [_width(each) for each in family]
    lengths = make_constant(np.array(sizes, np.int64))
    types = [each.results[0].type for each in family]
    location = fused_loc(family)
    split = make_op("Split", [new[-1].results[0], lengths.results[0]], types, {"axis": axis}, location=location)
    assert op.parent is not None, "operations of a graph are in a block"
    op.parent.insert_ops_before([*new, lengths, split], op)
    _retire(family, split.results)
    report.fused(FuseHorizontalPass.name, f"Fuse {len(family)} {op.op_type} -> {op.op_type} + Split", split)
    return True


@rewrite_rule(op_class("Concat"))
def joined(concat: OnnxOp) -> bool:
    """Case 2."""
    parts = [value.owner for value in concat.operands]
    first = parts[0]
    if len(parts) < 2 or not isinstance(first, OnnxOp) or first.op_type not in ("Conv", "Gemm", "MatMul"):
        return False
    family = _family(first)
    rank = len(static_shape(first.results[0]) or ())
    alone = first.parent is concat.parent and all(value.has_one_use() for value in concat.operands)
    if not alone or not set(family).issuperset(parts) or concat.attribute("axis") % max(rank, 1) != _axis(first):
        return False
    members = [part for part in parts if isinstance(part, OnnxOp)]
    operands = [operand for each in members for operand in each.operands]
    replace(concat, _wide(members), fused=members)
    for member in members:
        member.detach()
        member.erase()
    erase_unused(operands)
    return True


@rewrite_rule(op_class("Split"))
def same_function(split: OnnxOp) -> bool:
    """Case 3, functions."""
    users = [only_user(result) for result in split.results]
    first = users[0]
    if len(users) < 2 or not isinstance(first, _UNARY) or ranked(split.operands[0]) is None:
        return False
    if any(type(user) is not type(first) or _attributes(user) != _attributes(first) for user in users):
        return False
    before = type(first).create(
        operands=split.operands[:1],
        result_types=[split.operands[0].type],
        attributes=_attributes(first),
        location=fused_loc([user for user in users if user is not None]),
    )
    _move_before(split, [before], users)
    return True


@rewrite_rule(op_class("Split"))
def constants_behind(split: OnnxOp) -> bool:
    """Case 3, constants."""
    users = [only_user(result) for result in split.results]
    shape, first = static_shape(split.operands[0]), users[0]
    if len(users) < 2 or not shape or first is None or first.op_type not in ("Add", "Mul", "Sub", "Div"):
        return False
    axis = split.attribute("axis") % len(shape)
    constants = [_constant_of(user, result, axis) for user, result in zip(users, split.results, strict=True)]
    known = [array for array in constants if array is not None]
    if any(type(user) is not type(first) for user in users) or len(known) < len(users):
        return False
    if len({(array.dtype, array.ndim, *np.delete(array.shape, axis - len(shape))) for array in known}) > 1:
        return False
    constant = make_constant(np.concatenate(known, axis=axis - len(shape)))
    location = fused_loc([user for user in users if user is not None])
    inputs = [split.operands[0], constant.results[0]]
    _move_before(split, [constant, make_op(first.op_type, inputs, [split.operands[0].type], location=location)], users)
    return True


# Products


def _family(op: OnnxOp) -> list[OnnxOp]:
    """The products of the same value that may be computed together with one, in program order; itself among them."""
    if not _can_be_joined(op):
        return []
    users = {use.operation for use in op.operands[0].uses}
    family = [user for user in users if isinstance(user, OnnxOp) and user.parent is op.parent and _alike(op, user)]
    return in_program_order(family)


def _alike(op: OnnxOp, other: OnnxOp) -> bool:
    """Whether two products differ in the numbers and the count of their channels only."""
    if type(other) is not type(op) or other.operands[0] is not op.operands[0] or not _can_be_joined(other):
        return False
    axis = _weight_axis(op)
    kept = [[*(static_shape(each.operands[1]) or ())] for each in (op, other)]
    for sizes in kept:
        del sizes[axis]
    same_type = constant_value(op.operands[1]).dtype == constant_value(other.operands[1]).dtype
    return kept[0] == kept[1] and same_type and _attributes(op) == _attributes(other)


def _can_be_joined(op: OnnxOp) -> bool:
    """Whether weights and bias of a product are constants that can be laid side by side."""
    weights = constant_value(op.operands[1])
    bias = constant_value(op.operands[2]) if len(op.operands) > 2 else None
    if weights is None or static_shape(op.results[0]) is None or weights.dtype.kind != "f":
        return False
    if op.op_type == "Conv" and op.attribute("group") != 1:
        return False
    if op.op_type != "Conv" and weights.ndim != 2:
        return False
    return len(op.operands) < 3 or (bias is not None and bias.shape == (_width(op),))


def _weight_axis(op: OnnxOp) -> int:
    """The axis of the weights along which the channels of the result lie."""
    return 0 if op.op_type == "Conv" else 1 - (op.attribute("transB") if op.op_type == "Gemm" else 0)


def _axis(op: OnnxOp) -> int:
    """The axis of the result along which its channels lie."""
    return 1 if op.op_type == "Conv" else len(static_shape(op.results[0]) or ()) - 1


def _width(op: OnnxOp) -> int:
    """The number of channels of the result."""
    return int(constant_value(op.operands[1]).shape[_weight_axis(op)])


def _wide(family: Sequence[OnnxOp]) -> list[Operation]:
    """The product that computes all of a family side by side, behind its constants."""
    first = family[0]
    location = fused_loc(family)
    weights = [constant_value(op.operands[1]) for op in family]
    new: list[Operation] = [make_constant(np.concatenate(weights, _weight_axis(first)), location=location)]
    if any(len(op.operands) > 2 for op in family):
        zeros = [np.zeros(_width(op), weights[0].dtype) for op in family]
        biases = [
            constant_value(op.operands[2]) if len(op.operands) > 2 else zero
            for op, zero in zip(family, zeros, strict=True)
        ]
        new.append(make_constant(np.concatenate(biases), location=location))
    shape = list(static_shape(first.results[0]) or ())
    shape[_axis(first)] = sum(map(_width, family))
    element = ranked(first.results[0])
    assert element is not None, "the shape is known"
    wide = type(first).create(
        operands=[first.operands[0], *(constant.results[0] for constant in new)],
        result_types=[tensor_type(element.element_type, tuple(shape))],
        attributes=_attributes(first),
        location=location,
    )
    return [*new, wide]


def _attributes(op: OnnxOp | None) -> dict[str, Any]:
    """The attributes that have a meaning."""
    return {} if op is None else {name: value for name, value in op.attributes.items() if "." not in name}


def _retire(ops: Sequence[OnnxOp], values: Sequence[SSAValue]) -> None:
    """Let the uses of operations use other values, and erase them with the constants that only they had."""
    operands = [operand for op in ops for operand in op.operands]
    for op, value in zip(ops, values, strict=True):
        replace_value(op.results[0], value)
        op.detach()
        op.erase()
    erase_unused(operands)


# Behind a Split


def _constant_of(user: OnnxOp | None, part: SSAValue, axis: int) -> Array | None:
    """The constant that an operation combines with a part of a split value, as wide as the part along the axis."""
    shape = static_shape(part)
    if user is None or shape is None or user.results[0].type != part.type or len(user.operands) != 2:
        return None
    position = 0 if user.operands[0] is part else 1
    if user.operands[position] is not part or (position and user.op_type in ("Sub", "Div")):
        return None
    array = constant_value(user.operands[1 - position])
    behind = len(shape) - axis
    if (
        array is None
        or array.ndim < behind
        or array.ndim > len(shape)
        or any(size != 1 for size in array.shape[:-behind])
    ):
        return None
    return np.broadcast_to(array, (*array.shape[:-behind], shape[axis], *array.shape[array.ndim - behind + 1 :]))


def _move_before(split: OnnxOp, new: Sequence[Operation], users: Sequence[OnnxOp | None]) -> None:
    """Put operations before a Split, which splits the result of the last one, and take out those behind its parts."""
    assert split.parent is not None, "operations of a graph are in a block"
    split.parent.insert_ops_before(list(new), split)
    split.operands[0] = new[-1].results[0]
    found = [user for user in users if user is not None]
    _retire(found, split.results)
    report.fused(FuseHorizontalPass.name, f"Fuse {len(found)} operators behind Split -> 1 before it", new[-1])
