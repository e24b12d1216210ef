"""The table of adapters, and the decorators that enter them.

A *boundary* of an operator lies between two of its versions that follow each other. An adapter carries a node over one
boundary in one direction; ``0`` is the version of an operator that does not exist yet::

    @up("Clip", 6, 11)
    def bounds_to_inputs(node: Node, new: Builder) -> None: ...

    @down("Trilu", 14, 0)
    def mask_of_indices(node: Node, new: Builder) -> None: ...

An adapter adds the nodes that take the place of ``node`` to ``new``. One that adds nothing leaves the node as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.values import Node

Adapter: TypeAlias = Callable[[Node, Builder], None]

Key: TypeAlias = tuple[str, str, int, int]
"""Domain, operator, version that a node is written for, version that it shall be written for."""

ADAPTERS: dict[Key, Adapter] = {}


def up(op_types: str, old: int, new: int) -> Callable[[Adapter], Adapter]:
    """Enter an adapter from version ``old`` to the next version ``new`` for each of the operators named."""
    return _enter(op_types, old, new)


def down(op_types: str, new: int, old: int) -> Callable[[Adapter], Adapter]:
    """Enter an adapter from version ``new`` to the version before, ``old`` (0: the operator is not there yet)."""
    return _enter(op_types, new, old)


def _enter(op_types: str, source: int, target: int) -> Callable[[Adapter], Adapter]:
    def enter(adapter: Adapter) -> Adapter:
        for op_type in op_types.split():
            key = ("", op_type, source, target)
            if key in ADAPTERS:
                raise ValueError(f"two adapters for {key}")
            ADAPTERS[key] = adapter
        return adapter

    return enter
