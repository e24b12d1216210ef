"""What the AI Core has kernels for, of operations on 8-bit integers; a part of `ge.dialects.graph.capabilities`.

An odd number of bytes cannot be filled up to a block: the smallest lane that an instruction fills has two. Where the
rows or planes of a plain tensor are that, it does not become blocks; what is made in blocks stays in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import f16
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph.attributes import PoolKind
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.compute import Pool2DOp
from ge.dialects.graph.integer import (
    DequantiseOp,
    IntegerAddOp,
    IntegerConv2DOp,
    IntegerMatmulOp,
    IntegerOp,
    QuantiseOp,
)
from ge.dialects.graph.movement import ReshapeOp, TransDataOp, ViewOp
from ge.dialects.graph.program import ConstantOp, LaunchOp
from ge.ir.attributes import EIGHT_BITS, layout_of
from ge.maths.layouts import C0
from ge.maths.tiling import Contraction, quantised_rows, slab_rows

QUANTISED_SLAB_BYTES = 112 * 1024
"""The rows under the smallest tile of windows while they are quantised: less than half of the unified buffer."""


def on_integers(op: Operation) -> bool:
    """Whether an operation takes or gives 8-bit integers as they are, so that no float type is chosen for it."""
    return isinstance(op, IntegerOp) or (isinstance(op, Pool2DOp | ReshapeOp) and _is_integer(op.operands[0]))


def makes_integers(value: SSAValue) -> bool:
    """Whether an operation of this level makes a value of 8 bits."""
    return _is_integer(value) and isinstance(value.owner, Operation) and on_integers(value.owner)


def takes_integers(op: Operation) -> bool:
    """Whether an operation that also computes on floats has a kernel for 8-bit integers."""
    is_maximum = isinstance(op, Pool2DOp) and op.kind.data is PoolKind.MAX and not _unpackable(op.x)
    return is_maximum or isinstance(op, ReshapeOp | TransDataOp | ViewOp | LaunchOp)


def integer_obstacle(op: Operation) -> str | None:
    """Why the AI Core has no kernel for an operation on integers; None if it has one."""
    match op:
        case IntegerConv2DOp() | IntegerMatmulOp():
            if not all(isinstance(value.owner, ConstantOp) for value in op.operands[1:]):
                return "weights, bias or scales are not constant"
            if isinstance(op, IntegerMatmulOp):
                odd = shape_of(op.a)[-1] % 2 and layout_of(op.a.type) == "ND"
                return "a row has an odd number of elements of 8 bits" if odd else None
            if op.x_scale is not None:
                return None if can_quantise(op) else "it quantises more channels, or other windows, than kernels do"
            return "a plane has an odd number of elements of 8 bits" if _unpackable(op.x) else None
        case QuantiseOp() | DequantiseOp() | IntegerAddOp():
            return None if integer_formats(op) else "an odd number of elements of 8 bits does not fill blocks"
        case _:
            return f"{op.name} has no kernel"


def integer_formats(op: Operation) -> Sequence[tuple[tuple[str | None, ...], str]]:
    """The storage formats of operands (None: a plain vector) and result that kernels take, best first."""
    match op:
        case IntegerConv2DOp():
            return [(("NC1HWC0" if op.x_scale is None else "ND", "FRACTAL_Z", None, None), "NC1HWC0")]
        case IntegerMatmulOp():
            return [(("FRACTAL_NZ", "FRACTAL_Z", None, None), "FRACTAL_NZ")]
        case IntegerAddOp():
            return [((format,) * 2, format) for format in _formats_alike(op)]
        case QuantiseOp():
            return _quantise_formats(op)
        case DequantiseOp():
            return _dequantise_formats(op)
        case _:
            return []


def can_quantise(op: IntegerConv2DOp) -> bool:
    """Whether the kernel of a convolution can quantise what it reads: rows of few channels, under windows."""
    _, channels, _, width = shape_of(op.x)
    _, _, out_height, out_width = shape_of(op.y)
    strides, (height, kernel_width) = op.strides.get_values(), shape_of(op.w)[2:]
    window = (height, kernel_width) != (1, 1) or any(stride > 1 for stride in strides) or any(op.pads.get_values())
    if channels > C0 or op.groups.value.data != 1 or not window:
        return False
    smallest = Contraction(
        1, 1, 1, 1, out_height, out_width, width, (height, kernel_width), (strides[0], strides[1]),
        (op.dilations.get_values()[0], op.dilations.get_values()[1]),
    )  # fmt: skip
    rows = quantised_rows(channels, width)
    return slab_rows(smallest, C0) * rows.done + rows.each + rows.row <= QUANTISED_SLAB_BYTES


def _quantise_formats(op: QuantiseOp) -> Sequence[tuple[tuple[str | None, ...], str]]:
    """A map that is quantised is convolved next, mostly: it becomes blocks at once."""
    shape = shape_of(op.x)
    if len(shape) != 4:
        return [(("ND",), "ND")]
    formats: list[tuple[tuple[str | None, ...], str]] = [(("ND",), "NC1HWC0")]
    if tensor(op.x).element_type == f16:
        formats.append((("NC1HWC0",), "NC1HWC0"))
    if math.prod(shape[2:]) % 2 == 0:
        formats.append((("ND",), "ND"))
    return formats


def _dequantise_formats(op: DequantiseOp) -> Sequence[tuple[tuple[str | None, ...], str]]:
    """Only float16 lies in blocks; what stays float32 is plain, if it can be."""
    plain: list[tuple[tuple[str | None, ...], str]] = [] if is_odd(op.x) else [(("ND",), "ND")]
    in_blocks = len(shape_of(op.x)) == 4 and not _unpackable(op.x)
    if not in_blocks or (plain and tensor(op.y).element_type != f16):
        return plain
    return [(("NC1HWC0",), "NC1HWC0"), *plain]


def _formats_alike(op: IntegerAddOp) -> list[str]:
    shape = shape_of(op.y)
    formats = ["NC1HWC0"] if len(shape) == 4 and not any(map(_unpackable, op.operands)) else []
    if len(shape) >= 2 and shape[-1] % 2 == 0:
        formats.append("FRACTAL_NZ")
    return formats if is_odd(op.y) else [*formats, "ND"]


def _is_integer(value: SSAValue) -> bool:
    return tensor(value).element_type in EIGHT_BITS


def is_odd(value: SSAValue) -> bool:
    """Whether a plain tensor has a number of bytes that do not fill two."""
    return math.prod(shape_of(value)) % 2 == 1


def _unpackable(value: SSAValue) -> bool:
    """Whether a feature map does not become blocks: it is in a plain format, or may be, and its planes are odd."""
    if math.prod(shape_of(value)[2:]) % 2 == 0 or layout_of(value.type) == "NC1HWC0":
        return False
    match value.owner:
        case IntegerAddOp() as add:  # it takes and gives one format
            return any(map(_unpackable, add.operands))
        case Operation() as op:
            return not on_integers(op) or isinstance(op, ReshapeOp)
        case _:
            return True
