"""From an ONNX model to a module of the onnx dialect.

The steps: open the file (:mod:`ge.targets.onnx.model_file`), convert to the newest opset
(:mod:`ge.targets.onnx.opsets`), infer types (:mod:`ge.dialects.onnx.shape_inference`), and build one operation per node
(:mod:`ge.targets.onnx.graph_importer`).

Nothing of the model is lost on the way, so that :mod:`ge.targets.onnx.exporter` can write it again: what operations,
their types and locations do not say is in notes, which :mod:`ge.dialects.onnx.notes` lists.

A function of the model becomes a private function of the module, when all its nodes mean the same at the newest opset;
if one does not, all functions are inlined, since a conversion needs types, which only a call has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto, inliner
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Region, SSAValue

from ge.dialects.onnx import OPSET, UNKNOWN
from ge.dialects.onnx.custom import function_symbol
from ge.dialects.onnx.protos import documentation, rest_note
from ge.dialects.onnx.shape_inference import AI_ONNX, infer_types, value_types
from ge.dialects.onnx.value_info import forget_stated_types, value_notes
from ge.ir.errors import GeError
from ge.targets.onnx.adapters.graphs import graphs_of
from ge.targets.onnx.adapters.schemas import histories
from ge.targets.onnx.adapters.table import keeps_meaning
from ge.targets.onnx.graph_importer import FunctionKey, GraphImporter, graph_inputs, graph_notes, strings
from ge.targets.onnx.input_shapes import fix_input_shapes, forget_placeholders
from ge.targets.onnx.model_file import ModelFile, open_model
from ge.targets.onnx.node_attributes import GRAPHS, complete_kinds, node_attributes
from ge.targets.onnx.opsets import Upgrade, check_node, domain_versions, mark_functions


def import_model(source: str | Path | ModelProto, input_shapes: Mapping[str, Sequence[int]] | None = None) -> ModuleOp:
    """The module of a model file (or of a model in memory), at the newest opset and with inferred types.

    ``input_shapes`` fixes the shape of inputs by name. Raises GeError GE1001 and GE1010 to GE1020.
    """
    model = open_model(source)
    try:
        module = _import(model, input_shapes or {})
    except GeError:
        raise
    except Exception as error:  # a damaged model can break any assumption of this package and of onnx
        raise GeError("GE1020", f"'{model.name}': {error}", model.name) from error
    if input_shapes:
        forget_stated_types(module)
    return module


def _import(model: ModelFile, input_shapes: Mapping[str, Sequence[int]]) -> ModuleOp:
    for node in _nodes(model.proto):
        complete_kinds(node)
    versions = domain_versions(model.proto, model.name)
    if not all(_can_stay(function, versions, model.name) for function in model.proto.functions):
        mark_functions(model.proto, versions[""])
        model.proto = _inline_functions(model)
        versions = domain_versions(model.proto, model.name)
    fix_input_shapes(model.proto.graph, input_shapes, model.name)
    upgrade = Upgrade(model.proto, versions[""], model.name)
    if upgrade.needed():
        upgrade.run(_all_types(_typed(model.proto, versions).graph))
    typed = _typed(model.proto, {**versions, "": OPSET})
    return _ModuleImporter(model, versions).module(typed)


def _nodes(model: ModelProto) -> Iterator[NodeProto]:
    """All nodes of a model, those of functions and of graphs in nodes included."""
    for owner in (model.graph, *model.functions):
        for graph in graphs_of(cast(GraphProto, owner)):
            yield from graph.node


def _typed(model: ModelProto, versions: Mapping[str, int]) -> ModelProto:
    """A copy of a model, written for other versions of the domains, with inferred types."""
    copy = ModelProto()
    copy.CopyFrom(model)
    forget_placeholders(copy.graph)
    del copy.opset_import[:]
    for domain, version in versions.items():
        copy.opset_import.add(domain=domain, version=version)
    return infer_types(copy)


def _all_types(graph: GraphProto) -> dict[str, ValueInfoProto]:
    """Types of the values of a graph and of the graphs in it; an outer value wins over an inner of the same name."""
    types: dict[str, ValueInfoProto] = {}
    for inner in reversed(list(graphs_of(graph))):
        types.update(value_types(inner))
    return types


# Functions


def _can_stay(function: FunctionProto, versions: Mapping[str, int], name: str) -> bool:
    """Whether a function can stay one: its nodes mean the same at the newest opset, no default is a graph.

    Raises GE1017 for a node that is not valid.
    """
    if any(attribute.type in GRAPHS for attribute in function.attribute_proto):
        return False
    version = _versions(function).get("", versions[""])
    for graph in graphs_of(cast(GraphProto, function)):
        for node in graph.node:
            if node.domain not in ("", AI_ONNX) or node.op_type not in histories():
                continue
            check_node(node, version, f"{name}, function '{function.name}', node '{node.name}' ({node.op_type})")
            if not keeps_meaning(node.op_type, version, OPSET):
                return False
    return True


def _versions(proto: ModelProto | FunctionProto) -> dict[str, int]:
    """The version of each domain that a model or function states, with one name for the empty domain."""
    return {"" if entry.domain == AI_ONNX else entry.domain: entry.version for entry in proto.opset_import}


def _inline_functions(model: ModelFile) -> ModelProto:
    try:
        return inliner.inline_local_functions(model.proto, convert_version=True)
    except Exception as error:
        what = f"the local functions of '{model.name}' cannot be inlined: {error}"
        raise GeError("GE1016", what, model.name) from error


class _ModuleImporter:
    """Builds the module of one model."""

    def __init__(self, model: ModelFile, versions: Mapping[str, int]) -> None:
        self.model = model
        self.versions = versions
        self.functions: list[FunctionKey] = [(f.domain, f.name, f.overload) for f in model.proto.functions]

    def module(self, typed: ModelProto) -> ModuleOp:
        """The module with the main function and the others."""
        proto = self.model.proto
        main = self._main(proto.graph, typed.graph)
        module = ModuleOp([main, *map(self._function, proto.functions)])
        module.attributes["onnx.opsets"] = _opsets_attr(_versions(proto) or self.versions)
        module.attributes["onnx.ir_version"] = IntegerAttr(proto.ir_version, i64)
        for field in ("producer_name", "producer_version", "domain"):
            if text := getattr(proto, field):
                module.attributes[f"onnx.{field}"] = StringAttr(text)
        if proto.model_version:
            module.attributes["onnx.model_version"] = IntegerAttr(proto.model_version, i64)
        module.attributes.update({**documentation(proto), **rest_note(proto, ["training_info", "configuration"])})
        return module

    def _main(self, graph: GraphProto, typed: GraphProto) -> FuncOp:
        block, results = GraphImporter(self.model, self.versions, self.functions).block(graph, typed, {})
        block.add_op(ReturnOp(*results))
        inputs = graph_inputs(graph)
        type = FunctionType.from_lists([arg.type for arg in block.args], [value.type for value in results])
        arg_attrs, res_attrs = _value_attrs(inputs, block.args), _value_attrs(graph.output, results)
        function = FuncOp("main", type, Region(block), arg_attrs=arg_attrs, res_attrs=res_attrs)
        function.attributes["onnx.input_names"] = strings(value.name for value in inputs)
        function.attributes["onnx.output_names"] = strings(value.name for value in graph.output)
        function.attributes["onnx.graph_name"] = StringAttr(graph.name)
        function.attributes.update(graph_notes(graph))
        return function

    def _function(self, proto: FunctionProto) -> FuncOp:
        """A function of the model."""
        graph = GraphProto(name=proto.name, node=proto.node, value_info=proto.value_info, doc_string=proto.doc_string)
        graph.input.extend(ValueInfoProto(name=name) for name in proto.input)
        graph.output.extend(ValueInfoProto(name=name) for name in proto.output)
        graph.metadata_props.extend(proto.metadata_props)
        typed = GraphProto()
        typed.CopyFrom(graph)
        _state_inputs(typed)
        versions = {**self.versions, **_versions(proto)}
        block, results = GraphImporter(self.model, versions, self.functions).block(graph, typed, {})
        block.add_op(ReturnOp(*results))
        type = FunctionType.from_lists([arg.type for arg in block.args], [value.type for value in results])
        symbol = function_symbol(proto.domain, proto.name, proto.overload)
        function = FuncOp(symbol, type, Region(block), visibility="private")
        function.attributes["onnx.input_names"] = strings(proto.input)
        function.attributes["onnx.output_names"] = strings(proto.output)
        function.attributes["onnx.opsets"] = _opsets_attr(_versions(proto))
        function.attributes.update({**self._parameters(proto), **graph_notes(graph)})
        return function

    def _parameters(self, proto: FunctionProto) -> dict[str, Attribute]:
        """The notes on the attributes of a function, with and without defaults."""
        notes: dict[str, Attribute] = {}
        if proto.attribute:
            notes["onnx.attributes"] = strings(proto.attribute)
        where = f"{self.model.name}, function '{proto.name}'"
        if proto.attribute_proto:
            defaults = node_attributes(proto.attribute_proto, self.model, where)
            notes["onnx.attribute_defaults"] = DictionaryAttr(defaults)
        return notes


def _state_inputs(graph: GraphProto) -> None:
    """Give the inputs and outputs of a function the types that it states among its values."""
    types = {value.name: value.type for value in graph.value_info}
    for value in (*graph.input, *graph.output):
        if value.name in types:
            value.type.CopyFrom(types[value.name])


def _opsets_attr(versions: Mapping[str, int]) -> DictionaryAttr:
    return DictionaryAttr({domain or AI_ONNX: IntegerAttr(version, i64) for domain, version in versions.items()})


def _value_attrs(infos: Sequence[ValueInfoProto], values: Sequence[SSAValue]) -> ArrayAttr[DictionaryAttr] | None:
    """The notes on inputs or outputs of a model, or None when there are none.

    A model must state a type for each; where it does not, the one that inference finds is written.
    """
    notes = [value_notes(info, value.type) for info, value in zip(infos, values, strict=True)]
    for entry in notes:
        if entry.get("onnx.type") == UNKNOWN:
            del entry["onnx.type"]
    return ArrayAttr(map(DictionaryAttr, notes)) if any(notes) else None
