"""The pass `check-memory`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, ViewOp
from ge.dialects.om.values import ALIGNMENT, NO_OFFSET, slot_bytes, value_bytes
from ge.ir.constants import bytes_of
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import where


@dataclass(frozen=True)
class CheckMemoryPass(ModulePass):
    """Replay a planned device program on a shadow memory that knows which value every piece holds. Changes nothing.

    It shares no code with the planners, only the rule that slots start at multiples of 512 bytes. Refused (GE4023):

    1. an operation that reads a value of which a later one has overwritten a part, or that was never written;
    2. a slot that is not aligned, or reaches beyond the memory that the program asks for;
    3. constants with different bytes in one place of the weights;
    4. a result that is not intact at the end of the program.
    """

    name = "check-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                check_memory(program)


def check_memory(program: FuncOp) -> None:
    """Replay one program; see the pass. Raises GE4023, or GE5009 when memory is not planned."""
    shadow = _Shadow(program)
    block = body_of(program)
    for argument, offset in zip(block.args, _offsets(program, "graph.input_offsets"), strict=True):
        shadow.write(argument, offset, program)
    for op in block.ops:
        match op:
            case ConstantOp():
                shadow.constant(op)
            case ViewOp():
                shadow.view(op)
            case LaunchOp() | HostOp():
                for value in op.operands:
                    shadow.read(value, op)
                for value, offset in zip(op.results, _offsets(op, "offsets"), strict=True):
                    shadow.write(value, offset, op)
            case ReturnOp():
                for value in op.operands:
                    shadow.read(value, op)
            case _:
                raise GeError("GE3004", f"a device program cannot contain {op.name}", where(op))


class _Shadow:
    """Memory in which every piece of 512 bytes holds the number of the value that was written there last."""

    def __init__(self, program: FuncOp) -> None:
        self.pieces: NDArray[np.int64] = np.zeros(_integer(program, "graph.memory_size") // ALIGNMENT, np.int64)
        self.weights: NDArray[np.uint8] = np.zeros(_integer(program, "graph.weight_size"), np.uint8)
        self.is_written: NDArray[np.bool_] = np.zeros(self.weights.size, np.bool_)
        self.owners: list[SSAValue | None] = [None]
        self.numbers: dict[SSAValue, int] = {}
        self.slots: dict[SSAValue, slice] = {}
        self.kept: set[SSAValue] = set()
        """Values without a slot: constants, and what the host keeps."""

    def write(self, value: SSAValue, offset: int, op: Operation) -> None:
        """A value comes into its slot."""
        size = value_bytes(value.type)
        if offset == NO_OFFSET or size is None:
            self.kept.add(value)
            return
        end = offset + slot_bytes(size)
        if offset % ALIGNMENT or offset < 0 or end > len(self.pieces) * ALIGNMENT:
            what = f"%{_name(value)} has bytes {offset} to {end} of a memory of {len(self.pieces) * ALIGNMENT}"
            raise GeError("GE4023", what, where(op))
        self.numbers[value] = len(self.owners)
        self.owners.append(value)
        self.slots[value] = slice(offset // ALIGNMENT, end // ALIGNMENT)
        self.pieces[self.slots[value]] = self.numbers[value]

    def read(self, value: SSAValue, op: Operation) -> None:
        """A value is read: nothing else may have come into its slot."""
        if value in self.kept:
            return
        if value not in self.slots:
            raise GeError("GE4023", f"%{_name(value)} is read before it is written", where(op))
        wrong = self.pieces[self.slots[value]]
        wrong = wrong[wrong != self.numbers[value]]
        if wrong.size:
            other = self.owners[int(wrong[0])]
            what = f"%{_name(value)} is read, but %{_name(other)} has overwritten {wrong.size * ALIGNMENT} bytes of it"
            raise GeError("GE4023", what, where(op))

    def view(self, op: ViewOp) -> None:
        """A view is read where its operand lies."""
        if op.x in self.kept:
            self.kept.add(op.y)
        else:
            self.slots[op.y], self.numbers[op.y] = self.slots[op.x], self.numbers[op.x]

    def constant(self, op: ConstantOp) -> None:
        """A constant lies in the weights; it may share its place with one of the same bytes."""
        data = bytes_of(op.value, op.y.type)
        offset = -1 if op.offset is None else op.offset.value.data
        place = slice(offset, offset + data.size)
        if offset % ALIGNMENT or offset < 0 or place.stop > self.weights.size:
            what = f"%{_name(op.y)} has bytes {offset} to {place.stop} of {self.weights.size} bytes of weights"
            raise GeError("GE4023", what, where(op))
        written = self.is_written[place]
        if (written & (self.weights[place] != data)).any():
            raise GeError("GE4023", f"%{_name(op.y)} lies on another constant in the weights", where(op))
        self.weights[place] = data
        self.is_written[place] = True
        self.kept.add(op.y)


def _name(value: SSAValue | None) -> str:
    return "?" if value is None or value.name_hint is None else value.name_hint


def _attribute(op: Operation, name: str) -> object:
    """What planning wrote. Raises GE5009 when it did not."""
    attribute = op.properties.get(name, op.attributes.get(name))
    if attribute is None:
        raise GeError("GE5009", f"memory is not planned: {op.name} has no '{name}'", where(op))
    return attribute


def _integer(op: Operation, name: str) -> int:
    return cast("IntegerAttr[I64]", _attribute(op, name)).value.data


def _offsets(op: Operation, name: str) -> tuple[int, ...]:
    return tuple(cast("DenseArrayBase[I64]", _attribute(op, name)).get_values())
