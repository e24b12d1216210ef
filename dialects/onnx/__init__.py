"""The `onnx` level: what the model means, one operation per ONNX operator of the newest opset.

| module | what |
|---|---|
| `operators` | the table of all operators, generated from the ONNX package |
| `schema` | the notation of the table |
| `types` | types that are not tensors of numbers |
| `attributes`, `rare_attributes` | attributes from and to Python values; those that only custom operators have |
| `base` | what all operations share: text, accessors by name |
| `ops`, `custom` | the operations, and functions that make them; operators outside the table |
| `verify` | the check against the table |
| `functions` | functions of the model, and how they are inlined |
| `protos`, `value_info` | types, constants and attributes in ONNX's own form, and what a model says of values |
| `graph_builder`, `scopes` | operations as a graph of ONNX |
| `notes` | what operations carry for the export |
| `shape_inference` | what the `onnx` package infers of types |
| `meaning` | evaluation with NumPy; `kernels`, `resize`, `non_max_suppression` are the fast parts of it |

docs/onnx.md shows how to use them.
"""

from __future__ import annotations

from ge.dialects.onnx.attributes import SparseAttr, TensorAttr
from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.custom import Call, Custom
from ge.dialects.onnx.notes import NOTES
from ge.dialects.onnx.operators import ML_OPSET, OPSET
from ge.dialects.onnx.ops import (
    OP_CLASSES,
    Constant,
    Yield,
    constant_from_literal,
    constant_value,
    make_constant,
    make_op,
    op_class,
    yielded,
)
from ge.dialects.onnx.rare_attributes import ListAttr, RefAttr, TypeProtoAttr
from ge.dialects.onnx.types import (
    ABSENT,
    STRING,
    TYPES,
    UNKNOWN,
    MapType,
    OptionalType,
    SequenceType,
    StringType,
    ranked,
    static_shape,
)
from ge.ir.notes import NotedDialect

__all__ = [
    "ABSENT",
    "ML_OPSET",
    "OPSET",
    "OP_CLASSES",
    "STRING",
    "UNKNOWN",
    "Call",
    "Constant",
    "Custom",
    "MapType",
    "Onnx",
    "OnnxOp",
    "OptionalType",
    "SequenceType",
    "SparseAttr",
    "StringType",
    "TensorAttr",
    "Yield",
    "constant_from_literal",
    "constant_value",
    "make_constant",
    "make_op",
    "op_class",
    "ranked",
    "static_shape",
    "yielded",
]

ATTRIBUTES = [TensorAttr, SparseAttr, RefAttr, ListAttr, TypeProtoAttr]

Onnx = NotedDialect("onnx", [*OP_CLASSES.values(), Custom, Call, Yield], [*TYPES, *ATTRIBUTES], NOTES)
"""The dialect: every operator of ai.onnx and ai.onnx.ml, custom operators, and the terminator of regions."""
