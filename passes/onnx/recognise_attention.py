"""The pass `recognise-attention`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from ge.dialects.onnx import OnnxOp, constant_value, make_constant, make_op, op_class, ranked, static_shape
from ge.dialects.onnx.types import tensor_type
from ge.ir.locations import fused_loc
from ge.ir.rewriting import RewriteRule, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.graph import report
from ge.passes.onnx.attention_mask import above_lowest, is_takeable
from ge.passes.onnx.building import erase_unused, integers, producer
from ge.passes.onnx.quantised import unless_quantised

HEADS_FIRST = [0, 2, 1, 3]
"""The order of axes that makes [batch, heads, length, size] of [batch, length, heads, size], and back."""

LAST_TWO, LENGTH_LAST = [0, 1, 3, 2], [0, 2, 3, 1]
"""The orders that make the transposed key of [batch, heads, length, size], and of [batch, length, heads, size]."""


_SMALLEST = 1e-30
"""A scale that is smaller may be rounded to nothing on the way: it is a float32, and some runtimes take its root."""


@dataclass(frozen=True)
class RecogniseAttentionPass(RulePass):
    """Recognise scaled dot-product attention: softmax(q · kᵀ · scale + mask) · v.

    q is [batch, heads, length, size], k and v are [batch, heads or a divisor of them, length, size].

    1. The scale may be a factor or a divisor of the scores, of q, of k, or of several of them.
    2. A mask may be added to the scores. Where it may be the lowest number, it is cut off just above it, since runtimes
       give zeros for a row of lowest numbers and the formula does not (`ge.passes.onnx.attention_mask`).
    3. Heads of k and v that are repeated for several heads of q (Unsqueeze, Expand, Reshape) need not be.
    4. Where q, k and v are Reshapes and Transposes of [batch, length, heads · size], and the result is brought back to
       that form, or to another shape, the operator takes and gives this form itself. So does one of the model, which
       keeps its attributes, unless it takes keys and values of the past.

    Left alone: unknown sizes, since operands could be broadcast; other element types than float32, in which the
    operator rounds at other places; a mask that is not of the size of the scores in its last two axes, which the
    operator would pad and not broadcast; a mask of which nothing is known, or that may be -inf in a whole row; a
    softmax over another axis; a scale that is not constant, not positive, out of the range of float32, or of several
    elements; scores or probabilities that something else uses; empty results in another shape; what is quantised
    afterwards (`ge.passes.onnx.quantised`).
    """

    name = "recognise-attention"

    def rules(self) -> list[RewriteRule[Any]]:
        return unless_quantised([attention, packed_attention])


@dataclass
class Match:
    """What was found on the way from the result to q, k and v."""

    matched: list[OnnxOp]
    scale: float = 1.0

    def alone(self, value: SSAValue, *op_types: str) -> OnnxOp | None:
        """The operation that gives a value to one user only, when it is of one of the types; it counts as matched."""
        op = producer(value, *op_types) if value.has_one_use() else None
        if op is not None:
            self.matched.append(op)
        return op

    def unscaled(self, value: SSAValue) -> SSAValue:
        """A value without the positive constants that it is multiplied with, which go into the scale."""
        while value.has_one_use() and (op := producer(value, "Mul", "Div")) is not None:
            factor = _number(op.operands[1])
            rest = op.operands[0]
            if factor is None and op.op_type == "Mul":
                factor, rest = _number(op.operands[0]), op.operands[1]
            if factor is None or rest.type != value.type:
                break
            self.scale *= factor if op.op_type == "Mul" else 1 / factor
            self.matched.append(op)
            value = rest
        return value


@rewrite_rule(op_class("MatMul"))
def attention(op: OnnxOp) -> bool:
    """Cases 1 to 3."""
    match = Match([op])
    value = op.operands[1]
    softmax = match.alone(op.operands[0], "Softmax")
    if softmax is None or softmax.attribute("axis") not in (-1, 3) or not _has_heads(value):
        return False
    scores, mask = _masked(match, softmax.operands[0])
    product = match.alone(match.unscaled(scores), "MatMul")
    if product is None or not all(map(_has_heads, product.operands)):
        return False
    if mask is not None and not (_fits(mask, scores) and is_takeable(mask)):
        return False
    query = match.unscaled(product.operands[0])
    transpose = match.alone(match.unscaled(product.operands[1]), "Transpose")
    perm = None if transpose is None else transpose.attribute("perm")
    if transpose is None or perm not in (LAST_TWO, LENGTH_LAST):
        return False
    key = match.unscaled(transpose.operands[0])
    if not _has_heads(key) or not _SMALLEST <= match.scale <= 1 / _SMALLEST:
        return False
    shape = _sizes(key) if perm == LAST_TWO else tuple(_sizes(key)[axis] for axis in HEADS_FIRST)
    if _sizes(query)[:2] != shape[:2] or shape[:3] != _sizes(value)[:3]:
        return False
    new: list[Operation] = []
    if perm == LENGTH_LAST:
        new = [make_op("Transpose", [key], [tensor_type(f32, shape)], {"perm": HEADS_FIRST}, location=op.location)]
        key = new[0].results[0]
    single_key, single_value = _unrepeated(key), _unrepeated(value)
    if single_key is not None and single_value is not None and _sizes(single_key)[1] == _sizes(single_value)[1]:
        key, value = single_key, single_value
    cut = [] if mask is None else above_lowest(mask)
    if cut:
        mask = cut[-1].results[0]
    _put(match.matched, [*new, *cut], [query, key, value, mask], {"scale": match.scale})
    return True


@rewrite_rule(op_class("Reshape"))
def packed_attention(op: OnnxOp) -> bool:
    """Case 4."""
    match = Match([op])
    transpose = match.alone(op.operands[0], "Transpose")
    if transpose is None or transpose.attribute("perm") != HEADS_FIRST:
        return False
    inner = match.alone(transpose.operands[0], "Attention")
    if inner is None or not _may_be_packed(inner):
        return False
    inputs = inner.input_list()
    heads = [_sizes(value)[1] for value in inner.operands[:3]]
    packed = [_packed(value) for value in inner.operands[:3]]
    batch, rows, length, size = _sizes(inner.results[0])
    shape = static_shape(op.results[0])
    if None in packed or shape is None or 0 in shape:
        return False
    given = {name: inner.attribute(name) for name in inner.attributes if "." not in name}
    attributes = {**given, "q_num_heads": heads[0], "kv_num_heads": heads[1]}
    if shape != (batch, length, rows * size):
        target = make_constant(np.array(shape, np.int64))
        whole = make_op(
            "Attention", [*packed, *inputs[3:]], [tensor_type(f32, (batch, length, rows * size))], attributes
        )
        reshape = make_op("Reshape", [whole.results[0], target.results[0]], op.result_types)
        _replace(match.matched, [whole, target, reshape], whole)
    else:
        _put(match.matched, [], [*packed, *inputs[3:]], attributes)
    return True


def _put(
    matched: Sequence[OnnxOp], new: Sequence[Operation], inputs: Sequence[SSAValue | None], attributes: dict[str, Any]
) -> None:
    """Put an Attention behind ``new`` operations in the place of the first of the ``matched`` ones."""
    attention = make_op("Attention", inputs, matched[0].result_types, attributes)
    _replace(matched, [*new, attention], attention)


def _replace(matched: Sequence[OnnxOp], new: Sequence[Operation], attention: OnnxOp) -> None:
    """Put new operations in the place of the first of the ``matched`` ones, and take out what nothing uses then."""
    attention.location = fused_loc(matched[::-1])
    operands = [operand for each in matched for operand in each.operands]
    replace(matched[0], new)
    erase_unused(operands)
    report.fused(RecogniseAttentionPass.name, f"Fuse {len(matched)} operators -> Attention", attention)


def _number(value: SSAValue) -> float | None:
    """The positive number that a constant of one element holds."""
    array = constant_value(value)
    return float(array.item()) if array is not None and array.size == 1 and 0 < array.item() < math.inf else None


def _sizes(value: SSAValue) -> tuple[int, ...]:
    """The shape of a value that :func:`_has_heads`."""
    return static_shape(value) or ()


def _has_heads(value: SSAValue) -> bool:
    """Whether a value is float32 of four known sizes."""
    type = ranked(value)
    return type is not None and type.element_type == f32 and len(_sizes(value)) == 4


def _masked(match: Match, value: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """The scores in a sum of scores and mask, and the mask; the value itself and None when it is no such sum."""
    add = producer(value, "Add") if value.has_one_use() else None
    if add is None:
        return value, None
    for scores, mask in (tuple(add.operands), tuple(add.operands)[::-1]):
        if producer(Match([]).unscaled(scores), "MatMul") is not None and scores.type == value.type:
            match.matched.append(add)
            return scores, mask
    return value, None


def _fits(mask: SSAValue, scores: SSAValue) -> bool:
    """Whether the mask has the last two sizes of the scores, and sizes in front of them that broadcast to them."""
    type, large = ranked(mask), _sizes(scores)
    small = _sizes(mask)
    if type is None or type.element_type != f32 or not 2 <= len(small) <= len(large):
        return False
    batch = zip(small[-3::-1], large[-3::-1], strict=False)
    return small[-2:] == large[-2:] and all(a in (1, b) for a, b in batch)


def _unrepeated(value: SSAValue) -> SSAValue | None:
    """[batch, few heads, length, size] of which every head is repeated, in its place, to give the value."""
    reshape = producer(value, "Reshape")
    expand = None if reshape is None else producer(reshape.operands[0], "Expand")
    unsqueeze = None if expand is None else producer(expand.operands[0], "Unsqueeze")
    if expand is None or unsqueeze is None or integers(unsqueeze.operands[1]) != [2]:
        return None
    single = unsqueeze.operands[0]
    if not _has_heads(single):
        return None
    batch, heads, length, size = _sizes(value)
    few = _sizes(single)[1]
    fits = _sizes(single) == (batch, few, length, size)
    return single if fits and static_shape(expand.results[0]) == (batch, few, heads // few, length, size) else None


def _may_be_packed(op: OnnxOp) -> bool:
    """Whether an Attention has heads of known sizes, takes nothing of the past, and gives its result only."""
    if len(op.input_list()) > 4 or any(result.uses for result in op.results[1:]):
        return False
    return all(map(_has_heads, (*op.operands[:3], op.results[0])))


def _packed(value: SSAValue) -> SSAValue | None:
    """[batch, length, heads · size] of which a value is the heads."""
    transpose = producer(value, "Transpose")
    reshape = None if transpose is None else producer(transpose.operands[0], "Reshape")
    if transpose is None or reshape is None or transpose.attribute("perm") != HEADS_FIRST:
        return None
    batch, heads, length, size = _sizes(value)
    split = static_shape(reshape.results[0]) == (batch, length, heads, size)
    source = reshape.operands[0]
    return source if split and static_shape(source) == (batch, length, heads * size) else None
