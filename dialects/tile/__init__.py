"""The ``tile`` dialect: how one kernel is split over cores and over time, on immutable tiles.

A kernel reads and writes tensors in device memory (``!tile.gm``) and computes on *tiles* (``!tile.tile``): values of a
static shape that fit on the chip. Where a tile lives, and when a transfer runs, is decided one level below.

| file | what |
|---|---|
| ``types.py`` | the two types |
| ``structure.py`` | kernels and loops |
| ``transfer.py`` | loads and stores: between device memory and tiles |
| ``matrix.py``, ``compute.py``, ``movement.py`` | operations on tiles |
| ``meaning.py`` | what a kernel computes, in NumPy |
"""

from xdsl.ir import Dialect

from ge.dialects.tile.compute import (
    BinaryKindAttr,
    BinaryOp,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ReduceKindAttr,
    ReduceOp,
    ScalarKindAttr,
    ScalarOp,
    UnaryKindAttr,
    UnaryOp,
)
from ge.dialects.tile.matrix import Im2colOp, MatmulOp
from ge.dialects.tile.movement import ConcatOp, ReshapeOp, SliceOp, TransposeOp
from ge.dialects.tile.structure import ForOp, KernelOp, YieldOp
from ge.dialects.tile.transfer import LoadOp, StoreOp
from ge.dialects.tile.types import GmType, TileType

Tile = Dialect(
    "tile",
    [
        KernelOp,
        ForOp,
        YieldOp,
        LoadOp,
        StoreOp,
        Im2colOp,
        MatmulOp,
        ConstantOp,
        BroadcastOp,
        BinaryOp,
        UnaryOp,
        ScalarOp,
        CastOp,
        SliceOp,
        ReduceOp,
        TransposeOp,
        ConcatOp,
        ReshapeOp,
    ],
    [GmType, TileType, BinaryKindAttr, UnaryKindAttr, ScalarKindAttr, ReduceKindAttr],
)
