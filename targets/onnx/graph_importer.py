"""Graphs of a model, with the graphs in them, as blocks of operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from onnx import AttributeProto, GraphProto, NodeProto, SparseTensorProto, TensorProto, ValueInfoProto
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx import (
    ABSENT,
    OP_CLASSES,
    UNKNOWN,
    Call,
    Constant,
    Custom,
    OnnxOp,
    RefAttr,
    Yield,
    constant_from_literal,
)
from ge.dialects.onnx.base import RegionGroup
from ge.dialects.onnx.custom import name_regions, operator_properties
from ge.dialects.onnx.functions import constant_literal
from ge.dialects.onnx.graph_builder import default_output_names
from ge.dialects.onnx.ops import ML_DOMAIN, absent_property
from ge.dialects.onnx.protos import documentation, rest_note, tensor_notes, type_of_proto
from ge.dialects.onnx.registered import plugin_of
from ge.dialects.onnx.shape_inference import AI_ONNX
from ge.dialects.onnx.value_info import stated_note, value_notes
from ge.dialects.onnx.verify import check_structure
from ge.ir.errors import GeError
from ge.ir.locations import name_loc
from ge.targets.onnx.adapters.graphs import node_label
from ge.targets.onnx.adapters.schemas import schema_at
from ge.targets.onnx.custom_nodes import check_version
from ge.targets.onnx.model_file import ModelFile
from ge.targets.onnx.node_attributes import GRAPHS, node_attributes
from ge.targets.onnx.tensors import literal_of_sparse, literal_of_tensor, sparse_notes

FunctionKey = tuple[str, str, str]
"""Domain, name and overload of a function."""


class GraphImporter:
    """Builds the blocks of one model, or of one of its functions.

    Values get the types that are certain: those of inputs, of constants, and what the model states of results of
    unknown operators. All others are for inference to find; :meth:`finish` then completes the notes.
    """

    def __init__(self, model: ModelFile, versions: Mapping[str, int], functions: Iterable[FunctionKey]) -> None:
        self.model = model
        self.versions = versions
        """Of the domains, as the model was written."""
        self.functions = frozenset(functions)
        self.unfinished: list[Callable[[], None]] = []
        """What takes notes of how the model states types, in other words than inference finds."""

    def block(self, graph: GraphProto, outer: Mapping[str, SSAValue]) -> tuple[Block, list[SSAValue]]:
        """The block of a graph, without a terminator, and the values of its outputs.

        ``outer`` has the values of the graphs around.
        """
        return _GraphReader(self, graph).read(outer)

    def finish(self) -> None:
        """Take the notes that depend on the types of values, which have been inferred."""
        for take in self.unfinished:
            take()

    def op_class(self, node: NodeProto, attributes: Mapping[str, Attribute]) -> type[OnnxOp]:
        """The class of a node; Custom when the table does not have its operator as the node uses it."""
        domain = _domain(node)
        if (domain, node.op_type, node.overload) in self.functions:
            return Call
        cls = OP_CLASSES.get((domain, node.op_type), Custom)
        if RefAttr in map(type, attributes.values()) or node.overload:
            return Custom
        if domain == ML_DOMAIN and cls is not Custom:
            schema = schema_at(node.op_type, self.versions.get(domain, 1), domain)
            if schema is None or schema.since_version != cls.OPERATOR.since:
                return Custom
        return cls


class _GraphReader:
    """Fills the block of one graph."""

    def __init__(self, importer: GraphImporter, graph: GraphProto) -> None:
        self.importer = importer
        self.model = importer.model
        self.graph = graph
        self.types = {
            value.name: value
            for value in (*graph.value_info, *graph.output, *graph.input)
            if value.type.WhichOneof("value") is not None
        }
        self.stated = {value.name: value for value in graph.value_info}
        self.places = {value.name: (place, value) for place, value in enumerate(graph.input)}
        self.values: dict[str, SSAValue] = {}
        self.own: set[str] = set()
        self.labels: set[str] = set()
        self.results = [value.name for value in graph.output]

    def read(self, outer: Mapping[str, SSAValue]) -> tuple[Block, list[SSAValue]]:
        graph = self.graph
        inputs = graph_inputs(graph)
        self.values.update(outer)
        block = Block(arg_types=[self._type(value.name) for value in inputs])
        for value, arg in zip(inputs, block.args, strict=True):
            self._define(value.name, arg, f"input '{value.name}'")
        for tensor in graph.initializer:
            self._add_initializer(block, tensor.name, literal_of_tensor(tensor, self.model), _notes_of_tensor(tensor))
        for sparse in graph.sparse_initializer:
            literal = literal_of_sparse(sparse, self.model)
            self._add_initializer(block, sparse.values.name, literal, _notes_of_sparse(sparse))
        for node in graph.node:
            self._add_node(block, node)
        return block, [self._value(name, f"output of graph '{graph.name}'") for name in self.results]

    def _define(self, name: str, value: SSAValue, by: str) -> None:
        """Let a name stand for a value. Raises GE1020 when the graph has it already."""
        if name in self.own:
            what = f"value '{name}' is defined twice in graph '{self.graph.name}'"
            raise GeError("GE1020", what, f"{self.model.name}, {by}", "A name stands for one value in a graph.")
        self.own.add(name)
        self.values[name] = with_hint(value, name)

    def _type(self, name: str) -> Attribute:
        """The type that the graph states of a value."""
        return type_of_proto(self.types[name].type) if name in self.types else UNKNOWN

    def _value(self, name: str, user: str) -> SSAValue:
        if name not in self.values:
            raise GeError("GE1018", f"value '{name}' is not defined", f"{self.model.name}, {user}")
        return self.values[name]

    def _stated(self, names: Sequence[str], types: Sequence[Attribute]) -> dict[str, Attribute]:
        """The note on what the graph states of the results of an operation."""
        return stated_note([self.stated.get(name) if name else None for name in names], types)

    # Constants

    def _add_initializer(
        self, block: Block, name: str, literal: tuple[Attribute, Attribute], notes: Mapping[str, Attribute]
    ) -> None:
        op = constant_from_literal(*literal, location=name_loc(name))
        op.attributes.update({**self._stated([name], op.result_types), **notes})
        if name in self.places:
            place, info = self.places[name]
            entries = {"index": IntegerAttr(place, i64), **value_notes(info, op.results[0].type)}
            op.attributes["onnx.input"] = DictionaryAttr(entries)
        block.add_op(op)
        self._define(name, op.results[0], f"initializer '{name}'")

    def _constant(self, node: NodeProto, attributes: Mapping[str, Attribute]) -> OnnxOp:
        """The constant of a Constant node, in whichever attribute its value is."""
        values = {name: attribute for name, attribute in attributes.items() if "." not in name}
        if len(values) != 1 or len(node.output) != 1:
            raise GeError("GE1017", "Constant has no value", f"{self.model.name}, node '{node_label(node)}'")
        ((name, attribute),) = values.items()
        op = constant_from_literal(*constant_literal(name, attribute), location=name_loc(node.output[0]))
        op.attributes["onnx.node"] = StringAttr(node.name)
        if name not in ("value", "sparse_value"):
            op.attributes["onnx.attribute"] = StringAttr(name)
        elif (tensor := getattr(attribute, "notes", None)) and tensor.data:
            op.attributes["onnx.tensor"] = tensor
        op.attributes.update({name: note for name, note in attributes.items() if "." in name})
        return op

    # Nodes

    def _add_node(self, block: Block, node: NodeProto) -> None:
        place = f"node '{node_label(node)}' ({node.op_type})"
        user = f"{self.model.name}, {place}"
        attributes = node_attributes(node.attribute, self.model, user)
        cls = self.importer.op_class(node, attributes)
        op = self._constant(node, attributes) if cls is Constant else self._operation(cls, node, attributes, place)
        if isinstance(op, Custom) or not self.stated.keys().isdisjoint(node.output):
            self._take_stated(op, node)
            self.importer.unfinished.append(lambda: self._take_stated(op, node))
        op.attributes.update({**documentation(node), **rest_note(node, ["device_configurations"])})
        block.add_op(op)
        try:
            _check_structure(op)
        except VerifyException as error:
            raise GeError("GE1017", f"{node.op_type}: {error}", user) from error
        self._check_version(op, user)
        for name, result in zip(node.output, op.results, strict=True):
            if name:
                self._define(name, result, place)

    def _check_version(self, op: OnnxOp, user: str) -> None:
        """Raise GE1017 for an operator of a plug-in that the version of its domain does not have yet.

        What a compiled model holds for the host was checked when it was compiled; it knows no versions of domains.
        """
        if isinstance(op, Custom) and plugin_of(op) is None and (definition := op.definition) is not None:
            check_version(definition, self.importer.versions.get(op.domain, 1), user)

    def _take_stated(self, op: OnnxOp, node: NodeProto) -> None:
        """Note what the graph states of the results of a node, if it says less or more than their types."""
        op.attributes.update(self._stated(node.output, op.result_types))
        inner = (type for name, type in zip(node.output, op.result_types, strict=True) if name not in self.results)
        if type(op) is Custom and "onnx.stated" not in op.attributes and not {ABSENT, UNKNOWN}.issuperset(inner):
            op.attributes["onnx.stated"] = ArrayAttr[Attribute]([])

    def _operation(self, cls: type[OnnxOp], node: NodeProto, attributes: Mapping[str, Attribute], place: str) -> OnnxOp:
        inputs = [self._value(name, place) if name else None for name in node.input]
        properties = absent_property(inputs)
        if issubclass(cls, Custom):
            graphs = self._regions(node)
            names = list(graphs)
            properties |= operator_properties(_domain(node), node.op_type, node.overload)
            if graphs:
                properties["regions_named"] = name_regions([group for group, _ in graphs.values()])
        else:
            graphs = self._regions(node) if cls.OPERATOR.region_names else {}
            names = [name for name in cls.OPERATOR.region_names if name in graphs]
        label, outputs = node_label(node), list(node.output)
        return cls.create(
            operands=[value for value in inputs if value is not None],
            result_types=[self._certain_type(cls, name) for name in outputs],
            properties=properties,
            attributes={**attributes, **self._name_notes(node.name, label, outputs)},
            regions=[region for name in names for region in graphs[name][1]],
            location=name_loc(label),
        )

    def _certain_type(self, cls: type[OnnxOp], name: str) -> Attribute:
        """The type of a result before inference: what is stated when nothing else can be known."""
        if not name:
            return ABSENT
        return self._type(name) if cls is Custom else UNKNOWN

    def _name_notes(self, name: str, label: str, outputs: Sequence[str]) -> dict[str, Attribute]:
        """What the exporter needs to give a node and its outputs their names again."""
        notes: dict[str, Attribute] = {}
        if not name or name in self.labels:
            notes["onnx.name"] = StringAttr(name)
        self.labels.add(name)
        if outputs != default_output_names(label, not name, len(outputs)):
            notes["onnx.outputs"] = strings(outputs)
        return notes

    # Graphs in attributes

    def _regions(self, node: NodeProto) -> dict[str, tuple[RegionGroup, list[Region]]]:
        """The graphs of a node by the name of the attribute."""
        found: dict[str, tuple[RegionGroup, list[Region]]] = {}
        for attribute in node.attribute:
            if attribute.type not in GRAPHS or attribute.ref_attr_name:
                continue
            is_list = attribute.type == AttributeProto.GRAPHS
            regions = [self._region(graph) for graph in _graphs(attribute)]
            found[attribute.name] = RegionGroup(attribute.name, len(regions) if is_list else None), regions
        return found

    def _region(self, graph: GraphProto) -> Region:
        block, results = self.importer.block(graph, self.values)
        terminator = Yield(*results)
        if graph.name:
            terminator.location = name_loc(graph.name)
        else:
            terminator.attributes["onnx.graph_name"] = StringAttr("")
        inputs = graph_inputs(graph)
        if inputs:
            terminator.attributes["onnx.input_names"] = strings(value.name for value in inputs)
        self.importer.unfinished.append(lambda: _take_signature(terminator, block, inputs, graph.output))
        terminator.attributes.update(graph_notes(graph))
        block.add_op(terminator)
        return Region(block)


def _check_structure(op: OnnxOp) -> None:
    """Check what inference of types relies on; the rest is checked when the types are known.

    Constants are right as they are made.
    """
    if isinstance(op, Custom):
        op.verify_()
    elif not isinstance(op, Constant):
        check_structure(op)


def _take_signature(
    terminator: Yield, block: Block, inputs: Sequence[ValueInfoProto], outputs: Sequence[ValueInfoProto]
) -> None:
    """Note what a graph states of its inputs and outputs."""
    for side, infos, values in (("input", inputs, block.args), ("output", outputs, terminator.operands)):
        notes = [value_notes(info, value.type) for info, value in zip(infos, values, strict=True)]
        if any(notes):
            terminator.attributes[f"onnx.{side}_values"] = ArrayAttr(map(DictionaryAttr, notes))


def graph_inputs(graph: GraphProto) -> list[ValueInfoProto]:
    """The inputs that no initializer has a value for."""
    constants = {tensor.name for tensor in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    return [value for value in graph.input if value.name not in constants]


def graph_notes(graph: GraphProto) -> dict[str, Attribute]:
    """The notes on a graph as a whole, for the function or the terminator."""
    defined = {name for node in graph.node for name in node.output if name}
    defined |= {tensor.name for tensor in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    others = {
        info.name: DictionaryAttr(value_notes(info, UNKNOWN)) for info in graph.value_info if info.name not in defined
    }
    notes: dict[str, Attribute] = {"onnx.values": DictionaryAttr(others)} if others else {}
    return {**documentation(graph), **rest_note(graph, ["quantization_annotation"]), **notes}


def strings(names: Iterable[str]) -> ArrayAttr[StringAttr]:
    """A list of strings."""
    return ArrayAttr(StringAttr(name) for name in names)


def with_hint(value: SSAValue, name: str) -> SSAValue:
    """Name a value in text after its ONNX name, as far as text allows."""
    if "_output_" in name:
        name = _OUTPUT_NUMBER.sub("", name)
    hint = _UNPRINTABLE.sub("_", name).strip("_")
    if hint:
        value.name_hint = hint if hint[0].isalpha() else f"v{hint}"
    return value


_OUTPUT_NUMBER = re.compile(r"_output_\d+$")
_UNPRINTABLE = re.compile(r"[^A-Za-z0-9_$.-]+")


def _domain(node: NodeProto) -> str:
    return "" if node.domain == AI_ONNX else node.domain


def _graphs(attribute: AttributeProto) -> Sequence[GraphProto]:
    return attribute.graphs if attribute.type == AttributeProto.GRAPHS else [attribute.g]


def _notes_of_tensor(tensor: TensorProto) -> dict[str, Attribute]:
    return documentation(tensor)


def _notes_of_sparse(sparse: SparseTensorProto) -> dict[str, Attribute]:
    """The notes on the parts of a sparse initializer, which has the name of its values."""
    notes = sparse_notes(sparse)
    values = {key: note for key, note in tensor_notes(sparse.values).items() if key != "name"}
    parts = {"values": DictionaryAttr(values), "indices": notes.get("indices", DictionaryAttr({}))}
    kept = {part: entries for part, entries in parts.items() if isinstance(entries, DictionaryAttr) and entries.data}
    return {"onnx.tensor": DictionaryAttr(kept)} if kept else {}
