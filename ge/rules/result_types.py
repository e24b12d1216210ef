"""The types of the results of new operations: a fast answer for the common operators, that of the onnx package for all.

Sizes that are not known stay unknown; an operator that nothing is known of has results of unknown type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import NodeProto, TensorProto, TypeProto
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType
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

_KEEPS_TYPE = frozenset(
    operator.name
    for operator in OPERATORS
    if operator.name in _LIKE_FIRST and operator.inputs[0].type == operator.outputs[0].type
)
"""Those of them whose first result has the type of their first input."""

_BROADCAST = frozenset(
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
    if count == 1 and not operator.domain and (fast := _fast(operator, inputs)) is not None:
        return [fast]
    return _inferred(operator, inputs, attributes, count)


def _fast(operator: Operator, inputs: Sequence[SSAValue | None]) -> Attribute | None:
    """The type of the only result of an operator of the lists above."""
    name = operator.name
    if name in _KEEPS_TYPE:
        return None if not inputs or inputs[0] is None else ranked(inputs[0])
    known = [None if value is None else ranked(value) for value in inputs]
    if not known or (first := known[0]) is None:
        return None
    if name in _LIKE_FIRST:
        shape = sizes(first)
    elif name in _BROADCAST and None not in known:
        shape = _broadcast([sizes(type) for type in known if type is not None])
    else:
        return None
    source = _input_of_result_type(operator)
    if source is None:
        return tensor_type(IntegerType(1), shape)
    type = known[source] if source < len(known) else None
    if type is None:
        return None
    return type if sizes(type) == shape else tensor_type(type.element_type, shape)


def _input_of_result_type(operator: Operator) -> int | None:
    """The first input that has the element type of the result; None when the result is boolean."""
    if operator.name not in _SOURCES:
        word = operator.outputs[0].type
        is_boolean = operator.constraints.get(word, word) == "bool"
        _SOURCES[operator.name] = None if is_boolean else [each.type for each in operator.inputs].index(word)
    return _SOURCES[operator.name]


_SOURCES: dict[str, int | None] = {}


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape of an elementwise operation. Raises ValueError when the shapes contradict each other."""
    shapes = [shape for shape in shapes if shape]
    if not shapes:
        return ()
    if shapes.count(shapes[0]) == len(shapes) and DYNAMIC_INDEX not in shapes[0]:
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
    except onnx.shape_inference.InferenceError as error:
        raise ValueError(str(error)) from error
    return [type_of_proto(found[name]) if name in found else UNKNOWN for name in node.output]
