"""Orders of work that need little memory: which of the operations that are ready comes next.

Work is a directed acyclic graph: operations, the values that they make, and the operations that read these. A value is
live from the operation that makes it to its last reader, so the order decides how much is live at once. The best order
is NP-hard to find (it is a pebbling game); two walks find it for chains and for most graphs of models, and a search
that begins with them for some more (:mod:`ge.maths.order_search`). An operation may give the place of an operand to a
result; then both count once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ge.maths.intervals import Interval, lower_bound


@dataclass(frozen=True)
class Work:
    """An operation: the values that it reads and makes, as indices into a table of sizes."""

    reads: tuple[int, ...]
    makes: tuple[int, ...]
    reads_first: bool = False
    """It has read everything before it makes anything, so that results may lie wherever operands were."""
    over: tuple[int, ...] = ()
    """Operands that its one result may be written over, exactly: piece by piece, each after it was read."""


def lifetimes(work: Sequence[Work], sizes: Sequence[int], order: Sequence[int]) -> list[Interval]:
    """The lifetime of every value that is made, in the order of values.

    Steps count along ``order``, two for each operation: its operands live through both, and its results, but where it
    reads first, operands live in the first only, and results in the second.
    """
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for step, index in enumerate(order):
        each = work[index]
        made.update(dict.fromkeys(each.makes, 2 * step + each.reads_first))
        last.update(dict.fromkeys(each.reads, 2 * step + (not each.reads_first)))
        last.update(dict.fromkeys(each.makes, 2 * step + 1))
    return [Interval(made[value], last[value], sizes[value]) for value in sorted(made)]


def places(work: Sequence[Work], order: Sequence[int], intervals: Sequence[Interval]) -> list[int]:
    """For every value the one whose place it takes: itself, or the first of those that are written over each other.

    An operand hands its place to a result of the same size when nothing reads it later. Values are numbered from 0.
    """
    first = list(range(len(intervals)))
    taken: set[int] = set()
    for each in (work[index] for index in order):
        for operand in each.over:
            (result,) = each.makes
            old, new = intervals[operand], intervals[result]
            if old.size == new.size and old.end == new.start + 1 and operand not in taken:
                first[result] = first[operand]
                taken.add(operand)
                break
    return first


def place_lifetimes(first: Sequence[int], intervals: Sequence[Interval]) -> dict[int, Interval]:
    """How long each place is in use: from the first value in it to the last, by the number of the first."""
    found: dict[int, Interval] = {}
    for place, each in zip(first, intervals, strict=True):
        known = found.get(place, each)
        found[place] = Interval(min(known.start, each.start), max(known.end, each.end), each.size)
    return found


def live_bytes(work: Sequence[Work], sizes: Sequence[int], order: Sequence[int]) -> int:
    """The most bytes that are live at one moment of an order."""
    intervals = lifetimes(work, sizes, order)
    return lower_bound([*place_lifetimes(places(work, order, intervals), intervals).values()])


def least_of_any_order(work: Sequence[Work], sizes: Sequence[int]) -> int:
    """The bytes that the most demanding operation reads and makes: no order takes less."""
    made = {value for each in work for value in each.makes}

    def total(values: Iterable[int]) -> int:
        return sum(sizes[value] for value in {*values} & made)

    def needed(each: Work) -> int:
        if each.reads_first:
            return max(total(each.reads), total(each.makes))
        is_over = any(sizes[operand] == sizes[result] for operand in each.over for result in each.makes)
        return total((*each.reads, *each.makes)) - (total(each.makes) if is_over else 0)

    return max(map(needed, work), default=0)


def order_for_memory(work: Sequence[Work], sizes: Sequence[int]) -> list[int]:
    """An order of least peak among the given one, a greedy walk from the inputs, and a walk back from the outputs.

    ``work`` is in a legal order, which wins a tie.
    """
    given = list(range(len(work)))
    candidates = [given, _greedy(work, sizes), _depth_first(work, sizes)]
    return min(candidates, key=lambda order: live_bytes(work, sizes, order))


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
    needs = needs_of(work)
    takes: list[int] = []
    for each, before in zip(work, needs, strict=True):
        own = sum(sizes[value] for value in each.makes)
        before.sort(key=lambda index: sum(sizes[value] for value in work[index].makes) - takes[index])
        held = 0
        peak = own
        for index in before:
            peak = max(peak, held + takes[index])
            held += sum(sizes[value] for value in work[index].makes)
        takes.append(max(peak, held + own))
    return depth_first(needs)


def needs_of(work: Sequence[Work]) -> list[list[int]]:
    """For each operation those that make what it reads."""
    makers = {value: index for index, each in enumerate(work) for value in each.makes}
    return [list(dict.fromkeys(makers[value] for value in each.reads if value in makers)) for each in work]


def depth_first(needs: Sequence[Sequence[int]]) -> list[int]:
    """The order in which each operation comes behind those that it needs, which come one branch after the other."""
    used = {index for before in needs for index in before}
    order: list[int] = []
    done: set[int] = set()
    stack = [(index, False) for index in reversed(range(len(needs))) if index not in used]
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
