"""Streams: every dependency is ordered, no event is superfluous, and the time is that of the model."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.streams import (
    DeadlockError,
    EventError,
    Machine,
    Schedule,
    Step,
    Task,
    assign_streams,
    check_events,
    clocks,
    interleaving,
    makespan,
    schedule_of,
    single_stream,
    start_times,
    with_events,
)

MACHINE = Machine(cores=8, event_cycles=3)
FREE_EVENTS = Machine(cores=8)


@st.composite
def programs(draw: st.DrawFn) -> list[Task]:
    tasks: list[Task] = []
    for index in range(draw(st.integers(1, 12))):
        needs = draw(st.lists(st.integers(0, index - 1), max_size=3, unique=True)) if index else []
        cores, start = draw(st.sampled_from([0, 1, 2, 4, 8, 16])), draw(st.sampled_from([0, 7]))
        tasks.append(Task(draw(st.integers(0, 50)), cores, tuple(needs), start))
    return tasks


@st.composite
def scheduled(draw: st.DrawFn) -> tuple[list[Task], Schedule]:
    tasks = draw(programs())
    return tasks, with_events(tasks, draw(st.lists(st.integers(0, 3), min_size=len(tasks), max_size=len(tasks))))


def steps_of(schedule: Schedule, leave_out: int = -1) -> tuple[list[Step], list[int]]:
    """The steps of a schedule, one event left out, and where among them each task is."""
    steps: list[Step] = []
    places: list[int] = []
    for index, stream in enumerate(schedule.streams):
        chosen = [(number, each) for number, each in enumerate(schedule.events) if number != leave_out]
        steps += [Step(stream, waits=number) for number, (_, target) in chosen if target == index]
        places.append(len(steps))
        steps.append(Step(stream))
        steps += [Step(stream, records=number) for number, (source, _) in chosen if source == index]
    return steps, places


def unordered(tasks: list[Task], schedule: Schedule, leave_out: int = -1) -> int:
    """How many tasks may run before something that they need, by the clocks."""
    steps, places = steps_of(schedule, leave_out)
    found = clocks(steps)
    position = [sum(schedule.streams[i] == stream for i in range(n)) for n, stream in enumerate(schedule.streams)]
    return sum(
        found[places[index]][schedule.streams[need]] <= position[need]
        for index, task in enumerate(tasks)
        for need in task.needs
    )


@settings(deadline=None)
@given(scheduled())
def test_every_dependency_is_ordered(program: tuple[list[Task], Schedule]) -> None:
    tasks, schedule = program
    assert unordered(tasks, schedule) == 0
    assert len(schedule.events) <= schedule.dependencies


@settings(deadline=None)
@given(scheduled())
def test_without_any_one_event_a_dependency_is_lost(program: tuple[list[Task], Schedule]) -> None:
    tasks, schedule = program
    assert all(unordered(tasks, schedule, number) > 0 for number in range(len(schedule.events)))


@settings(deadline=None)
@given(scheduled(), st.integers(0, 1 << 32))
def test_any_interleaving_keeps_what_the_clocks_say(program: tuple[list[Task], Schedule], seed: int) -> None:
    steps, _ = steps_of(program[1])
    found = clocks(steps)
    order = interleaving(steps, Random(seed))
    assert sorted(order) == list(range(len(steps)))
    assert clocks(steps, order) == found
    done = [0] * program[1].stream_count
    for index in order:
        assert all(certain <= count for certain, count in zip(found[index], done, strict=True))
        done[steps[index].stream] += steps[index].is_task


@settings(deadline=None)
@given(scheduled(), st.integers(0, 1 << 32))
def test_steps_say_what_the_schedule_does(program: tuple[list[Task], Schedule], seed: int) -> None:
    steps, _ = steps_of(program[1])
    for order in (None, interleaving(steps, Random(seed))):
        found = schedule_of(steps, order)
        assert found.streams == program[1].streams
        assert sorted(found.events) == sorted(program[1].events)


def test_an_event_passes_on_what_its_stream_has_waited_for() -> None:
    steps = [Step(0), Step(0, records=0), Step(1, waits=0), Step(1, records=1), Step(2, waits=1), Step(2)]
    assert schedule_of(steps).events == ((0, 1),)
    assert clocks(steps)[5] == (1, 0, 0)


@settings(deadline=None)
@given(scheduled())
def test_the_order_of_the_list_is_taken_where_it_can_be(program: tuple[list[Task], Schedule]) -> None:
    steps, _ = steps_of(program[1])
    assert interleaving(steps) == list(range(len(steps)))


@settings(deadline=None)
@given(programs())
def test_more_streams_are_taken_only_when_they_save_time(tasks: list[Task]) -> None:
    schedule, alone = assign_streams(tasks, MACHINE), single_stream(tasks)
    assert makespan(tasks, alone, MACHINE) == sum(task.start + task.cycles for task in tasks)
    assert schedule == alone or makespan(tasks, schedule, MACHINE) < makespan(tasks, alone, MACHINE)


@settings(deadline=None)
@given(scheduled())
def test_no_moment_has_more_work_than_cores(program: tuple[list[Task], Schedule]) -> None:
    tasks, schedule = program
    starts = start_times(tasks, schedule, MACHINE)
    for moment in starts:
        running = [task for start, task in zip(starts, tasks, strict=True) if start <= moment < start + task.cycles]
        assert sum(min(task.cores, MACHINE.cores) for task in running) <= MACHINE.cores
        assert sum(task.on_host for task in running) <= 1
    for source, target in schedule.events:
        told = starts[source] + tasks[source].cycles + MACHINE.event_cycles
        assert starts[target] >= told + tasks[target].start
    for index, task in enumerate(tasks):
        assert all(starts[index] >= starts[need] + tasks[need].cycles + task.start for need in task.needs)


def test_branches_that_leave_cores_free_overlap() -> None:
    tasks = [Task(10, 8), Task(100, 4, (0,)), Task(90, 4, (0,)), Task(10, 8, (1, 2))]
    schedule = assign_streams(tasks, FREE_EVENTS)
    assert schedule.streams == (0, 0, 1, 0)
    assert schedule.events == ((0, 2), (2, 3))
    assert makespan(tasks, schedule, FREE_EVENTS) == 120


def test_branches_that_need_all_cores_stay_in_one_stream() -> None:
    tasks = [Task(10, 8), Task(100, 8, (0,)), Task(90, 8, (0,)), Task(10, 8, (1, 2))]
    assert assign_streams(tasks, FREE_EVENTS) == single_stream(tasks)


def test_a_kernel_starts_while_another_one_runs() -> None:
    """20 cycles pass before each: 240 one after the other; the third starts beside the second."""
    tasks = [Task(40, 8, (), 20), Task(40, 8, (0,), 20), Task(40, 8, (0,), 20), Task(40, 8, (1, 2), 20)]
    assert makespan(tasks, single_stream(tasks), FREE_EVENTS) == 240
    assert makespan(tasks, assign_streams(tasks, FREE_EVENTS), FREE_EVENTS) == 220
    assert assign_streams(tasks, Machine(8, event_cycles=20)) == single_stream(tasks)


def test_the_host_works_beside_the_cores() -> None:
    tasks = [Task(10, 8), Task(100, 0, (0,)), Task(90, 8, (0,)), Task(10, 8, (1, 2))]
    assert makespan(tasks, assign_streams(tasks, FREE_EVENTS), FREE_EVENTS) == 120


@settings(deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=12))
def test_a_chain_stays_in_one_stream(cycles: list[int]) -> None:
    tasks = [Task(each, 1, (index - 1,) if index else ()) for index, each in enumerate(cycles)]
    assert assign_streams(tasks, FREE_EVENTS) == single_stream(tasks)


def test_an_event_that_follows_from_others_is_left_out() -> None:
    tasks = [Task(1, 1), Task(1, 1, (0,)), Task(1, 1, (0, 1))]
    assert with_events(tasks, (0, 1, 2)) == Schedule((0, 1, 2), ((0, 1), (1, 2)), 3)


@pytest.mark.parametrize(
    ("steps", "what", "place"),
    [
        ([Step(0, waits=0)], "event 0 is waited for, but nothing before records it", 0),
        ([Step(0, waits=0), Step(1, records=0)], "event 0 is waited for, but nothing before records it", 0),
        ([Step(0, records=0), Step(0, records=0), Step(1, waits=0)], "event 0 is recorded twice", 1),
        ([Step(0, records=0), Step(1, waits=0), Step(1, waits=0)], "event 0 is waited for twice", 2),
        ([Step(0), Step(0, records=4)], "event 4 is recorded, but nothing waits for it", 1),
    ],
)
def test_events_without_sense_are_found(steps: list[Step], what: str, place: int) -> None:
    with pytest.raises(EventError, match=what) as error:
        check_events(steps, in_order=True)
    assert error.value.step == place


def test_streams_that_wait_for_each_other_are_found() -> None:
    steps = [Step(0), Step(0, waits=1), Step(0, records=0), Step(1, waits=0), Step(1, records=1)]
    with pytest.raises(DeadlockError) as error:
        interleaving(steps)
    assert error.value.blocked == (1, 3)


def test_a_wait_may_stand_before_the_record_of_another_stream() -> None:
    steps = [Step(0, waits=0), Step(0), Step(1), Step(1, records=0)]
    assert interleaving(steps) == [2, 3, 0, 1]
    with pytest.raises(ValueError, match="step 0 waits for event 0"):
        clocks(steps)
    assert clocks(steps, [2, 3, 0, 1])[1] == (0, 1)
