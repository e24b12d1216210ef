"""How large a program becomes when every call is replaced by the body of what it calls."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

MAX_EXPANDED_NODES = 200_000
"""Nodes that a model may come to when its functions are inlined: functions that call two others double it each time."""


def expanded_size(root: Key, sizes: Mapping[Key, int], calls: Mapping[Key, Sequence[Key]]) -> int:
    """Return the size of `root` with all calls expanded, however large, without expanding any.

    `sizes` and `calls` give, for each function, its own size and what it calls, as often as it does; calls of other
    things count nothing. Raises ValueError where functions call each other in a circle.
    """
    inner = {key: [callee for callee in calls.get(key, ()) if callee in sizes] for key in sizes}
    known: dict[Key, int] = {}
    path = {root: iter(inner[root])}
    while path:
        key = next(reversed(path))
        unknown = next((callee for callee in path[key] if callee not in known), None)
        if unknown is None:
            known[key] = sizes[key] + sum(known[callee] for callee in inner[key])
            del path[key]
        elif unknown in path:
            raise ValueError(f"function '{unknown}' calls itself")
        else:
            path[unknown] = iter(inner[unknown])
    return known[root]
