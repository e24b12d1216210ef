"""Synchronisation between the pipes of a core.

`set_flag` raises an event once everything before it on the source pipe is done; `wait_flag` holds the destination pipe
until the event is raised, and clears it. Each ordered pair of pipes has its own events.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import Enum, Integer
from ge.dialects.cube.instruction import Access, Costs, Instruction
from ge.dialects.cube.spaces import ALL_PIPES, Pipe

_PIPES = tuple(pipe.value for pipe in Pipe)


class FlagInstruction(Instruction):
    """An instruction on one event of a pair of pipes."""

    PIPE: ClassVar = Pipe.S
    FIELDS: ClassVar = (Enum("src", _PIPES), Enum("dst", _PIPES), Integer("event", 0, 7))

    @property
    def src(self) -> Pipe:
        """The pipe that is waited for."""
        return Pipe(str(self.field("src")))

    @property
    def dst(self) -> Pipe:
        """The pipe that waits."""
        return Pipe(str(self.field("dst")))

    @staticmethod
    def footprint(*values: Any) -> tuple[Access, ...]:
        return ()

    @staticmethod
    def cycles(costs: Costs, *values: Any) -> float:
        return 1.0

    def check(self) -> None:
        if self.src is self.dst:
            raise VerifyException(f"a flag from {self.src} to itself: use cube.pipe_barrier")


@irdl_op_definition
class SetFlag(FlagInstruction):
    """Raises `event` of the pair (`src`, `dst`) when all earlier instructions of `src` are done. Executed by `src`."""

    name = "cube.set_flag"

    @property
    def pipe(self) -> Pipe:
        return self.src


@irdl_op_definition
class WaitFlag(FlagInstruction):
    """Holds `dst` until `event` of the pair (`src`, `dst`) is raised, then clears it. Executed by `dst`."""

    name = "cube.wait_flag"

    @property
    def pipe(self) -> Pipe:
        return self.dst


@irdl_op_definition
class PipeBarrier(Instruction):
    """Holds a pipe until its own earlier instructions are done; `all` holds every pipe for every other."""

    name = "cube.pipe_barrier"
    PIPE: ClassVar = Pipe.S
    FIELDS: ClassVar = (Enum("pipe", (*_PIPES, ALL_PIPES)),)

    @property
    def pipe(self) -> Pipe:
        """The pipe that is held; the scalar unit, which issues to all others, stands for `all`."""
        return Pipe.S if self.holds_all else Pipe(str(self.field("pipe")))

    @property
    def holds_all(self) -> bool:
        """Whether every pipe is held."""
        return self.field("pipe") == ALL_PIPES

    @staticmethod
    def footprint(*values: Any) -> tuple[Access, ...]:
        return ()

    @staticmethod
    def cycles(costs: Costs, *values: Any) -> float:
        return 1.0


SYNC = (SetFlag, WaitFlag, PipeBarrier)
