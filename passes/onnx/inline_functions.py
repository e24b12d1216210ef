"""The pass `inline-functions`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.onnx.functions import inline_functions


@dataclass(frozen=True)
class InlineFunctionsPass(ModulePass):
    """Put the bodies of the functions of the model in the place of their calls, and drop the functions.

    A node `inner` of a call `outer` is called `outer/inner`; the results of the call keep their names. Attributes of
    the function have the value that the call gives, or their default. Functions in functions come first.

    Left alone: everything in a module without functions. Functions that call each other in a circle are refused
    (GE1020).
    """

    name = "inline-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inline_functions(op)
