"""Which operations keep the precision that the model gives them: by precision mode, by name, by operator type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from xdsl.dialects.builtin import f16
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ge.dialects.graph import BinaryKind, BinaryOp, Conv2DOp, MatmulOp, ReduceKind, ReduceOp, UnaryKind, UnaryOp
from ge.dialects.graph.base import tensor
from ge.dialects.graph.host import has_equivalent, host_equivalent
from ge.dialects.onnx.ops import OP_CLASSES
from ge.ir.errors import GeError
from ge.ir.locations import node_names
from ge.ir.parser import read_text

Mode: TypeAlias = Literal["force_fp16", "allow_mix_precision", "must_keep_origin_dtype"]
"""Precision modes, named as ATC's ``--precision_mode``: all that has a kernel computes in float16; all but functions
whose results or operands are too wide for it; only what the model has in float16 itself."""

PRECISION_MODES: tuple[str, ...] = get_args(Mode)
"""The names of all modes."""

TOO_WIDE = frozenset({UnaryKind.EXP, UnaryKind.SQUARE, UnaryKind.POWER, UnaryKind.RECIPROCAL, UnaryKind.RSQRT})
"""Functions that give more than 65504, or less than float16 can tell from 0, for operands as networks have them.

Means and softmax need not be here: their kernels sum in float32, and their results are as large as operands.
"""

TOO_LARGE = frozenset({ReduceKind.SUM, ReduceKind.SUM_SQUARE})
"""Reductions that give more than 65504 where there are many operands; their kernels sum in float32, too."""

TOO_FINE = frozenset({UnaryKind.SQRT, UnaryKind.LOG})
"""Functions that take what float16 may not tell from 0, and give what it does: of sums of squares, of probabilities."""

TYPE_PREFIX = "OpType::"
"""What a line of a keep file begins with that names a type of operators and not a node."""


@dataclass(frozen=True)
class KeepList:
    """What is to stay in the precision of the model."""

    names: frozenset[str] = frozenset()
    """Names of nodes. An operation that stands for several stays for any of them."""
    types: frozenset[str] = frozenset()
    """Types of ONNX operators."""
    mode: Mode = "force_fp16"

    def keeps(self, op: Operation) -> str | None:
        """Why an operation stays in the precision of the model, as the end of a sentence; None if it does not."""
        if names := self.names.intersection(node_names(op)):
            return f"'{min(names)}' is to be kept"
        if self.types and (types := self.types.intersection(onnx_types(op))):
            return f"{min(types)} is to be kept"
        if self.mode == "must_keep_origin_dtype" and any(tensor(result).element_type != f16 for result in op.results):
            return "the model does not have it in float16"
        if self.mode == "allow_mix_precision" and _is_too_wide(op):
            return "its result or operand may be too wide for float16"
        return None

    def check(self, main: FuncOp) -> None:
        """Refuse names and types that there are not: a misspelt one would silently keep nothing. Raises GE2006."""
        known = {name for op in main.walk() for name in node_names(op)}
        if unknown := sorted(self.names - known):
            raise GeError("GE2006", f"assign-precision keep: no node is called {', '.join(unknown)}")
        if unknown := sorted(self.types - {name for _, name in OP_CLASSES}):
            raise GeError("GE2006", f"assign-precision keep-types: no operator is called {', '.join(unknown)}")


def read_keep_file(path: Path) -> tuple[Sequence[str], Sequence[str]]:
    """The names and the types in a keep file, as ATC's ``--keep_dtype`` takes it. Raises GE1001 and GE1004.

    Each line is the name of a node, or ``OpType::Name`` for all operators of a type; empty lines do not matter.
    """
    lines = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    types = [line.removeprefix(TYPE_PREFIX).strip() for line in lines if line.startswith(TYPE_PREFIX)]
    return [line for line in lines if not line.startswith(TYPE_PREFIX)], types


def onnx_types(op: Operation) -> frozenset[str]:
    """The types of the ONNX operators that compute what a graph operation does: `Conv` and `Relu` of both in one."""
    if not has_equivalent(op):
        return frozenset()
    host = host_equivalent(op)
    types = frozenset(_operators(host))
    host.erase()
    return types


def _operators(host: Operation) -> Iterator[str]:
    return (inner.name.removeprefix("onnx.") for inner in host.walk() if inner.name.startswith("onnx."))


def _is_too_wide(op: Operation) -> bool:
    match op:
        case UnaryOp():
            return op.kind in TOO_WIDE | TOO_FINE
        case ReduceOp():
            return op.kind.data in TOO_LARGE
        case BinaryOp() if op.kind.data is BinaryKind.MUL and op.a is op.b:
            return True  # a square
        case Conv2DOp() | MatmulOp() | BinaryOp():
            return op.activation is not None and op.activation.kind in TOO_WIDE
        case _:
            return False
