"""The pass `check-memory`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, RecordOp, ViewOp, WaitOp
from ge.dialects.graph.program import DATAFLOW
from ge.dialects.graph.streams import program_steps, stream_of
from ge.dialects.om.values import ALIGNMENT, NO_OFFSET, slot_bytes, value_bytes
from ge.dialects.tile.structure import KernelOp
from ge.ir.constants import bytes_of
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import where
from ge.passes.graph.kernel_accesses import overwritten
from ge.passes.graph.note_dataflow import dataflow


@dataclass(frozen=True)
class CheckMemoryPass(ModulePass):
    """Replay a planned device program on a shadow memory that knows which value every piece holds. Changes nothing.

    It shares no code with the planners, only the rule that slots start at multiples of 512 bytes. Streams are replayed
    in the order of the program; beside that, each keeps a clock of what it knows to be done in the others, so that what
    could go wrong in any other order is found, too. Refused (GE4023; GE4025 for 5, GE4026 for 7; GE3024 for events
    without sense):

    1. an operation that reads a value of which a later one has overwritten a part, or that was never written;
    2. a slot that is not aligned, or reaches beyond the memory that the program asks for;
    3. constants with different bytes in one place of the weights;
    4. a result that is not intact at the end of the program;
    5. two tasks of different streams that use a value or memory, one of them writing it, and no event orders them;
    6. a result of a launch that lies on a part of an operand, or on all of it though the kernel still reads pieces that
       it has written: what the kernel itself does is replayed (`kernel_accesses.py`), whatever the launch says of it;
    7. a program that does not compute, task by task, what it computed in one stream (the note of `note-dataflow`, where
       there is one): each task once, of the same values, and the same values returned.

    The host copies what it reads before it writes, so results of host work may lie on its operands.
    """

    name = "check-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                check_memory(program)


def check_memory(program: FuncOp) -> None:
    """Replay one program; see the pass. Raises GE3024, GE4023, GE4025, GE4026, or GE5009 when memory is not planned."""
    _check_dataflow(program)
    shadow = _Shadow(program)
    streams = _Streams(program_steps(program).stream_count)
    overlaps = _Overlaps(program, shadow.slots)
    races = _Races(streams, len(shadow.pieces), shadow.slots)
    block = body_of(program)
    for argument, offset in zip(block.args, _offsets(program, "graph.input_offsets"), strict=True):
        shadow.write(argument, offset, program)
    for op in block.ops:
        match op:
            case ConstantOp():
                shadow.constant(op)
            case ViewOp():
                shadow.view(op)
                races.view(op)
            case LaunchOp() | HostOp():
                stream = streams.begin(op)
                for value in op.operands:
                    shadow.read(value, op)
                    races.read(value, stream, op)
                for value, offset in zip(op.results, _offsets(op, "offsets"), strict=True):
                    overlaps.check(op, value, offset)
                    shadow.write(value, offset, op)
                    races.write(value, stream, op)
            case RecordOp():
                streams.record(op)
            case WaitOp():
                streams.wait(op)
            case ReturnOp():
                for value in op.operands:
                    shadow.read(value, op)
            case _:
                raise GeError("GE3004", f"a device program cannot contain {op.name}", where(op))


def _check_dataflow(program: FuncOp) -> None:
    """Compare a program with what it computed in one stream."""
    noted = program.attributes.get(DATAFLOW)
    if isinstance(noted, StringAttr) and noted.data != dataflow(program):
        raise GeError("GE4026", "the tasks are not those that the program had before they were ordered", where(program))


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


class _Overlaps:
    """Results of launches on operands of the same launch."""

    def __init__(self, program: FuncOp, slots: dict[SSAValue, slice]) -> None:
        module = program.parent_op()
        kernels = [] if module is None else [op for op in module.walk() if isinstance(op, KernelOp | CubeKernelOp)]
        self.kernels = {kernel.sym_name.data: kernel for kernel in kernels}
        self.slots = slots
        self.known: dict[tuple[str, int, int], str | None] = {}
        """What goes wrong, by kernel and the numbers of two of its arguments."""

    def check(self, op: LaunchOp | HostOp, result: SSAValue, offset: int) -> None:
        """A result is about to be written to a place; the operands are still in theirs."""
        size = value_bytes(result.type)
        if isinstance(op, HostOp) or offset == NO_OFFSET or size is None:
            return
        place = slice(offset // ALIGNMENT, (offset + slot_bytes(size)) // ALIGNMENT)
        for number, operand in enumerate(op.inputs):
            slot = self.slots.get(operand, slice(0, 0))
            if slot.start >= place.stop or place.start >= slot.stop:
                continue
            what = f"%{_name(result)} is written over %{_name(operand)}"
            if slot != place:
                raise GeError("GE4023", f"{what}, but takes other bytes", where(op))
            if (problem := self._problem(op, number, size)) is not None:
                raise GeError("GE4023", f"{what}, but {problem}", where(op))

    def _problem(self, op: LaunchOp, source: int, size: int) -> str | None:
        """Why the kernel of a launch cannot write its result over an operand."""
        name = op.kernel.root_reference.data
        if name not in self.kernels:
            return f"there is no kernel @{name} that shows whether it may"
        if len(op.outputs) != 1:
            return "the launch has other results, too"
        key = (name, source, len(op.inputs))
        if key not in self.known:
            self.known[key] = overwritten(self.kernels[name], source, len(op.inputs), size)
        return self.known[key]


class _Streams:
    """What each stream knows: how many tasks of every stream are certain to be done."""

    def __init__(self, count: int) -> None:
        self.known: NDArray[np.int64] = np.zeros((count, count), np.int64)
        """A row for each stream. Its own tasks run one after the other, so of itself it knows all."""
        self.told: dict[int, NDArray[np.int64]] = {}
        """What the recording stream knew, by event."""

    def begin(self, op: LaunchOp | HostOp) -> int:
        """A task begins: the stream that it is in, in which it counts from now on."""
        stream = stream_of(op)
        self.known[stream, stream] += 1
        return stream

    def record(self, op: RecordOp) -> None:
        """A stream tells what it knows."""
        self.told[op.event.value.data] = self.known[op.stream.value.data].copy()

    def wait(self, op: WaitOp) -> None:
        """A stream learns what another one told."""
        stream = op.stream.value.data
        self.known[stream] = np.maximum(self.known[stream], self.told[op.event.value.data])


class _Races:
    """The last uses of every piece of memory, and of every value that has none, by stream."""

    def __init__(self, streams: _Streams, pieces: int, slots: dict[SSAValue, slice]) -> None:
        count = len(streams.known)
        self.streams = streams
        self.slots = slots
        self.writes: NDArray[np.int32] = np.zeros((pieces, count), np.int32)
        """For each piece and stream, which of its tasks, counted from 1, wrote there last; 0 is none."""
        self.reads: NDArray[np.int32] = np.zeros((pieces, count), np.int32)
        self.makers: dict[SSAValue, tuple[int, int]] = {}
        """Stream and number of the task that made a value."""

    def view(self, op: ViewOp) -> None:
        """A view is made where its operand is."""
        if op.x in self.makers:
            self.makers[op.y] = self.makers[op.x]

    def read(self, value: SSAValue, stream: int, op: Operation) -> None:
        """A task reads a value, which must be certain to be there."""
        maker, number = self.makers.get(value, (stream, 0))
        if number > self.streams.known[stream, maker]:
            what = f"stream {stream} reads %{_name(value)}, but no event says that stream {maker} has made it"
            raise GeError("GE4025", what, where(op))
        if value in self.slots:
            self.reads[self.slots[value], stream] = self.streams.known[stream, stream]

    def write(self, value: SSAValue, stream: int, op: Operation) -> None:
        """A task writes a value: all earlier uses of its memory must be certain to be done."""
        now = self.streams.known[stream]
        self.makers[value] = (stream, int(now[stream]))
        if value not in self.slots:
            return
        slot = self.slots[value]
        for uses, did in ((self.reads, "reads"), (self.writes, "writes")):
            others = np.flatnonzero((uses[slot] > now).any(axis=0))
            if others.size:
                what = f"stream {stream} writes %{_name(value)}, but no event says that stream {others[0]} is done"
                raise GeError("GE4025", f"{what} with memory there that it {did}", where(op))
        self.writes[slot, stream] = now[stream]


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
