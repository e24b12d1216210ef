"""What the operations on tiles share: one result, a tile, and no effects."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from ge.dialects.tile.types import TileType


class TileOperation(IRDLOperation):
    """An operation with one result, a tile."""

    result = result_def(TileType)
    traits = traits_def(Pure())


class SameTypeOperation(IRDLOperation):
    """An operation whose result has the type ``T`` of an operand."""

    T: ClassVar = VarConstraint("T", base(TileType))

    result = result_def(T)
    traits = traits_def(Pure())
