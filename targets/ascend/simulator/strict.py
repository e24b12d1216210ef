"""The strict mode: every instruction is checked before it runs, and memory remembers what was written and by whom.

| check                   | error          | how                                                                    |
|-------------------------|----------------|------------------------------------------------------------------------|
| bounds                  | GE6021         | of the buffer, the memory, the argument (and 32 bytes after it)        |
| alignment               | GE6022         | of addresses, as the SoC and the field have it                         |
| the SoC has it          | GE6023         | paths and instructions of the SoC file                                 |
| uninitialised bytes     | GE6024         | a second memory says of each byte whether it was written               |
| races in a core         | GE6025         | vector clocks over the pipes                                           |
| flags                   | GE6026, GE6027 | one bit for each pair of pipes and event                               |
| conflicts between cores | GE6028         | the cores that wrote and read each byte of global memory               |
| ranges                  | GE6029         | of fields computed at run time                                         |
| complete outputs        | GE6030         | the second memory, at the end                                          |

An output that is written over an input counts as written from the beginning.

Transfers carry unwritten bytes along, and only an instruction that computes with them is an error.

An access races with an earlier one on the same bytes, one of them a write, that the clock of its pipe does not cover
(`clocks.py`); `ledger.py` knows the earlier accesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import Address, Enum, Field
from ge.dialects.cube.instruction import Access, Instruction
from ge.dialects.cube.instructions.sync import FlagInstruction, PipeBarrier
from ge.dialects.cube.kernel import root_alloc
from ge.dialects.cube.memory import Memory
from ge.dialects.cube.spaces import BLOCK, FRACTAL_F16, LANES, Pipe, Space
from ge.ir.errors import GeError
from ge.targets.ascend.simulator.clocks import PIPES, POSITION, Clocks
from ge.targets.ascend.simulator.ledger import CoreLedger, Ledger
from ge.targets.ascend.simulator.program import Program
from ge.targets.ascend.soc import Soc

SPARE = BLOCK
"""Bytes after an argument that a transfer may touch, because it moves whole blocks."""

UNWRITTEN = 0x3C
"""What the second memory holds for a byte that nobody wrote: an ordinary number but 0, as float16 and as float32,
so that conversions keep it one. Bytes that were written, and padding, are 0."""

_GRANULES = {Space.GM: 1, Space.UB: 2, Space.L0C: 4}
"""Bytes that one entry of a ledger stands for; in other memories, a block."""


class Extent(NamedTuple):
    """The bytes that an address field may touch."""

    space: Space
    start: int
    size: int
    limit: int
    """The first address after them; for an argument, after its spare bytes."""
    name: str


class Site:
    """What is known of an instruction before it runs."""

    def __init__(self, number: int, op: Instruction, extents: dict[str, Extent], soc: Soc) -> None:
        self.number = number
        self.op = op
        self.pipe = op.pipe
        self.extents = extents
        self.fields: list[tuple[Field, int | None]] = []
        """For each value of `execute`: its field, and the alignment if it is an address."""
        for field in op.FIELDS:
            if not isinstance(field, Address):
                self.fields.append((field, None))
                continue
            # Fields that address single elements are aligned to those only.
            memory_align = soc.alignment[extents[field.name].space] if field.align >= BLOCK else 1
            self.fields.append((field, max(field.align, memory_align)))
            if len(field.spaces) > 1:
                self.fields.append((Enum(field.name, field.spaces), None))
        self.ends = (op.src, op.dst) if isinstance(op, FlagInstruction) else None
        """The pipes of a flag."""
        self.pipelined: dict[int, bool] = {}
        """For other instructions of its pipe: whether the hardware orders this after them."""


class _Unwritten(Memory):
    """Memories that say of each byte whether somebody wrote it; padding of any value counts as written."""

    def padding(self, value: int) -> int:
        return 0


class Checker:
    """Checks one launch. The function of a program calls it before each instruction."""

    def __init__(self, program: Program, name: str, gm: NDArray[np.uint8], windows: Sequence[tuple[int, int]]) -> None:
        self.program = program
        self.name = name
        self.soc = program.soc
        self.windows = list(windows)
        self.unwritten = _Unwritten(program.soc.buffers, np.zeros(len(gm), np.uint8))
        """The second memory."""
        first = len(self.windows) - program.outputs
        inputs = set(self.windows[:first])
        for start, size in (window for window in self.windows[first:] if window not in inputs):
            self.unwritten.bytes["gm"][start : start + size] = UNWRITTEN
        self.cores = CoreLedger(len(gm))
        self.core = 0
        self.sites = [self._site(number, op) for number, op in enumerate(program.instructions)]

    def begin(self, core: int) -> None:
        """Start a core: nothing in it is written, no flag is raised."""
        self.core = core
        self.unwritten.fill(UNWRITTEN)
        self.clocks = Clocks()
        self.issued: dict[Pipe, list[tuple[int, Site]]] = {pipe: [] for pipe in PIPES}
        """The instructions that each pipe was given, each with its order in the core."""
        self.count = 0
        self.flags: dict[tuple[Pipe, Pipe, int], tuple[Sequence[int], int]] = {}
        """The raised flags: what they tell, and the instruction that raised them."""
        self.ledgers = {space: Ledger(self._size(space), _GRANULES.get(space, BLOCK)) for space in Space}

    def _size(self, space: Space) -> int:
        return len(self.unwritten.bytes[Space.GM]) if space is Space.GM else self.soc.buffers[space]

    def error(self, code: str, number: int | None, what: str) -> GeError:
        """The error of a check at an instruction."""
        return GeError(code, what, self.program.where(self.name, self.core, number))

    # Instructions.

    def _site(self, number: int, op: Instruction) -> Site:
        name = op.name.removeprefix("cube.")
        if name in self.soc.lacks:
            raise self.error("GE6023", number, f"{self.soc.name} has no {name}")
        if op.path is not None and op.path not in self.soc.paths:
            raise self.error("GE6023", number, f"{self.soc.name} has no path {op.path}")
        extents = {field.name: self._extent(op.address(field.name)[0]) for field in op.address_fields()}
        return Site(number, op, extents, self.soc)

    def _extent(self, buffer: SSAValue) -> Extent:
        """The bytes of a buffer."""
        alloc = root_alloc(buffer)
        if alloc is not None:
            start, size = alloc.place or 0, alloc.total_bytes
            return Extent(
                alloc.space, start, size, min(start + size, self._size(alloc.space)), f"a buffer in {alloc.space}"
            )
        position = cast(BlockArgument, buffer).index
        start, size = self.windows[position]
        return Extent(Space.GM, start, size, start + size + SPARE, f"argument {position}")

    def instruction(self, number: int, *values: Any) -> None:
        """Check the instruction `number`, whose fields have `values`, and record what it does."""
        site = self.sites[number]
        self._check_fields(site, values)
        accesses = [(access, site.extents[access.field]) for access in site.op.footprint(*values)]
        for access, extent in accesses:
            self._check_bounds(site, access, extent)
        if not site.op.MOVES:
            for access, extent in accesses:
                if not access.write:
                    self._check_written(number, access, extent.space)
        self._check_races(site, accesses)
        self._record_written(site.op, values, accesses)

    def _check_fields(self, site: Site, values: tuple[Any, ...]) -> None:
        for (field, align), value in zip(site.fields, values, strict=True):
            if align is not None:
                if value % align:
                    what = f"address {value} of '{field.name}', not a multiple of {align}"
                    raise self.error("GE6022", site.number, what)
                continue
            try:
                field.check(value)
            except VerifyException as error:
                raise self.error("GE6029", site.number, str(error)) from error

    def _check_bounds(self, site: Site, access: Access, extent: Extent) -> None:
        if access.start < extent.start or access.end > extent.limit:
            touched = f"bytes [{access.start - extent.start}, {access.end - extent.start}) of {extent.name}"
            raise self.error("GE6021", site.number, f"{_verb(access)} {touched}, which has {extent.size} bytes")

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
            place = first * FRACTAL_F16, last - first
            halves = self.unwritten.l0(space).fractals(*place).reshape(-1, LANES)
            raw = np.repeat(halves != 0, 2, axis=1).reshape(-1)
            raw &= self.unwritten.l0(space, "b8").fractals(*place).reshape(-1) != 0
            return np.ndarray(shape, np.bool_, raw, access.start - first * FRACTAL_F16, (access.stride, 1))
        return self.unwritten.view(space, "u8", access.start, shape, (access.stride, 1)) != 0

    def _record_written(
        self, op: Instruction, values: tuple[Any, ...], accesses: Sequence[tuple[Access, Extent]]
    ) -> None:
        if op.MOVES:
            op.execute(self.unwritten, *values)
            return
        for access, extent in accesses:
            if access.write:
                shape = (access.bursts, access.length)
                self.unwritten.view(extent.space, "u8", access.start, shape, (access.stride, 1))[...] = 0

    # Races.

    def _check_races(self, site: Site, accesses: Sequence[tuple[Access, Extent]]) -> None:
        clock = self.clocks.issue(site.pipe)
        for access, extent in accesses:
            if (earlier := self._conflict(site, access, extent.space, clock)) is not None:
                touched = f"{_verb(access)} {extent.space} bytes [{access.start}, {access.end})"
                waited = f"instruction {earlier}: {self.program.text(earlier)}"
                raise self.error("GE6025", site.number, f"{touched} without waiting for {waited}")
            if extent.space is Space.GM and (other := self.cores.conflict(access, self.core)) is not None:
                touched = f"bytes [{access.start - extent.start}, {access.end - extent.start}) of {extent.name}"
                raise self.error("GE6028", site.number, f"{_verb(access)} {touched}, which {other} touches, too")
        self.issued[site.pipe].append((self.count, site))
        self.count += 1
        order = self.clocks.give(site.pipe)
        for access, extent in accesses:
            self.ledgers[extent.space].record(access, POSITION[site.pipe], order)
            if extent.space is Space.GM:
                self.cores.record(access, self.core)

    def _conflict(self, site: Site, access: Access, space: Space, clock: Sequence[int]) -> int | None:
        """The number of the last instruction that an access races with."""
        last = (-1, -1)
        for position, order in self.ledgers[space].conflicts(access, clock):
            pipe = PIPES[position]
            when, earlier = self.issued[pipe][order - 1]
            if pipe is not site.pipe or not self._pipelined(site, earlier):
                last = max(last, (when, earlier.number))
        return last[1] if last[0] >= 0 else None

    def _pipelined(self, site: Site, earlier: Site) -> bool:
        """Whether the hardware orders two instructions of one pipe."""
        if earlier.number not in site.pipelined:
            site.pipelined[earlier.number] = site.op.pipelined_after(earlier.op)
        return site.pipelined[earlier.number]

    # Synchronisation.

    def _flag(self, number: int, event: int) -> tuple[Pipe, Pipe, int]:
        """The flag of an instruction."""
        ends = self.sites[number].ends
        assert ends is not None
        if not 0 <= event < self.soc.event_ids:
            raise self.error("GE6029", number, f"event {event}: {self.soc.name} has {self.soc.event_ids}")
        return *ends, event

    def set_flag(self, number: int, event: int) -> None:
        """A flag is raised."""
        flag = self._flag(number, event)
        if flag in self.flags:
            earlier = self.flags[flag][1]
            raise self.error("GE6026", number, f"raised already by instruction {earlier}: {self.program.text(earlier)}")
        self.flags[flag] = (self.clocks.flag(flag[0]), number)

    def wait_flag(self, number: int, event: int) -> None:
        """A flag is waited for."""
        flag = self._flag(number, event)
        if (raised := self.flags.pop(flag, None)) is None:
            raise self.error("GE6027", number, "waits for a flag that no instruction before it raises")
        self.clocks.wait(flag[1], raised[0])

    def barrier(self, number: int) -> None:
        """A pipe, or every pipe, is waited for."""
        site = self.sites[number]
        if cast(PipeBarrier, site.op).holds_all:
            self.clocks.barrier_all()
        else:
            self.clocks.barrier(site.pipe)

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
