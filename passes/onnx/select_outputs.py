"""The pass `select-outputs`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.onnx.shapes.inference import main_function
from ge.ir.errors import GeError
from ge.passes.onnx.interface import NamedValues, Output, write_outputs
from ge.passes.onnx.onnx_dce import erase_dead


@dataclass(frozen=True)
class SelectOutputsPass(ModulePass):
    """Let the model give other values: `outputs="conv1:0;prob"` are the first output of a node, and a value by name.

    Each output has the name of its value in the model. They come in the order given; what no output needs any more is
    erased.

    Left alone: the inputs, also those that nothing needs any more. Refused (GE2040): a name that means nothing, or two
    things; an input or a constant, which no node computes; an output that is named twice; a value in a subgraph or in
    a function of the model.
    """

    name = "select-outputs"

    outputs: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = main_function(op)
        if function is None:
            return
        values = NamedValues(function)
        outputs: list[Output] = []
        for text in split_names(self.outputs):
            found = values.find(text)
            if found in outputs:
                raise GeError("GE2040", f"'{text}' names the output '{found[0]}', which is named before")
            outputs.append(found)
        write_outputs(function, outputs)
        erase_dead(function)


def split_names(text: str) -> list[str]:
    """The entries of a list that is separated by semicolons. Raises GE2040 for an empty one."""
    names = [name.strip() for name in text.removesuffix(";").split(";")]
    if not all(names):
        raise GeError("GE2040", f"'{text}' has an empty name")
    return names
