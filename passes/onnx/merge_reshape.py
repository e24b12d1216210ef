"""The pass `merge-reshape`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ge.dialects.onnx import OnnxOp, op_class, ranked, static_shape
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import axes_of, integers, producer, take_place

RESHAPES = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")
"""Operators that keep the elements in their order."""


@dataclass(frozen=True)
class Axis:
    """The size of an axis of the value that a chain begins with."""

    index: int


@dataclass(frozen=True)
class Rest:
    """What is left of the number of elements when all other sizes are known."""

    fails: bool
    """Whether the chain fails, too, when one of the other sizes is zero, and nothing tells what is left."""


Size: TypeAlias = "int | Axis | Rest"


@dataclass(frozen=True)
class MergeReshapePass(RulePass):
    """Make one `Reshape` of several operations that keep the elements in their order.

    1. `Reshape`, `Squeeze`, `Unsqueeze` and `Flatten` after one of these, when the sizes of the result are numbers,
       sizes of the first value at the same place (a 0 in the shape), and at most one other (a -1). What is in front of
       a `Reshape` to a constant shape without zeros need not be known.
    2. `Transpose` that only moves axes of one element, before or after one of these.

    A 0 in the shape of a `Reshape` stands for a size of its own operand, so it is followed through the chain.

    Left alone: shapes that are not constant; results with two sizes that the first value does not tell; empty values
    and `allowzero`; a `Transpose` on its own. A value in between that something else uses, too, stays for that use.
    """

    name = "merge-reshape"

    def rules(self) -> list[RewriteRule[Any]]:
        return [merge, transpose]


@rewrite_rule(*map(op_class, RESHAPES))
def merge(op: OnnxOp) -> bool:
    """Case 1."""
    inner = producer(op.operands[0], *RESHAPES)
    if inner is None:
        return False
    source = inner.operands[0]
    shape = _target(_sizes(op, _sizes(inner, _axes(source))))
    if shape is None:
        return False
    take_place(op, "Reshape", [source, shape], fused=[inner])
    return True


@rewrite_rule(op_class("Transpose"))
def transpose(op: OnnxOp) -> bool:
    """Case 2."""
    source, type = op.operands[0], ranked(op.operands[0])
    users = [use.operation for use in op.results[0].uses]
    beside = producer(source, *RESHAPES) or any(isinstance(user, OnnxOp) and user.op_type in RESHAPES for user in users)
    if type is None or not beside:
        return False
    shape = type.get_shape()
    if 0 in shape or shape.count(DYNAMIC_INDEX) > 1:
        return False
    perm = op.attribute("perm", list(range(len(shape)))[::-1])
    moved = [axis for axis in perm if shape[axis] != 1]
    if moved != sorted(moved):
        return False
    target: list[int] = [-1 if shape[axis] == DYNAMIC_INDEX else shape[axis] for axis in perm]
    take_place(op, "Reshape", [source, target])
    return True


def _axes(value: SSAValue) -> list[Size] | None:
    """The sizes of a value: numbers, or its own axes."""
    type = ranked(value)
    if type is None:
        return None
    return [Axis(index) if size == DYNAMIC_INDEX else size for index, size in enumerate(type.get_shape())]


def _sizes(op: OnnxOp, sizes: Sequence[Size] | None) -> list[Size] | None:
    """The sizes of the result of an operation on a value of the given sizes; None when they are not known."""
    if (known := static_shape(op.results[0])) is not None:
        return list(known)
    found = _computed_sizes(op, sizes)
    type = ranked(op.results[0])
    if found is None or type is None:
        return found
    return [a if b == DYNAMIC_INDEX else b for a, b in zip(found, type.get_shape(), strict=True)]


def _computed_sizes(op: OnnxOp, sizes: Sequence[Size] | None) -> list[Size] | None:
    if op.op_type == "Reshape":
        return _reshaped(op, sizes)
    if sizes is None:
        return None
    match op.op_type:
        case "Flatten":
            axis = op.attribute("axis") % (len(sizes) or 1)
            return [sizes[0], Rest(fails=False)] if axis == 1 and len(sizes) > 1 else None
        case "Squeeze":
            axes = axes_of(op.operand("axes"), len(sizes))
            return None if axes is None else [size for axis, size in enumerate(sizes) if axis not in axes]
        case _:
            return _unsqueezed(op, sizes)


def _reshaped(op: OnnxOp, sizes: Sequence[Size] | None) -> list[Size] | None:
    shape = integers(op.operands[1])
    if shape is None or op.attribute("allowzero") or (sizes is None and 0 in shape):
        return None
    found: list[Size] = []
    for index, size in enumerate(shape):
        copied = None if sizes is None else sizes[index] if index < len(sizes) else None
        found.append(Rest(fails=True) if size == -1 else copied if size == 0 and copied is not None else size)
    return found


def _unsqueezed(op: OnnxOp, sizes: Sequence[Size]) -> list[Size] | None:
    axes = integers(op.operand("axes"))
    rank = len(sizes) + len(axes or ())
    if axes is None or any(not -rank <= axis < rank for axis in axes):
        return None
    rest = iter(sizes)
    new = {axis % rank for axis in axes}
    return [1 if axis in new else next(rest) for axis in range(rank)]


def _target(sizes: Sequence[Size] | None) -> list[int] | None:
    """The shape for a `Reshape` of the first value, or None when there is none.

    An axis that is copied may be empty, and then nothing tells what a -1 stands for: there is none beside it, unless
    the chain would fail, too.
    """
    if sizes is None or 0 in sizes:
        return None
    shape = [size if isinstance(size, int) else 0 if size == Axis(index) else -1 for index, size in enumerate(sizes)]
    as_before = Rest(fails=True) in sizes
    return None if shape.count(-1) > 1 or (-1 in shape and 0 in shape and not as_before) else shape
