"""A search for orders of work: legal, never worse than the walks that it begins with, and better on some graphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.order_search import MAX_WORK, search_order
from ge.maths.ordering import Work, least_of_any_order, live_bytes, needs_of, order_for_memory

Graph = tuple[list[Work], list[int]]


def random_graph(seed: int, count: int) -> Graph:
    """Operations in a legal order, of which some may write over what they read, and some read all before they write."""
    random = Random(seed)
    work: list[Work] = []
    for index in range(count):
        reads = tuple(sorted(random.sample(range(index), min(index, random.randint(1, 3)))))
        over = reads[:1] if random.random() < 0.3 else ()
        work.append(Work(reads, (index,), reads_first=not over and random.random() < 0.2, over=over))
    return work, [random.randint(0, 9) for _ in work]


def is_legal(work: Sequence[Work], order: Sequence[int]) -> bool:
    place = {index: step for step, index in enumerate(order)}
    return all(place[each] < place[index] for index, needed in enumerate(needs_of(work)) for each in needed)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 1 << 32), st.integers(0, 40))
def test_orders_are_legal_and_no_worse_than_those_of_the_walks(seed: int, count: int) -> None:
    work, sizes = random_graph(seed, count)
    order = search_order(work, sizes)
    assert sorted(order) == list(range(count)) and is_legal(work, order)
    walked = live_bytes(work, sizes, order_for_memory(work, sizes))
    assert least_of_any_order(work, sizes) <= live_bytes(work, sizes, order) <= walked
    assert order == search_order(work, sizes)


def test_most_small_graphs_get_the_best_order() -> None:
    """Of a hundred graphs of six operations, compared with all orders that there are."""
    walked = found = 0
    for seed in range(100):
        work, sizes = random_graph(seed, 6)
        legal = [order for order in permutations(range(6)) if is_legal(work, order)]
        best = min(live_bytes(work, sizes, order) for order in legal)
        walked += live_bytes(work, sizes, order_for_memory(work, sizes)) == best
        found += live_bytes(work, sizes, search_order(work, sizes)) == best
    assert walked < found >= 98


def test_branches_that_join_twice() -> None:
    """As where features of several sizes are added up: what is large is made last, and what shrinks it comes before."""
    work = [Work((), (0,)), Work((0,), (1,)), Work((0, 1), (2,)), Work((1,), (3,)), Work((2,), (4,))]
    sizes = [7, 2, 8, 9, 2]
    assert live_bytes(work, sizes, order_for_memory(work, sizes)) == 18
    assert live_bytes(work, sizes, search_order(work, sizes)) == 17


def test_without_effort_and_for_very_many_there_are_the_walks() -> None:
    work, sizes = random_graph(1, 30)
    assert search_order(work, sizes, effort=0) == order_for_memory(work, sizes)
    work, sizes = random_graph(2, MAX_WORK + 1)
    assert search_order(work, sizes) == order_for_memory(work, sizes)
