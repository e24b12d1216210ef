"""Happens-before in one core: what each pipe knows of the others.

The clock of a pipe counts, for every pipe, the instructions that are known to have landed before the next one of this
pipe starts. A pipe does not know of its own: it starts instructions in order, but the next may start before the last
one has landed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ge.dialects.cube.spaces import Pipe

PIPES = tuple(Pipe)
"""The pipes, by their positions in a clock."""

POSITION = {pipe: position for position, pipe in enumerate(PIPES)}


class Clocks:
    """The clock of each pipe, and how many instructions each has been given."""

    def __init__(self) -> None:
        self._known = {pipe: [0] * len(PIPES) for pipe in PIPES}
        self._given = [0] * len(PIPES)

    def issue(self, pipe: Pipe) -> Sequence[int]:
        """The clock with which a pipe takes another instruction, issued by the scalar unit with what that knows."""
        return self._learn(pipe, self._known[Pipe.S])

    def give(self, pipe: Pipe) -> int:
        """Count an instruction and return its order in its pipe, from 1. The scalar unit finishes it at once."""
        position = POSITION[pipe]
        self._given[position] += 1
        if pipe is Pipe.S:
            self._known[pipe][position] = self._given[position]
        return self._given[position]

    def flag(self, pipe: Pipe) -> Sequence[int]:
        """What a flag of `pipe` tells: what the pipe knows, and that all of its own instructions have landed."""
        clock = list(self.issue(pipe))
        clock[POSITION[pipe]] = self._given[POSITION[pipe]]
        return clock

    def wait(self, pipe: Pipe, told: Sequence[int]) -> None:
        """A pipe has waited for a flag that tells `told`."""
        self.issue(pipe)
        self._learn(pipe, told)

    def barrier(self, pipe: Pipe) -> None:
        """A pipe has waited for its own instructions."""
        self._learn(pipe, self.flag(pipe))

    def barrier_all(self) -> None:
        """The scalar unit, and so every pipe after it, has waited for all pipes."""
        for pipe in PIPES:
            self._learn(Pipe.S, self.flag(pipe))

    def _learn(self, pipe: Pipe, told: Sequence[int]) -> list[int]:
        clock = self._known[pipe]
        clock[:] = map(max, clock, told)
        return clock
