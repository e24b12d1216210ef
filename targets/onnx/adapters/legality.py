"""Whether a node is legal at an opset: its operator, attributes, their values, inputs, outputs and types.

This is what tells a number of an opset that was edited by hand, and what makes going down over a *widening* safe: the
meaning is the same on both sides, so a node may stay as it is if all that it uses was there before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onnx import NodeProto, TensorProto, TypeProto
from onnx.defs import OpSchema

from ge.targets.onnx.adapters.attribute_values import allowed_values
from ge.targets.onnx.adapters.schemas import (
    attribute_types,
    attributes_of,
    histories,
    inputs_of,
    outputs_of,
    required_attributes,
    schema_at,
)
from ge.targets.onnx.adapters.values import attribute_value

_OPTION = OpSchema.FormalParameterOption


def fit(node: NodeProto, opset: int, types: Mapping[str, TypeProto]) -> NodeProto | str:
    """The node in the form it has at an older opset, or what its operator lacks there, as "has no attribute 'axes'".

    That form has no attribute which only states the default of a newer version.
    """
    newest = histories()[node.op_type][-1].since_version
    schema = schema_at(node.op_type, opset)
    if schema is None or schema.deprecated:
        return "does not exist"
    new = [attribute for attribute in node.attribute if attribute.name not in attributes_of(schema)]
    if new:
        newer = schema_at(node.op_type, newest)
        for attribute in new:
            known = attributes_of(newer).get(attribute.name) if newer is not None else None
            default = attribute_value(known.default_value) if known is not None and known.default_value.name else None
            if default is None or attribute.ref_attr_name or default != attribute_value(attribute):
                return f"has no attribute '{attribute.name}'"
        node = _without(node, {attribute.name for attribute in new})
    return form_obstacle(node, schema) or types_obstacle(node, schema, types) or node


def _without(node: NodeProto, names: set[str]) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(node)
    kept = [attribute for attribute in copy.attribute if attribute.name not in names]
    del copy.attribute[:]
    copy.attribute.extend(kept)
    return copy


def form_obstacle(node: NodeProto, schema: OpSchema) -> str:
    """What in the attributes of a node, or the number of its values, the operator does not have; "" when all fits."""
    return _attributes_obstacle(node, schema) or _inputs_obstacle(node, schema) or _outputs_obstacle(node, schema)


def _attributes_obstacle(node: NodeProto, schema: OpSchema) -> str:
    given = {attribute.name: attribute for attribute in node.attribute}
    types = attribute_types(schema)
    for name, attribute in given.items():
        if attribute.ref_attr_name:
            continue
        if name not in types:
            return f"has no attribute '{name}'"
        if attribute.type != types[name]:
            return f"has another type of attribute '{name}'"
        allowed = allowed_values(node.op_type, name, schema.since_version)
        if allowed is not None and attribute_value(attribute) not in allowed:
            return f"cannot have {name} = '{attribute_value(attribute)}' (only {', '.join(allowed)})"
    for name in required_attributes(schema):
        if name not in given:
            return f"needs an attribute '{name}'"
    if node.op_type == "Split" and schema.since_version >= 18 and len(node.input) < 2 and "num_outputs" not in given:
        return "needs an input 'split' or an attribute 'num_outputs'"
    return ""


def _inputs_obstacle(node: NodeProto, schema: OpSchema) -> str:
    count = _count(node.input)
    if count > schema.max_input:
        return f"has at most {schema.max_input} inputs, not {count},"
    if count < schema.min_input:
        missing = parameter_at(inputs_of(schema), count)
        if missing.option != _OPTION.Optional or len(node.input) < schema.min_input:
            return f"needs an input '{missing.name}'"
    for name, parameter in zip(node.input, inputs_of(schema), strict=False):
        if not name and parameter.option == _OPTION.Single:
            return f"needs an input '{parameter.name}'"
    return ""


def _outputs_obstacle(node: NodeProto, schema: OpSchema) -> str:
    count = _count(node.output)
    return f"has at most {schema.max_output} outputs, not {count}," if count > schema.max_output else ""


def _count(names: Sequence[str]) -> int:
    """The number of values without those at the end that are absent."""
    count = len(names)
    while count and not names[count - 1]:
        count -= 1
    return count


def types_obstacle(node: NodeProto, schema: OpSchema, types: Mapping[str, TypeProto]) -> str:
    """Which type does not fit the operator; "" when all do, or are not known."""
    bound: dict[str, str] = {}
    for parameter, name in typed_values(node, schema):
        type = type_name(types.get(name))
        if not type:
            continue
        if type not in parameter.types:
            return f"does not take {type} for '{parameter.name}'"
        shared = parameter.type_str not in parameter.types and parameter.is_homogeneous
        if shared and bound.setdefault(parameter.type_str, type) != type:
            return f"does not take {bound[parameter.type_str]} and {type} together"
    if node.op_type == "Mod" and schema.since_version < 28 and bound.get("T") in _FLOATS and not node.attribute:
        return f"needs fmod = 1 for {bound['T']}"
    return ""


_FLOATS = ("tensor(float)", "tensor(double)", "tensor(float16)", "tensor(bfloat16)")


def typed_values(node: NodeProto, schema: OpSchema) -> Iterator[tuple[OpSchema.FormalParameter, str]]:
    """The inputs and outputs that are present, each with its parameter."""
    for parameters, names in ((inputs_of(schema), node.input), (outputs_of(schema), node.output)):
        for position, name in enumerate(names):
            if name and parameters:
                yield parameter_at(parameters, position), name


def parameter_at(parameters: Sequence[OpSchema.FormalParameter], position: int) -> OpSchema.FormalParameter:
    """The parameter of the input or output at a position; the last may stand for several."""
    return parameters[min(position, len(parameters) - 1)]


def type_name(type: TypeProto | None) -> str:
    """A type as the schemas of onnx write it: ``tensor(float)``, ``seq(tensor(float))``; "" when it is not known."""
    if type is None:
        return ""
    kind = type.WhichOneof("value")
    if kind == "tensor_type":
        element = type.tensor_type.elem_type
        return f"tensor({TensorProto.DataType.Name(element).lower()})" if element else ""
    if kind == "sequence_type":
        inner = type_name(type.sequence_type.elem_type)
        return f"seq({inner})" if inner else ""
    if kind == "optional_type":
        inner = type_name(type.optional_type.elem_type)
        return f"optional({inner})" if inner else ""
    return ""
