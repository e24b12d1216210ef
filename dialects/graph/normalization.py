"""Operations that normalise: batches with given statistics, rows, neighbouring channels; and softmax."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, TensorType, UnitAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from ge.dialects.graph import shapes
from ge.dialects.graph.base import Int, TensorOp, int_attr, shape_of
from ge.dialects.graph.shapes import Shape


@irdl_op_definition
class BatchNormOp(TensorOp):
    """Normalisation with fixed statistics: `y = (x - mean) / √(var + epsilon) · scale + bias`, per channel (axis 1)."""

    name = "graph.batch_norm"

    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    bias = operand_def(TensorType)
    mean = operand_def(TensorType)
    var = operand_def(TensorType)
    y = result_def(TensorType)
    epsilon = prop_def(FloatAttr.constr(f32))

    traits = traits_def(Pure())

    assembly_format = (
        "$x `,` $scale `,` $bias `,` $mean `,` $var `epsilon` $epsilon attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self, x: SSAValue, scale: SSAValue, bias: SSAValue, mean: SSAValue, var: SSAValue, epsilon: float = 1e-5
    ) -> None:
        super().__init__(
            operands=[x, scale, bias, mean, var],
            properties={"epsilon": FloatAttr(epsilon, f32)},
            result_types=[x.type],
        )

    def infer_shape(self) -> Shape:
        vectors = (self.scale, self.bias, self.mean, self.var)
        return shapes.batch_norm(shape_of(self.x), *(shape_of(vector) for vector in vectors))


@irdl_op_definition
class SoftmaxOp(TensorOp):
    """`y = e^(x - max x) / Σ e^(x - max x)` along `axis`; with `log`, the logarithm of that."""

    name = "graph.softmax"

    x = operand_def(TensorType)
    y = result_def(TensorType)
    axis = prop_def(Int)
    log = opt_prop_def(UnitAttr)

    traits = traits_def(Pure())

    assembly_format = "$x `axis` $axis (`log` $log^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, axis: int, *, log: bool = False) -> None:
        x = SSAValue.get(x)
        super().__init__(
            operands=[x],
            properties={"axis": int_attr(axis), "log": UnitAttr() if log else None},
            result_types=[x.type],
        )

    def infer_shape(self) -> Shape:
        return shapes.axis_of(shape_of(self.x), self.axis.value.data)


@irdl_op_definition
class LayerNormOp(TensorOp):
    """Normalisation of rows: `y = (x - mean) / √(var + epsilon) · scale + bias`, mean and variance of the last axis.

    `x` is [..., L], `scale` and `bias` [L]; sums are taken in float32.
    """

    name = "graph.layer_norm"

    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    bias = operand_def(TensorType)
    y = result_def(TensorType)
    epsilon = prop_def(FloatAttr.constr(f32))

    traits = traits_def(Pure())

    assembly_format = "$x `,` $scale `,` $bias `epsilon` $epsilon attr-dict `:` functional-type(operands, results)"

    def __init__(
        self, x: SSAValue | Operation, scale: SSAValue | Operation, bias: SSAValue | Operation, epsilon: float = 1e-5
    ) -> None:
        x = SSAValue.get(x)
        super().__init__(
            operands=[x, scale, bias],
            properties={"epsilon": FloatAttr(epsilon, f32)},
            result_types=[x.type],
        )

    def infer_shape(self) -> Shape:
        return shapes.layer_norm(shape_of(self.x), shape_of(self.scale), shape_of(self.bias))


@irdl_op_definition
class LrnOp(TensorOp):
    """Local response normalisation of [N, C, ...]: `y = x / (bias + alpha/size · s)^beta`.

    s at channel c is the sum of squares over channels c - ⌊(size-1)/2⌋ to c + ⌈(size-1)/2⌉.
    """

    name = "graph.lrn"

    x = operand_def(TensorType)
    y = result_def(TensorType)
    size = prop_def(Int)
    alpha = prop_def(FloatAttr.constr(f32))
    beta = prop_def(FloatAttr.constr(f32))
    bias = prop_def(FloatAttr.constr(f32))

    traits = traits_def(Pure())

    assembly_format = (
        "$x `size` $size `alpha` $alpha `beta` $beta `bias` $bias attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self, x: SSAValue | Operation, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
    ) -> None:
        x = SSAValue.get(x)
        super().__init__(
            operands=[x],
            properties={
                "size": int_attr(size),
                "alpha": FloatAttr(alpha, f32),
                "beta": FloatAttr(beta, f32),
                "bias": FloatAttr(bias, f32),
            },
            result_types=[x.type],
        )

    def infer_shape(self) -> Shape:
        return shapes.lrn(shape_of(self.x), self.size.value.data)


NORMALIZATION_OPS: list[type[Operation]] = [BatchNormOp, SoftmaxOp, LayerNormOp, LrnOp]
