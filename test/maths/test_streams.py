"""Streams: every dependency is ordered, no event is superfluous, and the time is that of the model."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.streams import (
    Schedule,
    Task,
    assign_streams,
    makespan,
    predecessors,
    single_stream,
    start_times,
    with_events,
)

CORES = 8


@st.composite
def programs(draw: st.DrawFn) -> list[Task]:
    tasks: list[Task] = []
    for index in range(draw(st.integers(1, 12))):
        needs = draw(st.lists(st.integers(0, index - 1), max_size=3, unique=True)) if index else []
        tasks.append(Task(draw(st.integers(0, 50)), draw(st.sampled_from([0, 1, 2, 4, 8])), tuple(needs)))
    return tasks


@st.composite
def scheduled(draw: st.DrawFn) -> tuple[list[Task], Schedule]:
    tasks = draw(programs())
    return tasks, with_events(tasks, draw(st.lists(st.integers(0, 3), min_size=len(tasks), max_size=len(tasks))))


@settings(deadline=None)
@given(scheduled())
def test_every_dependency_is_ordered(program: tuple[list[Task], Schedule]) -> None:
    tasks, schedule = program
    before = predecessors(schedule)
    assert all(before[index] >> need & 1 for index, task in enumerate(tasks) for need in task.needs)
    assert len(schedule.events) <= schedule.dependencies


@settings(deadline=None)
@given(scheduled())
def test_without_any_one_event_a_dependency_is_lost(program: tuple[list[Task], Schedule]) -> None:
    tasks, schedule = program
    for event in schedule.events:
        fewer = tuple(each for each in schedule.events if each != event)
        before = predecessors(Schedule(schedule.streams, fewer, 0))
        assert any(not before[index] >> need & 1 for index, task in enumerate(tasks) for need in task.needs)


@settings(deadline=None)
@given(programs())
def test_more_streams_are_taken_only_when_they_save_time(tasks: list[Task]) -> None:
    schedule, alone = assign_streams(tasks, CORES), single_stream(tasks)
    assert makespan(tasks, alone, CORES) == sum(task.cycles for task in tasks)
    assert schedule == alone or makespan(tasks, schedule, CORES) < makespan(tasks, alone, CORES)


@settings(deadline=None)
@given(scheduled())
def test_no_moment_has_more_work_than_cores(program: tuple[list[Task], Schedule]) -> None:
    tasks, schedule = program
    starts = start_times(tasks, schedule, CORES)
    for moment in starts:
        running = [task for start, task in zip(starts, tasks, strict=True) if start <= moment < start + task.cycles]
        assert sum(task.cores for task in running) <= CORES
        assert sum(task.on_host for task in running) <= 1
    for index, task in enumerate(tasks):
        assert all(starts[index] >= starts[need] + tasks[need].cycles for need in task.needs)


def test_branches_that_leave_cores_free_overlap() -> None:
    tasks = [Task(10, 8), Task(100, 4, (0,)), Task(90, 4, (0,)), Task(10, 8, (1, 2))]
    schedule = assign_streams(tasks, CORES)
    assert schedule.streams == (0, 0, 1, 0)
    assert schedule.events == ((0, 2), (2, 3))
    assert makespan(tasks, schedule, CORES) == 120


def test_branches_that_need_all_cores_stay_in_one_stream() -> None:
    tasks = [Task(10, 8), Task(100, 8, (0,)), Task(90, 8, (0,)), Task(10, 8, (1, 2))]
    assert assign_streams(tasks, CORES) == single_stream(tasks)


def test_the_host_works_beside_the_cores() -> None:
    tasks = [Task(10, 8), Task(100, 0, (0,)), Task(90, 8, (0,)), Task(10, 8, (1, 2))]
    assert makespan(tasks, assign_streams(tasks, CORES), CORES) == 120


def test_an_event_that_follows_from_others_is_left_out() -> None:
    tasks = [Task(1, 1), Task(1, 1, (0,)), Task(1, 1, (0, 1))]
    assert with_events(tasks, (0, 1, 2)) == Schedule((0, 1, 2), ((0, 1), (1, 2)), 3)
