"""The graph that a model was made of, as text in the OM file: the attribute ``ge_graph`` of the model.

Constants are elided: size and digest are there, the bytes are among the weights and in the kernels of the host.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge.dialects.om import GraphOp
from ge.ir.errors import GeError
from ge.ir.parser import parse_text
from ge.ir.printer import print_module
from ge.ir.registry import context
from ge.ir.weights import Weights, WeightsMode, WeightsReader


def graph_text(op: GraphOp) -> str:
    """The text of a graph."""
    return print_module(ModuleOp([op.main.clone()]), weights=WeightsMode.ELIDED)


def read_graph(text: str, where: str) -> GraphOp:
    """The graph of a text. Raises GE5007 for anything but one function of operations that this project knows."""
    try:
        module = parse_text(context(), text, "ge_graph", _NoFiles())
    except GeError as error:
        raise GeError("GE5007", f"the graph cannot be read: {error.what} ({error.where})", where) from error
    functions = list(module.ops)
    if [type(function) for function in functions] != [FuncOp]:
        raise GeError("GE5007", f"the graph is {len(functions)} operations, not one function", where)
    functions[0].detach()
    return GraphOp(functions[0])


class _NoFiles(WeightsReader):
    """Opens nothing: what is in an OM file refers to no other."""

    def read(self, name: str, offset: int, nbytes: int, digest: str, where: str | None = None) -> Weights:
        raise GeError("GE3006", f"the graph refers to file '{name}'", where)
