"""`graph.unary`, `graph.binary`, `graph.cast` and fusions of them to tile kernels, whatever the storage format.

A kernel goes through a *space* (`spaces`) tile by tile, loads its operands there, and does all its steps (`steps`) on
them before it stores the result. A broadcast operand is

* a scalar: a number in the kernel when it is constant, otherwise one element loaded by every tile;
* per channel ([1|N, C, 1, 1] in NC1HWC0): one block for all positions of a channel block;
* trailing ([..., L] in ND): one row of L elements for all rows; or ([..., M, K] in FRACTAL_NZ) matrices for all;
* repeated in any other way: in ND as a column [M, 1], or rows that do not fill blocks; in FRACTAL_NZ as matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import f16
from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.graph import ActivationAttr, BinaryKind, BinaryOp, CastOp, UnaryKind, UnaryOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.capabilities import BroadcastForm, broadcast_form
from ge.dialects.graph.constants import constant_array
from ge.dialects.graph.fusing import number_of, tile_operands
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel, storage_of
from ge.lowering.graph_to_tile.repeats import Repeats
from ge.lowering.graph_to_tile.spaces import Channels, Rows, Runs, Space
from ge.lowering.graph_to_tile.steps import emit_steps, steps_cost
from ge.maths.layouts import C0

F16_BLOCK, F32_BLOCK = 32, 64
"""Bytes of 16 lanes."""


def lower_steps(name: str, steps: Sequence[Operation], target: Target) -> tuple[KernelBuilder, list[SSAValue]]:
    """The kernel of elementwise operations that follow each other, and what it is launched on."""
    result, operands = steps[-1].results[0], tile_operands(steps)
    forms: dict[SSAValue, BroadcastForm] = {operand: _form(steps, operand) for operand in operands}
    space = _space_of(steps, forms, target)
    arguments = [memory_type(operand, space.shape(operand, forms[operand])) for operand in operands]
    b = KernelBuilder(name, arguments, [memory_type(result, space.shape(result, "same"))], space.cores)
    sources = dict(zip(operands, b.inputs, strict=True))
    kept = {operand: space.load_before(b, source, forms[operand]) for operand, source in sources.items()}
    with space.places(b, target.stages) as place:
        tiles = {
            operand: kept[operand] or space.load(b, source, forms[operand], place)
            for operand, source in sources.items()
        }
        space.store(b, emit_steps(b, steps, tiles), b.outputs[0], place)
    return b, operands


def _form(steps: Sequence[Operation], operand: SSAValue) -> BroadcastForm:
    """How an operand spreads over the result."""
    form = broadcast_form(shape_of(operand), shape_of(steps[-1].results[0]))
    if form is None:
        raise no_kernel(steps[0], "the operands do not broadcast to the result")
    return form


def _space_of(steps: Sequence[Operation], forms: dict[SSAValue, BroadcastForm], target: Target) -> Space:
    """The space that suits how the operands spread."""
    result, block_bytes = steps[-1].results[0], C0 * steps_cost(steps).lane_bytes
    spread = [operand for operand, form in forms.items() if form not in ("same", "scalar")]
    if not spread:
        return Runs(result, block_bytes, target)
    if layout_of(result.type) == "NC1HWC0":
        return Channels(result, block_bytes, target)
    lengths = {math.prod(storage_of(operand)) for operand in spread if forms[operand] == "trailing"}
    ragged = any(length % C0 and math.prod(storage_of(result)) > length for length in lengths)
    if len(lengths) != 1 or ragged or not {*forms.values()} <= {"same", "scalar", "trailing"}:
        return Repeats(result, list(forms), block_bytes, target)
    return Rows(result, lengths.pop(), block_bytes, target)


# Single operations


def lower_unary(op: UnaryOp, target: Target) -> Outlined:
    """The kernel of a function of one element."""
    b, inputs = lower_steps(str(op.kind), [op], target)
    return Outlined(b.kernel, inputs, *unary_operator(op.function))


def unary_operator(function: ActivationAttr) -> tuple[str, dict[str, Attribute]]:
    """The operator of Ascend IR for a function."""
    match function.kind:
        case UnaryKind.CLIP if (function.alpha, function.beta) == (0.0, 6.0):
            return "Relu6", {}
        case UnaryKind.CLIP:
            return "ClipByValue", attributes(clip_value_min=function.alpha, clip_value_max=function.beta)
        case UnaryKind.LEAKY_RELU:
            return "LeakyRelu", attributes(negative_slope=function.alpha)
        case UnaryKind.ELU:
            return "Elu", attributes(alpha=function.alpha)
        case UnaryKind.CELU:
            return "Celu", attributes(alpha1=1.0, alpha2=function.alpha, alpha3=function.alpha)
        case UnaryKind.HARD_SIGMOID:
            return "HardSigmoid", attributes(alpha=function.alpha, beta=function.beta)
        case UnaryKind.SWISH:
            return "Swish", attributes(scale=function.alpha)
        case UnaryKind.GELU_TANH:
            return "Gelu", {}
        case UnaryKind.GELU:
            return "GeluV2", attributes(approximate="none")
        case _:
            return "".join(word.capitalize() for word in str(function.kind).split("_")), {}


def lower_cast(op: CastOp, target: Target) -> Outlined:
    """The kernel of a change between float16 and float32."""
    b, inputs = lower_steps("cast", [op], target)
    return Outlined(b.kernel, inputs, *cast_operator(op))


def cast_operator(op: CastOp) -> tuple[str, dict[str, Attribute]]:
    """The operator of Ascend IR for a cast."""
    return "Cast", attributes(dst_type=1 if tensor(op.y).element_type == f16 else 0)


_OPERATORS = {
    BinaryKind.ADD: "Add",
    BinaryKind.SUB: "Sub",
    BinaryKind.MUL: "Mul",
    BinaryKind.DIV: "RealDiv",
    BinaryKind.MAX: "Maximum",
    BinaryKind.MIN: "Minimum",
}
"""Operators of Ascend IR; there is no kernel for powers."""


def lower_binary(op: BinaryOp, target: Target) -> Outlined:
    """The kernel of a function of two elements."""
    kind = op.kind.data
    if kind not in _OPERATORS:
        raise no_kernel(op, f"{kind} is not a function of the vector unit")
    if op.activation is not None and not shape_of(op.a) == shape_of(op.b) == shape_of(op.y):
        raise no_kernel(op, f"{op.activation.kind} after operands that broadcast")
    b, inputs = lower_steps(str(kind), [op], target)
    return Outlined(b.kernel, inputs, *binary_operator(op))


def binary_operator(op: BinaryOp) -> tuple[str, dict[str, Attribute]]:
    """The operator of Ascend IR for a function of two elements; one of which may be a number in the kernel."""
    number = number_of(op)
    array = None if number is None else constant_array(number)
    return _OPERATORS[op.kind.data], {} if array is None else attributes(value=float(array.reshape(())))
