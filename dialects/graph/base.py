"""What all graph operations share: the shape check against `ge.dialects.graph.shapes`, and shorthand for attributes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge.dialects.graph.shapes import Shape

Ints = DenseArrayBase.constr(i64)
"""Constraint of a property that is a list of integers; `array<i64: ...>`, written `[...]`."""

Int = IntegerAttr.constr(i64)
"""Constraint of a property that is one integer."""

PURE = Pure()


def ints(values: Sequence[int]) -> DenseArrayBase[I64]:
    """The attribute of a list of integers."""
    return DenseArrayBase.from_list(i64, list(values))


def int_attr(value: int) -> IntegerAttr[I64]:
    """The attribute of one integer."""
    return IntegerAttr(value, i64)


def tensor(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value that is a tensor."""
    return cast(TensorType[Attribute], value.type)


def shape_of(value: SSAValue) -> Shape:
    """The origin shape of a value that is a tensor."""
    return tensor(value).get_shape()


class TensorOp(IRDLOperation):
    """An operation with one tensor result whose shape follows from its operands and properties."""

    @abstractmethod
    def infer_shape(self) -> Shape:
        """The shape that the result must have; ValueError says what does not fit."""

    def element_type_source(self) -> SSAValue | None:
        """The operand whose element type the result has; None where the operation may change it."""
        return self.operands[0]

    def verify_(self) -> None:
        """Check shape and element type of the result."""
        result = tensor(self.results[0])
        try:
            shape = self.infer_shape()
        except ValueError as error:
            raise VerifyException(str(error)) from error
        if result.get_shape() != shape:
            raise VerifyException(f"the result has shape {list(result.get_shape())}, but must have {list(shape)}")
        source = self.element_type_source()
        if source is not None and tensor(source).element_type != result.element_type:
            raise VerifyException(
                f"the result has element type {result.element_type}, the operand {tensor(source).element_type}"
            )


def like(source: SSAValue, shape: Sequence[int]) -> TensorType[Attribute]:
    """A tensor type with the element type and storage format of `source`."""
    type = tensor(source)
    return TensorType(type.element_type, shape, type.encoding)
