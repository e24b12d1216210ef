"""What an OM file tells of the graph that its kernels were made of."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ge.dialects.graph.program import main_function
from ge.dialects.om import GraphOp, ModelOp
from ge.ir.attributes import WeightsAttr
from ge.ir.weights import Weights


def source_graph(module: ModuleOp) -> GraphOp:
    """A copy of the graph of a module, with sizes and digests in the place of weights."""
    main = main_function(module).clone()
    for op in main.walk():
        for attributes in (op.attributes, op.properties):
            attributes.update({name: _elided(attr) for name, attr in attributes.items()})
    return GraphOp(main)


def _elided(attr: Attribute) -> Attribute:
    if not isinstance(attr, WeightsAttr):
        return attr
    return WeightsAttr(Weights(None, attr.nbytes, digest=attr.digest))


def attach_graph(module: ModuleOp, graph: GraphOp) -> None:
    """Put a graph into the ``om.model`` that was made of it."""
    for op in module.ops:
        if isinstance(op, ModelOp):
            first = op.body.block.first_op
            if first is None:
                op.body.block.add_op(graph)
            else:
                op.body.block.insert_op_before(graph, first)
