"""Orders of work that need little memory: which of the operations that are ready comes next.

Work is a directed acyclic graph: operations, the values that they make, and the operations that read these. A value is
live from the operation that makes it to its last reader, so the order decides how much is live at once. The best order
is NP-hard to find (it is a pebbling game); two walks find it for chains and for most graphs of models.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from ge.maths.intervals import Interval, lower_bound


@dataclass(frozen=True)
class Work:
    """An operation: the values that it reads and makes, as indices into a table of sizes."""

    reads: tuple[int, ...]
    makes: tuple[int, ...]


def lifetimes(work: Sequence[Work], sizes: Sequence[int], order: Sequence[int]) -> list[Interval]:
    """The lifetime of every value that is made, in the order of values, with steps that count along ``order``."""
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for step, index in enumerate(order):
        made.update(dict.fromkeys(work[index].makes, step))
        last.update(dict.fromkeys((*work[index].reads, *work[index].makes), step))
    return [Interval(made[value], last[value], sizes[value]) for value in sorted(made)]


def least_of_any_order(work: Sequence[Work], sizes: Sequence[int]) -> int:
    """The bytes that the most demanding operation reads and makes: no order takes less."""
    made = {value for each in work for value in each.makes}
    return max((sum(sizes[value] for value in {*each.reads, *each.makes} & made) for each in work), default=0)


def order_for_memory(work: Sequence[Work], sizes: Sequence[int]) -> list[int]:
    """An order of least peak among the given one, a greedy walk from the inputs, and a walk back from the outputs.

    ``work`` is in a legal order, which wins a tie.
    """
    given = list(range(len(work)))
    candidates = [given, _greedy(work, sizes), _depth_first(work, sizes)]
    return min(candidates, key=lambda order: lower_bound(lifetimes(work, sizes, order)))


def _greedy(work: Sequence[Work], sizes: Sequence[int]) -> list[int]:
    """Do next what lets live memory grow least (or shrink most); among equals what comes first in the given order."""
    makers = {value: index for index, each in enumerate(work) for value in each.makes}
    readers: dict[int, set[int]] = {value: set() for value in makers}
    for index, each in enumerate(work):
        for value in set(each.reads) & makers.keys():
            readers[value].add(index)
    waiting = [len({makers[value] for value in each.reads if value in makers}) for each in work]
    left = {value: len(users) for value, users in readers.items()}

    def growth(index: int) -> int:
        freed = sum(sizes[value] for value in set(work[index].reads) if left.get(value) == 1)
        return sum(sizes[value] for value in work[index].makes if left[value]) - freed

    heap = [(growth(index), index) for index, count in enumerate(waiting) if not count]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        cost, index = heapq.heappop(heap)
        if (now := growth(index)) != cost:  # another reader of its operands was done in between
            heapq.heappush(heap, (now, index))
            continue
        order.append(index)
        for value in set(work[index].reads) & makers.keys():
            left[value] -= 1
        for user in {user for value in work[index].makes for user in readers[value]}:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(heap, (growth(user), user))
    return order


def _depth_first(work: Sequence[Work], sizes: Sequence[int]) -> list[int]:
    """Before an operation what it needs, the operand first whose making takes most memory beyond its own size.

    That is the rule of Sethi and Ullman (1970) for expressions; here values that are used twice count in both places.
    """
    makers = {value: index for index, each in enumerate(work) for value in each.makes}
    needs: list[list[int]] = []
    takes: list[int] = []
    for each in work:
        own = sum(sizes[value] for value in each.makes)
        before = list(dict.fromkeys(makers[value] for value in each.reads if value in makers))
        before.sort(key=lambda index: sum(sizes[value] for value in work[index].makes) - takes[index])
        held = 0
        peak = own
        for index in before:
            peak = max(peak, held + takes[index])
            held += sum(sizes[value] for value in work[index].makes)
        takes.append(max(peak, held + own))
        needs.append(before)
    used = {index for before in needs for index in before}
    order: list[int] = []
    done: set[int] = set()
    stack = [(index, False) for index in reversed(range(len(work))) if index not in used]
    while stack:
        index, is_ready = stack.pop()
        if index in done:
            continue
        if is_ready:
            done.add(index)
            order.append(index)
        else:
            stack.append((index, True))
            stack.extend((operand, False) for operand in reversed(needs[index]))
    return order
