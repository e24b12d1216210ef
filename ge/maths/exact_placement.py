"""The planner `solver`: places by constraint programming, with a proof where they are the best.

The model is one of OR-tools CP-SAT, in units of the alignment, at which every buffer begins. Each buffer is a
rectangle of steps and units; no two overlap; the highest end is to be as low as possible. Where streams run side by
side, steps are no order, and each pair of buffers that may share no memory is kept apart on its own.

The solver begins with what a short `search` finds, as a hint and as a limit, and ends at the bytes that are live at one
moment, below which nothing goes. What it may spend is counted in its own steps, not in time, and it works alone with a
fixed seed: one version of it finds the same places on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ge.maths.placement import Buffers, Placement, StreamLifetimes, search

EFFORT = 2.0
"""What the solver may spend, in its deterministic time: a few seconds for most programs, half a minute at the most."""

FIRST_EFFORT = 200_000
"""What the search may spend that the solver begins with: a small part of what it takes alone."""

MAX_BUFFERS = 2000
MAX_PAIRS = 50_000
"""More buffers, or pairs of them that are kept apart on their own, are too large a model: there is only the search."""


@dataclass(frozen=True)
class _Problem:
    """Buffers in units of the alignment."""

    units: tuple[int, ...]
    """The size of each buffer."""
    steps: tuple[tuple[int, int], ...]
    """When each is live: its first step, and the one after its last."""
    apart: tuple[tuple[int, int], ...] | None
    """The pairs that may not overlap; None where the steps say it."""
    least: int
    first: tuple[int, ...]
    """The offsets of a placement, which the solver begins with."""

    @property
    def most(self) -> int:
        """The end of the placement to begin with."""
        return max(offset + size for offset, size in zip(self.first, self.units, strict=True))


def solve(buffers: Buffers, alignment: int = 1, effort: float = EFFORT) -> Placement:
    """The best placement that the solver finds, never worse than it began. Raises ImportError without OR-tools."""
    if len(buffers.sizes) > MAX_BUFFERS:
        return search(buffers, alignment)
    first = search(buffers, alignment, FIRST_EFFORT)
    apart = _pairs(buffers) if isinstance(buffers, StreamLifetimes) else None
    least = -(-buffers.least // alignment)
    if first.peak <= least * alignment:
        return first
    if apart is not None and len(apart) > MAX_PAIRS:
        return search(buffers, alignment)
    problem = _Problem(
        units=tuple((-(-buffers.sizes // alignment)).tolist()),
        steps=tuple(zip(buffers.starts.tolist(), (buffers.ends + 1).tolist(), strict=True)),
        apart=apart,
        least=least,
        first=tuple(offset // alignment for offset in first.offsets),
    )
    offsets = tuple(offset * alignment for offset in _solved(problem, effort))
    peak = max(offset + size for offset, size in zip(offsets, buffers.sizes.tolist(), strict=True))
    return min(first, Placement(offsets, peak), key=lambda each: each.peak)


def _pairs(buffers: Buffers) -> tuple[tuple[int, int], ...]:
    """The pairs of buffers that may share no memory, the smaller number first."""
    numbers = np.arange(len(buffers.sizes), dtype=np.int64)
    return tuple((a, int(b)) for a in range(len(numbers)) for b in np.flatnonzero(buffers.meets(a, numbers)) if a < b)


@lru_cache(maxsize=8)
def _solved(problem: _Problem, effort: float) -> tuple[int, ...]:
    """The offsets of the best placement found; the same question again, as of a report, costs nothing."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    starts = [model.new_int_var(0, problem.most - size, "") for size in problem.units]
    memory = [
        model.new_fixed_size_interval_var(start, size, "") for start, size in zip(starts, problem.units, strict=True)
    ]
    if problem.apart is None:
        time = [model.new_fixed_size_interval_var(begin, end - begin, "") for begin, end in problem.steps]
        model.add_no_overlap_2d(time, memory)
    for a, b in problem.apart or ():
        model.add_no_overlap([memory[a], memory[b]])
    peak = model.new_int_var(problem.least, problem.most, "")
    for start, size, hint in zip(starts, problem.units, problem.first, strict=True):
        model.add(start + size <= peak)
        model.add_hint(start, hint)
    model.minimize(peak)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = effort
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return problem.first
    return tuple(int(solver.value(start)) for start in starts)
