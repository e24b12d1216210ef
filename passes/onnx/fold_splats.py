"""The pass `fold-splats`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ge.dialects.onnx import OnnxOp, constant_value, op_class, ranked, static_shape
from ge.dialects.onnx.meaning import run_op
from ge.dialects.onnx.types import type_code
from ge.ir.errors import GeError
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import producer, take_place
from ge.passes.onnx.settled import is_settled
from ge.passes.onnx.sink_cast import MOVEMENTS
from ge.passes.onnx.transposable import ELEMENTWISE


@dataclass(frozen=True)
class FoldSplatsPass(RulePass):
    """Compute with the one value of a tensor that has the same everywhere, which stays a `ConstantOfShape`.

    1. Element by element on a `ConstantOfShape`, and on constants of one element: a `ConstantOfShape` of the result.
    2. Elements of a `ConstantOfShape` moved into a known shape: a `ConstantOfShape` of that.

    `constant-fold` leaves large tensors of this kind alone; here they stay as small as they are.

    Left alone: two tensors of unknown shape, which may broadcast; constants of several elements; constants with more
    axes than the tensor, or with any where it is not known how many that has; results of which runtimes differ, or of a
    type that `ConstantOfShape` does not have; `Identity`, and moving into unknown shapes.
    """

    name = "fold-splats"

    def rules(self) -> list[RewriteRule[Any]]:
        return [compute, move]


@rewrite_rule(*(op_class(name) for name in sorted(ELEMENTWISE - {"Identity"})))
def compute(op: OnnxOp) -> bool:
    """Case 1."""
    splats = [value for value in dict.fromkeys(op.operands) if producer(value, "ConstantOfShape") is not None]
    if len(splats) != 1 or not all(value is splats[0] or _is_one(value) for value in op.operands):
        return False
    rank = 0 if (type := ranked(splats[0])) is None else type.get_num_dims()
    if any(value is not splats[0] and _rank(value) > rank for value in op.operands):
        return False
    inputs = [None if value is None else _element(value) for value in op.input_list()]
    if not is_settled(op, inputs):
        return False
    try:
        (result,) = run_op(op, inputs)
    except GeError:
        return False
    splat = producer(splats[0], "ConstantOfShape")
    return splat is not None and _take_place(op, splat.operands[0], result)


@rewrite_rule(*(op_class(name) for name in sorted(MOVEMENTS - {"Identity", "Gather", "GatherElements", "GatherND"})))
def move(op: OnnxOp) -> bool:
    """Case 2."""
    shape = static_shape(op.results[0])
    if producer(op.operands[0], "ConstantOfShape") is None or shape is None or not shape:
        return False
    return _take_place(op, list(shape), _element(op.operands[0]))


def _rank(value: SSAValue) -> float:
    """The number of axes of a value, infinite when it is not known."""
    type = ranked(value)
    return math.inf if type is None else type.get_num_dims()


def _is_one(value: SSAValue) -> bool:
    array = constant_value(value)
    return array is not None and array.size == 1


def _element(value: SSAValue) -> Any:
    """The value of all elements of a constant or `ConstantOfShape`, without axes."""
    splat = producer(value, "ConstantOfShape")
    array = constant_value(value) if splat is None else splat.attribute("value")
    return np.zeros((), np.float32) if array is None else np.asarray(array).reshape(())


def _take_place(op: OnnxOp, shape: SSAValue | list[int], element: Any) -> bool:
    types = op_class("ConstantOfShape").OPERATOR
    if type_code(op.results[0].type) not in types.type_set(types.outputs[0]):
        return False
    take_place(op, "ConstantOfShape", [shape], {"value": np.asarray(element).reshape(1)})
    return True
