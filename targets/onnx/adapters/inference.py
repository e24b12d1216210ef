"""Types of the values that conversions bring in, node by node."""

from __future__ import annotations

from typing import Any

from onnx import GraphProto, NodeProto, TensorProto, TypeProto, helper, numpy_helper, shape_inference

from ge.targets.onnx.adapters.graphs import graphs_of, inner_graphs
from ge.targets.onnx.adapters.schemas import schema_at
from ge.targets.onnx.adapters.values import Scope


def infer_types(node: NodeProto, opset: int, scope: Scope) -> None:
    """Enter the types of the outputs of a node into ``scope``, where they are not known and can be inferred."""
    schema = schema_at(node.op_type, opset)
    unknown = [name for name in node.output if name and name not in scope.types]
    inputs = {name: scope.types.get(name) for name in node.input if name}
    if schema is None or not unknown or None in inputs.values():
        return
    read = {name for graph in inner_graphs(node) for inner in graphs_of(graph) for n in inner.node for name in n.input}
    known = {name: scope.types[name] for name in (*inputs, *read) if name in scope.types}
    data = {name: numpy_helper.from_array(value) for name in known if (value := _short_value(name, scope)) is not None}
    try:
        inferred = shape_inference.infer_node_outputs(
            schema, node, known, data, opset_imports=[helper.make_opsetid("", opset)]
        )
    except Exception:  # inference raises many kinds; types are a help, not a condition
        return
    scope.types.update((name, type) for name, type in inferred.items() if name in unknown)


def _short_value(name: str, scope: Scope) -> Any:
    """The value of a constant that shapes may depend on."""
    shape = scope.shape(name)
    if shape is None or len(shape) > 1 or any(size is None or size > 64 for size in shape):
        return None
    return scope.value(name)


def infer_inputs(node: NodeProto, graph: GraphProto, scope: Scope) -> None:
    """Enter the types of the inputs of the graph of a Loop or Scan: those of what the node reads, without shapes."""
    if node.op_type == "Loop":
        counters = [helper.make_tensor_type_proto(element, []) for element in (TensorProto.INT64, TensorProto.BOOL)]
        sources = [*counters, *(scope.types.get(name) for name in node.input[2:])]
    else:
        sources = [scope.types.get(name) for name in node.input]
    for value, source in zip(graph.input, sources, strict=False):
        if source is not None:
            scope.types.setdefault(value.name, _without_shape(source))


def _without_shape(type: TypeProto) -> TypeProto:
    copy = TypeProto()
    copy.CopyFrom(type)
    if copy.HasField("tensor_type"):
        copy.tensor_type.ClearField("shape")
    return copy
