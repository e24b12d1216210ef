"""The types of the results of new operations: a fast answer for the common operators, that of the onnx package for all.

Sizes that are not known stay unknown; an operator that nothing is known of has results of unknown type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import onnx
from onnx import NodeProto, TensorProto, TypeProto
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, TensorType
from xdsl.ir import Attribute, SSAValue

from ge.dialects.onnx import OPSET, UNKNOWN, Constant, ranked
from ge.dialects.onnx.operators import ML_OPSET, OPERATORS
from ge.dialects.onnx.ops import ML_DOMAIN
from ge.dialects.onnx.protos import attribute_proto, proto_of_type, tensor_proto, type_of_proto
from ge.dialects.onnx.schema import Operator
from ge.dialects.onnx.types import sizes, tensor_type

_WORDS = """
Abs Acos Acosh Asin Asinh Atan Atanh BatchNormalization BitwiseNot Ceil Celu Clip Cos Cosh CumSum Elu Erf Exp Floor Gelu
GroupNormalization HardSigmoid HardSwish Hardmax Identity InstanceNormalization LRN LayerNormalization LeakyRelu Log
LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg Not PRelu RMSNormalization Reciprocal Relu Round Selu
Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Trilu
"""
_LIKE_FIRST = frozenset(_WORDS.split())
"""Operators whose first result has the shape of their first input."""

BROADCAST = frozenset(
    [
        "Add",
        "And",
        "BitShift",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "Div",
        "Equal",
        "Greater",
        "GreaterOrEqual",
        "Less",
        "LessOrEqual",
        "Max",
        "Mean",
        "Min",
        "Mod",
        "Mul",
        "Or",
        "Pow",
        "Sub",
        "Sum",
        "Where",
        "Xor",
    ]
)
"""Operators whose result has the shape to which their inputs are broadcast."""

_DATA_BYTES = 4096
"""Constants up to this size may be shapes: inference reads them."""


def result_types(
    operator: Operator, inputs: Sequence[SSAValue | None], attributes: Mapping[str, Attribute], count: int
) -> list[Attribute]:
    """The types of the first ``count`` results of an operation. Raises ValueError when its inputs do not fit."""
    rule = _RULES.get(operator.name) if count == 1 and not operator.domain else None
    fast = None if rule is None else rule(inputs)
    return _inferred(operator, inputs, attributes, count) if fast is None else [fast]


_TypeRule: TypeAlias = "Callable[[Sequence[SSAValue | None]], Attribute | None]"
"""From the inputs of an operation to the type of its only result; None where the package must be asked."""


def _type_rule(operator: Operator) -> _TypeRule | None:
    """The fast answer for an operator of the lists above."""
    if operator.name not in _LIKE_FIRST | BROADCAST:
        return None
    result, types = operator.outputs[0].type, [each.type for each in operator.inputs]
    source = None if operator.constraints.get(result, result) == "bool" else types.index(result)
    if operator.name in BROADCAST:
        return partial(_type_of_broadcast, source)
    return _type_of_first if source == 0 else partial(_shape_of_first, source)


def _type_of_first(inputs: Sequence[SSAValue | None]) -> TensorType[Attribute] | None:
    first = inputs[0] if inputs else None
    return None if first is None else ranked(first)


def _shape_of_first(source: int | None, inputs: Sequence[SSAValue | None]) -> Attribute | None:
    """The shape of the first input with the element type of the input ``source``; None is boolean."""
    first = _type_of_first(inputs)
    if first is None or source is None:
        return first and tensor_type(IntegerType(1), sizes(first))
    other = _type_of_first(inputs[source:])
    return other and _with_shape(other, sizes(first))


def _type_of_broadcast(source: int | None, inputs: Sequence[SSAValue | None]) -> Attribute | None:
    """The shape that the inputs are broadcast to, with the element type of the input ``source``; None is boolean."""
    types = [None if value is None else ranked(value) for value in inputs]
    shapes = [sizes(type) for type in types if type is not None]
    if not shapes or len(shapes) < len(types):
        return None
    shape = _broadcast(shapes)
    type = None if source is None else types[source]
    return tensor_type(IntegerType(1), shape) if type is None else _with_shape(type, shape)


def _with_shape(type: TensorType[Attribute], shape: tuple[int, ...]) -> Attribute:
    return type if sizes(type) == shape else tensor_type(type.element_type, shape)


_RULES: Mapping[str, _TypeRule] = {
    operator.name: rule for operator in OPERATORS if not operator.domain and (rule := _type_rule(operator)) is not None
}


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape of an elementwise operation. Raises ValueError when the shapes contradict each other."""
    shapes = [shape for shape in shapes if shape]
    if not shapes:
        return ()
    if len(shapes) == 1 or (shapes.count(shapes[0]) == len(shapes) and DYNAMIC_INDEX not in shapes[0]):
        return shapes[0]
    rank = max(map(len, shapes))
    result: list[int] = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if -axis <= len(shape)} - {1}
        fixed = sizes - {DYNAMIC_INDEX}
        if len(fixed) > 1:
            raise ValueError("shapes do not broadcast")
        result.append(fixed.pop() if fixed else DYNAMIC_INDEX if sizes else 1)
    return tuple(result)


def _inferred(
    operator: Operator, inputs: Sequence[SSAValue | None], attributes: Mapping[str, Attribute], count: int
) -> list[Attribute]:
    """What the shape inference of the onnx package says."""
    version = ML_OPSET if operator.domain == ML_DOMAIN else OPSET
    schema = onnx.defs.get_schema(operator.name, version, operator.domain)
    node = NodeProto(op_type=operator.name, domain=operator.domain)
    node.input.extend("" if value is None else f"x{position}" for position, value in enumerate(inputs))
    node.output.extend(f"y{position}" for position in range(count))
    for name, value in attributes.items():
        if name in operator.attributes:
            node.attribute.append(attribute_proto(name, value))
    types: dict[str, TypeProto] = {}
    data: dict[str, TensorProto] = {}
    for position, value in enumerate(inputs):
        if value is None:
            continue
        types[f"x{position}"] = proto_of_type(value.type)
        if isinstance(value.owner, Constant) and value.owner.array.nbytes <= _DATA_BYTES:
            data[f"x{position}"] = tensor_proto(value.owner.attributes["value"], value.type, f"x{position}")
    try:
        found = onnx.shape_inference.infer_node_outputs(schema, node, types, data)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError) as error:
        raise ValueError(str(error)) from error
    return [type_of_proto(found[name]) if name in found else UNKNOWN for name in node.output]
