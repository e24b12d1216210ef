"""How much memory a value takes: the rules that planning, the OM file and the run time share."""

from __future__ import annotations

import math

from xdsl.ir import Attribute

from ge.ir.attributes import layout_of
from ge.ir.constants import numpy_dtype, static_shape, tensor_type_of
from ge.ir.errors import GeError
from ge.maths.layouts import round_up, storage_shape

ALIGNMENT = 512
"""Where slots start, in bytes (the block alignment of the Ascend run time)."""
SPARE = 32
"""Bytes after a value that a transfer may touch when it rounds its last row up to a block."""
NO_OFFSET = -1
"""The offset of a value that lives on the host, because its size is only known when it is computed."""


def value_bytes(type: Attribute) -> int | None:
    """Bytes of a value in storage layout; None when its size is not static or its elements are not numbers."""
    try:
        shape = static_shape(type)
        item_size = numpy_dtype(tensor_type_of(type).element_type).itemsize
    except GeError:
        return None
    return math.prod(storage_shape(layout_of(type), shape)) * item_size


def slot_bytes(size: int) -> int:
    """Bytes that a value of ``size`` bytes takes in memory."""
    return round_up(size + SPARE, ALIGNMENT)
