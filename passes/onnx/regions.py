"""Changing operations with graphs inside: other results, other values that a loop carries, and copies of a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge.dialects.onnx import STRING, OnnxOp, Yield, ranked
from ge.dialects.onnx.ops import split_absent
from ge.ir.rewriting import replace

_PER_RESULT = ("onnx.outputs", "onnx.stated")
_PER_YIELD = ("onnx.output_names", "onnx.output_values")
"""Notes that have an entry for each result, of operations and of terminators."""

_PER_ARGUMENT = ("onnx.input_names", "onnx.input_values")
"""Notes of terminators that have an entry for each argument of the block."""

_TOTAL = frozenset(
    {
        *("Abs", "Acos", "Asin", "Atan", "Cast", "Ceil", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu"),
        *("HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu"),
        *("Round", "Selu", "Shape", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Softplus", "Softsign", "Sqrt", "Tan"),
        *("Tanh", "Transpose"),
    }
)
"""Operators that give a result for every value of their operands, so that they may run when they need not."""


def carried_count(op: OnnxOp) -> int:
    """How many values a `Loop` or `Scan` carries from turn to turn."""
    if op.op_type == "Loop":
        return max(0, len(op.input_list()) - 2)
    return len(op.input_list()) - op.attribute("num_scan_inputs")


def cannot_fail(op: OnnxOp) -> bool:
    """Whether an operation has a result whatever the values of its operands are, and the same one every time."""
    texts = any(type is not None and type.element_type == STRING for type in map(ranked, op.operands))
    return not op.domain and op.op_type in _TOTAL and not texts  # a text need not be a number


def keep_results(op: OnnxOp, kept: Sequence[int], operands: Sequence[SSAValue | None] | None = None) -> OnnxOp:
    """Put an operation with some of the results, and perhaps other inputs, in the place of one.

    Nothing uses the results that go. Regions and notes go along; what the regions give is left to the caller.
    """
    values, properties = split_absent(op.input_list() if operands is None else operands)
    new = type(op).create(
        operands=values,
        result_types=[op.results[index].type for index in kept],
        properties={**{name: each for name, each in op.properties.items() if name != "absent"}, **properties},
        attributes=_notes_of(op, _PER_RESULT, kept),
        regions=[op.detach_region(region) for region in list(op.regions)],
        location=op.location,
    )
    positions = {index: place for place, index in enumerate(kept)}
    results = [new.results[positions[index]] if index in positions else None for index in range(len(op.results))]
    replace(op, [new], results)
    return new


def keep_yielded(block: Block, kept: Sequence[int]) -> None:
    """Let a block give some of its values only."""
    old = cast(Operation, block.last_op)
    new = Yield(*(old.operands[index] for index in kept))
    new.attributes.update(_notes_of(old, _PER_YIELD, kept))
    new.location = old.location
    block.insert_op_before(new, old)
    old.detach()
    old.erase()


def keep_arguments(block: Block, kept: Sequence[int]) -> None:
    """Forget the notes on arguments of a block that go."""
    terminator = cast(Operation, block.last_op)
    terminator.attributes = _notes_of(terminator, _PER_ARGUMENT, kept)


def _notes_of(op: Operation, per_result: Sequence[str], kept: Sequence[int]) -> dict[str, Attribute]:
    """The attributes of an operation, with those entries of lists that belong to what is kept."""
    attributes = dict(op.attributes)
    for name in per_result:
        note = attributes.get(name)
        if isinstance(note, ArrayAttr):
            entries = cast("ArrayAttr[Attribute]", note).data
            if kept and max(kept) < len(entries):
                attributes[name] = ArrayAttr([entries[index] for index in kept])
            else:
                del attributes[name]
    return attributes


def copy_body(block: Block, arguments: Sequence[SSAValue]) -> tuple[list[Operation], list[SSAValue]]:
    """Copies of the operations of a block for given arguments, not yet in a block, and the values that they give."""
    mapper: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    terminator = cast(Operation, block.last_op)
    ops = [op.clone(mapper) for op in block.ops if op is not terminator]
    return ops, [mapper.get(value, value) for value in terminator.operands]
