"""Types and shapes of the values of a model in ONNX's own form, by the shape inference of the ``onnx`` package."""

from __future__ import annotations

from onnx import GraphProto, ModelProto, TypeProto, ValueInfoProto, helper, shape_inference

from ge.dialects.onnx.ops import ML_DOMAIN

_SHAPED_LIKE_INPUT = frozenset({"GroupNormalization"})
"""Operators without inference in onnx 1.23 whose result has the type of the first input."""

AI_ONNX = "ai.onnx"
"""Another name of the empty domain, which messages and module attributes use."""


def infer_types(model: ModelProto) -> ModelProto:
    """The model with the type of every value that can be inferred.

    Shapes that it states for results are inferred anew; what it states counts only where inference finds nothing, as
    after an operator of another domain. A model on which inference fails keeps what it states.
    """
    stated = {value.name: value for value in (*model.graph.value_info, *model.graph.output)}
    bare = _without_result_types(model, stated)
    try:
        inferred = _infer(bare)
        while _state_types_like_input(inferred.graph, bare.graph):
            inferred = _infer(bare)
    except Exception:  # the checks of onnx raise many kinds; types are a help, not a condition
        return model
    known = {value.name for value in inferred.graph.value_info if _says_something(value.type)}
    known.update(value.name for value in (*inferred.graph.input, *inferred.graph.output))
    inferred.graph.value_info.extend(value for name, value in stated.items() if name not in known)
    for value in inferred.graph.output:
        if not _says_something(value.type) or not _has_shape(value.type):
            value.type.CopyFrom(stated[value.name].type)
    return inferred


def _infer(model: ModelProto) -> ModelProto:
    return shape_inference.infer_shapes(model, check_type=False, strict_mode=False, data_prop=True)


def _without_result_types(model: ModelProto, stated: dict[str, ValueInfoProto]) -> ModelProto:
    """A copy that states types of inputs and of results of foreign operators only."""
    bare = ModelProto()
    bare.CopyFrom(model)
    del bare.graph.value_info[:]
    foreign = {
        output for node in model.graph.node if node.domain not in ("", AI_ONNX, ML_DOMAIN) for output in node.output
    }
    bare.graph.value_info.extend(value for name, value in stated.items() if name in foreign)
    for value in bare.graph.output:
        if value.name not in foreign and value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return bare


def _state_types_like_input(inferred: GraphProto, stated: GraphProto) -> bool:
    """State in one graph the types that are missing in the other and are those of an input. Whether there were any."""
    types = value_types(inferred)
    outputs = {value.name: value for value in stated.output}
    found = False
    for node in inferred.node:
        source, result = types.get(next(iter(node.input), "")), types.get(node.output[0])
        if node.op_type not in _SHAPED_LIKE_INPUT or source is None or not _has_shape(source.type):
            continue
        if result is None or not _says_something(result.type) or not _has_shape(result.type):
            target = outputs.get(node.output[0]) or stated.value_info.add(name=node.output[0])
            target.type.CopyFrom(source.type)
            found = True
    return found


def _says_something(type: TypeProto) -> bool:
    return type.WhichOneof("value") is not None


def _has_shape(type: TypeProto) -> bool:
    return not type.HasField("tensor_type") or type.tensor_type.HasField("shape")


def value_types(graph: GraphProto) -> dict[str, ValueInfoProto]:
    """The type of each value of one graph by name: inputs, outputs, initializers and inner values."""
    types = {value.name: value for value in (*graph.value_info, *graph.output, *graph.input)}
    for tensor in graph.initializer:
        types[tensor.name] = helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
    return types
