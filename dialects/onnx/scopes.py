"""The names of values and nodes in graphs that lie in each other."""

from __future__ import annotations

from collections.abc import Callable


class Scope:
    """The names of one graph while it is written.

    No two values of a graph have one name, and none has that of a value of a graph around it that can be seen there
    (ONNX forbids hiding): those of nodes before, and all initializers, which have no place among the nodes. Graphs
    beside each other may use the same names, unless all share ``taken``.
    """

    def __init__(self, outer: Scope | None, taken: set[str] | None = None) -> None:
        self.outer = outer
        self._taken: set[str] = set() if taken is None else taken
        self._visible: set[str] = set()
        self._nodes: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._node_numbers: dict[str, int] = {}

    def bind(self, name: str) -> str:
        """The name for a value, or with a number when it is taken."""
        bound = _unique(name, lambda candidate: candidate in self._taken or self._hides(candidate), self._numbers)
        self._taken.add(bound)
        return bound

    def define(self, name: str) -> None:
        """Note that graphs of the nodes from here on see the value of a name."""
        self._visible.add(name)

    def node_name(self, label: str) -> str:
        """The name for a node, or with a number when another node of the graph has it."""
        name = _unique(label, self._nodes.__contains__, self._node_numbers)
        self._nodes.add(name)
        return name

    def _hides(self, name: str) -> bool:
        outer = self.outer
        return outer is not None and (name in outer._visible or outer._hides(name))


def _unique(name: str, is_taken: Callable[[str], bool], numbers: dict[str, int]) -> str:
    """A name, or with the first number that makes it a new one; `numbers` has the last one of each name."""
    number = numbers.get(name, 0)  # what is taken stays so: lower ones need not be tried again
    candidate = f"{name}_{number}" if number else name
    while not candidate or is_taken(candidate):
        number += 1
        candidate = f"{name}_{number}"
    numbers[name] = number
    return candidate
