"""The check of a node against the operator that a plug-in defines, before it is imported."""

from __future__ import annotations

from onnx import NodeProto

from ge.dialects.onnx.protos import KINDS
from ge.dialects.onnx.registered import CustomOperator
from ge.ir.errors import GeError


def check_version(definition: CustomOperator, version: int, where: str) -> None:
    """Raise GE1017 when the version of its domain that a model imports does not have an operator yet."""
    operator = definition.operator
    if version < operator.since:
        what = f"{operator.name} does not exist at version {version} of domain '{operator.domain}'"
        raise GeError("GE1017", f"{what}, first at {operator.since}", where)


def check_custom_node(node: NodeProto, definition: CustomOperator, version: int, where: str) -> None:
    """Raise GE1017 when a node does not fit the definition of its operator: version, counts or attributes.

    Types of inputs are for the verifier, which knows them.
    """
    check_version(definition, version, where)
    problem = _count_problem(node, definition) or _attribute_problem(node, definition)
    if problem is not None:
        raise GeError("GE1017", f"{node.op_type} {problem}", where)


def _count_problem(node: NodeProto, definition: CustomOperator) -> str | None:
    for side, names, parameters in (
        ("input", node.input, definition.operator.inputs),
        ("output", node.output, definition.operator.outputs),
    ):
        if len(names) > len(parameters) and not (parameters and parameters[-1].variadic):
            return f"has {len(names)} {side}s, it takes {len(parameters)}"
    for position, parameter in enumerate(definition.operator.inputs):
        is_needed = not parameter.optional and (not parameter.variadic or parameter.min_count)
        if is_needed and (position >= len(node.input) or not node.input[position]):
            return f"lacks its input '{parameter.name}'"
    return None


def _attribute_problem(node: NodeProto, definition: CustomOperator) -> str | None:
    specs = definition.operator.attributes
    for proto in node.attribute:
        if proto.name not in specs:
            return f"has no attribute '{proto.name}'; it has {', '.join(specs) or 'none'}"
        kind = KINDS.get(proto.type)
        if kind != specs[proto.name].kind and not proto.ref_attr_name:
            return f"has attribute '{proto.name}' of kind {kind}, it must be {specs[proto.name].kind}"
    given = {proto.name for proto in node.attribute}
    missing = next((spec.name for spec in specs.values() if spec.required and spec.name not in given), None)
    return None if missing is None else f"lacks its attribute '{missing}'"
