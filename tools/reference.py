"""The reference that outputs, and values inside a model, are compared with.

It is onnxruntime. Where that is not installed, or does not know the operators that a plug-in defines, it is the
definition of each operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ge.ir.errors import GeError

if TYPE_CHECKING:  # loaded when a model is
    from onnx import ModelProto


@dataclass(frozen=True)
class ReferenceRun:
    """What the reference gives."""

    runner: str
    """What ran the model."""
    outputs: Mapping[str, Any]
    nodes: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    """The results of the nodes that were asked for, in the order of the model."""


def run_onnx(path: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Run an ``.onnx`` file; what ran it, and its outputs by name. Raises GE6006 when it fails."""
    run = run_nodes(path, inputs, ())
    return run.runner, dict(run.outputs)


def run_nodes(path: str, inputs: Mapping[str, Any], nodes: Collection[str]) -> ReferenceRun:
    """Run an ``.onnx`` file, and also give the results of nodes, as far as the model has them. Raises GE6006.

    A node without a name is called like its first output. Nodes in functions and in graphs of other nodes are left
    out, and so are those that share their name. Raises GE1001 when there is no such file.
    """
    if not Path(path).is_file():
        raise GeError("GE1001", f"'{path}': no such file", path)
    try:
        runtime: Any = import_module("onnxruntime")
    except ImportError:
        return _by_definition("the onnx level (onnxruntime is not installed)", path, inputs, nodes)
    results = results_of(path, nodes) if nodes else {}
    model = _with_outputs(path, [name for names in results.values() for name in names]) if nodes else path
    if model is None:
        return _by_definition("the onnx level (more than 2 GB cannot be given more outputs)", path, inputs, nodes)
    try:
        values = _run_session(runtime, model, inputs)
    except Exception as error:
        if _has_custom_operators(path):
            runner = "the definitions of all operators, those of plug-ins included"
            return _by_definition(runner, path, inputs, nodes)
        raise GeError("GE6006", f"onnxruntime: {error}", path) from error
    inside = {node: [values.get(name) for name in names] for node, names in results.items()}
    own = {name: values[name] for name in output_names(path)} if nodes else values
    return ReferenceRun(f"onnxruntime {runtime.__version__}", own, inside)


def _run_session(runtime: Any, model: str | bytes, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """All outputs of a model, given by its file or its bytes."""
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors only
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    known = {each.name for each in session.get_inputs()}
    names = [output.name for output in session.get_outputs()]
    feeds = {name: value for name, value in inputs.items() if name in known}
    return dict(zip(names, session.run(names, feeds), strict=True))


def output_names(path: str) -> list[str]:
    """The names of the outputs of a model."""
    return [output.name for output in _load(path, with_data=False).graph.output]


def results_of(path: str, nodes: Collection[str]) -> dict[str, list[str]]:
    """The names of the results of nodes, in the order of the model; an empty name where there is none."""
    from ge.targets.onnx.adapters.graphs import node_label

    graph = _load(path, with_data=False).graph
    counts = Counter(map(node_label, graph.node))
    return {
        node_label(node): list(node.output)
        for node in graph.node
        if node_label(node) in nodes and counts[node_label(node)] == 1
    }


def _with_outputs(path: str, names: Sequence[str]) -> bytes | None:
    """The model with more outputs; None above 2 GB, which is the most that a message holds."""
    import onnx
    from google.protobuf.message import EncodeError

    model = _load(path)
    known = {output.name for output in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name and name not in known)
    try:
        return model.SerializeToString()
    except (ValueError, EncodeError):
        return None


def _load(path: str, *, with_data: bool = True) -> ModelProto:
    onnx: Any = import_module("onnx")
    return onnx.load(path, load_external_data=with_data)


def _has_custom_operators(path: str) -> bool:
    """Whether a model has operators that plug-ins define."""
    from ge.dialects.onnx.registered import registered
    from ge.targets.onnx.adapters.graphs import graphs_of

    graphs = graphs_of(_load(path, with_data=False).graph)
    return any(registered(node.domain, node.op_type) is not None for graph in graphs for node in graph.node)


def _by_definition(runner: str, path: str, inputs: Mapping[str, Any], nodes: Collection[str]) -> ReferenceRun:
    from ge.targets.onnx.importer import import_model
    from ge.tools.execute import OnnxExecutable

    wanted = results_of(path, nodes)
    outputs, values = OnnxExecutable(import_model(path)).run_tapped(inputs, list(map(_literally, wanted)))
    inside = {
        node: [values[f"{node}:{number}" if number else node] for number in range(len(names))]
        for node, names in wanted.items()
    }
    return ReferenceRun(runner, outputs, inside)


def _literally(name: str) -> str:
    """A pattern that fits this name only."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in name)
