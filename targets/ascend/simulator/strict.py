"""The strict mode: every instruction is checked before it runs, and memory remembers what was written and by whom.

| check                     | error  | how
|
|---------------------------|--------|---------------------------------------------------------------------------------------|
| bounds                    | GE6021 | of the buffer, the memory, or the argument (and 32 bytes after it)
| | alignment                 | GE6022 | of addresses, as the SoC and the field have it
| | the SoC has it            | GE6023 | paths and instructions of the SoC file
| | uninitialised bytes       | GE6024 | a second memory holds "nobody wrote this" for each byte; transfers carry it
along       | | races in a core           | GE6025 | vector clocks over the pipes
| | flags                     | GE6026, GE6027 | one bit for each pair of pipes and event
| | conflicts between cores   | GE6028 | the core that last wrote, and those that read, each byte of global memory
| | ranges                    | GE6029 | of fields computed at run time
| | complete outputs          | GE6030 | at the end
|

Happens-before: each pipe starts its instructions in order, but the next may start before the last has landed. A clock
is a list of how many instructions of each pipe are known to have landed. `set_flag` records the clock of its pipe, with
all of its own instructions; `wait_flag` brings it to the other pipe; `pipe_barrier` adds a pipe's own instructions to
its clock. The scalar unit issues all others, so whatever it knows, they know. An access conflicts with an earlier one
that its clock does not cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import Address, Immediate
from ge.dialects.cube.instruction import Access, Instruction
from ge.dialects.cube.instructions.sync import FlagInstruction, PipeBarrier
from ge.dialects.cube.kernel import root_alloc
from ge.dialects.cube.memory import Memory
from ge.dialects.cube.spaces import BLOCK, FRACTAL_F16, LANES, Pipe, Space
from ge.ir.errors import GeError
from ge.targets.ascend.simulator.ledger import CoreLedger, Ledger
from ge.targets.ascend.simulator.program import Program

SPARE = BLOCK
"""Bytes after an argument that a transfer may touch, because it moves whole blocks."""

UNWRITTEN = 0x3C
"""What the second memory holds for a byte that nobody wrote: an ordinary number but 0, as float16 and as float32,
so that conversions keep it one. Bytes that were written, and padding, are 0."""

_PIPES = tuple(Pipe)
_GRANULES = {Space.GM: 1, Space.UB: 2, Space.L0C: 4}
"""Bytes that one entry of a ledger stands for; in other memories, a block."""


class Checker:
    """Checks one launch. The function of a program calls it before each instruction."""

    def __init__(self, program: Program, name: str, gm: NDArray[np.uint8], windows: Sequence[tuple[int, int]]) -> None:
        self.program = program
        self.name = name
        self.soc = program.soc
        self.windows = list(windows)
        self.unwritten = Memory(program.soc.buffers, np.zeros(len(gm), np.uint8))
        """The second memory."""
        for start, size in self.windows[len(self.windows) - program.outputs :]:
            self.unwritten.bytes["gm"][start : start + size] = UNWRITTEN
        self.cores = CoreLedger(len(gm))
        self.core = 0
        for number, op in enumerate(program.instructions):
            self._check_supported(number, op)

    def begin(self, core: int) -> None:
        """Start a core: nothing in it is written, no flag is raised."""
        self.core = core
        self.unwritten.fill(UNWRITTEN)
        self.clocks = {pipe: [0] * len(_PIPES) for pipe in _PIPES}
        self.issued: dict[Pipe, list[tuple[int, int]]] = {pipe: [] for pipe in _PIPES}
        """The instructions that each pipe was given: how manieth of the core, and number in the program."""
        self.count = 0
        self.flags: dict[tuple[Pipe, Pipe, int], tuple[list[int], int]] = {}
        """The raised flags: the clock that they carry, and the instruction that raised them."""
        self.ledgers = {space: Ledger(self._size(space), _GRANULES.get(space, BLOCK)) for space in Space}

    def _size(self, space: Space) -> int:
        return len(self.unwritten.bytes[Space.GM]) if space is Space.GM else self.soc.buffers[space]

    def error(self, code: str, number: int | None, what: str) -> GeError:
        """The error of a check at an instruction."""
        return GeError(code, what, self.program.where(self.name, self.core, number))

    # Instructions.

    def _check_supported(self, number: int, op: Instruction) -> None:
        name = op.name.removeprefix("cube.")
        if name in self.soc.lacks:
            raise self.error("GE6023", number, f"{self.soc.name} has no {name}")
        if op.path is not None and op.path not in self.soc.paths:
            raise self.error("GE6023", number, f"{self.soc.name} has no path {op.path}")

    def instruction(self, number: int, *values: Any) -> None:
        """Check the instruction `number`, whose fields have `values`, and record what it does."""
        op = self.program.instructions[number]
        self._check_fields(number, op, values)
        accesses = op.footprint(*values)
        placed = [(access, op.space(access.field)) for access in accesses]
        for access, space in placed:
            self._check_bounds(number, op, access, space)
        if not op.MOVES:
            for access, space in placed:
                if not access.write:
                    self._check_written(number, access, space)
        self._check_races(number, op, placed)
        self._record_written(op, values, placed)

    def _check_fields(self, number: int, op: Instruction, values: tuple[Any, ...]) -> None:
        given = iter(values)
        for field in op.FIELDS:
            value = next(given)
            if isinstance(field, Address):
                if len(field.spaces) > 1:
                    next(given)
                # Fields of single elements are aligned to those only.
                align = max(field.align, self.soc.alignment[op.space(field.name)] if field.align >= BLOCK else 1)
                if value % align:
                    raise self.error("GE6022", number, f"address {value} of '{field.name}', not a multiple of {align}")
                continue
            try:
                field.check(cast(Immediate, value))
            except VerifyException as error:
                raise self.error("GE6029", number, str(error)) from error

    def _check_bounds(self, number: int, op: Instruction, access: Access, space: Space) -> None:
        start, size, name = self._extent(op.address(access.field)[0])
        limit = min(start + size, self._size(space)) if space is not Space.GM else start + size + SPARE
        if access.start < start or access.end > limit:
            touched = f"bytes [{access.start - start}, {access.end - start}) of {name}"
            raise self.error("GE6021", number, f"{_verb(access)} {touched}, which has {size} bytes")

    def _extent(self, buffer: SSAValue) -> tuple[int, int, str]:
        """Address, bytes and name of a buffer."""
        alloc = root_alloc(buffer)
        if alloc is not None:
            return alloc.place or 0, alloc.total_bytes, f"a buffer in {alloc.space}"
        position = cast(BlockArgument, buffer).index
        return *self.windows[position], f"argument {position}"

    # Definedness.

    def _check_written(self, number: int, access: Access, space: Space) -> None:
        found = self._unwritten_bytes(access, space)
        if found.any():
            first = access.start + int(np.argwhere(found)[0] @ [access.stride, 1])
            raise self.error("GE6024", number, f"{_verb(access)} byte {first} of {space}, which nothing has written")

    def _unwritten_bytes(self, access: Access, space: Space) -> NDArray[np.bool_]:
        """For each burst and byte of an access, whether nobody wrote it."""
        shape = (access.bursts, access.length)
        if space in (Space.L0A, Space.L0B):
            first, last = access.start // FRACTAL_F16, -(-access.end // FRACTAL_F16)
            values = self.unwritten.l0(space).fractals(first * FRACTAL_F16, last - first)
            raw = np.repeat(values.reshape(-1, LANES) != 0, 2, axis=1).reshape(-1)
            return np.ndarray(shape, np.bool_, raw, access.start - first * FRACTAL_F16, (access.stride, 1))
        return self.unwritten.view(space, "u8", access.start, shape, (access.stride, 1)) != 0

    def _record_written(self, op: Instruction, values: tuple[Any, ...], placed: list[tuple[Access, Space]]) -> None:
        if op.MOVES:
            op.execute(self.unwritten, *values)
            return
        for access, space in placed:
            if access.write:
                shape = (access.bursts, access.length)
                self.unwritten.view(space, "u8", access.start, shape, (access.stride, 1))[...] = 0

    # Races.

    def _issue(self, pipe: Pipe) -> list[int]:
        """The clock of a pipe as it takes another instruction: it knows what the scalar unit knows."""
        clock = self.clocks[pipe]
        clock[:] = map(max, clock, self.clocks[Pipe.S])
        return clock

    def _check_races(self, number: int, op: Instruction, placed: list[tuple[Access, Space]]) -> None:
        pipe = op.pipe
        clock = self._issue(pipe)
        for access, space in placed:
            if (earlier := self._conflict(op, access, space, clock)) is not None:
                touched = f"{_verb(access)} {space} bytes [{access.start}, {access.end})"
                waited = f"instruction {earlier}: {self.program.text(earlier)}"
                raise self.error("GE6025", number, f"{touched} without waiting for {waited}")
            if space is Space.GM and (other_core := self.cores.conflict(access, self.core)) is not None:
                start = self._extent(op.address(access.field)[0])[0]
                touched = f"{_verb(access)} bytes [{access.start - start}, {access.end - start})"
                raise self.error("GE6028", number, f"{touched} of the argument, as does core {other_core}")
        self.issued[pipe].append((self.count, number))
        self.count += 1
        for access, space in placed:
            self.ledgers[space].record(access, _PIPES.index(pipe), len(self.issued[pipe]))
            if space is Space.GM:
                self.cores.record(access, self.core)
        if pipe is Pipe.S:
            self._land(Pipe.S, clock)

    def _conflict(self, op: Instruction, access: Access, space: Space, clock: list[int]) -> int | None:
        """The last instruction that conflicts with an access and has not landed for certain, by its number."""
        found = [
            self.issued[_PIPES[pipe]][order - 1]
            for pipe, order in self.ledgers[space].conflicts(access, clock)
            if not (
                _PIPES[pipe] is op.pipe
                and op.pipelined_after(self.program.instructions[self.issued[_PIPES[pipe]][order - 1][1]])
            )
        ]
        return max(found)[1] if found else None

    def _land(self, pipe: Pipe, clock: list[int]) -> None:
        """Add to a clock that every instruction given to a pipe has landed."""
        clock[_PIPES.index(pipe)] = len(self.issued[pipe])

    # Synchronisation.

    def _check_event(self, number: int, event: int) -> None:
        if not 0 <= event < self.soc.event_ids:
            raise self.error("GE6029", number, f"event {event}: {self.soc.name} has {self.soc.event_ids}")

    def set_flag(self, number: int, event: int) -> None:
        """A flag is raised."""
        op = cast(FlagInstruction, self.program.instructions[number])
        self._check_event(number, event)
        key = (op.src, op.dst, event)
        if key in self.flags:
            earlier = self.flags[key][1]
            raise self.error("GE6026", number, f"raised already by instruction {earlier}: {self.program.text(earlier)}")
        clock = list(self._issue(op.src))
        self._land(op.src, clock)
        self.flags[key] = (clock, number)

    def wait_flag(self, number: int, event: int) -> None:
        """A flag is waited for."""
        op = cast(FlagInstruction, self.program.instructions[number])
        self._check_event(number, event)
        if (raised := self.flags.pop((op.src, op.dst, event), None)) is None:
            raise self.error("GE6027", number, "waits for a flag that no instruction before it raises")
        clock = self._issue(op.dst)
        clock[:] = map(max, clock, raised[0])

    def barrier(self, number: int) -> None:
        """A pipe, or every pipe, is waited for."""
        op = cast(PipeBarrier, self.program.instructions[number])
        clock = self._issue(op.pipe)
        for pipe in _PIPES if op.holds_all else (op.pipe,):
            clock[:] = map(max, clock, self.clocks[pipe])
            self._land(pipe, clock)

    # The end.

    def end(self) -> None:
        """A core has run its last instruction."""
        if self.flags:
            (src, dst, event), (_, number) = next(iter(self.flags.items()))
            raise self.error("GE6027", number, f"the flag from {src} to {dst}, event {event}, stays raised")

    def finish(self) -> None:
        """Every core has run."""
        first = len(self.windows) - self.program.outputs
        for position, (start, size) in enumerate(self.windows[first:], start=first):
            missing = np.flatnonzero(self.unwritten.bytes["gm"][start : start + size])
            if len(missing):
                what = f"{len(missing)} of {size} bytes of argument {position}, the first of them byte {missing[0]}"
                raise GeError("GE6030", what, f"kernel @{self.name}")


def _verb(access: Access) -> str:
    return f"'{access.field}' {'writes' if access.write else 'reads'}"
