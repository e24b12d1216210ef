"""The pass `dump-shapes`."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.onnx.shapes.report import shape_table


@dataclass(frozen=True)
class DumpShapesPass(ModulePass):
    """Print to standard error what is known of every value: type, shape, contents, and the rule that told it.

    Values in regions are indented. A name like `?3` is a size that nothing is known of, the same wherever it appears.

    Left alone: the module.
    """

    name = "dump-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sys.stderr.write(shape_table(op))
