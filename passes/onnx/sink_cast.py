"""The pass `sink-cast`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ge.dialects.onnx import OnnxOp, make_op, op_class, ranked
from ge.dialects.onnx.schema import expand_type_set
from ge.dialects.onnx.types import type_code
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.building import insert_before, only_user, take_place

MOVEMENTS = frozenset(
    {
        *("Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape", "Slice", "Squeeze"),
        *("Tile", "Transpose", "Unsqueeze"),
    }
)
"""Operators that only move the elements of their first operand."""

_EXACT = frozenset({"Abs", "Neg", "Relu"})
"""Operators on floats whose result is in every type that holds the operand, and the same there."""

_SMALL = "i8 ui8 bool"

_HOLDS: Mapping[str, frozenset[str]] = {
    wide: expand_type_set(narrow)
    for wide, narrow in {
        "f64": f"f32 f16 bf16 i32 ui32 i16 ui16 {_SMALL}",
        "f32": f"f16 bf16 i16 ui16 {_SMALL}",
        "f16": _SMALL,
        "bf16": _SMALL,
        "i64": f"i32 i16 ui32 ui16 {_SMALL}",
        "i32": f"i16 ui16 {_SMALL}",
        "i16": _SMALL,
        "i8": "bool",
        "ui64": "ui32 ui16 ui8 bool",
        "ui32": "ui16 ui8 bool",
        "ui16": "ui8 bool",
        "ui8": "bool",
    }.items()
}
"""The types of which each value is in a wider type."""


@dataclass(frozen=True)
class SinkCastPass(RulePass):
    """Move casts across operations that only move elements, where they meet others.

    1. A cast to a type that holds every value, perhaps operations that only move elements, and another cast: one cast
       behind, or none when the types are the same.
    2. The same across `Relu`, `Neg` and `Abs` between types of floats.
    3. `Concat` of casts from one type: one cast behind it.

    A first cast that something else uses, too, stays for that use.

    Left alone: a first cast that loses something (float32 to float16, int64 to int32, int64 to float64); values in
    between that something else uses, too; operations that compute, and those on values of unknown rank; bfloat16,
    unless the casts follow each other; a `Concat` with constants among its operands, or of types that it lacks.
    """

    name = "sink-cast"

    def rules(self) -> list[RewriteRule[Any]]:
        return [cast, concat]


@rewrite_rule(op_class("Cast"))
def cast(op: OnnxOp) -> bool:
    """Cases 1 and 2."""
    chain: list[OnnxOp] = []
    value = op.operands[0]
    while (between := _crossed(value, chain[-1] if chain else op)) is not None:
        chain.append(between)
        value = between.operands[0]
    first = value.owner
    if not isinstance(first, OnnxOp) or first.op_type != "Cast":
        return False
    source = first.operands[0]
    if not holds(type_code(value.type), type_code(source.type)) or not _may_cross(chain, source):
        return False
    for between in reversed(chain):
        source = _on(between, source, op)
    take_place(op, "Cast", [source], _attributes(op), fused=[first])
    return True


@rewrite_rule(op_class("Concat"))
def concat(op: OnnxOp) -> bool:
    """Case 3."""
    casts = [operand.owner for operand in op.operands]
    if len(casts) < 2 or not all(isinstance(each, op_class("Cast")) for each in casts):
        return False
    sources = [each.operands[0] for each in casts if isinstance(each, OnnxOp)]
    types = {type_code(source.type) for source in sources}
    result = ranked(op.results[0])
    if len(types) > 1 or result is None or any(only_user(operand) is not op for operand in op.operands):
        return False
    (element,) = {type.element_type for source in sources if (type := ranked(source)) is not None} or (None,)
    if element is None or type_code(element) not in op.operator.type_set(op.operator.inputs[0]):
        return False
    joined = make_op("Concat", sources, [TensorType(element, result.get_shape())], {"axis": op.attribute("axis")})
    insert_before(op, [joined], [op])
    first = casts[0]
    assert isinstance(first, OnnxOp), "all of them are casts"
    take_place(op, "Cast", [joined.results[0]], _attributes(first))
    return True


def holds(wide: str, narrow: str) -> bool:
    """Whether each value of a type is in another one."""
    return wide == narrow or narrow in _HOLDS.get(wide, ())


def _crossed(value: SSAValue, user: OnnxOp) -> OnnxOp | None:
    """The operation that gives a value to its only user, when a cast can move across it."""
    op = value.owner
    if not isinstance(op, OnnxOp) or op.domain or op.op_type not in MOVEMENTS | _EXACT or only_user(value) is not user:
        return None
    return op if ranked(value) is not None and user.operands[0] is value else None


def _may_cross(chain: list[OnnxOp], source: SSAValue) -> bool:
    """Whether operations take the narrow type: those that compute only floats."""
    code = type_code(source.type)
    if chain and ranked(source) is None:
        return False
    if code == "bf16" and chain:
        return False  # runtimes convert bfloat16, and have few kernels for it
    for op in chain:
        if op.op_type in _EXACT and code not in ("f16", "f32"):
            return False
        if code not in op.operator.type_set(op.operator.inputs[0]):
            return False
    return True


def _attributes(op: OnnxOp) -> dict[str, Attribute]:
    return {name: each for name, each in op.attributes.items() if "." not in name}


def _on(op: OnnxOp, source: SSAValue, before: OnnxOp) -> SSAValue:
    """The result of an operation on another first operand."""
    type, new = ranked(op.results[0]), ranked(source)
    assert type is not None and new is not None, "casts move across operations on values of known rank"
    inputs = [source, *op.input_list()[1:]]
    moved = make_op(op.op_type, inputs, [TensorType(new.element_type, type.get_shape())], _attributes(op))
    insert_before(before, [moved], [op])
    return moved.results[0]
