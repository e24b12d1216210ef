"""The verifier of onnx operations: each is compared with its entry in the operator table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx.attributes import has_kind
from ge.dialects.onnx.schema import Operator, Parameter
from ge.dialects.onnx.types import ABSENT, UNKNOWN, type_code

if TYPE_CHECKING:
    from ge.dialects.onnx.base import OnnxOp


def check(op: OnnxOp) -> None:
    """Raise VerifyException when ``op`` is not what the standard says: counts, attributes, regions or types.

    Raises GE3015 when its operands contradict each other, and GE3016 when its results have other types than the shape
    rule of the operator infers.
    """
    from ge.dialects.onnx.shapes.verification import check_shapes  # the rules are many, and not needed to register ops

    check_structure(op)
    check_types(op)
    check_shapes(op)


def check_structure(op: OnnxOp) -> None:
    """Raise VerifyException when ``op`` has other counts, attributes or regions than the standard says."""
    check_form(op)
    operator = op.operator
    _check_count("input", [value is not None for value in op.input_list()], operator.inputs)
    _check_count("output", [type != ABSENT for type in op.result_types], operator.outputs)
    _check_attributes(op, operator)


def check_types(op: OnnxOp) -> None:
    """Raise VerifyException when an operand or result of ``op`` has another type than the standard says."""
    operator = op.operator
    inputs = [None if value is None else value.type for value in op.input_list()]
    _check_types(operator, inputs, [None if type == ABSENT else type for type in op.result_types])


def check_form(op: OnnxOp) -> None:
    """Raise VerifyException for what no operator can have: regions that are not one block, impossible positions."""
    if "absent" in op.properties:
        _check_absent(op)
    if op.regions or op.region_names:
        _check_regions(op)


def _check_absent(op: OnnxOp) -> None:
    """Check that the positions of absent inputs rise, and are positions of inputs."""
    if op.absent is None:
        return
    positions = list(op.absent.get_values())
    count = len(op.operands) + len(positions)
    if positions != sorted(set(positions) & set(range(count))):
        raise VerifyException(f"'absent' lists positions {positions} of {count} inputs")


def _check_count(side: str, present: Sequence[bool], parameters: Sequence[Parameter]) -> None:
    variadic = bool(parameters) and parameters[-1].variadic
    if len(present) > len(parameters) and not variadic:
        raise VerifyException(f"{len(present)} {side}s, but the operator has at most {len(parameters)}")
    for position, parameter in enumerate(parameters):
        if parameter.variadic:
            count = max(0, len(present) - position)
            if count < parameter.min_count:
                raise VerifyException(f"{side} '{parameter.name}' needs at least {parameter.min_count} values")
        elif not parameter.optional and (position >= len(present) or (side == "input" and not present[position])):
            raise VerifyException(f"{side} '{parameter.name}' is missing")


def _check_attributes(op: OnnxOp, operator: Operator) -> None:
    for name, attribute in op.attributes.items():
        if "." in name:
            continue
        spec = operator.attributes.get(name)
        if spec is None or spec.kind == "graph":
            raise VerifyException(f"'{name}' is not an attribute of {operator.name}")
        if not has_kind(attribute, spec.kind):
            raise VerifyException(f"attribute '{name}' must be of kind {spec.kind}, got {attribute}")
    for spec in operator.attributes.values():
        if spec.required and spec.kind != "graph" and spec.name not in op.attributes:
            raise VerifyException(f"attribute '{spec.name}' is missing")


def _check_regions(op: OnnxOp) -> None:
    if len(op.regions) != len(op.region_names):
        raise VerifyException(f"expected {len(op.region_names)} regions, got {len(op.regions)}")
    for name, region in zip(op.region_names, op.regions, strict=True):
        block = region.blocks.first
        if block is None or block.next_block is not None:
            raise VerifyException(f"region '{name}' must have one block")
        if block.last_op is None or block.last_op.name != "onnx.Yield":
            raise VerifyException(f"region '{name}' must end with onnx.Yield")


def _check_types(operator: Operator, inputs: Sequence[Attribute | None], outputs: Sequence[Attribute | None]) -> None:
    """Check each type against its set, and that one word of the constraints stands for one type."""
    bound: dict[str, str] = {}
    for parameter, type in (*_pairs(operator.inputs, inputs), *_pairs(operator.outputs, outputs)):
        if type is None or type == UNKNOWN:
            continue
        code = type_code(type)
        if code not in operator.type_set(parameter):
            allowed = operator.constraints.get(parameter.type, parameter.type)
            raise VerifyException(f"'{parameter.name}' cannot have type {type}; allowed: {allowed}")
        if parameter.type in operator.constraints and parameter.same_type:
            first = bound.setdefault(parameter.type, code)
            if first != code:
                raise VerifyException(f"'{parameter.name}' has type {code}, another value of the same type has {first}")


def _pairs(
    parameters: Sequence[Parameter], types: Sequence[Attribute | None]
) -> Iterator[tuple[Parameter, Attribute | None]]:
    for position, type in enumerate(types):
        yield parameters[min(position, len(parameters) - 1)], type
