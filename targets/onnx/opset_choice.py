"""Which opset a model is exported with: the oldest one in which its operations mean what they mean at the newest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import onnx
from xdsl.ir import Attribute, SSAValue

from ge.dialects.onnx import (
    ABSENT,
    OPSET,
    UNKNOWN,
    Constant,
    Custom,
    MapType,
    OnnxOp,
    OptionalType,
    SequenceType,
)
from ge.dialects.onnx.protos import data_type_of
from ge.targets.onnx.adapters.schemas import schema_at
from ge.targets.onnx.adapters.table import keeps_meaning


def oldest_opset(ops: Iterable[OnnxOp], first: int) -> int:
    """The oldest opset from ``first`` on in which all operations mean what they do here."""
    own = [op for op in ops if not op.domain and not isinstance(op, Custom | Constant)]
    return next((version for version in range(first, OPSET) if all(_fits(op, version) for op in own)), OPSET)


def _fits(op: OnnxOp, version: int) -> bool:
    """Whether an operation means the same as a node of opset ``version``."""
    schema = schema_at(op.op_type, version)
    if schema is None or not keeps_meaning(op.op_type, version, OPSET):
        return False
    attributes = {name for name in op.attributes if "." not in name}
    return (
        attributes <= {*schema.attributes}
        and len(op.input_list()) <= schema.max_input
        and len(op.results) <= schema.max_output
        and _allowed(op.input_list(), schema.inputs)
        and _allowed(op.results, schema.outputs)
    )


def _allowed(values: Sequence[SSAValue | None], parameters: Sequence[onnx.defs.OpSchema.FormalParameter]) -> bool:
    """Whether the parameters of an operator allow the types of values."""
    for position, value in enumerate(values):
        types = parameters[min(position, len(parameters) - 1)].types
        if value is None or value.type in (UNKNOWN, ABSENT) or not types:
            continue
        if _type_name(value.type) not in types:
            return False
    return True


def _type_name(type: Attribute) -> str:
    """A type as the schemas of onnx write it: ``tensor(float)``, ``seq(tensor(float))``."""
    match type:
        case SequenceType():
            return f"seq({_type_name(type.element_type)})"
        case OptionalType():
            return f"optional({_type_name(type.element_type)})"
        case MapType():
            return f"map({_element_name(type.key_type)},{_type_name(type.value_type)})"
        case _:
            return f"tensor({_element_name(cast(Any, type).element_type)})"


def _element_name(type: Attribute) -> str:
    return onnx.TensorProto.DataType.Name(data_type_of(type)).lower()
