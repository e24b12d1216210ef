"""Flags by their places: pairs of set_flag and wait_flag, and handshakes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from ge.dialects.cube.spaces import Pipe


@dataclass(frozen=True)
class Pair:
    """set_flag after operation `set_after` of `block`, wait_flag before operation `wait_before`.

    If `carried`, it is the wait of a later turn of the loop. With `slot`, the event alternates with this value, and the
    pair orders turns for which the value is the same.
    """

    src: Pipe
    dst: Pipe
    block: Block
    set_after: int
    wait_before: int
    carried: bool
    slot: SSAValue | None

    @property
    def reach(self) -> int:
        """How many operations lie between set and wait: the fewer, the more the pair implies."""
        return self.wait_before - self.set_after + (1 << 20 if self.carried else 0)


@dataclass(frozen=True)
class Handshake:
    """Two pipes wait for each other at the end, or at the start, of a branch."""

    src: Pipe
    dst: Pipe
    block: Block
    at_end: bool


@dataclass(frozen=True)
class Sync:
    """The flags of a kernel."""

    pairs: tuple[Pair, ...]
    handshakes: tuple[Handshake, ...]
