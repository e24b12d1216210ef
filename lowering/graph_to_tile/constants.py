"""Constants that a kernel wants longer than the model has them: weights and bias padded to whole tiles with zeros."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ge.dialects.graph import ConstantOp
from ge.dialects.graph.base import tensor
from ge.dialects.graph.constants import stored_type
from ge.dialects.tile.types import GmType
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import Array, array_of, constant_attr
from ge.lowering.graph_to_tile.outline import memory_type
from ge.maths.layouts import C0


@dataclass(frozen=True)
class Padded:
    """A kernel operand, and the new constant that it is, unless the model's own does."""

    value: SSAValue
    op: ConstantOp | None = None

    @property
    def type(self) -> GmType:
        """The type of the kernel's argument."""
        return memory_type(self.value)


def padded_filters(weights: SSAValue, output_blocks: int) -> Padded:
    """FRACTAL_Z weights with ``output_blocks`` blocks of output channels; those that are not constant stay as they are.

    The new blocks are zero.
    """
    missing = output_blocks - memory_type(weights).sizes[1]
    stored = _stored(weights) if missing > 0 else None
    if stored is None:
        return Padded(weights)
    type = tensor(weights)
    shape = type.get_shape()
    outputs = output_blocks * C0
    new_shape = (shape[0], outputs) if len(shape) == 2 else (outputs, *shape[1:])
    return _new(np.pad(stored, ((0, 0), (0, missing), (0, 0), (0, 0))), new_shape, type)


def padded_bias(bias: SSAValue | None, output_blocks: int) -> Padded | None:
    """A bias [O] with 16 elements for each of ``output_blocks`` blocks. One that is not constant stays as it is."""
    if bias is None:
        return None
    length = output_blocks * C0
    stored = _stored(bias)
    if stored is None or stored.size >= length:
        return Padded(bias)
    return _new(np.pad(stored, (0, length - stored.size)), (length,), tensor(bias))


def _stored(value: SSAValue) -> Array | None:
    """The elements of a constant in storage order; None when there are none to read."""
    op = value.owner
    if not isinstance(op, ConstantOp) or (isinstance(op.value, WeightsAttr) and op.value.data.is_elided):
        return None
    return array_of(op.value, stored_type(tensor(value)))


def _new(stored: Array, shape: tuple[int, ...], type: TensorType[Attribute]) -> Padded:
    new_type = TensorType(type.element_type, shape, type.encoding)
    op = ConstantOp(constant_attr(stored, None if stored.ndim > 1 else new_type), new_type)
    return Padded(op.y, op)
