"""Reduction: the operation that combines the elements along axes into one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from ge.dialects.graph import shapes
from ge.dialects.graph.attributes import ReduceKind, ReduceKindAttr
from ge.dialects.graph.base import Ints, TensorOp, ints, like, shape_of
from ge.dialects.graph.shapes import Shape


@irdl_op_definition
class ReduceOp(TensorOp):
    """The elements along `axes` combined into one: their sum, mean, maximum, minimum, or sum of squares.

    The axes stay with size 1; a `graph.reshape` takes them away. They are counted from the front, in order. Sums are
    taken in float32 and rounded once, in an order that the kernel chooses; NaN among the elements gives NaN.
    """

    name = "graph.reduce"

    kind = prop_def(ReduceKindAttr)
    x = operand_def(TensorType)
    y = result_def(TensorType)
    axes = prop_def(Ints)

    traits = traits_def(Pure())

    assembly_format = "$kind $x `axes` $axes attr-dict `:` functional-type(operands, results)"

    def __init__(self, kind: ReduceKind | str, x: SSAValue | Operation, axes: Sequence[int]) -> None:
        x = SSAValue.get(x)
        super().__init__(
            operands=[x],
            properties={"kind": ReduceKindAttr(ReduceKind(kind)), "axes": ints(axes)},
            result_types=[like(x, shapes.reduce(shape_of(x), axes))],
        )

    def infer_shape(self) -> Shape:
        return shapes.reduce(shape_of(self.x), self.axes.get_values())
