"""Orders of work: legal, never worse than the order given, and the best on small graphs."""

from collections.abc import Sequence
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.intervals import lower_bound
from ge.maths.ordering import Work, least_of_any_order, lifetimes, live_bytes, order_for_memory, places


@st.composite
def graphs(draw: st.DrawFn, most: int = 10) -> tuple[list[Work], list[int]]:
    """Operations in a legal order; value i is made by operation i, and values from 100 on are inputs."""
    count = draw(st.integers(1, most))
    work = [
        Work(tuple(draw(st.lists(st.integers(0, i - 1), max_size=3, unique=True))) if i else (100,), (i,))
        for i in range(count)
    ]
    return work, draw(st.lists(st.integers(0, 9), min_size=101, max_size=101))


def is_legal(work: list[Work], order: list[int] | tuple[int, ...]) -> bool:
    place = {index: step for step, index in enumerate(order)}
    return all(place[value] < place[index] for index in place for value in work[index].reads if value < 100)


def peak(work: list[Work], sizes: list[int], order: Sequence[int]) -> int:
    return lower_bound(lifetimes(work, sizes, list(order)))


@settings(deadline=None)
@given(graphs())
def test_the_order_is_legal_and_no_worse_than_the_given_one(graph: tuple[list[Work], list[int]]) -> None:
    work, sizes = graph
    order = order_for_memory(work, sizes)
    assert sorted(order) == list(range(len(work)))
    assert is_legal(work, order)
    assert peak(work, sizes, order) <= peak(work, sizes, list(range(len(work))))


@settings(deadline=None)
@given(graphs(most=6))
def test_no_order_takes_less_than_the_most_demanding_operation(graph: tuple[list[Work], list[int]]) -> None:
    work, sizes = graph
    best = min(peak(work, sizes, order) for order in permutations(range(len(work))) if is_legal(work, order))
    assert least_of_any_order(work, sizes) <= best


def test_branches_are_finished_one_after_the_other() -> None:
    """Two branches that grow and shrink again: breadth first keeps both large values, depth first only one."""
    work = [Work((), (0,)), Work((0,), (1,)), Work((0,), (2,)), Work((1,), (3,)), Work((2,), (4,)), Work((3, 4), (5,))]
    sizes = [1, 100, 100, 1, 1, 1]
    order = order_for_memory(work, sizes)
    assert peak(work, sizes, [0, 1, 2, 3, 4, 5]) == 201
    assert peak(work, sizes, order) == 102


def test_a_value_that_nobody_reads_is_live_while_it_is_made() -> None:
    assert peak([Work((), (0,)), Work((), (1,))], [5, 7], [0, 1]) == 7


def test_a_result_over_an_operand_takes_no_memory_of_its_own() -> None:
    sizes = [100, 100, 60, 60]
    apart = [Work((), (0,)), Work((0,), (1,)), Work((1,), (2,)), Work((2,), (3,))]
    over = [Work((), (0,)), Work((0,), (1,), over=(0,)), Work((1,), (2,), over=(1,)), Work((2,), (3,), over=(2,))]
    assert peak(apart, sizes, range(4)) == 200 and live_bytes(apart, sizes, range(4)) == 200
    assert live_bytes(over, sizes, range(4)) == 160  # the third result is smaller than its operand: beside it
    assert places(over, range(4), lifetimes(over, sizes, range(4))) == [0, 0, 2, 2]
    assert least_of_any_order(over, sizes) == 160


def test_an_operand_that_is_needed_later_keeps_its_place() -> None:
    work = [Work((), (0,)), Work((0,), (1,), over=(0,)), Work((0, 1), (2,))]
    assert places(work, range(3), lifetimes(work, [5, 5, 5], range(3))) == [0, 1, 2]


def test_one_operand_gives_its_place_to_one_result() -> None:
    """Both read it for the last time, in a way, when the order turns them round."""
    work = [Work((), (0,)), Work((0,), (1,), over=(0,)), Work((0,), (2,), over=(0,))]
    assert places(work, [0, 1, 2], lifetimes(work, [5, 5, 5], [0, 1, 2])) == [0, 1, 0]
    assert places(work, [0, 2, 1], lifetimes(work, [5, 5, 5], [0, 2, 1])) == [0, 0, 2]


def test_what_has_been_read_first_is_free_for_results() -> None:
    work = [Work((), (0,)), Work((0,), (1,), reads_first=True), Work((1,), (2,))]
    assert live_bytes(work, [100, 90, 1], range(3)) == 100
    assert least_of_any_order(work, [100, 90, 1]) == 100
