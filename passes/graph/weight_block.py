"""The weights of a model as one block: where each constant lies in it.

Constants lie in the order in which the program first reads them, so that a run walks through the block once, from its
beginning to its end; those that no task reads (the model returns them, or nothing does) come last. Each begins at a
multiple of 512 bytes. Constants of the same bytes lie there once, whatever their types: a kernel reads bytes, and those
of a constant are in its storage format already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import ConstantOp
from ge.dialects.om.values import slot_bytes
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import bytes_of


@dataclass(frozen=True)
class WeightBlock:
    """The places of the constants, in bytes."""

    offsets: dict[SSAValue, int]
    size: int


def plan_weights(operations: Sequence[Operation], roots: Mapping[SSAValue, SSAValue]) -> WeightBlock:
    """Place the constants of a program. ``roots`` has for every value the one whose bytes it is."""
    offsets: dict[SSAValue, int] = {}
    known: dict[tuple[int, str], list[tuple[NDArray[np.uint8], int]]] = {}
    end = 0
    for op in _in_order_of_use(operations, roots):
        data = bytes_of(op.value, op.y.type)
        alike = known.setdefault((data.nbytes, _digest(op, data)), [])
        offset = next((offset for other, offset in alike if np.array_equal(other, data)), None)
        if offset is None:
            offset = end
            alike.append((data, offset))
            end += slot_bytes(data.nbytes)
        offsets[op.y] = offset
    return WeightBlock(offsets, end)


def _in_order_of_use(operations: Sequence[Operation], roots: Mapping[SSAValue, SSAValue]) -> Iterator[ConstantOp]:
    """The constants by the first operation that computes with them, then the others as they are written."""
    constants: dict[SSAValue, ConstantOp] = {op.y: op for op in operations if isinstance(op, ConstantOp)}
    readers = [op for op in operations if op.results and not isinstance(op, ConstantOp)]
    read = [roots[operand] for op in readers if not _is_view(op, roots) for operand in op.operands]
    return (constants[value] for value in dict.fromkeys([*read, *constants]) if value in constants)


def _is_view(op: Operation, roots: Mapping[SSAValue, SSAValue]) -> bool:
    """Whether an operation reads nothing, because its result is the bytes of its operand."""
    return any(roots[result] is not result for result in op.results)


def _digest(op: ConstantOp, data: NDArray[np.uint8]) -> str:
    return op.value.digest if isinstance(op.value, WeightsAttr) else hashlib.sha256(data.data).hexdigest()
