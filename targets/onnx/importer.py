"""From an ONNX model to a module of the onnx dialect.

The steps: open the file (:mod:`ge.targets.onnx.model_file`), convert to the newest opset
(:mod:`ge.targets.onnx.opsets`), build one operation per node (:mod:`ge.targets.onnx.graph_importer`), and infer the
types of all values (:mod:`ge.dialects.onnx.shapes`). What the model states of results counts where nothing is inferred,
and must not contradict what is; when shapes of inputs are given, it does not count.

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
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx import OPSET, UNKNOWN, Constant, Custom, OnnxOp, yielded
from ge.dialects.onnx.custom import Call, function_symbol
from ge.dialects.onnx.protos import documentation, message_text, rest_note
from ge.dialects.onnx.shape_inference import AI_ONNX, infer_types, value_types
from ge.dialects.onnx.shapes.inference import Inference, infer_function, remember, write_types
from ge.dialects.onnx.shapes.input_shapes import Asked
from ge.dialects.onnx.shapes.signature import DIMS, write_bounds
from ge.dialects.onnx.value_info import forget_stated_types, value_notes
from ge.dialects.onnx.verify import check_types
from ge.ir.collection import collection_paused
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.maths.symbols import Interval
from ge.targets.onnx.adapters.graphs import graphs_of
from ge.targets.onnx.adapters.schemas import histories
from ge.targets.onnx.adapters.table import keeps_meaning
from ge.targets.onnx.foreign_errors import error_of
from ge.targets.onnx.graph_importer import FunctionKey, GraphImporter, graph_inputs, graph_notes, strings
from ge.targets.onnx.input_shapes import fix_input_shapes, forget_placeholders
from ge.targets.onnx.model_file import ModelFile, open_model
from ge.targets.onnx.node_attributes import GRAPHS, complete_kinds, node_attributes
from ge.targets.onnx.opsets import Upgrade, check_node, check_versions, domain_versions, mark_functions, refuse_note


def import_model(
    source: str | Path | ModelProto, input_shapes: Mapping[str, Sequence[Asked]] | None = None
) -> ModuleOp:
    """The module of a model file (or of a model in memory), at the newest opset and with inferred types.

    ``input_shapes`` fixes the shape of inputs by name. Raises GeError GE1001 and GE1010 to GE1020, GE3015 for a node
    whose inputs contradict each other, GE3016 when the model states something else of a result than is inferred, GE6009
    when memory is not enough, and GE9001 for a fault of ours.
    """
    model = open_model(source)
    try:
        with collection_paused():
            module = _import(model, input_shapes or {})
    except GeError as error:
        if error.where is None:
            error.where = model.name
        raise
    except Exception as error:
        raise error_of(error, model.name) from error
    if input_shapes:
        forget_stated_types(module)
    return module


def _import(model: ModelFile, input_shapes: Mapping[str, Sequence[Asked]]) -> ModuleOp:
    for node in _nodes(model.proto):
        complete_kinds(node)
        refuse_note(node, model.name)
    versions = domain_versions(model.proto, model.name)
    for function in model.proto.functions:
        check_versions(function.opset_import, f"function '{function.name}' of '{model.name}'", model.name)
    if not all(_can_stay(function, versions, model.name) for function in model.proto.functions):
        mark_functions(model.proto, versions[""])
        model.proto = _inline_functions(model)
        versions = domain_versions(model.proto, model.name)
    bounds = fix_input_shapes(model.proto.graph, input_shapes, model.name)
    upgrade = Upgrade(model.proto, versions[""], model.name)
    if upgrade.needed():
        upgrade.run(_all_types(_typed(model.proto, versions).graph))
    return _ModuleImporter(model, versions).module(bounds, use_notes=not input_shapes)


def _nodes(model: ModelProto) -> Iterator[NodeProto]:
    """All nodes of a model, those of functions and of graphs in nodes included."""
    for owner in (model.graph, *model.functions):
        for graph in graphs_of(cast(GraphProto, owner)):
            yield from graph.node


def _typed(model: ModelProto, versions: Mapping[str, int]) -> ModelProto:
    """A copy of a model with the types that conversions look at: those that the `onnx` package infers at its opset."""
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

    def module(self, bounds: Mapping[str, Interval], *, use_notes: bool) -> ModuleOp:
        """The module with the main function and the others; ``bounds`` are those of names of dimensions.

        With ``use_notes``, what the model states of results counts.
        """
        proto = self.model.proto
        importer = GraphImporter(self.model, self.versions, self.functions)
        main = self._main(proto.graph, importer)
        write_bounds(main, bounds)
        module = ModuleOp([main, *map(self._function, proto.functions)])
        self._check_calls(module)
        inference = self._infer(main, use_notes)
        importer.finish()
        if use_notes:
            remember(main, inference)
        _note_results(main, proto.graph.output)
        module.attributes["onnx.opsets"] = _opsets_attr(_versions(proto) or self.versions)
        module.attributes["onnx.ir_version"] = IntegerAttr(proto.ir_version, i64)
        for field in ("producer_name", "producer_version", "domain"):
            if text := getattr(proto, field):
                module.attributes[f"onnx.{field}"] = StringAttr(text)
        if proto.model_version:
            module.attributes["onnx.model_version"] = IntegerAttr(proto.model_version, i64)
        module.attributes.update({**documentation(proto), **rest_note(proto, ["training_info", "configuration"])})
        return module

    def _check_calls(self, module: ModuleOp) -> None:
        """Check calls of functions, also those in functions, before anything follows them. Raises GE1017."""
        for op in module.walk() if self.functions else ():
            if isinstance(op, Call):
                _check(op, self.model.name)

    def _infer(self, main: FuncOp, use_notes: bool) -> Inference:
        """Give all values their inferred types, and check all operations with them."""
        try:
            inference = infer_function(main, use_notes=use_notes)
            write_types(main, inference)
            for op in main.walk():
                if isinstance(op, OnnxOp):
                    _check(op)
            return inference
        except GeError as error:
            place = self.model.name if error.where is None else f"{self.model.name}, {error.where}"
            raise GeError(error.code, error.what, place, error.why, error.remedy) from error

    def _main(self, graph: GraphProto, importer: GraphImporter) -> FuncOp:
        _refuse_equal_names(graph.output, self.model.name)
        block, results = importer.block(graph, {})
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
        versions = {**self.versions, **_versions(proto)}
        importer = GraphImporter(self.model, versions, self.functions)
        block, results = importer.block(graph, {})
        importer.finish()
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


def _check(op: OnnxOp, model: str = "") -> None:
    """Check the types of an operation. Raises GE1017 when they are not what the standard says."""
    try:
        if isinstance(op, Custom):
            op.verify_()
        elif not isinstance(op, Constant):
            check_types(op)
    except VerifyException as error:
        place = f"{model}, {where(op)}" if model else where(op)
        raise GeError("GE1017", f"{op.op_type}: {error}", place) from error


def _note_results(main: FuncOp, outputs: Sequence[ValueInfoProto]) -> None:
    """Note what the model states of its outputs, in its own words where inference names dimensions otherwise."""
    inferred = main.res_attrs.data if main.res_attrs is not None else [DictionaryAttr({})] * len(outputs)
    entries: list[DictionaryAttr] = []
    for info, value, entry in zip(outputs, yielded(main.body.block), inferred, strict=True):
        notes, names = _signature_notes(info, value), entry.data.get(DIMS)
        if names is not None and names != notes.get(DIMS):
            own_words = {"onnx.proto": StringAttr(message_text(info.type))} if info.type.ListFields() else {}
            notes = {**notes, **own_words, DIMS: names}
        entries.append(DictionaryAttr(notes))
    main.res_attrs = ArrayAttr(entries) if any(entry.data for entry in entries) else None


def _refuse_equal_names(outputs: Sequence[ValueInfoProto], model: str) -> None:
    """Raise GE1020 for two outputs of one name: callers ask for outputs by name."""
    names: set[str] = set()
    for info in outputs:
        if info.name in names:
            what = f"output '{info.name}' is listed twice"
            raise GeError("GE1020", what, model, "Outputs are told apart by their names.", "List it once.")
        names.add(info.name)


def _opsets_attr(versions: Mapping[str, int]) -> DictionaryAttr:
    return DictionaryAttr({domain or AI_ONNX: IntegerAttr(version, i64) for domain, version in versions.items()})


def _value_attrs(infos: Sequence[ValueInfoProto], values: Sequence[SSAValue]) -> ArrayAttr[DictionaryAttr] | None:
    """The notes on inputs or outputs of a model, or None when there are none."""
    notes = [_signature_notes(info, value) for info, value in zip(infos, values, strict=True)]
    return ArrayAttr(map(DictionaryAttr, notes)) if any(notes) else None


def _signature_notes(info: ValueInfoProto, value: SSAValue) -> dict[str, Attribute]:
    """The notes on an input or output.

    A model must state a type for each; where it does not, the one that inference finds is written.
    """
    notes = value_notes(info, value.type)
    if notes.get("onnx.type") == UNKNOWN:
        del notes["onnx.type"]
    return notes
