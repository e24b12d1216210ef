"""The `onnx` level: what the model means, one operation per ONNX operator of the newest opset.

| module | what |
|---|---|
| `operators` | the table of all operators, generated from the ONNX package |
| `schema` | the notation of the table |
| `types`, `attributes` | types that are not tensors of numbers; attributes from and to Python values |
| `base` | what all operations share: text, accessors by name |
| `ops` | the operations, and functions that make them |
| `verify` | the check against the table |
| `protos`, `shape_inference` | operations in ONNX's own form, and what the `onnx` package infers of them |
| `meaning` | evaluation with NumPy; `kernels`, `resize`, `non_max_suppression` are the fast parts of it |

docs/onnx.md shows how to use them.
"""

from __future__ import annotations

from ge.dialects.onnx.attributes import TensorAttr
from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.notes import NOTES
from ge.dialects.onnx.operators import ML_OPSET, OPSET
from ge.dialects.onnx.ops import (
    OP_CLASSES,
    Constant,
    Custom,
    Yield,
    constant_from_literal,
    constant_value,
    make_constant,
    make_op,
    op_class,
    yielded,
)
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
    "Constant",
    "Custom",
    "MapType",
    "Onnx",
    "OnnxOp",
    "OptionalType",
    "SequenceType",
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

Onnx = NotedDialect("onnx", [*OP_CLASSES.values(), Custom, Yield], [*TYPES, TensorAttr], NOTES)
"""The dialect: every operator of ai.onnx and ai.onnx.ml, custom operators, and the terminator of regions."""
