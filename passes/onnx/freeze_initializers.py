"""The pass `freeze-initializers`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.onnx import Constant
from ge.dialects.onnx.notes import INITIALIZERS_ARE_NO_INPUTS

INPUT = "onnx.input"
"""The note of a constant that is the default of an input."""


@dataclass(frozen=True)
class FreezeInitializersPass(ModulePass):
    """Defaults of inputs become constants that no run replaces: the inputs are none any more.

    A level does this first, since other passes compute with all constants. Would such an input stay one, a run that
    gives it another value would silently get what was computed with the default before.

    Left alone: inputs without a default; all of a model of an IR version below 4, where every constant has to be listed
    among the inputs, and none can be replaced.
    """

    name = "freeze-initializers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        version = op.attributes.get("onnx.ir_version")
        if isinstance(version, IntegerAttr) and version.value.data < INITIALIZERS_ARE_NO_INPUTS:
            return
        for constant in op.walk():
            if isinstance(constant, Constant):
                constant.attributes.pop(INPUT, None)
