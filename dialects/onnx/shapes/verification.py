"""The check of one operation against its shape rule."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.ops import Constant, yielded
from ge.dialects.onnx.shapes.inference import contradiction, infer_operation, node_of
from ge.dialects.onnx.shapes.types import value_of_constant, value_of_type
from ge.dialects.onnx.shapes.values import Value, contradict
from ge.ir.errors import GeError


def check_shapes(op: OnnxOp) -> None:
    """Compare the types of results with what the rule of the operator infers from the types of the operands.

    Raises GE3016 for a result whose type cannot be, and GE3015 for operands that cannot go together. The latter is no
    error in a branch of an `If`, which may be there for other shapes than it is ever reached with, nor as long as the
    operation is in no function, when it may still come to be in such a branch.
    """

    def region(name: str, arguments: Sequence[Value]) -> Sequence[Value]:
        return [value_of_type(value.type) for value in yielded(op.region(name).block)]

    node = node_of(op, [None if value is None else _stated(value) for value in op.input_list()])
    node.region = region
    try:
        found = infer_operation(op, node)
    except GeError:
        if _may_not_run(op):
            return
        raise
    if found is None:
        return
    values, rule = found
    for result, inferred in zip(op.results, values, strict=True):
        stated = value_of_type(result.type)
        if contradict(inferred, stated):
            raise contradiction(op, result, stated, inferred, rule)


def _stated(value: SSAValue) -> Value:
    owner = value.owner
    if isinstance(owner, Constant):
        return value_of_constant(owner.attributes["value"], value.type)
    return value_of_type(value.type)


def _may_not_run(op: OnnxOp) -> bool:
    """Whether an operation is inside of an `If`, or may come to be."""
    parent = op.parent_op()
    while isinstance(parent, OnnxOp):
        if parent.op_type == "If":
            return True
        parent = parent.parent_op()
    return parent is None
