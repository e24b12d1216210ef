"""Computing in a wider element type, where an older version of an operator lacks the type that a node uses.

bfloat16 came to most operators with opset 13 or 22, small integers to arithmetic with opset 14: before, the same result
comes from a cast to a type that holds all values of the other one, the operator, and a cast back. Left alone are

1. operators whose result type is named by an attribute, and casts themselves;
2. operators with graphs, whose values have types of their own;
3. operators in which the wider type means something else (quantization).
"""

from __future__ import annotations

from collections.abc import Mapping

from onnx import TensorProto
from onnx.defs import OpSchema

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.graphs import inner_graphs
from ge.targets.onnx.adapters.legality import parameter_at, type_name, typed_values
from ge.targets.onnx.adapters.schemas import schema_at
from ge.targets.onnx.adapters.values import Node

_T = TensorProto

WIDER: Mapping[int, tuple[int, ...]] = {
    _T.BOOL: (_T.UINT8, _T.INT32),
    _T.INT8: (_T.INT32, _T.FLOAT),
    _T.UINT8: (_T.INT32, _T.FLOAT),
    _T.INT16: (_T.INT32, _T.FLOAT),
    _T.UINT16: (_T.INT32, _T.FLOAT),
    _T.INT32: (_T.INT64, _T.DOUBLE),
    _T.UINT32: (_T.INT64, _T.DOUBLE),
    _T.FLOAT16: (_T.FLOAT, _T.DOUBLE),
    _T.BFLOAT16: (_T.FLOAT, _T.DOUBLE),
    _T.FLOAT8E4M3FN: (_T.FLOAT16, _T.FLOAT),
    _T.FLOAT8E4M3FNUZ: (_T.FLOAT16, _T.FLOAT),
    _T.FLOAT8E5M2: (_T.FLOAT16, _T.FLOAT),
    _T.FLOAT8E5M2FNUZ: (_T.FLOAT,),
    _T.UINT4: (_T.UINT8,),
    _T.INT4: (_T.INT8,),
    _T.FLOAT4E2M1: (_T.FLOAT16, _T.FLOAT),
}
"""The types that hold every value of a type, best first."""

_EXCLUDED = frozenset({"Cast", "CastLike", "Constant", "DequantizeLinear", "QuantizeLinear"})


def recast(node: Node, new: Builder) -> bool:
    """Add the node between casts to types that its operator has at the opset of ``new``; False if there are none."""
    schema = schema_at(node.op_type, new.opset)
    if schema is None or node.op_type in _EXCLUDED or any(inner_graphs(node.proto)):
        return False
    wider = _wider_types(node, schema)
    if not wider:
        return False
    _add_between_casts(node, new, schema, wider)
    return True


def _wider_types(node: Node, schema: OpSchema) -> dict[str, int]:
    """The type to compute in for each type variable that needs another one; empty when a variable has none."""
    wider: dict[str, int] = {}
    read = {parameter.type_str for parameter in schema.inputs}
    for parameter, name in typed_values(node.proto, schema):
        element = node.element_of(name)
        type = type_name(node.scope.types.get(name))
        if not type or type in parameter.types or parameter.type_str in wider:
            continue
        found = next((w for w in WIDER.get(element, ()) if _tensor(w) in parameter.types), None)
        if found is None or parameter.type_str not in read:
            return {}
        wider[parameter.type_str] = found
    return wider


def _tensor(element: int) -> str:
    return f"tensor({TensorProto.DataType.Name(element).lower()})"


def _add_between_casts(node: Node, new: Builder, schema: OpSchema, wider: Mapping[str, int]) -> None:
    inputs: list[str] = []
    for position, name in enumerate(node.proto.input):
        element = wider.get(parameter_at(schema.inputs, position).type_str)
        inputs.append(new.cast(name, element) if name and element else name)
    outputs: list[str] = []
    narrow: list[tuple[str, str]] = []
    for position, name in enumerate(node.outputs):
        if name and parameter_at(schema.outputs, position).type_str in wider:
            narrow.append((new.name(node.op_type), name))
            outputs.append(narrow[-1][0])
        else:
            outputs.append(name)
    element_in = {name: node.element_of(name) for _, name in narrow}
    new.replace(inputs, outputs)
    for wide, name in narrow:
        new.cast(wide, element_in[name], [name])
