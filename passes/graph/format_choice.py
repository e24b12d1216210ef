"""Choosing among the storage formats that the kernels of an operation take, so that the fewest bytes are converted.

The choice is greedy, in program order. A choice costs what must be converted for the operands, and what its users would
have to convert again: :func:`wanted_formats` asks them beforehand, from the last to the first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import CastOp, HostOp, ReshapeOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import Formats, kernel_formats
from ge.maths.layouts import same_bytes, storage_shape
from ge.passes.graph.format_versions import Versions

Wanted: TypeAlias = Mapping[SSAValue, str]
"""The format that most users of a value want it in; a value whose users take any has none."""


def wanted_formats(block: Block) -> Wanted:
    """What the users of each value want: kernels with one set of formats say; those that take any ask their users."""
    votes: dict[SSAValue, Counter[str]] = {}
    wanted: dict[SSAValue, str] = {}
    for op in reversed(list(block.ops)):
        for result in op.results:
            if result in votes:
                wanted[result] = votes[result].most_common(1)[0][0]
        for operand, format in zip(op.operands, _asked_of_operands(op, wanted), strict=True):
            if format is not None:
                votes.setdefault(operand, Counter())[format] += 1
    return wanted


def _asked_of_operands(op: Operation, wanted: Wanted) -> Sequence[str | None]:
    """The format that `op` wants each operand in, given what is wanted of its result."""
    if isinstance(op, HostOp | ReturnOp):
        return ["ND"] * len(op.operands)
    if not op.operands or not op.results:
        return [None] * len(op.operands)
    result = op.results[0]
    if isinstance(op, CastOp):
        return [wanted.get(result)]
    if isinstance(op, ReshapeOp):
        return [_before_reshape(op, wanted.get(result))]
    choices = kernel_formats(op)
    if len(choices) > 1:
        choices = [choice for choice in choices if choice.result == wanted.get(result)]
    return choices[0].operands if choices else [None] * len(op.operands)


def _before_reshape(op: ReshapeOp, after: str | None) -> str | None:
    """The format of a value whose reshape is a view in the format `after`."""
    if after is None:
        return None
    shape = shape_of(op.x)
    for format in ("NC1HWC0", "FRACTAL_NZ"):
        if len(shape) == (4 if format == "NC1HWC0" else max(2, len(shape))) and same_bytes(
            format, shape, after, shape_of(op.y)
        ):
            return format
    return "ND"


def choose_formats(op: Operation, choices: Sequence[Formats], versions: Versions, wanted: Wanted) -> Formats:
    """The choice that converts the fewest elements; the first of those that are equal."""

    def cost(choice: Formats) -> int:
        result = op.results[0]
        total = sum(
            versions.cost(operand, format)
            for operand, format in zip(op.operands, choice.operands, strict=True)
            if format is not None
        )
        if wanted.get(result, choice.result) != choice.result:
            shape = shape_of(result)
            total += math.prod(shape) + math.prod(storage_shape(choice.result, shape))
        return total

    return min(choices, key=cost)
