"""What remains for the host, and what cannot run at all."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ge.dialects.graph.host import host_operator
from ge.dialects.onnx import Custom, OnnxOp
from ge.dialects.onnx.registered import note_plugin
from ge.ir.errors import GeError
from ge.ir.locations import node_names
from ge.ir.rewriting import replace

STANDARD = "ai.onnx"
"""How the domains of the ONNX standard begin."""


def move_to_host(op: OnnxOp) -> None:
    """Put an operator into a `graph.host` region of its own; what it has of plug-ins gets a note which one it needs."""
    for inner in op.walk():
        if isinstance(inner, Custom) and (definition := inner.definition) is not None:
            note_plugin(inner, definition)
    host, results = host_operator(op)
    replace(op, host, results)


def refuse_custom(module: ModuleOp) -> None:
    """Raise GE4001 that lists every operator of a domain that this compiler does not know.

    Operators that a plug-in registers run on the host, where the plug-in must be loaded again. Operators of the
    standard that the dialect has no class for (the preview domains), and those of com.microsoft that have a meaning,
    run on the host like all others.
    """
    from ge.dialects.onnx.microsoft import meaning_of  # not before it is needed: it is of NumPy

    custom = [op for op in module.walk() if isinstance(op, Custom) and not op.domain.startswith(STANDARD)]
    found = [op for op in custom if op.definition is None and meaning_of(op.domain, op.op_type) is None]
    if not found:
        return
    nodes: dict[str, list[str]] = {}
    for op in found:
        nodes.setdefault(f"{op.op_type} of domain '{op.domain}'", []).extend(node_names(op) or ("unnamed",))
    listed = [f"{operator} (node {', '.join(names)})" for operator, names in nodes.items()]
    raise GeError("GE4001", f"the model has operators that are not known: {', '.join(listed)}")
