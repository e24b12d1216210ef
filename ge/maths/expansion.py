"""How large a program becomes when every call is replaced by the body of what it calls."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def expanded_size(root: Key, sizes: Mapping[Key, int], calls: Mapping[Key, Sequence[Key]]) -> int:
    """Return the size of `root` with all calls expanded, however large, without expanding any.

    `sizes` and `calls` give, for each function, its own size and what it calls, as often as it does; calls of other
    things count nothing. Raises ValueError where functions call each other in a circle.
    """
    known: dict[Key, int] = {}
    path: list[Key] = [root]
    while path:
        key = path[-1]
        inner = [callee for callee in calls.get(key, ()) if callee in sizes]
        unknown = next((callee for callee in inner if callee not in known), None)
        if unknown is None:
            known[key] = sizes[key] + sum(known[callee] for callee in inner)
            path.pop()
        elif unknown in path:
            raise ValueError(f"function '{unknown}' calls itself")
        else:
            path.append(unknown)
    return known[root]
