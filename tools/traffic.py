"""Bytes that a module moves from and to device memory: the operands and results of everything that runs there."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ge.dialects.graph import ConstantOp, HostOp, ReshapeOp, ViewOp
from ge.dialects.om.values import value_bytes
from ge.dialects.onnx import Constant, OnnxOp

ELSEWHERE = (Constant, ConstantOp, HostOp, ViewOp, ReshapeOp, ReturnOp)
"""Operations that run on the host, or move nothing."""

VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators of the model that become views."""


def operation_bytes(op: Operation) -> int:
    """Bytes of the operands and results of an operation; values of unknown size count for nothing."""
    if isinstance(op, ELSEWHERE) or (isinstance(op, OnnxOp) and op.op_type in VIEWS):
        return 0
    return sum(value_bytes(value.type) or 0 for value in (*op.operands, *op.results))


def access_bytes(main: FuncOp) -> int:
    """What the operations of a function, or the launches of a program, move in each run at least."""
    return sum(operation_bytes(op) for op in main.body.block.ops)
