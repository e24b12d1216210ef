"""A plug-in: the dialect ``toy`` with one operation, and a pass that expands it.

Loaded as a file with ``ge-opt --load-plugin=ge_toy.py``, or installed as a package (pyproject.toml next to it names the
entry point).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import MuliOp
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.passes import ModulePass

from ge.ir.rewriting import replace


@irdl_op_definition
class SquareOp(IRDLOperation):
    """The square of an integer: ``%y = toy.square %x : i32``."""

    name = "toy.square"

    x = operand_def(IntegerType)
    y = result_def(IntegerType)

    assembly_format = "$x attr-dict `:` type($x) `->` type($y)"


Toy = Dialect("toy", [SquareOp], [])


@dataclass(frozen=True)
class ToyExpandSquare(ModulePass):
    """Replace toy.square by a multiplication, at most ``limit`` times."""

    name = "toy-expand-square"

    limit: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        squares = [found for found in op.walk() if isinstance(found, SquareOp)]
        for square in squares[: self.limit]:
            replace(square, MuliOp(square.x, square.x))


DIALECTS = {"toy": Toy}
PASSES = {"toy-expand-square": ToyExpandSquare}
