"""Types and shapes of the values of a model in ONNX's own form, by the shape inference of the ``onnx`` package."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from onnx import (
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorShapeProto,
    TypeProto,
    ValueInfoProto,
    helper,
    shape_inference,
)

from ge.dialects.onnx.ops import ML_DOMAIN
from ge.dialects.onnx.protos import inner_graphs

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
        done: set[str] = set()
        while _complete(inferred.graph, bare.graph, done):
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


_WANT_INPUT_TYPE = frozenset({"EyeLike", "RegexFullMatch", "DictVectorizer", "LabelEncoder", "TreeEnsemble"})
"""Operators whose inference in onnx 1.23 ends the process when the type of their first input is not known."""


def _infer(model: ModelProto) -> ModelProto:
    """What the package infers. It is asked about some nodes only when the type of their input is known."""
    owners = (model.graph, *model.functions)
    if not any(node.op_type in _WANT_INPUT_TYPE for owner in owners for node in _nodes(owner)):
        return _ask_package(model)
    known = frozenset[str]()
    while True:
        inferred = _ask_package(_without_unsafe(model, known))
        types = frozenset(name for name, value in value_types(inferred.graph).items() if _says_something(value.type))
        if types <= known:
            return inferred
        known |= types


def _nodes(graph: GraphProto | FunctionProto) -> Iterator[NodeProto]:
    """The nodes of a graph or function, and of the graphs in them."""
    for node in graph.node:
        yield node
        for inner in inner_graphs(node):
            yield from _nodes(inner)


def _without_unsafe(model: ModelProto, known: frozenset[str]) -> ModelProto:
    """A copy without the nodes of which an input of unknown type would end the process."""
    copy = ModelProto()
    copy.CopyFrom(model)
    _drop_unsafe(copy.graph, known)
    for function in copy.functions:
        _drop_unsafe(function, frozenset())
    return copy


def _drop_unsafe(graph: GraphProto | FunctionProto, known: frozenset[str]) -> None:
    """Take such nodes out of a graph, in which the types of values are known, and out of the graphs in its nodes."""
    for node in list(graph.node):
        if node.op_type in _WANT_INPUT_TYPE and not known.issuperset(node.input[:1]):
            graph.node.remove(node)
        for inner in inner_graphs(node):
            _drop_unsafe(inner, frozenset())


def _ask_package(model: ModelProto) -> ModelProto:
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


def _complete(inferred: GraphProto, stated: GraphProto, done: set[str]) -> bool:
    """State in one graph the types that are missing in the other and that a rule gives. Whether there were any.

    Each value is completed once: ``done`` has those that were.
    """
    incomplete = [node for node in inferred.node if node.op_type in _RULES]
    types = value_types(inferred) if incomplete else {}
    outputs = {value.name: value for value in stated.output}
    found = False
    for node in incomplete:
        source = types.get(next(iter(node.input), ""))
        name = node.output[0]
        if source is None or name in done or not _has_shape(source.type):
            continue
        type = _RULES[node.op_type](source.type, types[name].type if name in types else TypeProto())
        if type is not None:
            target = outputs.get(name) or stated.value_info.add(name=name)
            target.type.CopyFrom(type)
            done.add(name)
            found = True
    return found


def _like_input(source: TypeProto, result: TypeProto) -> TypeProto | None:
    """The type of the first input, for operators that onnx 1.23 has no inference for."""
    return None if _says_something(result) and _has_shape(result) else source


def _reshaped(source: TypeProto, result: TypeProto) -> TypeProto | None:
    """The last unknown size of a reshaped tensor, from the number of elements: [b, 3, 4] to [b, ?] is [b, 12]."""
    dims = result.tensor_type.shape.dim
    unknown = [index for index, dim in enumerate(dims) if not dim.HasField("dim_value") and _is_nameless(dim)]
    before = source.tensor_type.shape.dim
    if len(unknown) != 1 or any(dim.WhichOneof("value") is None for dim in before):
        return None
    after = [dim for index, dim in enumerate(dims) if index != unknown[0]]
    if sorted(dim.dim_param for dim in before if dim.dim_param) != sorted(d.dim_param for d in after if d.dim_param):
        return None
    elements, known = (math.prod(dim.dim_value for dim in side if not dim.dim_param) for side in (before, after))
    if not known or elements % known:
        return None
    completed = TypeProto()
    completed.CopyFrom(result)
    completed.tensor_type.shape.dim[unknown[0]].dim_value = elements // known
    return completed


_RULES: Mapping[str, Callable[[TypeProto, TypeProto], TypeProto | None]] = {
    "GroupNormalization": _like_input,
    "Reshape": _reshaped,
}
"""Per operator, the type of its result from those of its first input and what is known of the result."""


def _is_nameless(dim: TensorShapeProto.Dimension) -> bool:
    """Whether a dimension has no name, or one that inference invented."""
    return not dim.dim_param or dim.dim_param.startswith("unk__")


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
