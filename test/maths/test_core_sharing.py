"""Sharing cores: worth it where kernels gain little from more of them, and never slower than not to."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.core_sharing import share_cores
from ge.maths.streams import Machine, Task, assign_streams, makespan

MACHINE = Machine(cores=8, event_cycles=3)


def choices_of(cycles: int, needs: tuple[int, ...] = (), latency: int = 0) -> list[Task]:
    """A kernel of so many cycles on one core besides its latency, on 8, 4 and 2 cores."""
    return [Task(latency + cycles // cores, cores, needs, 5) for cores in (8, 4, 2)]


def time_of(choices: list[list[Task]], chosen: list[int]) -> int:
    tasks = [each[number] for each, number in zip(choices, chosen, strict=True)]
    return makespan(tasks, assign_streams(tasks, MACHINE), MACHINE)


@st.composite
def programs(draw: st.DrawFn) -> list[list[Task]]:
    found: list[list[Task]] = []
    for index in range(draw(st.integers(1, 10))):
        needs = draw(st.lists(st.integers(0, index - 1), max_size=3, unique=True)) if index else []
        found.append(choices_of(draw(st.integers(8, 400)), tuple(needs), draw(st.integers(0, 40))))
    return found


@settings(deadline=None, max_examples=60)
@given(programs())
def test_what_is_chosen_is_never_slower(choices: list[list[Task]]) -> None:
    assert time_of(choices, share_cores(choices, MACHINE)) <= time_of(choices, [0] * len(choices))


def test_kernels_of_mostly_latency_share_the_cores() -> None:
    choices = [choices_of(80), choices_of(80, (0,), 50), choices_of(80, (0,), 50), choices_of(80, (1, 2))]
    chosen = share_cores(choices, MACHINE)
    assert (chosen[0], chosen[3]) == (0, 0)
    assert chosen[1] == chosen[2] == 1
    assert time_of(choices, chosen) < time_of(choices, [0, 0, 0, 0])


def test_kernels_that_use_all_cores_well_keep_them() -> None:
    choices = [choices_of(80), choices_of(8000, (0,)), choices_of(8000, (0,)), choices_of(80, (1, 2))]
    assert share_cores(choices, Machine(cores=8, event_cycles=100)) == [0, 0, 0, 0]


def test_a_chain_has_nothing_to_share() -> None:
    assert share_cores([choices_of(80), choices_of(80, (0,)), choices_of(80, (1,))], MACHINE) == [0, 0, 0]
    assert share_cores([], MACHINE) == []
