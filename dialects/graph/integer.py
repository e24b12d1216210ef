"""Operations on 8-bit integers: what quantised models compute between a quantisation and the next.

An integer q stands for the number (q - zero point) · scale. Sums of products are exact int32, scaled once in float32,
and rounded once: half to even, the zero point added, then saturated to the type of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float16Type, Float32Type, FloatAttr, IntegerType, TensorType, f16, f32, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge.dialects.graph import shapes
from ge.dialects.graph.attributes import ActivationAttr
from ge.dialects.graph.base import Int, Ints, TensorOp, int_attr, ints, shape_of, tensor
from ge.dialects.graph.compute import ONE, ONES, ZEROS
from ge.dialects.graph.shapes import Shape
from ge.ir.attributes import EIGHT_BITS, layout_of, ui8, with_layout

ZERO = int_attr(0)

Scale = FloatAttr.constr(f32)
"""Constraint of a property that is a scale."""


def _scale_attr(value: float) -> FloatAttr:
    return FloatAttr(value, f32)


class IntegerOp(TensorOp):
    """An operation on quantised values; the types of its operands and its result are part of what it computes."""

    def element_type_source(self) -> None:
        return None


def _typed(source: SSAValue, shape: Shape, element: Attribute) -> TensorType[Attribute]:
    return with_layout(TensorType(element, shape), layout_of(source.type))


def _check(value: SSAValue, *allowed: Attribute) -> None:
    element = tensor(value).element_type
    if element not in allowed:
        raise VerifyException(f"the element type is one of {', '.join(map(str, allowed))}, got {element}")


def _check_number(number: int, element: Attribute, what: str) -> None:
    """Check a zero point, or what padding reads as: a number of the type, or 0 where that is a float."""
    low, high = (-128, 127) if element == i8 else (0, 255) if element == ui8 else (0, 0)
    if not low <= number <= high:
        raise VerifyException(f"{what} {number} is not a number of {element}")


def _check_products(x: SSAValue | None, w: SSAValue, bias: SSAValue, scale: SSAValue, y: SSAValue) -> None:
    if x is not None:
        _check(x, *EIGHT_BITS)
    _check(w, i8)
    _check(bias, i32)
    _check(scale, f32)
    if not isinstance(tensor(y).element_type, Float16Type | Float32Type):
        _check(y, *EIGHT_BITS)


@irdl_op_definition
class IntegerConv2DOp(IntegerOp):
    """A convolution of integers: `y = round(activation((conv(x, w) + bias) · scale)) + zero_point`.

    `x` is [N, C, H, W] of i8 or ui8 and padded with `padding`, `w` [O, I, kh, kw] of i8, `bias` [O] of i32 with what
    the zero point of `x` adds, `scale` [O] of f32; groups are those of `graph.conv2d`. `y` is i8 or ui8; where it is
    f16 or f32, nothing is added and it is rounded to that only.

    With `x_scale` and `x_type`, `x` is f16 or f32 and quantised to that type when it is read; `padding` is its zero
    point then.
    """

    name = "graph.integer_conv2d"

    x = operand_def(TensorType)
    w = operand_def(TensorType)
    bias = operand_def(TensorType)
    scale = operand_def(TensorType)
    y = result_def(TensorType)
    strides = prop_def(Ints, default_value=ONES)
    pads = prop_def(Ints, default_value=ZEROS)
    dilations = prop_def(Ints, default_value=ONES)
    groups = prop_def(Int, default_value=ONE)
    group_merge = prop_def(Int, default_value=ONE)
    padding = prop_def(Int, default_value=ZERO)
    zero_point = prop_def(Int, default_value=ZERO)
    activation = opt_prop_def(ActivationAttr)
    x_scale = opt_prop_def(Scale)
    x_type = opt_prop_def(IntegerType)

    traits = traits_def(Pure())

    assembly_format = (
        "$x `,` $w `,` $bias `,` $scale (`quantises` `by` $x_scale^ `to` $x_type)? "
        "(`strides` $strides^)? (`pads` $pads^)? (`dilations` $dilations^)? "
        "(`groups` $groups^)? (`group_merge` $group_merge^)? (`padding` $padding^)? (`zero_point` $zero_point^)? "
        "(`activation` $activation^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        x: SSAValue | Operation,
        w: SSAValue | Operation,
        bias: SSAValue | Operation,
        scale: SSAValue | Operation,
        element_type: Attribute,
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        groups: int = 1,
        group_merge: int = 1,
        padding: int = 0,
        zero_point: int = 0,
        activation: ActivationAttr | None = None,
        x_scale: float | None = None,
        x_type: IntegerType | None = None,
    ) -> None:
        x, w = SSAValue.get(x), SSAValue.get(w)
        shape = shapes.conv2d(shape_of(x), shape_of(w), strides, pads, dilations, groups, group_merge)
        super().__init__(
            operands=[x, w, bias, scale],
            properties={
                "strides": ints(strides),
                "pads": ints(pads),
                "dilations": ints(dilations),
                "groups": int_attr(groups),
                "group_merge": int_attr(group_merge),
                "padding": int_attr(padding),
                "zero_point": int_attr(zero_point),
                "activation": activation,
                "x_scale": None if x_scale is None else _scale_attr(x_scale),
                "x_type": x_type,
            },
            result_types=[_typed(x, shape, element_type)],
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
        for vector in (self.bias, self.scale):
            shapes.channel_vector(shape, shape_of(vector))
        return shape

    @property
    def x_element(self) -> Attribute:
        """The element type of what is convolved."""
        return tensor(self.x).element_type if self.x_type is None else self.x_type

    def verify_(self) -> None:
        super().verify_()
        _check_products(self.x if self.x_type is None else None, self.w, self.bias, self.scale, self.y)
        if (self.x_scale is None) != (self.x_type is None):
            raise VerifyException("what quantises has a scale and a type")
        if self.x_scale is not None:
            _check(self.x, f16, f32)
            _check_scales(self.x_scale)
            if self.x_element not in EIGHT_BITS:
                raise VerifyException(f"it quantises to i8 or ui8, got {self.x_element}")
        _check_number(self.padding.value.data, self.x_element, "the padding")
        _check_number(self.zero_point.value.data, tensor(self.y).element_type, "the zero point")


@irdl_op_definition
class IntegerMatmulOp(IntegerOp):
    """A matrix product of integers: `y = round(activation((a · b + bias) · scale)) + zero_point`.

    `a` is [..., M, K] of i8 or ui8, `b` [K, N] of i8, `bias` [N] of i32 with what the zero point of `a` adds, `scale`
    [N] of f32. `y` is as that of `graph.integer_conv2d`.
    """

    name = "graph.integer_matmul"

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    bias = operand_def(TensorType)
    scale = operand_def(TensorType)
    y = result_def(TensorType)
    zero_point = prop_def(Int, default_value=ZERO)
    activation = opt_prop_def(ActivationAttr)

    traits = traits_def(Pure())

    assembly_format = (
        "$a `,` $b `,` $bias `,` $scale (`zero_point` $zero_point^)? (`activation` $activation^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(
        self,
        a: SSAValue | Operation,
        b: SSAValue | Operation,
        bias: SSAValue | Operation,
        scale: SSAValue | Operation,
        element_type: Attribute,
        *,
        zero_point: int = 0,
        activation: ActivationAttr | None = None,
    ) -> None:
        a, b = SSAValue.get(a), SSAValue.get(b)
        shape = shapes.matmul(shape_of(a), shape_of(b))
        super().__init__(
            operands=[a, b, bias, scale],
            properties={"zero_point": int_attr(zero_point), "activation": activation},
            result_types=[_typed(a, shape, element_type)],
        )

    def infer_shape(self) -> Shape:
        if len(shape_of(self.b)) != 2:
            raise ValueError(f"the right operand is one matrix, got {list(shape_of(self.b))}")
        shape = shapes.matmul(shape_of(self.a), shape_of(self.b), shape_of(self.bias))
        return shapes.matmul(shape_of(self.a), shape_of(self.b), shape_of(self.scale)) and shape

    def verify_(self) -> None:
        super().verify_()
        _check_products(self.a, self.b, self.bias, self.scale, self.y)
        _check_number(self.zero_point.value.data, tensor(self.y).element_type, "the zero point")


class QuantisationOp(IntegerOp):
    """A conversion between numbers and the integers of 8 bits that stand for them: `x = (y - zero_point) · scale`."""

    x = operand_def(TensorType)
    y = result_def(TensorType)
    scale = prop_def(Scale)
    zero_point = prop_def(Int, default_value=ZERO)

    traits = traits_def(Pure())

    assembly_format = "$x `scale` $scale (`zero_point` $zero_point^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, element_type: Attribute, scale: float, zero_point: int = 0) -> None:
        x = SSAValue.get(x)
        super().__init__(
            operands=[x],
            properties={"scale": _scale_attr(scale), "zero_point": int_attr(zero_point)},
            result_types=[_typed(x, shape_of(x), element_type)],
        )

    def infer_shape(self) -> Shape:
        return shape_of(self.x)

    def _check_sides(self, numbers: SSAValue, integers: SSAValue) -> None:
        if not isinstance(element := tensor(numbers).element_type, Float16Type | Float32Type):
            raise VerifyException(f"numbers beside quantised ones are f16 or f32, got {element}")
        _check(integers, *EIGHT_BITS)
        _check_number(self.zero_point.value.data, tensor(integers).element_type, "the zero point")
        _check_scales(self.scale)


@irdl_op_definition
class QuantiseOp(QuantisationOp):
    """Numbers as integers: `y = round(x / scale) + zero_point`, half to even, saturated to i8 or ui8."""

    name = "graph.quantise"

    def verify_(self) -> None:
        super().verify_()
        self._check_sides(self.x, self.y)


@irdl_op_definition
class DequantiseOp(QuantisationOp):
    """Integers as numbers: `y = (x - zero_point) · scale`, rounded once to f16 or f32."""

    name = "graph.dequantise"

    def verify_(self) -> None:
        super().verify_()
        self._check_sides(self.y, self.x)


@irdl_op_definition
class IntegerAddOp(IntegerOp):
    """The sum of quantised values of one shape, quantised again: `y = round((a' + b') / scale) + zero_point`.

    a' and b' are the numbers that the integers stand for: `scales` are those of a, b and y, as are `zero_points`.
    """

    name = "graph.integer_add"

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    y = result_def(TensorType)
    a_scale = prop_def(Scale)
    b_scale = prop_def(Scale)
    scale = prop_def(Scale)
    zero_points = prop_def(Ints)

    traits = traits_def(Pure())

    assembly_format = (
        "$a `,` $b `scales` $a_scale `,` $b_scale `,` $scale `zero_points` $zero_points attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(
        self,
        a: SSAValue | Operation,
        b: SSAValue | Operation,
        element_type: Attribute,
        scales: tuple[float, float, float],
        zero_points: tuple[int, int, int],
    ) -> None:
        a = SSAValue.get(a)
        super().__init__(
            operands=[a, b],
            properties={
                "a_scale": _scale_attr(scales[0]),
                "b_scale": _scale_attr(scales[1]),
                "scale": _scale_attr(scales[2]),
                "zero_points": ints(zero_points),
            },
            result_types=[_typed(a, shape_of(a), element_type)],
        )

    def infer_shape(self) -> Shape:
        if shape_of(self.a) != shape_of(self.b):
            raise ValueError(f"shapes {list(shape_of(self.a))} and {list(shape_of(self.b))} are not equal")
        return shape_of(self.a)

    def verify_(self) -> None:
        super().verify_()
        points = self.zero_points.get_values()
        if len(points) != 3:
            raise VerifyException(f"there are three zero points, got {len(points)}")
        for value, point in zip((self.a, self.b, self.y), points, strict=True):
            _check(value, *EIGHT_BITS)
            _check_number(point, tensor(value).element_type, "the zero point")
        _check_scales(self.a_scale, self.b_scale, self.scale)


def number_of(scale: FloatAttr) -> float:
    """The number of a scale."""
    return float(scale.value.data)


def _check_scales(*scales: FloatAttr) -> None:
    for scale in scales:
        if not 0 < number_of(scale) < float("inf"):
            raise VerifyException(f"a scale is positive and finite, got {number_of(scale)}")


INTEGER_OPS: list[type[Operation]] = [IntegerConv2DOp, IntegerMatmulOp, QuantiseOp, DequantiseOp, IntegerAddOp]
"""The operations of this module."""
