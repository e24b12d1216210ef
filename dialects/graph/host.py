"""Work for the host: regions of `onnx` operations, made from operators that have no kernel.

:func:`host_operator` wraps an `onnx` operation, :func:`host_equivalent` expresses a `graph` operation in ONNX again. In
both, constants become part of the region, so that it is complete in itself; all other values become operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import Float16Type, Float32Type, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ge.dialects.graph.attributes import ActivationAttr, BinaryKind, PoolKind, ReduceKind, UnaryKind
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.compute import BinaryOp, Conv2DOp, MatmulOp, Pool2DOp, UnaryOp
from ge.dialects.graph.constants import constant_array, dtype_of
from ge.dialects.graph.integer_host import INTEGER_EQUIVALENTS
from ge.dialects.graph.movement import CastOp, ConcatOp, GatherChannelsOp, ReshapeOp, SliceOp, TransposeOp
from ge.dialects.graph.normalization import BatchNormOp, LayerNormOp, LrnOp, SoftmaxOp
from ge.dialects.graph.program import ConstantOp, HostOp, YieldOp
from ge.dialects.graph.reduction import ReduceOp
from ge.dialects.onnx import (
    ABSENT,
    Constant,
    OnnxOp,
    constant_from_literal,
    make_constant,
    make_op,
)
from ge.ir.attributes import layout_of
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.ir.locations import where


class HostRegion:
    """A region under construction: outside values become arguments, outside constants are copied into it."""

    def __init__(self) -> None:
        self.block = Block()
        self.inputs: list[SSAValue] = []
        self._inside: dict[SSAValue, SSAValue] = {}

    def inside(self, value: SSAValue) -> SSAValue:
        """The value of the region that stands for an outside value."""
        if value not in self._inside:
            self._inside[value] = self._import(value)
        return self._inside[value]

    def define(self, outside: SSAValue, inside: SSAValue) -> None:
        """Let `inside` stand for the outside value from now on."""
        self._inside[outside] = inside

    def _import(self, value: SSAValue) -> SSAValue:
        owner = value.owner
        if isinstance(owner, Constant):
            return self.add(owner.clone())
        if isinstance(owner, ConstantOp):
            if layout_of(value.type) == "ND":
                return self.add(constant_from_literal(owner.value, value.type, location=owner.location))
            return self.add(make_constant(constant_array(value), location=owner.location))
        self.inputs.append(value)
        argument = self.block.insert_arg(value.type, len(self.block.args))
        argument.name_hint = value.name_hint
        return argument

    def add(self, op: Operation) -> SSAValue:
        """Append an operation; its first result."""
        self.block.add_op(op)
        return op.results[0]

    def onnx(
        self,
        op_type: str,
        inputs: Sequence[SSAValue | None],
        type: Attribute,
        attributes: Mapping[str, Any] | None = None,
    ) -> SSAValue:
        """Append an ONNX operator with one result on inside values."""
        return self.add(make_op(op_type, inputs, [type], attributes))

    def constant(self, array: Array) -> SSAValue:
        """Append an ONNX constant."""
        return self.add(make_constant(array))

    def scalar(self, like: SSAValue, number: float) -> SSAValue:
        """Append an ONNX constant of rank 0 in the element type of `like`."""
        return self.constant(np.asarray(number, dtype_of(like)))

    def finish(self, results: Sequence[SSAValue]) -> HostOp:
        """End the region with the inside values `results`; the operation that holds it."""
        self.block.add_op(YieldOp(results))
        return HostOp(self.inputs, [value.type for value in results], Region(self.block))


def host_operator(op: OnnxOp) -> tuple[HostOp, list[SSAValue | None]]:
    """An `onnx` operation on the host, and what replaces each of its results (None: the model does not ask for it).

    The operation is copied, with the regions it has; values that those capture become operands.
    """
    region = HostRegion()
    mapping: dict[SSAValue, SSAValue] = {}
    for value in outside_values(op):
        mapping[value] = region.inside(value)
    inner = op.clone(mapping)
    region.block.add_op(inner)
    wanted = [result for result in inner.results if result.type != ABSENT]
    host = region.finish(wanted)
    outputs = iter(host.outputs)
    return host, [None if result.type == ABSENT else next(outputs) for result in op.results]


def outside_values(op: Operation) -> list[SSAValue]:
    """The values that an operation or its regions use and do not define, in the order of their first use."""
    defined: set[SSAValue] = set()
    for inner in op.walk():
        defined.update(inner.results)
        defined.update(argument for region in inner.regions for block in region.blocks for argument in block.args)
    return list(dict.fromkeys(value for inner in op.walk() for value in inner.operands if value not in defined))


def host_equivalent(op: Operation) -> HostOp:
    """A `graph` operation as ONNX operators on the host. Raises GE3004 for one that has no ONNX form."""
    if not has_equivalent(op):
        raise GeError("GE3004", f"operation '{op.name}' cannot run on the host", where(op))
    region = HostRegion()
    return region.finish([add_equivalent(region, op)])


def add_equivalent(region: HostRegion, op: Operation) -> SSAValue:
    """Append the ONNX operators of a `graph` operation that has an equivalent; the value that is its result."""
    return _EQUIVALENTS[type(op)](region, op)


def has_equivalent(op: Operation) -> bool:
    """Whether `host_equivalent` can express the operation."""
    return type(op) in _EQUIVALENTS


ONNX_UNARY: dict[UnaryKind, tuple[str, tuple[str, ...]]] = {
    UnaryKind.IDENTITY: ("Identity", ()),
    UnaryKind.NEG: ("Neg", ()),
    UnaryKind.ABS: ("Abs", ()),
    UnaryKind.SQRT: ("Sqrt", ()),
    UnaryKind.RECIPROCAL: ("Reciprocal", ()),
    UnaryKind.EXP: ("Exp", ()),
    UnaryKind.LOG: ("Log", ()),
    UnaryKind.RELU: ("Relu", ()),
    UnaryKind.LEAKY_RELU: ("LeakyRelu", ("alpha",)),
    UnaryKind.ELU: ("Elu", ("alpha",)),
    UnaryKind.SELU: ("Selu", ("alpha", "gamma")),
    UnaryKind.CELU: ("Celu", ("alpha",)),
    UnaryKind.SIGMOID: ("Sigmoid", ()),
    UnaryKind.HARD_SIGMOID: ("HardSigmoid", ("alpha", "beta")),
    UnaryKind.TANH: ("Tanh", ()),
    UnaryKind.SOFTPLUS: ("Softplus", ()),
    UnaryKind.SOFTSIGN: ("Softsign", ()),
    UnaryKind.ERF: ("Erf", ()),
    UnaryKind.SWISH: ("Swish", ("alpha",)),
    UnaryKind.HARD_SWISH: ("HardSwish", ()),
    UnaryKind.MISH: ("Mish", ()),
}
"""Unary functions that are one ONNX operator: its name, and the attributes that are alpha and beta."""

ONNX_BINARY: dict[BinaryKind, str] = {
    BinaryKind.ADD: "Add",
    BinaryKind.SUB: "Sub",
    BinaryKind.MUL: "Mul",
    BinaryKind.DIV: "Div",
    BinaryKind.MAX: "Max",
    BinaryKind.MIN: "Min",
    BinaryKind.POW: "Pow",
}
"""Binary functions by their ONNX operators."""

ONNX_REDUCE: dict[ReduceKind, str] = {
    ReduceKind.SUM: "ReduceSum",
    ReduceKind.MEAN: "ReduceMean",
    ReduceKind.MAX: "ReduceMax",
    ReduceKind.MIN: "ReduceMin",
    ReduceKind.SUM_SQUARE: "ReduceSumSquare",
}
"""Reductions by their ONNX operators."""

ONNX_TYPE_CODES = {Float32Type: 1, Float16Type: 10}
"""`TensorProto.DataType` of the element types that `graph.cast` converts between."""


def unary_equivalent(region: HostRegion, x: SSAValue, function: ActivationAttr) -> SSAValue:
    """A unary function of an inside value."""
    type = tensor(x)
    if (entry := ONNX_UNARY.get(function.kind)) is not None:
        op_type, names = entry
        return region.onnx(op_type, [x], type, dict(zip(names, function.arguments, strict=True)))
    match function.kind:
        case UnaryKind.SQUARE:
            if function.alpha != 1.0:
                x = region.onnx("Mul", [x, region.scalar(x, function.alpha)], type)
            return region.onnx("Mul", [x, x], type)
        case UnaryKind.POWER:
            return region.onnx("Pow", [x, region.scalar(x, function.alpha)], type)
        case UnaryKind.RSQRT:
            return region.onnx("Reciprocal", [region.onnx("Sqrt", [x], type)], type)
        case UnaryKind.GELU | UnaryKind.GELU_TANH:
            approximate = "tanh" if function.kind is UnaryKind.GELU_TANH else "none"
            return region.onnx("Gelu", [x], type, {"approximate": approximate})
        case UnaryKind.CLIP:
            bounds = [region.scalar(x, bound) for bound in function.arguments]
            return region.onnx("Clip", [x, *bounds], type)
        case _:
            raise KeyError(function.kind)


def _activated(region: HostRegion, y: SSAValue, function: ActivationAttr | None) -> SSAValue:
    return y if function is None else unary_equivalent(region, y, function)


def _conv2d(region: HostRegion, op: Conv2DOp) -> SSAValue:
    attributes = {
        "kernel_shape": list(shape_of(op.w)[2:]),
        "strides": list(op.strides.get_values()),
        "pads": list(op.pads.get_values()),
        "dilations": list(op.dilations.get_values()),
        "group": op.groups.value.data,
    }
    inputs = [region.inside(value) for value in op.operands]
    return _activated(region, region.onnx("Conv", inputs, op.y.type, attributes), op.activation)


def _matmul(region: HostRegion, op: MatmulOp) -> SSAValue:
    b = region.inside(op.b)
    if op.transpose_b is not None:
        axes = range(len(op.right_shape))
        type = TensorType(tensor(op.b).element_type, op.right_shape)
        b = region.onnx("Transpose", [b], type, {"perm": [*axes[:-2], axes[-1], axes[-2]]})
    y = region.onnx("MatMul", [region.inside(op.a), b], op.y.type)
    if op.bias is not None:
        y = region.onnx("Add", [y, region.inside(op.bias)], op.y.type)
    return _activated(region, y, op.activation)


def _pool2d(region: HostRegion, op: Pool2DOp) -> SSAValue:
    attributes: dict[str, Any] = {
        "kernel_shape": list(op.kernel.get_values()),
        "strides": list(op.strides.get_values()),
        "pads": list(op.pads.get_values()),
        "ceil_mode": int(op.ceil_mode is not None),
    }
    if set(op.dilations.get_values()) != {1}:  # onnxruntime has kernels that do not know the attribute
        attributes["dilations"] = list(op.dilations.get_values())
    if op.kind.data is PoolKind.MAX:
        return region.onnx("MaxPool", [region.inside(op.x)], op.y.type, attributes)
    attributes["count_include_pad"] = int(op.count_include_pad is not None)
    return region.onnx("AveragePool", [region.inside(op.x)], op.y.type, attributes)


def _batch_norm(region: HostRegion, op: BatchNormOp) -> SSAValue:
    inputs = [region.inside(value) for value in op.operands]
    return region.onnx("BatchNormalization", inputs, op.y.type, {"epsilon": op.epsilon.value.data})


def _softmax(region: HostRegion, op: SoftmaxOp) -> SSAValue:
    op_type = "Softmax" if op.log is None else "LogSoftmax"
    return region.onnx(op_type, [region.inside(op.x)], op.y.type, {"axis": op.axis.value.data})


def _layer_norm(region: HostRegion, op: LayerNormOp) -> SSAValue:
    operands = [region.inside(value) for value in (op.x, op.scale, op.bias)]
    return region.onnx("LayerNormalization", operands, op.y.type, {"axis": -1, "epsilon": op.epsilon.value.data})


def _lrn(region: HostRegion, op: LrnOp) -> SSAValue:
    attributes = {
        "size": op.size.value.data,
        "alpha": op.alpha.value.data,
        "beta": op.beta.value.data,
        "bias": op.bias.value.data,
    }
    return region.onnx("LRN", [region.inside(op.x)], op.y.type, attributes)


def _reduce(region: HostRegion, op: ReduceOp) -> SSAValue:
    axes = region.constant(np.asarray(op.axes.get_values(), np.int64))
    return region.onnx(ONNX_REDUCE[op.kind.data], [region.inside(op.x), axes], op.y.type, {"keepdims": 1})


def _concat(region: HostRegion, op: ConcatOp) -> SSAValue:
    return region.onnx("Concat", [region.inside(x) for x in op.xs], op.y.type, {"axis": op.axis.value.data})


def _slice(region: HostRegion, op: SliceOp) -> SSAValue:
    start, axis = op.start.value.data, op.axis.value.data
    bounds = [region.constant(np.array([n], np.int64)) for n in (start, start + op.size.value.data, axis)]
    return region.onnx("Slice", [region.inside(op.x), *bounds], op.y.type)


def _gather_channels(region: HostRegion, op: GatherChannelsOp) -> SSAValue:
    xs = [region.inside(x) for x in op.xs]
    if len(xs) > 1:
        shape = list(shape_of(op.xs[0]))
        shape[1] = sum(shape_of(x)[1] for x in op.xs)
        xs = [region.onnx("Concat", xs, TensorType(tensor(op.y).element_type, shape), {"axis": 1})]
    indices = region.constant(np.asarray(op.indices.get_values(), np.int64))
    return region.onnx("Gather", [xs[0], indices], op.y.type, {"axis": 1})


def _reshape(region: HostRegion, op: ReshapeOp) -> SSAValue:
    shape = region.constant(np.asarray(shape_of(op.y), np.int64))
    return region.onnx("Reshape", [region.inside(op.x), shape], op.y.type)


def _transpose(region: HostRegion, op: TransposeOp) -> SSAValue:
    return region.onnx("Transpose", [region.inside(op.x)], op.y.type, {"perm": list(op.perm.get_values())})


def _cast(region: HostRegion, op: CastOp) -> SSAValue:
    code = ONNX_TYPE_CODES[cast(Any, type(tensor(op.y).element_type))]
    return region.onnx("Cast", [region.inside(op.x)], op.y.type, {"to": code})


def _binary(region: HostRegion, op: BinaryOp) -> SSAValue:
    y = region.onnx(ONNX_BINARY[op.kind.data], [region.inside(op.a), region.inside(op.b)], op.y.type)
    return _activated(region, y, op.activation)


_EQUIVALENTS: dict[type[Operation], Callable[[HostRegion, Any], SSAValue]] = {
    Conv2DOp: _conv2d,
    MatmulOp: _matmul,
    Pool2DOp: _pool2d,
    **INTEGER_EQUIVALENTS,
    BatchNormOp: _batch_norm,
    UnaryOp: lambda region, op: unary_equivalent(region, region.inside(op.x), op.function),
    BinaryOp: _binary,
    SoftmaxOp: _softmax,
    LayerNormOp: _layer_norm,
    LrnOp: _lrn,
    ReduceOp: _reduce,
    ConcatOp: _concat,
    SliceOp: _slice,
    GatherChannelsOp: _gather_channels,
    ReshapeOp: _reshape,
    TransposeOp: _transpose,
    CastOp: _cast,
}
