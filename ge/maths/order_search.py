"""A local search for orders of work that need little memory, which begins where the walks of `ordering` end.

Of two orders the better one is that whose largest load is lower; of equal ones that whose second largest is, and so on:
what lowers a load beside the peak is often a step on the way to a lower peak. There are two kinds of steps.

1. Where an operation needs several others, the branches that lead there change places in a walk back from the outputs.
2. An operation goes as far to the front, or to the back, as what it needs and what needs it allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ge.maths.ordering import (
    Work,
    depth_first,
    least_of_any_order,
    lifetimes,
    live_bytes,
    needs_of,
    order_for_memory,
    place_lifetimes,
    places,
)

EFFORT = 120_000
"""How many operations the search looks at, in all orders together: half a second, on any machine the same orders."""

MAX_WORK = 2000
"""Of more operations, too few orders could be tried."""

LOADS = 40
"""How many of the largest loads count when orders are compared."""


def search_order(work: Sequence[Work], sizes: Sequence[int], effort: int = EFFORT) -> list[int]:
    """The order of least peak among those of :func:`order_for_memory` and what a search finds; the former win a tie."""
    order = order_for_memory(work, sizes)
    if len(work) > MAX_WORK:
        return order
    search = _Search(work, sizes, effort)
    found = [search.moved(start) for start in (search.joined(order), order)]
    return min([order, *found], key=lambda each: live_bytes(work, sizes, each))


class _Search:
    """A search that may look at so many operations; it ends early where no order takes less."""

    def __init__(self, work: Sequence[Work], sizes: Sequence[int], effort: int) -> None:
        self.work = work
        self.sizes = sizes
        self.effort = effort
        self.least = least_of_any_order(work, sizes)
        self.needs = needs_of(work)
        self.users: list[list[int]] = [[] for _ in work]
        for index, needed in enumerate(self.needs):
            for each in needed:
                self.users[each].append(index)

    def is_over(self, loads: Sequence[int]) -> bool:
        """Whether nothing is left to find, or no effort."""
        return self.effort <= 0 or not loads or loads[0] <= self.least

    def loads(self, order: Sequence[int]) -> tuple[int, ...]:
        """The bytes that are live at the fullest moments of an order, the most first."""
        self.effort -= len(order)
        changes = [0] * (2 * len(order) + 1)
        intervals = lifetimes(self.work, self.sizes, order)
        for each in place_lifetimes(places(self.work, order, intervals), intervals).values():
            changes[each.start] += each.size
            changes[each.end + 1] -= each.size
        return tuple(sorted(accumulate(changes), reverse=True)[:LOADS])

    def joined(self, order: Sequence[int]) -> list[int]:
        """The best walk back from the outputs that is found by exchanging neighbours among what operations need."""
        position = {index: place for place, index in enumerate(order)}
        needs = [sorted(needed, key=position.__getitem__) for needed in self.needs]
        best = depth_first(needs)
        loads = self.loads(best)
        found = True
        while found and not self.is_over(loads):
            found = False
            for needed in needs:
                for first in range(len(needed) - 1):
                    needed[first : first + 2] = reversed(needed[first : first + 2])
                    other = depth_first(needs)
                    if (changed := self.loads(other)) < loads:
                        best, loads, found = other, changed, True
                    else:
                        needed[first : first + 2] = reversed(needed[first : first + 2])
                    if self.is_over(loads):
                        return best
        return best

    def moved(self, order: Sequence[int]) -> list[int]:
        """The best order that is found by moving one operation at a time."""
        best = [*order]
        loads = self.loads(best)
        found = True
        while found and not self.is_over(loads):
            found = False
            for index in [*best[::-1], *best]:
                for other in self._moves(best, index):
                    if (changed := self.loads(other)) < loads:
                        best, loads, found = other, changed, True
                        break
                if self.is_over(loads):
                    return best
        return best

    def _moves(self, order: Sequence[int], index: int) -> list[list[int]]:
        """The orders in which an operation comes as early, and as late, as it may."""
        place = order.index(index)
        others = [*order[:place], *order[place + 1 :]]
        position = {each: at for at, each in enumerate(others)}
        first = max((position[each] + 1 for each in self.needs[index]), default=0)
        last = min((position[each] for each in self.users[index]), default=len(others))
        return [[*others[:at], index, *others[at:]] for at in {first: None, last: None} if at != place]
