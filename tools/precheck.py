"""ge-compiler --mode=3: everything that stands in the way of compiling a model, at once.

A compilation stops at its first error; here each part of the model is looked at for itself: the file, the opsets, the
data of every tensor, every node, every input. When all of that is right, the model is compiled, without writing a file,
and notes say which operators will run on the host, and why. A finding names operator, domain, opset and node, as far as
it is about one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from onnx import GraphProto, ModelProto, NodeProto, TensorProto
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx import OP_CLASSES, OPSET
from ge.dialects.onnx.microsoft import meaning_of
from ge.dialects.onnx.ops import ML_DOMAIN
from ge.dialects.onnx.registered import registered
from ge.dialects.onnx.shapes.input_shapes import Asked
from ge.ir.errors import ERRORS, GeError
from ge.ir.rewrite_log import observe
from ge.lowering.onnx_to_graph.host import STANDARD
from ge.passes.onnx.select_outputs import split_names
from ge.targets.onnx.adapters.graphs import Owner, graphs_of, inner_graphs, node_label, reads
from ge.targets.onnx.adapters.schemas import histories
from ge.targets.onnx.custom_nodes import check_custom_node
from ge.targets.onnx.graph_importer import graph_inputs
from ge.targets.onnx.input_shapes import describe, fix_input_shapes
from ge.targets.onnx.model_file import ModelFile, open_model
from ge.targets.onnx.opsets import check_node, domain_versions
from ge.tools.compilation import FUSE, STAGES, import_static, run_stage
from ge.tools.compile_options import CompileOptions
from ge.tools.operator_log import host_reasons


@dataclass(frozen=True)
class Finding:
    """One thing that stands in the way (``error``), or that is good to know (``note``)."""

    severity: Literal["error", "note"]
    code: str
    what: str
    why: str
    remedy: str
    operator: str = ""
    domain: str = ""
    opset: int | None = None
    """The version of the domain that the model, or the function with the node, imports."""
    node: str = ""
    """Its name, or its first output when it has none; or the name of the tensor or input."""


@dataclass(frozen=True)
class Precheck:
    """The findings about a model; it can be compiled when no finding is an error."""

    model: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> list[Finding]:
        """What stands in the way."""
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def notes(self) -> list[Finding]:
        """What is good to know."""
        return [finding for finding in self.findings if finding.severity == "note"]

    def facts(self) -> dict[str, Any]:
        """The report in plain types, for JSON."""
        return {"model": self.model, "passed": not self.errors, "findings": [asdict(each) for each in self.findings]}

    def print(self) -> None:
        """Print the report."""
        print(f"{self.model}: {_count(self.errors, 'problem')}, {_count(self.notes, 'note')}")
        for finding in self.errors:
            print(f"\nerror: {finding.what}{_place(finding)} [{finding.code}]")
            print(f"  why: {finding.why}\n  fix: {finding.remedy}")
        nodes: dict[tuple[str, str], list[str]] = {}
        for note in self.notes:
            nodes.setdefault((note.what, note.why), []).append(note.node)
        for (what, why), names in nodes.items():
            print(f"\nnote: {what} ({', '.join(names)})\n  why: {why}")


def _count(findings: Sequence[Finding], noun: str) -> str:
    return f"{len(findings)} {noun}{'' if len(findings) == 1 else 's'}"


def _place(finding: Finding) -> str:
    """The operator and node of a finding, in parentheses."""
    if not finding.operator:
        return ""
    return f" (node '{finding.node}', {finding.operator} of {finding.domain or STANDARD}, opset {finding.opset})"


def precheck(options: CompileOptions) -> Precheck:
    """Check a model. Nothing is raised for what is wrong with it: that is what the findings tell."""
    name = str(options.model)
    try:
        model = open_model(options.model)
    except GeError as error:
        return Precheck(name, (_finding(error),))
    findings = [*_check_opsets(model), *_check_data(model), *_check_nodes(model, options.outputs)]
    findings += _check_inputs(model.proto.graph, options.input_shapes, name)
    if not findings:
        with observe(switches=options.switches):
            findings += _check_compilation(options)
    return Precheck(name, tuple(dict.fromkeys(findings)))


def _finding(error: GeError, **about: Any) -> Finding:
    """An error as a finding."""
    return Finding("error", error.code, error.what, error.why, error.remedy, **about)


def _raised(check: Callable[[], object], **about: Any) -> Iterator[Finding]:
    """What a check raises."""
    try:
        check()
    except GeError as error:
        yield _finding(error, **about)


# The parts of a model


def _check_opsets(model: ModelFile) -> Iterator[Finding]:
    """GE1015: an opset that is newer than the onnx package, or two of one domain."""
    yield from _raised(lambda: domain_versions(model.proto, model.name), domain="", opset=_versions(model.proto)[""])


def _versions(proto: Any) -> dict[str, int]:
    """The versions that a model or function imports; of ai.onnx 1 when there is none."""
    imported = {"" if entry.domain == STANDARD else entry.domain: entry.version for entry in proto.opset_import}
    return {"": 1, **imported}


def _check_data(model: ModelFile) -> Iterator[Finding]:
    """GE1012, GE1013: tensors whose data lie in files that are missing, too short, or elsewhere."""
    for owner in (model.proto.graph, *model.proto.functions):
        for graph in graphs_of(cast(GraphProto, owner)):
            for tensor in _tensors(graph):
                if tensor.data_location == TensorProto.EXTERNAL:
                    yield from _raised(lambda tensor=tensor: model.external_bytes(tensor), node=tensor.name)


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """The initializers of a graph (a function has none), and the tensors in attributes of its nodes."""
    yield from getattr(graph, "initializer", ())
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors


def _check_nodes(model: ModelFile, outputs: str) -> Iterator[Finding]:
    """GE1017, GE4001: nodes that are not valid at their opset, and operators that nothing defines.

    What ``outputs`` (:attr:`CompileOptions.outputs`) do not need may be of any operator.
    """
    functions = {(function.domain, function.name) for function in model.proto.functions}
    outer = _versions(model.proto)
    for owner in (model.proto.graph, *model.proto.functions):
        versions = outer if isinstance(owner, GraphProto) else {**outer, **_versions(owner)}
        for node, is_needed in _nodes(owner, outputs if owner is model.proto.graph else ""):
            if (node.domain, node.op_type) not in functions:
                yield from _check_node(node, versions, is_needed)


def _nodes(owner: Owner, outputs: str) -> Iterator[tuple[NodeProto, bool]]:
    """The nodes of a graph or function, and of the graphs in it, and whether outputs need them; all, without any."""
    needed = _needed(owner, split_names(outputs)) if outputs else [True] * len(owner.node)
    for node, is_needed in zip(owner.node, needed, strict=True):
        yield node, is_needed
        for inner in inner_graphs(node):
            yield from ((each, is_needed) for graph in graphs_of(inner) for each in graph.node)


def _needed(owner: Owner, outputs: Sequence[str]) -> list[bool]:
    """Whether outputs, named as ``node:0`` or by their own names, need each of the nodes of a graph."""
    wanted = {*outputs}
    for label in {text.rpartition(":")[0] for text in outputs}:
        wanted.update(name for node in owner.node if node_label(node) == label for name in node.output)
    needed: list[bool] = []
    for node in reversed(owner.node):
        needed.append(not wanted.isdisjoint(node.output))
        if needed[-1]:
            wanted.update(node.input, *map(reads, inner_graphs(node)))
    return needed[::-1]


def _check_node(node: NodeProto, versions: Mapping[str, int], is_needed: bool) -> Iterator[Finding]:
    domain = "" if node.domain == STANDARD else node.domain
    opset = versions.get(domain)
    about: dict[str, Any] = {"operator": node.op_type, "domain": domain, "opset": opset, "node": node_label(node)}
    if _is_unknown(node.op_type, domain):
        if not is_needed:
            return
        what = f"operator {node.op_type} of domain '{domain or STANDARD}' is not known"
        yield _finding(GeError("GE4001", what, why="Nothing says what it computes."), **about)
    elif (definition := registered(domain, node.op_type)) is not None:
        yield from _raised(lambda: check_custom_node(node, definition, opset or 1, node_label(node)), **about)
    elif not domain and opset is not None and opset <= OPSET:
        yield from _raised(lambda: check_node(node, opset, node_label(node)), **about)


def _is_unknown(operator: str, domain: str) -> bool:
    """Whether nothing says what an operator computes: the standard, a plug-in, or the meanings of com.microsoft.

    The preview domains of the standard run on the host.
    """
    if not domain:
        return operator not in histories()
    if domain == ML_DOMAIN:
        return (domain, operator) not in OP_CLASSES
    known = domain.startswith(STANDARD) or registered(domain, operator) is not None
    return not known and meaning_of(domain, operator) is None


def _check_inputs(graph: GraphProto, shapes: Mapping[str, Sequence[Asked]], name: str) -> Iterator[Finding]:
    """GE1019, GE3011: shapes that are asked for and do not fit; inputs without a fixed shape."""
    failed: set[str] = set()
    for input_name, shape in shapes.items():
        asked = {input_name: shape}
        for finding in _raised(lambda asked=asked: fix_input_shapes(graph, asked, name), node=input_name):
            failed.add(input_name)
            yield finding
    for value in graph_inputs(graph):
        type = value.type.tensor_type
        fixed = type.HasField("shape") and all(dim.dim_value > 0 for dim in type.shape.dim)
        if fixed or value.name in failed or not value.type.HasField("tensor_type"):
            continue
        what = f"input '{value.name}' has no fixed shape: {describe(value) if type.HasField('shape') else 'any'}"
        sizes = ",".join(str(dim.dim_value) if dim.dim_value > 0 else "1" for dim in type.shape.dim) or "1,3,224,224"
        remedy = f'Give its shape, for example --input_shape="{value.name}:{sizes}".'
        yield _finding(GeError("GE3011", what, remedy=remedy), node=value.name)


# The compilation


def _check_compilation(options: CompileOptions) -> Iterator[Finding]:
    """What compiling the model raises, and a note for each operator of the host."""
    try:
        module = import_static(options)
        for stage in STAGES:
            run_stage(stage, module, options)
            if stage is FUSE:
                yield from _host_operators(module, open_model(options.model).proto)
    except GeError as error:
        yield _finding(error)


def _host_operators(module: ModuleOp, proto: ModelProto) -> Iterator[Finding]:
    """A note for each node that the AI Core has no kernel for, once fusion has done what it can."""
    nodes = {node_label(node): node for node in proto.graph.node}
    for name, reason in host_reasons(module):
        if name in nodes:
            yield _host_note(nodes[name], _versions(proto), reason)


def _host_note(node: NodeProto, versions: Mapping[str, int], reason: str) -> Finding:
    domain = "" if node.domain == STANDARD else node.domain
    what = f"{node.op_type} will run on the host"
    remedy = "Nothing needs to be done; it is slower than on the AI Core."
    return Finding("note", "", what, reason, remedy, node.op_type, domain, versions.get(domain), node_label(node))


def failure(result: Precheck) -> GeError:
    """The error that ends a check which found something."""
    codes = ", ".join(dict.fromkeys(f"{finding.code} ({ERRORS[finding.code].title})" for finding in result.errors))
    return GeError("GE4003", f"{_count(result.errors, 'problem')} in the way of compiling: {codes}", result.model)
