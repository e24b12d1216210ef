"""Window attributes of ONNX convolutions and pooling: 1-D as 2-D, and automatic padding as numbers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.onnx import OnnxOp
from ge.lowering.onnx_to_graph.rules import Emitter
from ge.maths.layouts import ceil_div


@dataclass(frozen=True)
class Window:
    """Kernel, strides and dilations of height and width, and pads as top, left, bottom, right."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int, int, int]


def window_of(op: OnnxOp, x: SSAValue, kernel: list[int]) -> Window | None:
    """The window of `op` over `x` [N, C, L] or [N, C, H, W]; a window along L is one of height 1.

    None for other ranks, for padding that takes elements away, and for attributes that do not fit.
    """
    rank = len(kernel)
    spatial = list(shape_of(x)[2:])
    if rank not in (1, 2) or len(spatial) != rank:
        return None
    strides: list[int] = op.attribute("strides") or [1] * rank
    dilations: list[int] = op.attribute("dilations") or [1] * rank
    if (len(strides), len(dilations)) != (rank, rank) or min(*strides, *dilations, *kernel) < 1:
        return None
    pads = _pads(op, spatial, kernel, strides, dilations)
    if len(pads) != 2 * rank or min(pads) < 0:
        return None
    if rank == 1:
        return Window((1, kernel[0]), (1, strides[0]), (1, dilations[0]), (0, pads[0], 0, pads[1]))
    return Window(
        (kernel[0], kernel[1]),
        (strides[0], strides[1]),
        (dilations[0], dilations[1]),
        (pads[0], pads[1], pads[2], pads[3]),
    )


def _pads(op: OnnxOp, spatial: list[int], kernel: list[int], strides: list[int], dilations: list[int]) -> list[int]:
    """Padding in the order of ONNX: all begins, then all ends."""
    mode = op.attribute("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        return op.attribute("pads") or [0] * (2 * len(kernel))
    if mode == "VALID":
        return [0] * (2 * len(kernel))
    begins: list[int] = []
    ends: list[int] = []
    for size, taps, stride, dilation in zip(spatial, kernel, strides, dilations, strict=True):
        span = (taps - 1) * dilation + 1
        total = max(0, (ceil_div(size, stride) - 1) * stride + span - size)
        less, more = total // 2, total - total // 2
        begins.append(less if mode == "SAME_UPPER" else more)
        ends.append(more if mode == "SAME_UPPER" else less)
    return begins + ends


def as_plane(emit: Emitter, x: SSAValue) -> SSAValue:
    """`x` [N, C, L] as a feature map [N, C, 1, L] of height 1; a feature map stays as it is."""
    shape = shape_of(x)
    return emit.reshape(x, (*shape[:2], 1, shape[2])) if len(shape) == 3 else x


def from_plane(emit: Emitter, y: SSAValue, x: SSAValue) -> SSAValue:
    """A result [N, C, H, W] in the rank of the `x` that `as_plane` was asked for."""
    if len(shape_of(x)) != 3:
        return y
    n, c, _, width = shape_of(y)
    return emit.reshape(y, (n, c, width))
