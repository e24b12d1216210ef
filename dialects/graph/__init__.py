"""The `graph` level: a small canonical set of operators on tensors, and the device program that they become.

| module | what |
|---|---|
| `attributes` | kinds of functions, the activation attribute |
| `compute`, `normalization`, `reduction`, `integer`, `movement`, `program` | the operations |
| `streams` | the events of a device program, and what they order |
| `shapes` | one shape function per operation, on plain tuples |
| `capabilities` | what the AI Core has kernels for, with `row_kernels`, `reduction_kernels`, `movement_kernels` |
| `fusing` | what of it fits into one kernel |
| `meaning`, `integer_meaning` | evaluation with NumPy |

docs/levels.md is the reference.
"""

from __future__ import annotations

from ge.dialects.graph.attributes import (
    FUNCTIONS,
    ActivationAttr,
    BinaryKind,
    BinaryKindAttr,
    PoolKind,
    PoolKindAttr,
    ReduceKind,
    ReduceKindAttr,
    UnaryKind,
    UnaryKindAttr,
)
from ge.dialects.graph.compute import COMPUTE_OPS, BinaryOp, Conv2DOp, MatmulOp, Pool2DOp, UnaryOp
from ge.dialects.graph.integer import (
    INTEGER_OPS,
    DequantiseOp,
    IntegerAddOp,
    IntegerConv2DOp,
    IntegerMatmulOp,
    IntegerOp,
    QuantiseOp,
)
from ge.dialects.graph.movement import (
    MOVEMENT_OPS,
    CastOp,
    ConcatOp,
    GatherChannelsOp,
    ReshapeOp,
    SliceOp,
    TransDataOp,
    TransposeOp,
    ViewOp,
)
from ge.dialects.graph.normalization import NORMALIZATION_OPS, BatchNormOp, LayerNormOp, LrnOp, SoftmaxOp
from ge.dialects.graph.program import (
    NOTES,
    PROGRAM_OPS,
    ConstantOp,
    FusionOp,
    HostOp,
    LaunchOp,
    YieldOp,
    input_names,
    main_function,
    output_names,
)
from ge.dialects.graph.reduction import ReduceOp
from ge.dialects.graph.streams import STREAM_OPS, RecordOp, WaitOp
from ge.ir.notes import NotedDialect

__all__ = [
    "FUNCTIONS",
    "ActivationAttr",
    "BatchNormOp",
    "BinaryKind",
    "BinaryKindAttr",
    "BinaryOp",
    "CastOp",
    "ConcatOp",
    "ConstantOp",
    "Conv2DOp",
    "DequantiseOp",
    "FusionOp",
    "GatherChannelsOp",
    "Graph",
    "HostOp",
    "IntegerAddOp",
    "IntegerConv2DOp",
    "IntegerMatmulOp",
    "IntegerOp",
    "LaunchOp",
    "LayerNormOp",
    "LrnOp",
    "MatmulOp",
    "Pool2DOp",
    "PoolKind",
    "PoolKindAttr",
    "QuantiseOp",
    "RecordOp",
    "ReduceKind",
    "ReduceOp",
    "ReshapeOp",
    "SliceOp",
    "SoftmaxOp",
    "TransDataOp",
    "TransposeOp",
    "UnaryKind",
    "UnaryKindAttr",
    "UnaryOp",
    "ViewOp",
    "WaitOp",
    "YieldOp",
    "input_names",
    "main_function",
    "output_names",
]

Graph = NotedDialect(
    "graph",
    [*PROGRAM_OPS, *STREAM_OPS, *COMPUTE_OPS, *NORMALIZATION_OPS, ReduceOp, *INTEGER_OPS, *MOVEMENT_OPS],
    [ActivationAttr, UnaryKindAttr, BinaryKindAttr, PoolKindAttr, ReduceKindAttr],
    NOTES,
)
