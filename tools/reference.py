"""The reference that outputs are compared with.

It is onnxruntime. Where that is not installed, or does not know the operators that a plug-in defines, it is the
definition of each operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ge.ir.errors import GeError


def run_onnx(path: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Run an ``.onnx`` file; what ran it, and its outputs by name. Raises GE6006 when it fails."""
    try:
        runtime: Any = import_module("onnxruntime")
    except ImportError:
        return "the onnx level (onnxruntime is not installed)", _run_by_definition(path, inputs)
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors only
    try:
        session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        known = {each.name for each in session.get_inputs()}
        names = [output.name for output in session.get_outputs()]
        values = session.run(names, {name: value for name, value in inputs.items() if name in known})
    except Exception as error:
        if _has_custom_operators(path):
            return "the definitions of all operators, those of plug-ins included", _run_by_definition(path, inputs)
        raise GeError("GE6006", f"onnxruntime: {error}", path) from error
    return f"onnxruntime {runtime.__version__}", dict(zip(names, values, strict=True))


def _has_custom_operators(path: str) -> bool:
    """Whether a model has operators that plug-ins define."""
    import onnx

    from ge.dialects.onnx.registered import registered
    from ge.targets.onnx.adapters.graphs import graphs_of

    graphs = graphs_of(onnx.load(path, load_external_data=False).graph)
    return any(registered(node.domain, node.op_type) is not None for graph in graphs for node in graph.node)


def _run_by_definition(path: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    from ge.dialects.onnx.meaning import run_module
    from ge.targets.onnx.importer import import_model

    return run_module(import_model(path), inputs)
