"""What the AI Core has kernels for: the one place that says on which operations, types, sizes and storage formats.

* :func:`obstacle` says why an operation has no kernel (None: it has one). It looks at what the operation computes, not
  at the formats and float types its operands have at the moment: `assign-precision` and `propagate-layout` change
  those.
* :func:`kernel_formats` lists the storage formats that its kernels take, best first.

`row_kernels`, `reduction_kernels`, `integer_kernels` and `movement_kernels` say it of operations on rows, of
reductions, of operations on 8-bit integers, and of movements.

The passes move what has no kernel to the host, and the lowering to `tile` has a kernel for everything that remains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f16, f32
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph.attributes import ActivationAttr, BinaryKind, UnaryKind
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.compute import BinaryOp, Conv2DOp, MatmulOp, Pool2DOp, UnaryOp
from ge.dialects.graph.integer import IntegerConv2DOp, IntegerMatmulOp, IntegerOp
from ge.dialects.graph.integer_kernels import integer_formats, integer_obstacle, takes_integers
from ge.dialects.graph.movement import (
    CastOp,
    ConcatOp,
    GatherChannelsOp,
    ReshapeOp,
    SliceOp,
    TransDataOp,
    TransposeOp,
    ViewOp,
)
from ge.dialects.graph.movement_kernels import (
    concat_formats,
    concat_obstacle,
    gather_obstacle,
    joins_channels,
    slice_formats,
    slice_obstacle,
    transpose_obstacle,
)
from ge.dialects.graph.normalization import BatchNormOp, LayerNormOp, LrnOp, SoftmaxOp
from ge.dialects.graph.program import ConstantOp, HostOp, LaunchOp
from ge.dialects.graph.reduction import ReduceOp
from ge.dialects.graph.reduction_kernels import reduce_formats, reduce_obstacle
from ge.dialects.graph.row_kernels import layer_norm_obstacle, row_formats, softmax_obstacle
from ge.dialects.graph.shapes import Shape, joined_axes, padded
from ge.ir.attributes import EIGHT_BITS, layout_of
from ge.maths.layouts import C0, ND_FORMATS

MAX_KERNEL = MAX_DILATION = MAX_PAD = 255
"""Limits of a convolution's window: the widths of the fields of `cube.load3d` (docs/levels.md)."""

MAX_STRIDE = 63
"""The largest stride that `cube.load3d` takes."""

MAX_PLANE_SIDE = 32767
"""The largest height or width of a feature map that `cube.load3d` takes."""

CONV_WINDOW_BYTES = 512 * 1024
"""Whole input rows under the windows of two output rows, for one block of 16 channels: half of the smallest L1."""

POOL_WINDOW_BYTES = 96 * 1024
"""One pooling window, of one block of 16 channels: it shares the unified buffer (248 KiB or more) with float32 sums."""

MAX_SHORT_ROWS = 1024
"""The most rows of less than a block over which operands repeat: 100 cycles each, so that the host is not faster."""

SMALLEST_WIDTH = 1e-30
"""The smallest alpha of celu, of which kernels multiply with the reciprocal."""

COMPUTE_TYPES = (f16, f32)
"""Element types of a model that the AI Core computes on, both as float16."""

UNSAFE_ON_PADDING = frozenset(
    {
        UnaryKind.EXP,
        UnaryKind.LOG,
        UnaryKind.SQRT,
        UnaryKind.RSQRT,
        UnaryKind.RECIPROCAL,
        UnaryKind.POWER,
        BinaryKind.DIV,
    }
)
"""Kinds that could turn the unspecified value of a pad lane into one that is not finite."""


@dataclass(frozen=True)
class Formats:
    """The storage formats of one kernel: of each operand (None: a plain vector or scalar), and of the result."""

    operands: tuple[str | None, ...]
    result: str


def obstacle(op: Operation) -> str | None:
    """Why the AI Core has no kernel for `op`, as the end of a sentence; None if it has one."""
    if isinstance(op, IntegerOp):
        return _shapes_obstacle(op) or _function_obstacle(op) or _integer_op(op)
    check = _CHECKS.get(type(op))
    if check is None:
        return f"{op.name} has no kernel"
    return _shapes_obstacle(op) or _types_obstacle(op) or _function_obstacle(op) or check(op)


def kernel_formats(op: Operation) -> Sequence[Formats]:
    """The formats that the kernels of `op` take, best first; empty when there is no kernel."""
    if obstacle(op) is not None:
        return ()
    if isinstance(op, IntegerOp):
        return [Formats(operands, result) for operands, result in integer_formats(op)]
    formats = _FORMATS.get(type(op))
    return () if formats is None else formats(op)


def takes_formats(op: Operation) -> bool:
    """Whether the values of `op` have storage formats that one of its kernels takes, now; True where any will do."""
    formats = [_plain(layout_of(value.type)) for value in (*op.operands, *op.results)]
    choices = kernel_formats(op)
    return not choices or any(
        formats == [*(format or "ND" for format in choice.operands), choice.result] for choice in choices
    )


def _plain(format: str) -> str:
    return "ND" if format in ND_FORMATS else format


def _shapes_obstacle(op: Operation) -> str | None:
    """All values are static, not empty tensors."""
    for value in (*op.operands, *op.results):
        type = value.type
        if not isinstance(type, TensorType):
            return "a value is not a tensor"
        shape = type.get_shape()
        if DYNAMIC_INDEX in shape:
            return "a shape is not static"
        if 0 in shape:
            return "a tensor is empty"
    return None


def _types_obstacle(op: Operation) -> str | None:
    """All values have types that the AI Core computes on, or 8-bit integers where there is a kernel for those."""
    for value in (*op.operands, *op.results):
        element = tensor(value).element_type
        if element not in COMPUTE_TYPES and not (element in EIGHT_BITS and takes_integers(op)):
            return f"the element type is {element}"
    return None


def _function_obstacle(op: Operation) -> str | None:
    """The parameters of a function are numbers that kernels compute with; bounds may be infinite."""
    match op:
        case UnaryOp():
            function = op.function
        case Conv2DOp() | MatmulOp() | BinaryOp() | IntegerConv2DOp() | IntegerMatmulOp():
            function = op.activation
        case _:
            function = None
    if function is None or function.kind is UnaryKind.CLIP:
        return None
    if not all(map(math.isfinite, function.arguments)):
        return f"a parameter of {function.kind} is not finite"
    if function.kind is UnaryKind.CELU and abs(function.alpha) < SMALLEST_WIDTH:
        return "the width of celu is too small"
    return None


def _is_constant(value: SSAValue | None) -> bool:
    return value is None or isinstance(value.owner, ConstantOp)


# Convolution, pooling, matrix product


def _integer_op(op: IntegerOp) -> str | None:
    return (_window(op) if isinstance(op, IntegerConv2DOp) else None) or integer_obstacle(op)


def _conv2d(op: Conv2DOp) -> str | None:
    if not _is_constant(op.w) and layout_of(op.w.type) != "FRACTAL_Z":
        return "the weights are not constant"
    if not _is_constant(op.bias):
        return "the bias is not constant"
    return _window(op)


def _window(op: Conv2DOp | IntegerConv2DOp) -> str | None:
    """The window of a convolution is one that `load3d` takes, and the rows under it fit."""
    _, _, height, width = shape_of(op.x)
    kernel, dilations = shape_of(op.w)[2:], op.dilations.get_values()
    if max(kernel) > MAX_KERNEL or max(dilations) > MAX_DILATION:
        return f"the window is larger than {MAX_KERNEL}"
    if max(op.pads.get_values()) > MAX_PAD or min(op.pads.get_values()) < 0:
        return f"the padding is not between 0 and {MAX_PAD}"
    if max(op.strides.get_values()) > MAX_STRIDE:
        return f"the stride is larger than {MAX_STRIDE}"
    if max(height, width) > MAX_PLANE_SIDE:
        return f"the feature map is larger than {MAX_PLANE_SIDE}"
    rows = (kernel[0] - 1) * dilations[0] + 1 + op.strides.get_values()[0]
    if rows * width * C0 * 2 > CONV_WINDOW_BYTES:
        return "the rows under the windows of two output rows do not fit into L1"
    return None


def _pool2d(op: Pool2DOp) -> str | None:
    height, width = shape_of(op.x)[2:]
    kernel, pads = op.kernel.get_values(), op.pads.get_values()
    if max(op.dilations.get_values()) > 1:
        return "the window is dilated"
    if min(pads) < 0 or any(pads[i] >= kernel[i % 2] for i in range(4)):
        return "the padding is not smaller than the window"
    is_global = kernel == (height, width) and not any(pads)
    if not is_global and kernel[0] * kernel[1] * C0 * 2 > POOL_WINDOW_BYTES:
        return "one window does not fit into the unified buffer"
    return None


def _matmul(op: MatmulOp) -> str | None:
    a, b = shape_of(op.a), shape_of(op.b)
    if not _is_constant(op.bias):
        return "the bias is not constant"
    if len(b) > 2 and a[:-2] != b[:-2]:
        return "the leading dimensions broadcast"
    if op.transpose_b is not None and _is_constant(op.b):
        return "a constant is transposed"
    depth = a[len(a) - 1]
    if op.transpose_b is not None and depth % C0:
        return f"{depth} columns of a right operand that is transposed do not fill blocks"
    return None


# Elementwise


BroadcastForm: TypeAlias = Literal["same", "scalar", "channel", "trailing", "repeated"]


def broadcast_form(operand: Shape, result: Shape) -> BroadcastForm | None:
    """How an operand of an elementwise operation spreads over the result; None: it does not.

    `same`: it has the same shape. `scalar`: it has one element. `channel`: [C, 1, 1], [1, C, 1, 1] or [N, C, 1, 1] over
    [N, C, H, W]. `trailing`: its shape, without leading ones, is the end of the result's. `repeated`: any other way of
    broadcasting, as a column [M, 1] over [M, K].
    """
    if operand == result:
        return "same"
    if all(size == 1 for size in operand):
        return "scalar"
    sizes = padded(operand, len(result))
    if len(result) == 4 and sizes[1:] == (result[1], 1, 1) and sizes[0] in (1, result[0]):
        return "channel"
    first = next(i for i, size in enumerate(sizes) if size != 1)
    if sizes[first:] == result[first:]:
        return "trailing"
    spreads = len(sizes) == len(result) and all(a in (1, b) for a, b in zip(sizes, result, strict=True))
    return "repeated" if spreads else None


def _unary(op: UnaryOp) -> str | None:
    return None if shape_of(op.x) else "the value has no dimension"


def _binary(op: BinaryOp) -> str | None:
    result = shape_of(op.y)
    forms = {broadcast_form(shape_of(operand), result) for operand in op.operands}
    if op.kind.data is BinaryKind.POW:
        return "powers have no kernel"
    if not result:
        return "the value has no dimension"
    if None in forms:
        return "the operands do not broadcast to the result"
    if op.activation is not None and not (forms == {"same"} and _is_selection(op.activation)):
        return f"{op.activation.kind} is not fused into it"
    return _short_rows(op)


def _short_rows(op: BinaryOp) -> str | None:
    """Why rows of less than a block, over which operands repeat, have no kernel: one core would store them singly."""
    result, operands = shape_of(op.y), [shape_of(operand) for operand in op.operands]
    length = math.prod(result[axis] for axis in (joined_axes(result, operands) or [()])[-1])
    repeats = [broadcast_form(operand, result) in ("channel", "repeated") for operand in operands]
    if not any(repeats) or length >= C0 or math.prod(result) // length <= MAX_SHORT_ROWS:
        return None
    in_blocks = any(choice.result != "ND" for choice in _alike(op, op.kind.data))
    return None if in_blocks else f"operands repeat over more than {MAX_SHORT_ROWS} rows of less than {C0} elements"


def _padding_safe(kind: UnaryKind | BinaryKind, shape: Shape, axis: int = 1) -> bool:
    """Whether an elementwise kernel may run over the pad lanes that a fractal format adds along `axis`."""
    return kind not in UNSAFE_ON_PADDING or shape[axis] % C0 == 0


def _alike(op: UnaryOp | BinaryOp, kind: UnaryKind | BinaryKind) -> Sequence[Formats]:
    """The formats in which all operands of the result's shape lie alike; scalars have none.

    In a plain format operands spread in any way, in FRACTAL_NZ as whole matrices, in NC1HWC0 per channel.
    """
    result = shape_of(op.results[0])
    forms = [broadcast_form(shape_of(operand), result) for operand in op.operands]
    choices: list[str] = []
    per_channel = "same" in forms and {*forms} <= {"same", "scalar", "channel"}
    if per_channel and len(result) == 4 and _padding_safe(kind, result):
        choices.append("NC1HWC0")
    if (
        len(result) >= 2
        and "same" in forms
        and _padding_safe(kind, result, -1)
        and all(
            form in ("same", "scalar") or (form != "channel" and shape_of(operand)[-2:] == result[-2:])
            for form, operand in zip(forms, op.operands, strict=True)
        )
    ):
        choices.append("FRACTAL_NZ")
    choices.append("ND")
    return [Formats(tuple(None if form == "scalar" else choice for form in forms), choice) for choice in choices]


# All of them


def _no_kernel(reason: str) -> Callable[[Any], str]:
    return lambda op: reason


_CHECKS: dict[type[Operation], Callable[[Any], str | None]] = {
    Conv2DOp: _conv2d,
    Pool2DOp: _pool2d,
    MatmulOp: _matmul,
    UnaryOp: _unary,
    BinaryOp: _binary,
    SoftmaxOp: softmax_obstacle,
    LayerNormOp: layer_norm_obstacle,
    ReduceOp: reduce_obstacle,
    ConcatOp: concat_obstacle,
    SliceOp: slice_obstacle,
    GatherChannelsOp: gather_obstacle,
    ReshapeOp: lambda op: None,
    CastOp: lambda op: None,
    TransDataOp: lambda op: None,
    ViewOp: lambda op: None,
    LaunchOp: lambda op: None,
    BatchNormOp: _no_kernel("it was not turned into a convolution"),
    LrnOp: _no_kernel("it was not decomposed"),
    TransposeOp: transpose_obstacle,
    HostOp: _no_kernel("it runs on the host"),
}

_FORMATS: dict[type[Operation], Callable[[Any], Sequence[Formats]]] = {
    Conv2DOp: lambda op: [Formats(("NC1HWC0", "FRACTAL_Z", None)[: len(op.operands)], "NC1HWC0")],
    Pool2DOp: lambda op: [Formats(("NC1HWC0",), "NC1HWC0")],
    MatmulOp: lambda op: [Formats(("FRACTAL_NZ", _matrix_format(op.b), None)[: len(op.operands)], "FRACTAL_NZ")],
    UnaryOp: lambda op: _alike(op, op.kind),
    BinaryOp: lambda op: _alike(op, op.kind.data),
    SoftmaxOp: lambda op: _of_rows(op, row_formats(op, ragged=True)),
    LayerNormOp: lambda op: _of_rows(op, row_formats(op, ragged=False)),
    ReduceOp: lambda op: [Formats((source,), result) for source, result in reduce_formats(op)],
    ConcatOp: lambda op: _of_all(op, ["NC1HWC0"] if joins_channels(op) else concat_formats(op)),
    SliceOp: lambda op: _of_all(op, slice_formats(op)),
    GatherChannelsOp: lambda op: [Formats(("NC1HWC0",) * len(op.operands), "NC1HWC0")],
    ReshapeOp: lambda op: [Formats(("ND",), "ND")],
    TransposeOp: lambda op: [Formats(("ND",), "ND")],
}


def _of_rows(op: SoftmaxOp | LayerNormOp, formats: Sequence[str]) -> Sequence[Formats]:
    """Formats each for the rows and the result; scale and bias are vectors."""
    return [Formats((format, *(None,) * (len(op.operands) - 1)), format) for format in formats]


def _of_all(op: Operation, formats: Sequence[str]) -> Sequence[Formats]:
    """Formats each for all operands and the result."""
    return [Formats((format,) * len(op.operands), format) for format in formats]


def _matrix_format(b: SSAValue) -> str:
    """The format of a right operand: weights are packed beforehand, if they are one matrix."""
    return "FRACTAL_Z" if _is_constant(b) and len(shape_of(b)) == 2 else "FRACTAL_NZ"


def can_fuse_into_binary(op: BinaryOp, function: ActivationAttr) -> bool:
    """Whether an elementwise kernel of two tensors can apply the function to its float16 result, for operands alike."""
    return shape_of(op.a) == shape_of(op.b) and _is_selection(function)


def _is_selection(function: ActivationAttr) -> bool:
    """Whether the function picks its operand or something else, so that float16 gives the same result as float32."""
    return function.kind in (UnaryKind.RELU, UnaryKind.CLIP)


def can_fuse_activation(kind: UnaryKind) -> bool:
    """Whether a convolution or matrix product can apply the function to its accumulator, pad lanes included."""
    return kind is not UnaryKind.IDENTITY and kind not in UNSAFE_ON_PADDING
