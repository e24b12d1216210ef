"""The versions of an operator, as ``onnx.defs`` lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from onnx import defs
from onnx.defs import OpSchema


@cache
def schema_at(op_type: str, opset: int, domain: str = "") -> OpSchema | None:
    """The definition of an operator that is valid at an opset, or None; also for a number that onnx has no room for."""
    if not 0 < opset < 1 << 31:
        return None
    try:
        return defs.get_schema(op_type, opset, domain)
    except defs.SchemaError:
        return None


def attribute_type(attribute: OpSchema.Attribute) -> int:
    """The type of an attribute, of ``AttributeProto.AttributeType``."""
    return int(cast(Any, attribute.type).value)


@cache
def attributes_of(schema: OpSchema) -> Mapping[str, OpSchema.Attribute]:
    """The attributes of a definition, which onnx would make anew each time."""
    return schema.attributes


@cache
def attribute_types(schema: OpSchema) -> Mapping[str, int]:
    """The types of the attributes of a definition."""
    return {name: attribute_type(attribute) for name, attribute in attributes_of(schema).items()}


@cache
def required_attributes(schema: OpSchema) -> Sequence[str]:
    """The attributes of a definition that have no default."""
    return [name for name, attribute in attributes_of(schema).items() if attribute.required]


@cache
def inputs_of(schema: OpSchema) -> Sequence[OpSchema.FormalParameter]:
    """The inputs of a definition."""
    return schema.inputs


@cache
def outputs_of(schema: OpSchema) -> Sequence[OpSchema.FormalParameter]:
    """The outputs of a definition."""
    return schema.outputs


@cache
def histories() -> Mapping[str, tuple[OpSchema, ...]]:
    """The definitions of each operator of ai.onnx, oldest first."""
    found: dict[str, list[OpSchema]] = {}
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain:
            found.setdefault(schema.name, []).append(schema)
    return {name: tuple(sorted(found[name], key=lambda schema: schema.since_version)) for name in sorted(found)}


@cache
def version_before(op_type: str, version: int) -> int:
    """The version of an operator before ``version``, which is one of its versions; 0 when there is none."""
    before = [s.since_version for s in histories().get(op_type, ()) if s.since_version < version]
    return before[-1] if before else 0


@cache
def version_after(op_type: str, version: int) -> int:
    """The version of an operator after ``version``, which is one of its versions; 0 when there is none."""
    after = [s.since_version for s in histories().get(op_type, ()) if s.since_version > version]
    return after[0] if after else 0
