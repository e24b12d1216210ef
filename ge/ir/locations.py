"""Source locations: how operator names of the model survive every rewrite.

An operation that stands for the model's node ``conv1`` has the location ``loc("conv1")``; one that stands for several
nodes has ``loc(fused["conv1", "relu1"])``. Text positions, when known, are ``loc("file.mlir":3:5)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from ge.ir.attributes import unchecked


def name_loc(name: str) -> LocationAttr:
    """The location of the model node ``name``."""
    return unchecked(NameLoc, desc=unchecked(StringAttr, data=name), location=_NONE)


_NONE = NoneAttr()
_LIST = cast("type[Attribute]", ArrayAttr)


def is_unknown(location: Attribute) -> bool:
    """Whether a location says nothing."""
    return type(location) is UnknownLoc


def node_names(op_or_location: Operation | Attribute) -> tuple[str, ...]:
    """The model nodes that an operation stands for, in order and without repetition."""
    location = op_or_location.location if isinstance(op_or_location, Operation) else op_or_location
    return tuple(dict.fromkeys(part.desc.data for part in _named(location)))


def _named(location: Attribute) -> Iterator[NameLoc]:
    """The locations of single nodes in a location."""
    match location:
        case NameLoc():
            yield location
        case FusedLoc():
            for part in cast(ArrayAttr[Attribute], location.locations):
                yield from _named(part)
        case CallSiteLoc():
            yield from _named(location.callee)
        case _:
            pass


def fused_loc(ops: Iterable[Operation | Attribute]) -> LocationAttr:
    """One location for all of ``ops`` (operations or locations).

    The names in it are kept in order; text positions are kept only when there is no name. No name and no position gives
    the unknown location.
    """
    locations = [op.location if isinstance(op, Operation) else op for op in ops]
    named: dict[str, NameLoc] = {}
    for location in locations:
        for part in (location,) if type(location) is NameLoc else _named(location):
            named.setdefault(part.desc.data, part)
    parts: list[LocationAttr] = [
        part if isinstance(part.location, NoneAttr) else name_loc(name) for name, part in named.items()
    ]
    if not parts:
        parts = list(dict.fromkeys(location for location in locations if isinstance(location, FileLineColLoc)))
    if not parts:
        return UNKNOWN_LOC
    if len(parts) == 1:
        return parts[0]
    return unchecked(FusedLoc, locations=unchecked(_LIST, data=tuple(parts)), metadata=_NONE)


def position(location: Attribute) -> str | None:
    """The text position ``file:line:column`` of a location, if it has one."""
    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}:{location.column.data}"
        case NameLoc():
            return position(location.location)
        case FusedLoc():
            parts = cast(ArrayAttr[Attribute], location.locations)
            return next((found for part in parts if (found := position(part)) is not None), None)
        case CallSiteLoc():
            return position(location.callee)
        case _:
            return None


def where(op: Operation) -> str:
    """Where an operation comes from, for error messages: ``file:line:column (node 'conv1')``, as far as known."""
    names = node_names(op)
    nodes = ", ".join(f"node '{name}'" for name in names[:3])
    if len(names) > 3:
        nodes += f" and {len(names) - 3} more"
    text_position = position(op.location)
    if text_position is None:
        return nodes or f"operation '{op.name}'"
    return f"{text_position} ({nodes})" if nodes else text_position
