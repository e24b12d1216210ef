"""Operations that move elements without computing: concatenation, reshaping, conversion of type and storage format."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from ge.dialects.graph import shapes
from ge.dialects.graph.base import Int, Ints, TensorOp, int_attr, ints, like, shape_of, tensor
from ge.dialects.graph.shapes import Shape
from ge.ir.attributes import block_lanes, layout_of


@irdl_op_definition
class ConcatOp(TensorOp):
    """Tensors that are alike but for `axis`, laid end to end along it."""

    name = "graph.concat"

    xs = var_operand_def(TensorType)
    y = result_def(TensorType)
    axis = prop_def(Int)

    traits = traits_def(Pure())

    assembly_format = "$xs `axis` $axis attr-dict `:` functional-type(operands, results)"

    def __init__(self, xs: Sequence[SSAValue], axis: int) -> None:
        shape = shapes.concat([shape_of(x) for x in xs], axis)
        super().__init__(operands=[xs], properties={"axis": int_attr(axis)}, result_types=[like(xs[0], shape)])

    def infer_shape(self) -> Shape:
        if not self.xs:
            raise ValueError("there is nothing to concatenate")
        return shapes.concat([shape_of(x) for x in self.xs], self.axis.value.data)


@irdl_op_definition
class SliceOp(TensorOp):
    """`size` positions of `x` along `axis`, from `start` on."""

    name = "graph.slice"

    x = operand_def(TensorType)
    y = result_def(TensorType)
    axis = prop_def(Int)
    start = prop_def(Int)
    size = prop_def(Int)

    traits = traits_def(Pure())

    assembly_format = "$x `axis` $axis `start` $start `size` $size attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, axis: int, start: int, size: int) -> None:
        x = SSAValue.get(x)
        shape = shapes.slice_(shape_of(x), axis, start, size)
        properties = {"axis": int_attr(axis), "start": int_attr(start), "size": int_attr(size)}
        super().__init__(operands=[x], properties=properties, result_types=[like(x, shape)])

    def infer_shape(self) -> Shape:
        return shapes.slice_(shape_of(self.x), self.axis.value.data, self.start.value.data, self.size.value.data)


@irdl_op_definition
class GatherChannelsOp(TensorOp):
    """Channel j of the result is channel `indices[j]` of the inputs laid end to end along axis 1.

    Concatenation, splitting, slicing and shuffling of channels are all of this form.
    """

    name = "graph.gather_channels"

    xs = var_operand_def(TensorType)
    y = result_def(TensorType)
    indices = prop_def(Ints)

    traits = traits_def(Pure())

    assembly_format = "$xs `indices` $indices attr-dict `:` functional-type(operands, results)"

    def __init__(self, xs: Sequence[SSAValue], indices: Sequence[int]) -> None:
        shape = shapes.gather_channels([shape_of(x) for x in xs], indices)
        super().__init__(operands=[xs], properties={"indices": ints(indices)}, result_types=[like(xs[0], shape)])

    def infer_shape(self) -> Shape:
        if not self.xs:
            raise ValueError("there is nothing to gather from")
        return shapes.gather_channels([shape_of(x) for x in self.xs], self.indices.get_values())


@irdl_op_definition
class ReshapeOp(TensorOp):
    """The same elements, in row-major order, under the shape of the result type."""

    name = "graph.reshape"

    x = operand_def(TensorType)
    y = result_def(TensorType)

    traits = traits_def(Pure())

    assembly_format = "$x attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, shape: Sequence[int]) -> None:
        x = SSAValue.get(x)
        shape = shapes.reshape(shape_of(x), tuple(shape))
        super().__init__(operands=[x], result_types=[TensorType(tensor(x).element_type, shape)])

    def infer_shape(self) -> Shape:
        return shapes.reshape(shape_of(self.x), shape_of(self.y))


@irdl_op_definition
class TransposeOp(TensorOp):
    """Dimension i of the result is dimension `perm[i]` of the operand."""

    name = "graph.transpose"

    x = operand_def(TensorType)
    y = result_def(TensorType)
    perm = prop_def(Ints)

    traits = traits_def(Pure())

    assembly_format = "$x `perm` $perm attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, perm: Sequence[int]) -> None:
        x = SSAValue.get(x)
        shape = shapes.transpose(shape_of(x), perm)
        super().__init__(operands=[x], properties={"perm": ints(perm)}, result_types=[like(x, shape)])

    def infer_shape(self) -> Shape:
        return shapes.transpose(shape_of(self.x), self.perm.get_values())


@irdl_op_definition
class CastOp(TensorOp):
    """The same values in the element type of the result: to float16 rounded to nearest even and saturating."""

    name = "graph.cast"

    x = operand_def(TensorType)
    y = result_def(TensorType)

    traits = traits_def(Pure())

    assembly_format = "$x attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, element_type: Attribute) -> None:
        x = SSAValue.get(x)
        type = tensor(x)
        super().__init__(operands=[x], result_types=[TensorType(element_type, type.shape, type.encoding)])

    def element_type_source(self) -> None:
        return None

    def infer_shape(self) -> Shape:
        return shape_of(self.x)


@irdl_op_definition
class TransDataOp(TensorOp):
    """The same tensor in the storage format, and between float16 and float32 in the element type, of the result.

    Pad lanes of the result are zero.
    """

    name = "graph.trans_data"

    x = operand_def(TensorType)
    y = result_def(TensorType)

    traits = traits_def(Pure())

    assembly_format = "$x attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, result_type: TensorType[Attribute]) -> None:
        super().__init__(operands=[x], result_types=[result_type])

    def element_type_source(self) -> None:
        return None

    def infer_shape(self) -> Shape:
        return shape_of(self.x)


@irdl_op_definition
class ViewOp(TensorOp):
    """The same bytes under another type: no task, no copy. `offset` is that of the operand, once memory is planned.

    The storage of the result is that of the operand, or its beginning: what padded the operand may be elements of the
    result, or be left out.
    """

    name = "graph.view"

    x = operand_def(TensorType)
    y = result_def(TensorType)
    offset = opt_prop_def(Int)

    traits = traits_def(Pure())

    assembly_format = "$x (`offset` $offset^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue | Operation, result_type: TensorType[Attribute]) -> None:
        super().__init__(operands=[x], result_types=[result_type])

    def infer_shape(self) -> Shape:
        from ge.maths.layouts import storage_shape  # needs NumPy

        shape, wanted = shape_of(self.x), shape_of(self.y)
        stored, seen = (
            math.prod(storage_shape(layout_of(value.type), shape_of(value), block_lanes(tensor(value))))
            for value in (self.x, self.y)
        )
        if seen > stored or (seen != stored and math.prod(shape) != math.prod(wanted)):
            raise ValueError(f"the result has {seen} elements in memory, the operand {stored}")
        return wanted


MOVEMENT_OPS: list[type[Operation]] = [
    ConcatOp,
    SliceOp,
    GatherChannelsOp,
    ReshapeOp,
    TransposeOp,
    CastOp,
    TransDataOp,
    ViewOp,
]
