"""The names of values and nodes in graphs that lie in each other."""

from __future__ import annotations

from collections.abc import Callable


class Scope:
    """The names of one graph while it is written.

    No two values of a graph have one name, and none has that of a value of a graph around it, be it before or behind
    (ONNX forbids hiding). Graphs beside each other may use the same names, unless all share ``taken``.
    """

    def __init__(self, outer: Scope | None, taken: set[str] | None = None) -> None:
        self.outer = outer
        self._taken: set[str] = set() if taken is None else taken
        self._inside: set[str] = set()
        self._nodes: set[str] = set()

    def bind(self, name: str) -> str:
        """The name for a value, or with a number when it is taken."""
        bound = _unique(name, lambda candidate: candidate in self._inside or self._is_taken(candidate), self._taken)
        outer = self.outer
        while outer is not None:
            outer._inside.add(bound)
            outer = outer.outer
        return bound

    def node_name(self, label: str) -> str:
        """The name for a node, or with a number when another node of the graph has it."""
        return _unique(label, self._nodes.__contains__, self._nodes)

    def _is_taken(self, name: str) -> bool:
        return name in self._taken or (self.outer is not None and self.outer._is_taken(name))


def _unique(name: str, is_taken: Callable[[str], bool], taken: set[str]) -> str:
    candidate, number = name, 0
    while not candidate or is_taken(candidate):
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate
