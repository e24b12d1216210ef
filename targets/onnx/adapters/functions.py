"""Writing an operator as the function that the standard defines it by.

``onnx.defs`` has the body of such a function for a given opset, for some operators only after it has seen the node and
its input types. The body replaces the node where an older opset does not have the operator, or not in this form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TypeProto
from onnx.defs import OpSchema

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.values import Node, RefusalError


def body_opset(schema: OpSchema) -> int:
    """The opset of the body by which the standard defines a version of an operator; 0 when it has none."""
    known: Any = schema
    versions: list[int] = [*known.function_opset_versions, *known.context_dependent_function_opset_versions]
    return max((version for version in versions if version <= schema.since_version), default=0)


def expand(node: Node, new: Builder) -> None:
    """Add the body of the function instead of the node; ``new.opset`` is :func:`body_opset`. Raises RefusalError."""
    function = _function(node, new.opset)
    names = dict(zip(function.input, [*node.proto.input, *[""] * len(function.input)], strict=False))
    names.update((inner, outer) for inner, outer in zip(function.output, node.outputs, strict=False) if outer)
    attributes = {attribute.name: attribute for attribute in node.proto.attribute}
    for attribute in function.attribute_proto:
        attributes.setdefault(attribute.name, attribute)
    for name, attribute in node.schema.attributes.items():
        if attribute.default_value.name:
            attributes.setdefault(name, attribute.default_value)
    for proto in function.node:
        new.append(_instance(proto, names, attributes, new))


def _function(node: Node, opset: int) -> FunctionProto:
    """The body of the function for one node."""
    schema: Any = node.schema
    if opset in schema.function_opset_versions:
        return FunctionProto.FromString(schema.get_function_with_opset_version(opset))
    types = [node.scope.types.get(name, TypeProto()) if name else TypeProto() for name in node.proto.input]
    if any(name and not type.WhichOneof("value") for name, type in zip(node.proto.input, types, strict=True)):
        raise RefusalError("the types of its inputs are not known")
    serialised = [type.SerializeToString() for type in types]
    try:
        body = schema.get_context_dependent_function_with_opset_version(
            opset, node.proto.SerializeToString(), serialised
        )
    except Exception as error:
        raise RefusalError(f"the standard has no function for this use of it ({error})") from error
    if not body:
        raise RefusalError("the standard has no function for this use of it")
    return FunctionProto.FromString(body)


def _instance(
    proto: NodeProto, names: dict[str, str], attributes: Mapping[str, AttributeProto], new: Builder
) -> NodeProto:
    """A node of a function with the values and attributes of the place it is used in. New names enter ``names``."""
    node = NodeProto()
    node.CopyFrom(proto)
    del node.attribute[:]
    for attribute in proto.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in attributes:
                node.attribute.add().CopyFrom(attributes[attribute.ref_attr_name])
                node.attribute[-1].name = attribute.name
        else:
            node.attribute.add().CopyFrom(attribute)
            if attribute.HasField("g"):
                _rename_graph(node.attribute[-1].g, names, attributes, new)
    node.input[:] = [names.get(name, name) for name in proto.input]
    while node.input and not node.input[-1]:
        del node.input[-1]
    for name in proto.output:
        if name and name not in names:
            names[name] = new.name(name)
    node.output[:] = [names.get(name, name) for name in proto.output]
    return node


def _rename_graph(
    graph: GraphProto, outer: Mapping[str, str], attributes: Mapping[str, AttributeProto], new: Builder
) -> None:
    """Give the values of a graph in a function names that are free, and those from outside the names they have now."""
    names = dict(outer)
    for value in graph.input:
        names[value.name] = new.name(value.name)
        value.name = names[value.name]
    for tensor in graph.initializer:
        names[tensor.name] = new.name(tensor.name)
        tensor.name = names[tensor.name]
    nodes = [_instance(node, names, attributes, new) for node in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    for value in graph.output:
        value.name = names[value.name]
    del graph.value_info[:]
