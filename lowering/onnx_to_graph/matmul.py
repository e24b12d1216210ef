"""Matrix products."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from ge.dialects.graph.attributes import BinaryKind
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.compute import BinaryOp, MatmulOp
from ge.dialects.graph.constants import dtype_of
from ge.dialects.graph.movement import TransposeOp
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.rules import Emitter, Results, Rules, feature, is_feature, known, scalar_like
from ge.maths.floats import fits_type, round_to_type


def matmul(op: OnnxOp, emit: Emitter) -> Results:
    """MatMul; a vector operand is a matrix with one row (left) or one column (right).

    Many rows that are a matrix each, times one matrix, are one matrix of rows.
    """
    a, b = op.operands
    if not is_feature(a) or not is_feature(b):
        return None
    if len(shape_of(a)) == 1:
        a = emit.reshape(a, (1, *shape_of(a)))
    if len(shape_of(b)) == 1:
        b = emit.reshape(b, (*shape_of(b), 1))
    *matrices, rows, columns = shape_of(a)
    if rows == 1 and len(shape_of(b)) == 2 and len(matrices) > 0:
        a = emit.reshape(a, (math.prod(matrices), columns))
    return emit.reshape(emit.add(MatmulOp(a, b)), shape_of(op.results[0]))


def gemm(op: OnnxOp, emit: Emitter) -> Results:
    """Gemm, `alpha · a · b + beta · c`: constants are folded into the weights and the bias, the rest is explicit."""
    a, b, c = feature(op, "A"), feature(op, "B"), op.operand("C")
    if a is None or b is None or (c is not None and not is_feature(c)):
        return None
    alpha = op.attribute("alpha")
    if op.attribute("transA"):
        a = _transposed(emit, a)
    weights = known(b)
    if op.attribute("transB"):
        b = _transposed(emit, b)
        weights = None if weights is None else weights.T
    scaled = None if weights is None or alpha == 1.0 else weights.astype(np.float64) * alpha
    if weights is not None and scaled is not None and fits_type(scaled, weights.dtype):
        b, alpha = emit.constant(round_to_type(scaled, weights.dtype)), 1.0
    bias = _scaled(emit, c, op.attribute("beta"))
    if alpha == 1.0 and (vector := _as_bias(emit, bias, shape_of(b)[1])) is not None:
        return emit.add(MatmulOp(a, b, vector))
    y = emit.add(MatmulOp(a, b))
    if alpha != 1.0:
        y = emit.add(BinaryOp(BinaryKind.MUL, y, emit.constant(scalar_like(y, alpha))))
    return y if bias is None else emit.add(BinaryOp(BinaryKind.ADD, y, bias))


def _transposed(emit: Emitter, matrix: SSAValue) -> SSAValue:
    """A matrix transposed, beforehand if it is constant."""
    array = known(matrix)
    return emit.add(TransposeOp(matrix, (1, 0))) if array is None else emit.constant(np.ascontiguousarray(array.T))


def _scaled(emit: Emitter, c: SSAValue | None, beta: float) -> SSAValue | None:
    """`beta · c`, beforehand if `c` is constant; None when there is nothing to add."""
    if c is None or beta == 0.0:
        return None
    if beta == 1.0:
        return c
    array = known(c)
    if array is not None:
        return emit.constant(round_to_type(array.astype(np.float64) * beta, dtype_of(c)))
    return emit.add(BinaryOp(BinaryKind.MUL, c, emit.constant(scalar_like(c, beta))))


def _as_bias(emit: Emitter, c: SSAValue | None, columns: int) -> SSAValue | None:
    """A constant that adds the same row to every row, as a vector of all `columns`; None for any other addend."""
    array = known(c)
    if array is None or (array.ndim == 2 and array.shape[0] != 1) or array.ndim > 2:
        return None
    row = np.broadcast_to(array.reshape(-1), (columns,))
    return c if c is not None and shape_of(c) == (columns,) else emit.constant(np.ascontiguousarray(row))


RULES: Rules = {"MatMul": matmul, "Gemm": gemm}
