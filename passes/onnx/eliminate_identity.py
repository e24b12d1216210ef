"""The pass `eliminate-identity`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from ge.dialects.onnx import UNKNOWN, OnnxOp, constant_value, op_class, ranked, static_shape
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import axes_of, bypass, integers, take_place

_SAME_TYPE = tuple(map(op_class, ("Cast", "CastLike", "Expand", "Flatten", "Reshape", "Squeeze", "Unsqueeze")))
"""Operators that do nothing when the result has the type of the operand."""

_SINGLE = tuple(map(op_class, ("Concat", "Max", "Mean", "Min", "Split", "Sum")))
"""Operators that do nothing to a single operand that becomes a single result."""

_POOLS = tuple(map(op_class, ("AveragePool", "MaxPool")))
_GLOBAL_POOLS = tuple(map(op_class, ("GlobalAveragePool", "GlobalMaxPool")))
_REDUCTIONS = tuple(map(op_class, ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")))
"""Reductions that give the one element they are given."""

_BEHIND_ALL = 2**31 - 1
"""Where a slice ends that exporters mean to go as far as the axis; no axis is as long."""


@dataclass(frozen=True)
class EliminateIdentityPass(RulePass):
    """Let the users of an operation that changes nothing use its operand.

    1. `Identity`.
    2. `Dropout` outside training, when its mask is not used.
    3. `Reshape`, `Expand`, `Flatten`, `Squeeze`, `Unsqueeze` to the shape, and `Cast`, `CastLike` to the type, that the
       value has; with unknown dimensions: a `Reshape` that names all dimensions but one, an `Expand` to ones, a
       `Flatten` of a matrix, a cast.
    4. `Transpose` that keeps the order of the axes.
    5. `Pad` by nothing, `Tile` once, `Resize` by a factor of one, and `Slice` of everything, in steps of one.
    6. `Concat`, `Sum`, `Mean`, `Max` and `Min` of one operand, `Split` into one part.
    7. Pooling by windows of one element, in steps of one, and global pooling of one element.
    8. `ReduceMax`, `Mean`, `Min`, `Prod` and `Sum` over no axes, or over axes of one element, which become a `Squeeze`
       when they go.
    9. `Where` with a constant condition that is true, or false, everywhere, or with two times the same value.

    Left alone: an operation that gives an output of the model when its operand is an input, a constant, or an output
    already (the output needs a name and memory of its own); `Dropout` in training mode or with a mask that is used; a
    `Reshape` between equal types with unknown dimensions, which may still exchange them; a `Slice` that reverses; a
    `Resize` that crops; pooling with padding; a `Where` that broadcasts.
    """

    name = "eliminate-identity"

    def rules(self) -> list[RewriteRule[Any]]:
        return [
            *(identity, dropout, same_type, reshape, expand, flatten, transpose),
            *(pad, tile, resize, slice_all, single, pool, global_pool, reduction, where),
        ]


@rewrite_rule(op_class("Identity"))
def identity(op: OnnxOp) -> bool:
    """Case 1."""
    return bypass(op, op.operands[0])


@rewrite_rule(op_class("Dropout"))
def dropout(op: OnnxOp) -> bool:
    """Case 2."""
    if len(op.results) > 1 and op.results[1].uses:
        return False
    training = op.operand("training_mode")
    if training is not None:
        known = constant_value(training)
        if known is None or known.item():
            return False
    return bypass(op, op.operands[0])


@rewrite_rule(*_SAME_TYPE)
def same_type(op: OnnxOp) -> bool:
    """Case 3, static shapes, and casts of any shape."""
    if op.op_type in ("Cast", "CastLike"):
        return op.operands[0].type == op.results[0].type != UNKNOWN and bypass(op, op.operands[0])
    return _keeps_static_type(op) and bypass(op, op.operands[0])


@rewrite_rule(op_class("Reshape"))
def reshape(op: OnnxOp) -> bool:
    """Case 3: the elements are as many as before, so when all sizes but one stay, all do."""
    shape, type = integers(op.operands[1]), ranked(op.operands[0])
    if shape is None or type is None or len(shape) != type.get_num_dims():
        return False
    copied = 0 if op.attribute("allowzero") else None
    kept = [(size == 0 and copied is None) or size == old for size, old in zip(shape, type.get_shape(), strict=True)]
    kept = [known and size != -1 for known, size in zip(kept, shape, strict=True)]
    return sum(kept) >= len(kept) - 1 and shape.count(-1) == kept.count(False) and bypass(op, op.operands[0])


@rewrite_rule(op_class("Expand"))
def expand(op: OnnxOp) -> bool:
    """Case 3: a shape of ones asks for nothing, unless it adds axes."""
    shape, type = integers(op.operands[1]), ranked(op.operands[0])
    if shape is None or type is None or len(shape) > type.get_num_dims() or set(shape) - {1}:
        return False
    return bypass(op, op.operands[0])


@rewrite_rule(op_class("Flatten"))
def flatten(op: OnnxOp) -> bool:
    """Case 3: a matrix, flattened before its second axis."""
    type = ranked(op.operands[0])
    return (
        type is not None and type.get_num_dims() == 2 and op.attribute("axis") in (1, -1) and bypass(op, op.operands[0])
    )


@rewrite_rule(op_class("Transpose"))
def transpose(op: OnnxOp) -> bool:
    """Case 4."""
    type = ranked(op.operands[0])
    if type is None:
        return False
    axes = list(range(type.get_num_dims()))
    return op.attribute("perm", axes[::-1]) == axes and bypass(op, op.operands[0])


@rewrite_rule(op_class("Pad"))
def pad(op: OnnxOp) -> bool:
    """Case 5, padding."""
    pads = integers(op.operand("pads"))
    return pads is not None and not any(pads) and bypass(op, op.operands[0])


@rewrite_rule(op_class("Tile"))
def tile(op: OnnxOp) -> bool:
    """Case 5, repeating."""
    repeats = integers(op.operand("repeats"))
    return repeats is not None and set(repeats) <= {1} and bypass(op, op.operands[0])


@rewrite_rule(op_class("Resize"))
def resize(op: OnnxOp) -> bool:
    """Case 5, resizing: every mode takes the element itself when each position is mapped to itself."""
    if op.attribute("coordinate_transformation_mode") == "tf_crop_and_resize":
        return False
    scales = constant_value(op.operand("scales"))
    if op.operand("sizes") is None and (scales is None or (scales != 1).any()):
        return False
    return _keeps_static_type(op) and bypass(op, op.operands[0])


@rewrite_rule(op_class("Slice"))
def slice_all(op: OnnxOp) -> bool:
    """Case 5, slices: from the first element to the last, and no axis is walked backwards."""
    steps = op.operand("steps")
    if steps is not None:
        known = integers(steps)
        if known is None or set(known) - {1}:
            return False
    starts, ends = integers(op.operand("starts")), integers(op.operand("ends"))
    whole = starts is not None and ends is not None and not any(starts) and all(end >= _BEHIND_ALL for end in ends)
    return (whole or _keeps_static_type(op)) and bypass(op, op.operands[0])


@rewrite_rule(*_SINGLE)
def single(op: OnnxOp) -> bool:
    """Case 6."""
    if len(op.results) > 1 or (len(op.operands) > 1 and op.op_type != "Split"):
        return False
    return op.operands[0].type == op.results[0].type and bypass(op, op.operands[0])


@rewrite_rule(*_POOLS)
def pool(op: OnnxOp) -> bool:
    """Case 7, windows."""
    ones = all(set(op.attribute(name) or [1]) == {1} for name in ("kernel_shape", "strides"))
    if not ones or any(op.attribute("pads") or []) or any(result.uses for result in op.results[1:]):
        return False
    return bypass(op, op.operands[0])


@rewrite_rule(*_GLOBAL_POOLS)
def global_pool(op: OnnxOp) -> bool:
    """Case 7, all at once."""
    type = ranked(op.operands[0])
    return type is not None and set(type.get_shape()[2:]) <= {1} and bypass(op, op.operands[0])


@rewrite_rule(*_REDUCTIONS)
def reduction(op: OnnxOp) -> bool:
    """Case 8."""
    type = ranked(op.operands[0])
    if type is None:
        return False
    shape = type.get_shape()
    axes = [] if op.operand("axes") is None else axes_of(op.operand("axes"), len(shape))
    if axes is None:
        return False
    if not axes and not op.attribute("noop_with_empty_axes"):
        axes = list(range(len(shape)))
    if any(shape[axis] != 1 for axis in axes):
        return False
    if not axes or op.attribute("keepdims"):
        return bypass(op, op.operands[0])
    take_place(op, "Squeeze", [op.operands[0], sorted(axes)])
    return True


@rewrite_rule(op_class("Where"))
def where(op: OnnxOp) -> bool:
    """Case 9."""
    condition = constant_value(op.operands[0])
    chosen: SSAValue | None = None
    if op.operands[1] is op.operands[2]:
        chosen = op.operands[1]
    elif condition is not None and condition.size and condition.all() == condition.any():
        chosen = op.operands[1] if condition.all() else op.operands[2]
    if chosen is None or chosen.type != op.results[0].type or static_shape(chosen) is None:
        return False
    return bypass(op, chosen)


def _keeps_static_type(op: OnnxOp) -> bool:
    return op.operands[0].type == op.results[0].type and static_shape(op.operands[0]) is not None
