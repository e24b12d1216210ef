"""The pass `constant-fold`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.onnx import (
    ABSENT,
    STRING,
    Constant,
    Custom,
    OnnxOp,
    constant_value,
    make_constant,
    ranked,
    static_shape,
)
from ge.dialects.onnx.meaning import run_op
from ge.dialects.onnx.shapes.inference import infer_operation, node_of
from ge.dialects.onnx.shapes.types import value_of_constant
from ge.dialects.onnx.shapes.values import Tensor, Value
from ge.ir.constants import numpy_dtype
from ge.ir.errors import GeError
from ge.ir.functions import update_type
from ge.ir.rewriting import erase_if_unused, permit, replace
from ge.passes.onnx.building import is_output, producer
from ge.passes.onnx.inline_if import constant_condition
from ge.passes.onnx.settled import is_settled

WEIGHT_READERS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul", "BatchNormalization"})
"""Operators that need constants as constants: what they read is folded whatever its size."""

_STRING_BYTES = 16
"""What a string counts for; its length is not looked at."""


@dataclass(frozen=True)
class ConstantFoldPass(ModulePass):
    """Replace operations by their results where these are known.

    1. All operands are constants: computed by `ge.dialects.onnx.meaning`, in the types of the operation.
    2. `Shape` and `Size` of a value whose shape is known, and `Gather` of a known dimension from a `Shape`.
    3. `If` with a constant condition: the branch takes its place.

    Left alone: operators whose results differ from run to run, operators of other domains, `Loop` and the like; results
    that are larger than their operands by more than `max_growth` bytes (an `Expand` or `ConstantOfShape` costs less at
    run time than in the model), unless they end as a weight of a convolution or matrix product; results of more than
    `max_bytes`; `DequantizeLinear` of the weights of a product of which the other operand is dequantised, too, which is
    a product of 8-bit integers then; operations that fail, which will do so at run time when they are reached;
    operations of which runtimes differ (`settled`): an integer division by zero, a cast of a float to an integer that
    does not hold it, the maximum of numbers and NaN, a quantisation of NaN.
    """

    name = "constant-fold"

    max_growth: int = 2**20
    max_bytes: int = 2**30

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_constants(op, self.max_growth, self.max_bytes)


def fold_constants(root: Operation, max_growth: int, max_bytes: int) -> bool:
    """Fold in program order, so that one visit follows chains to their end. Whether anything changed."""
    changed = False
    for op in list(root.walk()):
        if not isinstance(op, OnnxOp) or op.parent is None or isinstance(op, Constant | Custom):
            continue
        if op.op_type == "If":
            changed |= constant_condition(op)
            continue
        arrays = _known_results(op, max_growth, max_bytes)
        if arrays is None or not permit("constant-fold", op):
            continue
        constants = [None if array is None else make_constant(array, location=op.location) for array in arrays]
        operands, function = [operand.owner for operand in op.operands], op.parent_op()
        is_last = any(map(is_output, op.results))
        new_ops = [constant for constant in constants if constant is not None]
        replace(op, new_ops, [None if constant is None else constant.results[0] for constant in constants])
        _erase_unused(operands)
        if is_last and isinstance(function, FuncOp):  # the size of an output may not have been known
            update_type(function)
        changed = True
    return changed


def _erase_unused(owners: Sequence[Operation | Block]) -> None:
    for owner in dict.fromkeys(owners):
        if isinstance(owner, Constant):
            erase_if_unused(owner)


def _known_results(op: OnnxOp, max_growth: int, max_bytes: int) -> list[Any] | None:
    """The results of an operation, None for an absent one; None when they are not known or shall not be folded."""
    if (known := _SHAPE_RULES.get(op.op_type)) is not None and not op.domain and (array := known(op)) is not None:
        return [array]
    if (
        not all(isinstance(value.owner, Constant) for value in op.operands)
        or op.regions
        or op.is_random
        or _is_read_with_integers(op)
    ):
        return None
    if not all(ranked(result) is not None or result.type == ABSENT for result in op.results):
        return None
    inputs = [constant_value(value) for value in op.input_list()]
    try:
        if not _is_small_enough(op, inputs, max_growth, max_bytes) or not is_settled(op, inputs):
            return None
        return run_op(op, inputs)
    except GeError:
        return None


def _is_read_with_integers(op: OnnxOp) -> bool:
    """Whether an operation scales the weights of a product of quantised values: that may be one of integers."""
    if op.op_type != "DequantizeLinear":
        return False
    users = [use.operation for result in op.results for use in result.uses]
    products = [user for user in users if isinstance(user, OnnxOp) and user.op_type in WEIGHT_READERS]
    return any(producer(user.operands[0], "DequantizeLinear") not in (None, op) for user in products)


def _is_small_enough(op: OnnxOp, inputs: Sequence[Any], max_growth: int, max_bytes: int) -> bool:
    """Whether the results of an operation are small enough to be folded."""
    size = _result_bytes(op, inputs)
    operands = dict(zip(op.input_list(), inputs, strict=True))  # one that is used twice is there once
    grown = max_growth + sum(0 if array is None else array.nbytes for array in operands.values())
    return size <= max_bytes and (size <= grown or _is_read_as_weight(op))


def _is_read_as_weight(op: OnnxOp) -> bool:
    """Whether a result ends, directly or through operations on constants, in an operator that needs a constant."""
    pending: list[SSAValue] = list(op.results)
    while pending:
        value = pending.pop()
        for user in dict.fromkeys(use.operation for use in value.uses):  # once each: chains of them would double
            if not isinstance(user, OnnxOp) or user.domain:
                continue
            if user.op_type in WEIGHT_READERS:
                return True
            if all(isinstance(operand.owner, Constant) for operand in user.operands if operand is not value):
                pending += user.results
    return False


def _result_bytes(op: OnnxOp, inputs: Sequence[Any]) -> int:
    """The size of the results at most: from their types, or from the operands where the types do not tell."""
    total = 0
    for index, result in enumerate(op.results):
        type = ranked(result)
        if type is not None:
            shape = static_shape(type) or _inferred_shape(op, index) or _size_of_operands(inputs)
            item = _STRING_BYTES if type.element_type == STRING else numpy_dtype(type.element_type).itemsize
            total += math.prod(shape) * item
    return total


def _inferred_shape(op: OnnxOp, index: int) -> Sequence[int] | None:
    """The shape of a result that the rule of the operator infers from constant operands, when it is all numbers."""
    found = infer_operation(op, node_of(op, [_known(value) for value in op.input_list()]))
    known = None if found is None else found[0][index]
    if not isinstance(known, Tensor) or known.shape is None:
        return None
    sizes = [dim for dim in known.shape if isinstance(dim, int)]
    return sizes if len(sizes) == len(known.shape) else None


def _known(value: SSAValue | None) -> Value | None:
    """What shape rules look at of a constant operand."""
    owner = None if value is None else value.owner
    if value is None or not isinstance(owner, Constant):
        return None
    return value_of_constant(owner.attributes["value"], value.type)


def _size_of_operands(inputs: Sequence[Any]) -> Sequence[int]:
    """The most elements of a result whose size depends on data, as of `NonZero`: a position for each element."""
    sizes = [array.size * max(array.ndim, 1) for array in inputs if array is not None]
    return [max(sizes, default=1)]


# Shapes


def _shape(op: OnnxOp) -> Any:
    shape = _slice_of_shape(op)
    return None if shape is None or DYNAMIC_INDEX in shape else np.array(shape, np.int64)


def _slice_of_shape(op: OnnxOp) -> Sequence[int] | None:
    """The dimensions that a `Shape` operation gives; unknown ones are DYNAMIC_INDEX."""
    type = ranked(op.operands[0])
    return None if type is None else type.get_shape()[op.attribute("start") : op.attribute("end")]


def _size(op: OnnxOp) -> Any:
    shape = static_shape(op.operands[0])
    return None if shape is None else np.array(math.prod(shape), np.int64)


def _gather(op: OnnxOp) -> Any:
    shape_op, indices = op.operands[0].owner, constant_value(op.operands[1])
    if not isinstance(shape_op, OnnxOp) or shape_op.op_type != "Shape" or indices is None:
        return None
    shape = _slice_of_shape(shape_op)
    if shape is None or not all(-len(shape) <= index < len(shape) for index in indices.reshape(-1)):
        return None
    dims = np.array(shape, np.int64)[indices]
    return None if (dims == DYNAMIC_INDEX).any() else np.asarray(dims)


_SHAPE_RULES: Mapping[str, Any] = {"Shape": _shape, "Size": _size, "Gather": _gather}
