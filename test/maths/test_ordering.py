"""Orders of work: legal, never worse than the order given, and the best on small graphs."""

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.intervals import lower_bound
from ge.maths.ordering import Work, least_of_any_order, lifetimes, order_for_memory


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


def peak(work: list[Work], sizes: list[int], order: list[int] | tuple[int, ...]) -> int:
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
