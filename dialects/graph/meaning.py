"""What a module at the graph level computes: evaluation with NumPy, from operators to device programs.

Values are arrays in origin shape, whatever their storage format. Where a kernel is launched they are packed into
storage layout and the results unpacked; the kernel itself is run by the `launch` function. An operation computes in
float32 and rounds its result once to the element type, with saturation for float16, as the kernels do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from ge.dialects.graph import numerics
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.compute import BinaryOp, Conv2DOp, MatmulOp, Pool2DOp, UnaryOp
from ge.dialects.graph.constants import constant_array, stored_type
from ge.dialects.graph.integer_meaning import INTEGER_MEANINGS
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
from ge.dialects.graph.normalization import BatchNormOp, LayerNormOp, LrnOp, SoftmaxOp
from ge.dialects.graph.program import (
    ConstantOp,
    FusionOp,
    HostOp,
    LaunchOp,
    input_names,
    main_function,
    output_names,
)
from ge.dialects.graph.reduction import ReduceOp
from ge.dialects.graph.streams import RecordOp, WaitOp, program_steps
from ge.ir.attributes import layout_of
from ge.ir.constants import Array, numpy_dtype
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.maths.floats import to_float16
from ge.maths.layouts import pack, unpack

Launch: TypeAlias = Callable[[Operation, Sequence[Array]], Sequence[Array]]
"""Runs a kernel operation on arrays in storage layout and gives its outputs, in storage layout too."""


def run_module(module: ModuleOp, inputs: Mapping[str, Any], launch: Launch | None = None) -> dict[str, Any]:
    """Run `@main` of a module on named inputs and return its named outputs.

    `launch` runs the kernels of a device program; without it `tile` kernels are evaluated as `tile` defines them.
    The streams of a device program take turns in the order of the program, which is one of those that are possible.
    Raises GE6002, GE6004 or GE6005 when an input is missing or does not have the shape or type that the module says,
    GE3024 for events that make no sense.
    """
    main = main_function(module)
    program_steps(main)
    values: dict[SSAValue, Any] = {}
    for name, argument in zip(input_names(main), main.body.block.args, strict=True):
        if name not in inputs:
            raise GeError("GE6002", f"input '{name}' is missing", remedy=f"Give {', '.join(input_names(main))}.")
        values[argument] = _checked_input(name, inputs[name], argument.type)
    uses_left = Counter(operand for op in main.body.block.ops for operand in op.operands)
    for op in main.body.block.ops:
        if isinstance(op, func.ReturnOp):
            return dict(zip(output_names(main), (values[value] for value in op.operands), strict=True))
        arrays = [values[operand] for operand in op.operands]
        values.update(zip(op.results, evaluate(op, arrays, launch), strict=True))
        for operand in op.operands:
            uses_left[operand] -= 1
            if not uses_left[operand]:
                del values[operand]
    raise GeError("GE3002", "the function does not end with func.return", where(main))


def evaluate(op: Operation, arrays: Sequence[Any], launch: Launch | None = None) -> Sequence[Any]:
    """The results of one operation on its operands, as arrays in origin shape and of the results' element types."""
    match op:
        case HostOp():
            return _run_host(op, arrays)
        case FusionOp():
            return [_run_fusion(op, arrays)]
        case LaunchOp():
            return _run_kernel(op, arrays, launch or _launch_tile_kernel)
        case ConstantOp():
            return [constant_array(op.y)]
        case RecordOp() | WaitOp():
            return []
        case _:
            pass
    if (move := _MOVES.get(type(op)) or INTEGER_MEANINGS.get(type(op))) is not None:
        return [move(op, arrays)]
    if (compute := _COMPUTES.get(type(op))) is None:
        raise GeError("GE3004", f"operation '{op.name}' has no meaning at the graph level", where(op))
    return [round_to(compute(op, [_widen(array) for array in arrays]), op.results[0].type)]


def round_to(values: Array, type: Attribute) -> Array:
    """`values` in the element type of the tensor type `type`; to float16 with saturation."""
    dtype = numpy_dtype(cast(TensorType[Attribute], type).element_type)
    return to_float16(values) if dtype == np.float16 and values.dtype.kind == "f" else values.astype(dtype, copy=False)


def _widen(array: Array) -> Array:
    """An operand as it is computed with: at least float32."""
    return array if array.dtype.itemsize >= 4 else array.astype(np.float32)


def _checked_input(name: str, value: Any, type: Attribute) -> Any:
    """An input after checking it against its type; values that are not tensors of numbers pass."""
    if not isinstance(type, TensorType) or not isinstance(value, np.ndarray):
        return value
    array, tensor_type = cast(Array, value), cast(TensorType[Attribute], type)
    shape = tensor_type.get_shape()
    if array.ndim != len(shape) or any(
        want not in (got, DYNAMIC_INDEX) for want, got in zip(shape, array.shape, strict=True)
    ):
        raise GeError("GE6004", f"input '{name}' has shape {list(array.shape)}, the module wants {type}")
    if array.dtype != object and array.dtype != numpy_dtype(tensor_type.element_type):
        raise GeError("GE6005", f"input '{name}' has element type {array.dtype}, the module wants {type}")
    return array


# The host and the kernels


def _run_host(op: HostOp, arrays: Sequence[Any]) -> Sequence[Any]:
    """Evaluate the region of a host operation, as the onnx level defines it."""
    from ge.dialects.onnx.meaning import run_block

    return run_block(op.body.block, arrays)


def _run_fusion(op: FusionOp, arrays: Sequence[Array]) -> Array:
    """Evaluate the steps of a fusion one after another."""
    values: dict[SSAValue, Array] = dict(zip(op.body.block.args, arrays, strict=True))
    for step in op.steps:
        (values[step.results[0]],) = evaluate(step, [values[operand] for operand in step.operands])
    return values[op.yielded]


def _run_kernel(op: LaunchOp, arrays: Sequence[Array], launch: Launch) -> Sequence[Array]:
    """Pack the operands, run the kernel, and unpack its outputs."""
    kernel = SymbolTable.lookup_symbol(op, op.kernel)
    if kernel is None:
        raise GeError("GE3002", f"there is no kernel {op.kernel}", where(op))
    stored = [pack(array, layout_of(value.type)) for array, value in zip(arrays, op.inputs, strict=True)]
    results = launch(kernel, stored)
    types = [tensor(value) for value in op.outputs]
    wanted = [stored_type(type).get_shape() for type in types]
    if [result.size for result in results] != [math.prod(shape) for shape in wanted]:
        given = ", ".join(str(list(result.shape)) for result in results)
        what = f"kernel {op.kernel} gives {given}, the launch wants {', '.join(str(list(shape)) for shape in wanted)}"
        raise GeError("GE3010", what, where(op))
    return [
        unpack(result.reshape(shape), layout_of(type), type.get_shape())
        for result, shape, type in zip(results, wanted, types, strict=True)
    ]


def _launch_tile_kernel(kernel: Operation, arrays: Sequence[Array]) -> Sequence[Array]:
    from ge.dialects.tile.meaning import run_kernel

    if kernel.name != "tile.kernel":
        raise GeError("GE3004", f"'{kernel.name}' is no kernel of level 'tile'", where(kernel))
    return run_kernel(kernel, arrays)


# Operations that compute: on float32 or float64 arrays, rounded afterwards


def _activate(y: Array, op: Conv2DOp | MatmulOp | BinaryOp) -> Array:
    return y if op.activation is None else numerics.unary(y, op.activation)


def _conv2d(op: Conv2DOp, x: Array, w: Array, bias: Array | None = None) -> Array:
    y = numerics.conv2d(
        x,
        w,
        op.strides.get_values(),
        op.pads.get_values(),
        op.dilations.get_values(),
        op.groups.value.data,
        op.group_merge.value.data,
    )
    return _activate(y if bias is None else y + bias[:, None, None], op)


def _matmul(op: MatmulOp, a: Array, b: Array, bias: Array | None = None) -> Array:
    y = np.matmul(a, b if op.transpose_b is None else np.swapaxes(b, -1, -2))
    return _activate(y if bias is None else y + bias, op)


def _pool2d(op: Pool2DOp, x: Array) -> Array:
    return numerics.pool2d(
        x,
        op.kind.data,
        op.kernel.get_values(),
        op.strides.get_values(),
        op.pads.get_values(),
        op.dilations.get_values(),
        shape_of(op.y)[2:],
        op.count_include_pad is not None,
    )


def _lrn(op: LrnOp, x: Array) -> Array:
    return numerics.lrn(x, op.size.value.data, op.alpha.value.data, op.beta.value.data, op.bias.value.data)


_COMPUTES: dict[type[Operation], Callable[[Any, Sequence[Array]], Array]] = {
    Conv2DOp: lambda op, xs: _conv2d(op, *xs),
    MatmulOp: lambda op, xs: _matmul(op, *xs),
    Pool2DOp: lambda op, xs: _pool2d(op, xs[0]),
    BatchNormOp: lambda op, xs: numerics.batch_norm(xs[0], xs[1], xs[2], xs[3], xs[4], op.epsilon.value.data),
    LrnOp: lambda op, xs: _lrn(op, xs[0]),
    LayerNormOp: lambda op, xs: numerics.layer_norm(xs[0], xs[1], xs[2], op.epsilon.value.data),
    SoftmaxOp: lambda op, xs: numerics.softmax(xs[0], op.axis.value.data, op.log is not None),
    ReduceOp: lambda op, xs: numerics.reduce(op.kind.data, xs[0], op.axes.get_values()),
    UnaryOp: lambda op, xs: numerics.unary(xs[0], op.function),
    BinaryOp: lambda op, xs: _activate(numerics.binary(op.kind.data, xs[0], xs[1]), op),
}


# Operations that move elements, of any type


def _view(op: ViewOp, x: Array) -> Array:
    """The storage as it is, under another type, which may leave out its end."""
    type = tensor(op.y)
    shape = stored_type(type).get_shape()
    stored = pack(x, layout_of(op.x.type)).reshape(-1)[: math.prod(shape)]
    return unpack(stored, layout_of(type), type.get_shape())


_MOVES: dict[type[Operation], Callable[[Any, Sequence[Array]], Array]] = {
    ConcatOp: lambda op, xs: np.concatenate(xs, axis=op.axis.value.data),
    GatherChannelsOp: lambda op, xs: numerics.gather_channels(xs, op.indices.get_values()),
    SliceOp: lambda op, xs: numerics.slice_(xs[0], op.axis.value.data, op.start.value.data, op.size.value.data),
    ReshapeOp: lambda op, xs: xs[0].reshape(shape_of(op.y)),
    ViewOp: lambda op, xs: _view(op, xs[0]),
    TransposeOp: lambda op, xs: xs[0].transpose(op.perm.get_values()),
    CastOp: lambda op, xs: round_to(xs[0], op.y.type),
    TransDataOp: lambda op, xs: round_to(xs[0], op.y.type),
}
