"""Operations that compute: convolution, matrix product, pooling and elementwise functions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge.dialects.graph import shapes
from ge.dialects.graph.attributes import (
    ActivationAttr,
    BinaryKind,
    BinaryKindAttr,
    PoolKind,
    PoolKindAttr,
    UnaryKind,
)
from ge.dialects.graph.base import Int, Ints, TensorOp, int_attr, ints, like, shape_of, tensor
from ge.dialects.graph.shapes import Shape

ONES = ints((1, 1))
ZEROS = ints((0, 0, 0, 0))
ONE = int_attr(1)


@irdl_op_definition
class Conv2DOp(TensorOp):
    """A convolution, with what is fused into it: `y = activation(conv(x, w) + bias)`, accumulated in float32.

    `x` is [N, C, H, W], `w` [O, I, kh, kw], `bias` [O] or absent; `pads` are top, left, bottom, right.

    With `groups` = G, output channel o reads the C/G input channels of group o // (O/G), and I = C/G. The layout pass
    merges `group_merge` = E groups into one so that a merged group fills whole blocks of 16 channels: then I = E·C/G,
    and output channel o reads the I channels that start at (o // (E·O/G)) · I, with zero weights outside its own group.
    There are ⌈G/E⌉ merged groups; the last one may reach beyond channel C, where its weights are zero.
    """

    name = "graph.conv2d"

    x = operand_def(TensorType)
    w = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    y = result_def(TensorType)
    strides = prop_def(Ints, default_value=ONES)
    pads = prop_def(Ints, default_value=ZEROS)
    dilations = prop_def(Ints, default_value=ONES)
    groups = prop_def(Int, default_value=ONE)
    group_merge = prop_def(Int, default_value=ONE)
    activation = opt_prop_def(ActivationAttr)

    traits = traits_def(Pure())

    assembly_format = (
        "$x `,` $w (`,` $bias^)? (`strides` $strides^)? (`pads` $pads^)? (`dilations` $dilations^)? "
        "(`groups` $groups^)? (`group_merge` $group_merge^)? (`activation` $activation^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        x: SSAValue | Operation,
        w: SSAValue | Operation,
        bias: SSAValue | Operation | None = None,
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        groups: int = 1,
        group_merge: int = 1,
        activation: ActivationAttr | None = None,
    ) -> None:
        x, w = SSAValue.get(x), SSAValue.get(w)
        shape = shapes.conv2d(shape_of(x), shape_of(w), strides, pads, dilations, groups, group_merge)
        super().__init__(
            operands=[x, w, bias],
            properties={
                "strides": ints(strides),
                "pads": ints(pads),
                "dilations": ints(dilations),
                "groups": int_attr(groups),
                "group_merge": int_attr(group_merge),
                "activation": activation,
            },
            result_types=[like(x, shape)],
        )

    def infer_shape(self) -> Shape:
        shape = shapes.conv2d(
            shape_of(self.x),
            shape_of(self.w),
            self.strides.get_values(),
            self.pads.get_values(),
            self.dilations.get_values(),
            self.groups.value.data,
            self.group_merge.value.data,
        )
        if self.bias is not None:
            shapes.channel_vector(shape, shape_of(self.bias))
        return shape

    def verify_(self) -> None:
        super().verify_()
        _same_element_type(self.x, self.w)


@irdl_op_definition
class MatmulOp(TensorOp):
    """A matrix product, with what is fused into it: `y = activation(a · b + bias)`, accumulated in float32.

    `a` is [..., M, K], `b` [..., K, N] (with `transpose_b` [..., N, K]), `bias` [N] or absent; leading dimensions
    broadcast.
    """

    name = "graph.matmul"

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    y = result_def(TensorType)
    transpose_b = opt_prop_def(UnitAttr)
    activation = opt_prop_def(ActivationAttr)

    traits = traits_def(Pure())

    assembly_format = (
        "$a `,` $b (`,` $bias^)? (`transpose_b` $transpose_b^)? (`activation` $activation^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(
        self,
        a: SSAValue | Operation,
        b: SSAValue | Operation,
        bias: SSAValue | Operation | None = None,
        *,
        transpose_b: bool = False,
        activation: ActivationAttr | None = None,
    ) -> None:
        a, b = SSAValue.get(a), SSAValue.get(b)
        shape = shapes.matmul(shape_of(a), _right_shape(b, transpose_b))
        properties = {"transpose_b": UnitAttr() if transpose_b else None, "activation": activation}
        super().__init__(operands=[a, b, bias], properties=properties, result_types=[like(a, shape)])

    @property
    def right_shape(self) -> Shape:
        """The shape of the right operand as it is multiplied: [..., K, N]."""
        return _right_shape(self.b, self.transpose_b is not None)

    def infer_shape(self) -> Shape:
        bias = None if self.bias is None else shape_of(self.bias)
        return shapes.matmul(shape_of(self.a), self.right_shape, bias)

    def verify_(self) -> None:
        super().verify_()
        _same_element_type(self.a, self.b)


def _right_shape(b: SSAValue, is_transposed: bool) -> Shape:
    shape = shape_of(b)
    return (*shape[:-2], *reversed(shape[-2:])) if is_transposed else shape


@irdl_op_definition
class Pool2DOp(TensorOp):
    """Pooling of [N, C, H, W] over windows; global pooling has the kernel [H, W].

    Padding never wins a maximum. An average divides by the number of elements inside the input, or, with
    `count_include_pad`, inside the padded input (a window that `ceil_mode` lets stick out is cut there).
    """

    name = "graph.pool2d"

    x = operand_def(TensorType)
    y = result_def(TensorType)
    kind = prop_def(PoolKindAttr)
    kernel = prop_def(Ints)
    strides = prop_def(Ints, default_value=ONES)
    pads = prop_def(Ints, default_value=ZEROS)
    dilations = prop_def(Ints, default_value=ONES)
    ceil_mode = opt_prop_def(UnitAttr)
    count_include_pad = opt_prop_def(UnitAttr)

    traits = traits_def(Pure())

    assembly_format = (
        "$kind $x `kernel` $kernel (`strides` $strides^)? (`pads` $pads^)? (`dilations` $dilations^)? "
        "(`ceil_mode` $ceil_mode^)? (`count_include_pad` $count_include_pad^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        x: SSAValue | Operation,
        kind: PoolKind | str,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        ceil_mode: bool = False,
        count_include_pad: bool = False,
    ) -> None:
        x = SSAValue.get(x)
        shape = shapes.pool2d(shape_of(x), kernel, strides, pads, dilations, ceil_mode)
        super().__init__(
            operands=[x],
            properties={
                "kind": PoolKindAttr(PoolKind(kind)),
                "kernel": ints(kernel),
                "strides": ints(strides),
                "pads": ints(pads),
                "dilations": ints(dilations),
                "ceil_mode": UnitAttr() if ceil_mode else None,
                "count_include_pad": UnitAttr() if count_include_pad else None,
            },
            result_types=[like(x, shape)],
        )

    def infer_shape(self) -> Shape:
        return shapes.pool2d(
            shape_of(self.x),
            self.kernel.get_values(),
            self.strides.get_values(),
            self.pads.get_values(),
            self.dilations.get_values(),
            self.ceil_mode is not None,
        )


@irdl_op_definition
class UnaryOp(TensorOp):
    """A function of each element (`ge.dialects.graph.attributes.FUNCTIONS`): `graph.unary <clip, 0.0, 6.0> %x`."""

    name = "graph.unary"

    x = operand_def(TensorType)
    y = result_def(TensorType)
    function = prop_def(ActivationAttr)

    traits = traits_def(Pure())

    assembly_format = "$function $x attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, function: ActivationAttr | UnaryKind | str, *parameters: float) -> None:
        x = SSAValue.get(x)
        if not isinstance(function, ActivationAttr):
            function = ActivationAttr(function, *parameters)
        super().__init__(operands=[x], properties={"function": function}, result_types=[x.type])

    @property
    def kind(self) -> UnaryKind:
        """Which function it is."""
        return self.function.kind

    @property
    def alpha(self) -> float:
        """The first parameter of the function."""
        return self.function.alpha

    @property
    def beta(self) -> float:
        """The second parameter of the function."""
        return self.function.beta

    def infer_shape(self) -> Shape:
        return shape_of(self.x)


@irdl_op_definition
class BinaryOp(TensorOp):
    """A function of two elements, with NumPy broadcasting, and what is fused into it: `y = activation(kind(a, b))`."""

    name = "graph.binary"

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    y = result_def(TensorType)
    kind = prop_def(BinaryKindAttr)
    activation = opt_prop_def(ActivationAttr)

    traits = traits_def(Pure())

    assembly_format = "$kind $a `,` $b (`activation` $activation^)? attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        kind: BinaryKind | str,
        a: SSAValue | Operation,
        b: SSAValue | Operation,
        *,
        activation: ActivationAttr | None = None,
    ) -> None:
        a, b = SSAValue.get(a), SSAValue.get(b)
        shape = shapes.broadcast(shape_of(a), shape_of(b))
        super().__init__(
            operands=[a, b],
            properties={"kind": BinaryKindAttr(BinaryKind(kind)), "activation": activation},
            result_types=[like(a if shape_of(a) == shape else b, shape)],
        )

    def infer_shape(self) -> Shape:
        return shapes.broadcast(shape_of(self.a), shape_of(self.b))

    def verify_(self) -> None:
        super().verify_()
        _same_element_type(self.a, self.b)


def _same_element_type(a: SSAValue, b: SSAValue) -> None:
    if tensor(a).element_type != tensor(b).element_type:
        raise VerifyException(f"operands have element types {tensor(a).element_type} and {tensor(b).element_type}")


COMPUTE_OPS: list[type[Operation]] = [
    Conv2DOp,
    MatmulOp,
    Pool2DOp,
    UnaryOp,
    BinaryOp,
]
