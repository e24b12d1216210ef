"""Where values lie and how much memory they take: the rules that planning, the OM file and the run time share."""

from __future__ import annotations

import math
from enum import Enum

from xdsl.ir import Attribute

from ge.ir.attributes import block_lanes, layout_of
from ge.ir.errors import GeError

ALIGNMENT = 512
"""Where slots start, in bytes (the block alignment of the Ascend run time)."""
SPARE = 32
"""Bytes after a value that a transfer may touch when it rounds its last row up to a block."""
NO_OFFSET = -1
"""The offset of a value that lives on the host, because its size is only known when it is computed."""


def value_bytes(type: Attribute) -> int | None:
    """Bytes of a value in storage layout; None when its size is not static or its elements are not numbers."""
    from ge.ir.constants import numpy_dtype, static_shape, tensor_type_of  # these load numpy, the definitions do not
    from ge.maths.layouts import storage_shape

    try:
        shape = static_shape(type)
        item_size = numpy_dtype(tensor_type_of(type).element_type).itemsize
    except GeError:
        return None
    return math.prod(storage_shape(layout_of(type), shape, block_lanes(tensor_type_of(type)))) * item_size


def slot_bytes(size: int) -> int:
    """Bytes that a value of ``size`` bytes takes in memory."""
    from ge.maths.layouts import round_up

    return round_up(size + SPARE, ALIGNMENT)


class Area(Enum):
    """The memory that an offset counts in."""

    MEMORY = "memory"
    """Feature maps, model inputs and outputs."""
    WEIGHTS = "weights"
    HOST = "host"
    """No offset: the value is kept as it is."""


def result_area(kind: str, offset: int, view_of: Area | None) -> Area:
    """The memory that the offset of a result counts in, by the kind of its operator.

    ``view_of`` is the area of the operator's first operand, when the result is only another view of that.
    """
    if offset == NO_OFFSET:
        return Area.HOST
    if view_of is not None:
        return view_of
    return Area.WEIGHTS if kind == "Const" else Area.MEMORY
