"""From the graph level back to ONNX: ``convert-graph-to-onnx``, for looking at an optimised graph with other tools.

| graph | ONNX |
|---|---|
| ``graph.constant`` | ``onnx.Constant`` in the shape of the model, whatever storage format it lies in |
| ``graph.fusion``, ``graph.host`` | what is in it |
| ``graph.trans_data``, ``graph.cast`` | nothing: values have the shape of the model, and one type |
| ``graph.view`` | ``Reshape``; between other storage formats, what shows their bytes |
| others | the operators that they run as on the host, activations on their own |

What computes in float16 on the device does so in float32 here, on the same weights: no result saturates, and
onnxruntime has kernels for it. Inputs and outputs of the model, and of what runs on the host, keep their types.

The first operator of several has the first name of the model that the operation stands for, the last one the last.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, Float16Type, Float32Type, LocationAttr, ModuleOp, TensorType, f16, f32
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ge.dialects.graph.base import Shape, shape_of, tensor
from ge.dialects.graph.compute import Conv2DOp
from ge.dialects.graph.constants import constant_array, dtype_of
from ge.dialects.graph.host import ONNX_TYPE_CODES, HostRegion, add_equivalent, has_equivalent
from ge.dialects.graph.integer import IntegerOp
from ge.dialects.graph.movement import CastOp, TransDataOp, ViewOp
from ge.dialects.graph.program import ConstantOp, FusionOp, HostOp, main_function
from ge.dialects.onnx import Constant, constant_value, make_constant
from ge.ir.attributes import block_lanes, layout_of, with_layout
from ge.ir.constants import Array, tensor_type_of
from ge.ir.errors import GeError
from ge.ir.locations import name_loc, node_names, where
from ge.ir.rewriting import erase_if_unused, replace
from ge.lowering.onnx_to_graph.convert import RENAMED
from ge.maths.group_merge import split_weights
from ge.maths.layouts import C0, round_up, storage_shape


@dataclass(frozen=True)
class ConvertGraphToOnnxPass(ModulePass):
    """Express a module of the graph level in ONNX; see the module. Raises GE3004 for what has no ONNX form."""

    name = "convert-graph-to-onnx"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        main = main_function(op)
        block = main.body.block
        for inner in list(block.ops):
            if isinstance(inner, FusionOp | HostOp):
                _inline(inner)
        wide: dict[SSAValue, SSAValue] = {}
        for inner in list(block.ops):
            _convert(inner, wide)
        casts = {value.owner for value in wide}
        for inner in reversed(list(block.ops)):
            if isinstance(inner, Constant) or inner in casts:
                erase_if_unused(inner)
        _leave_layouts_out(block)
        main.update_function_type()
        original = {new: old for old, new in RENAMED.items()}
        main.attributes = {original.get(key, key): value for key, value in main.attributes.items()}


def _inline(op: FusionOp | HostOp) -> None:
    """Put what an operation holds in its place."""
    values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.inputs, strict=True))
    inside = [each.clone(values) for each in op.body.block.ops]
    end = inside.pop()
    results = list(end.operands)
    end.erase()
    replace(op, inside, results)


def _convert(op: Operation, wide: dict[SSAValue, SSAValue]) -> None:
    """Replace one operation, unless it is of ONNX already; ``wide`` has the float32 form of float16 values."""
    emit = _Emitter(wide)
    match op:
        case ConstantOp():
            value = emit.add(make_constant(_widened(constant_array(op.y)), location=op.location))
        case TransDataOp() | CastOp():
            value = emit.inside(op.x)
        case ViewOp():
            value = _view(emit, op)
        case _ if has_equivalent(op):
            if isinstance(op, Conv2DOp) and op.group_merge.value.data > 1:
                emit.define(op.w, emit.constant(_own_weights(emit, op)))
            value = add_equivalent(emit, op)
        case ReturnOp():
            return
        case _ if op.name.startswith("onnx."):
            return
        case _:
            raise GeError("GE3004", f"operation '{op.name}' has no ONNX form", where(op))
    _name(emit.ops, op)
    if tensor(value).element_type == f16 and isinstance(op, IntegerOp):  # rounded already, by the last operator
        wide[value] = emit.ops[-1].operands[0]
    elif tensor(op.results[0]).element_type == f16:
        narrow = emit.onnx("Cast", [value], tensor(op.results[0]), {"to": ONNX_TYPE_CODES[Float16Type]})
        emit.ops[-1].location = _cast_location(op)
        wide[narrow] = value
        value = narrow
    replace(op, emit.ops, [value])


def _widened(array: Array | None) -> Array:
    assert array is not None
    return array.astype(np.float32) if array.dtype == np.float16 else array


class _Emitter(HostRegion):
    """Collects operators that work on the values of the function itself, in float32 where those are float16."""

    def __init__(self, wide: dict[SSAValue, SSAValue]) -> None:
        super().__init__()
        self.ops: list[Operation] = []
        self._wide = wide
        self._defined: dict[SSAValue, SSAValue] = {}

    def inside(self, value: SSAValue) -> SSAValue:
        if value in self._defined:
            return self._defined[value]
        if tensor(value).element_type != f16:
            return value
        if value not in self._wide:
            self._wide[value] = self.onnx("Cast", [value], tensor(value), {"to": ONNX_TYPE_CODES[Float32Type]})
        return self._wide[value]

    def define(self, outside: SSAValue, inside: SSAValue) -> None:
        self._defined[outside] = inside

    def onnx(
        self,
        op_type: str,
        inputs: Sequence[SSAValue | None],
        type: Attribute,
        attributes: Mapping[str, Any] | None = None,
    ) -> SSAValue:
        to_half = op_type == "Cast" and attributes == {"to": ONNX_TYPE_CODES[Float16Type]}
        if not to_half and tensor_type_of(type).element_type == f16:
            type = TensorType(f32, tensor_type_of(type).get_shape())
        return super().onnx(op_type, inputs, type, attributes)

    def add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]


def _name(ops: Sequence[Operation], source: Operation) -> None:
    """Give operators the names of the nodes that they come from: one each, or the first and the last of them."""
    computing = [op for op in ops if not isinstance(op, Constant)]
    names = node_names(source)
    if not names or len(computing) < 2:
        return  # all of the names, as they are
    if len(names) != len(computing):
        first, last = names[0], names[-1] if len(names) > 1 else None
        names = [f"{first}/{op.name.removeprefix('onnx.')}" for op in computing]
        names[0], names[-1] = first, last or names[-1]
    for op, name in zip(computing, names, strict=True):
        op.location = name_loc(name)


def _cast_location(op: Operation) -> LocationAttr:
    """The location of a conversion of the result of an operation."""
    names = node_names(op)
    return name_loc(f"{names[-1]}/Cast") if names else UNKNOWN_LOC


def _own_weights(emit: _Emitter, op: Conv2DOp) -> Array:
    """The weights [O, C/groups, kh, kw] of a convolution whose groups were merged: without the zeros between groups."""
    merged = constant_value(emit.inside(op.w))
    if merged is None:
        raise GeError("GE3004", f"operation '{op.name}' has no ONNX form: its weights are computed", where(op))
    return split_weights(merged, shape_of(op.x)[1], op.groups.value.data, op.group_merge.value.data)


# ---------------------------------------------------------------- storage formats


def _view(emit: _Emitter, op: ViewOp) -> SSAValue:
    """The bytes of the operand under another type: its storage, of which the end may be left out, read as that."""
    shape = shape_of(op.y)
    layout = layout_of(op.y.type)
    stored = _stored(emit, emit.inside(op.x), layout_of(op.x.type))
    count = math.prod(storage_shape(layout, shape, block_lanes(tensor(op.y))))
    if math.prod(shape_of(stored)) != count:
        stored = _cut(emit, _reshape(emit, stored, [math.prod(shape_of(stored))]), [count])
    return _unstored(emit, stored, layout, shape)


@dataclass(frozen=True)
class _Blocks:
    """How a tensor lies in storage: padded, with some dimensions split in blocks, and transposed."""

    padded: Shape
    split: Shape
    order: Sequence[int]

    @classmethod
    def of(cls, layout: str, value: SSAValue, shape: Shape) -> _Blocks:
        """The blocks of a storage format for a shape, of elements as `value` has; a plain one is the tensor itself."""
        rank, lanes = len(shape), block_lanes(tensor(value))
        match layout:
            case "NC1HWC0":
                axes, order = [1], [0, 1, 3, 4, 2]
            case "FRACTAL_NZ":
                axes, order = [rank - 1], [*range(rank - 2), rank - 1, rank - 2, rank]
            case "FRACTAL_Z":
                axes, order = [0, 1], [2, 4, 5, 0, 1, 3] if rank == 4 else [0, 2, 3, 1]
            case _:
                axes, order = [], [*range(rank)]
        sizes = dict.fromkeys(axes, lanes)
        if layout == "FRACTAL_Z":
            sizes[0 if rank == 4 else 1] = C0  # outputs
        padded = tuple(round_up(size, sizes[axis]) if axis in axes else size for axis, size in enumerate(shape))
        parts = ((size // sizes[axis], sizes[axis]) if axis in axes else (size,) for axis, size in enumerate(padded))
        return cls(padded, tuple(part for each in parts for part in each), order)


def _stored(emit: _Emitter, x: SSAValue, layout: str) -> SSAValue:
    """The storage of a value, with the dimensions of its blocks."""
    blocks = _Blocks.of(layout, x, shape_of(x))
    for axis, size in enumerate(blocks.padded):
        shape = list(shape_of(x))
        if missing := size - shape[axis]:
            zeros = emit.constant(np.zeros([*shape[:axis], missing, *shape[axis + 1 :]], dtype_of(x)))
            shape[axis] = size
            x = emit.onnx("Concat", [x, zeros], TensorType(tensor(x).element_type, shape), {"axis": axis})
    return _transpose(emit, _reshape(emit, x, blocks.split), blocks.order)


def _unstored(emit: _Emitter, stored: SSAValue, layout: str, shape: Shape) -> SSAValue:
    """The value of a shape whose storage this is."""
    blocks = _Blocks.of(layout, stored, shape)
    stored = _reshape(emit, stored, [blocks.split[axis] for axis in blocks.order])
    split = _transpose(emit, stored, [blocks.order.index(axis) for axis in range(len(blocks.order))])
    return _cut(emit, _reshape(emit, split, blocks.padded), shape)


def _reshape(emit: _Emitter, x: SSAValue, shape: Sequence[int]) -> SSAValue:
    if tuple(shape) == shape_of(x):
        return x
    type = TensorType(tensor(x).element_type, shape)
    return emit.onnx("Reshape", [x, emit.constant(np.array(shape, np.int64))], type)


def _transpose(emit: _Emitter, x: SSAValue, order: Sequence[int]) -> SSAValue:
    if [*order] == [*range(len(order))]:
        return x
    shape = shape_of(x)
    type = TensorType(tensor(x).element_type, [shape[axis] for axis in order])
    return emit.onnx("Transpose", [x], type, {"perm": list(order)})


def _cut(emit: _Emitter, x: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The beginning of a value in every dimension."""
    axes = [axis for axis, size in enumerate(shape) if size != shape_of(x)[axis]]
    if not axes:
        return x
    bounds = [[0] * len(axes), [shape[axis] for axis in axes], axes]
    inputs = [emit.constant(np.array(each, np.int64)) for each in bounds]
    return emit.onnx("Slice", [x, *inputs], TensorType(tensor(x).element_type, shape))


def _leave_layouts_out(block: Block) -> None:
    """Give all values types without storage formats."""
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    for value in values:
        if isinstance(value.type, TensorType) and layout_of(tensor(value)) != "ND":
            Rewriter.replace_value_with_new_type(value, with_layout(tensor(value), "ND"))
