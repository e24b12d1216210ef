"""From an ONNX model to a module of the onnx dialect.

The steps: open the file (:mod:`ge.targets.onnx.model_file`), inline local functions, convert to the newest opset
(:mod:`ge.targets.onnx.opsets`), infer shapes (:mod:`ge.dialects.onnx.shape_inference`), and build one operation per
node.

Nothing of the model is lost on the way, so that :mod:`ge.targets.onnx.exporter` can write it again:

* The node name is the location of the operation. A node without a name is located by its first output and marked
  ``onnx.unnamed``. Results are called ``<node>_output_<i>`` (what PyTorch writes), the single output of an unnamed node
  like its location; any other names are listed in ``onnx.outputs``.
* An initializer is an ``onnx.Constant`` whose location is its name, at the start of the function; its bytes stay in the
  file. An initializer that is also a graph input is a constant, not an input.
* The function has ``onnx.input_names``, ``onnx.output_names``, ``onnx.graph_name``; an argument or result with symbolic
  dimensions has ``onnx.dims``. The module has the facts about the model: ``onnx.opsets``, ``onnx.producer_name``, ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto, inliner
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx import (
    ABSENT,
    OP_CLASSES,
    OPSET,
    UNKNOWN,
    Custom,
    OnnxOp,
    TensorAttr,
    Yield,
    constant_from_literal,
)
from ge.dialects.onnx.attributes import literal_of, to_attribute
from ge.dialects.onnx.ops import ML_DOMAIN, split_absent
from ge.dialects.onnx.protos import default_output_names, dimensions, type_of_proto
from ge.dialects.onnx.schema import AttributeKind
from ge.dialects.onnx.shape_inference import AI_ONNX, infer_types, value_types
from ge.ir.errors import GeError
from ge.ir.locations import name_loc
from ge.targets.onnx.input_shapes import fix_input_shapes, forget_placeholders
from ge.targets.onnx.model_file import ModelFile, open_model
from ge.targets.onnx.opsets import Upgrade, domain_versions, graphs_of, mark_functions, schema_at
from ge.targets.onnx.tensors import literal_of_sparse, literal_of_tensor


def import_model(source: str | Path | ModelProto, input_shapes: Mapping[str, Sequence[int]] | None = None) -> ModuleOp:
    """The module of a model file (or of a model in memory), at the newest opset and with inferred shapes.

    ``input_shapes`` fixes the shape of inputs by name. Raises GeError GE1001 and GE1010 to GE1020.
    """
    model = open_model(source)
    try:
        return _import(model, input_shapes or {})
    except GeError:
        raise
    except Exception as error:  # a damaged model can break any assumption of this package and of onnx
        raise GeError("GE1020", f"'{model.name}': {error}", model.name) from error


def _import(model: ModelFile, input_shapes: Mapping[str, Sequence[int]]) -> ModuleOp:
    versions = domain_versions(model.proto, model.name)
    if model.proto.functions:
        mark_functions(model.proto, versions[""])
        model.proto = _inline_functions(model)
        versions = domain_versions(model.proto, model.name)
    forget_placeholders(model.proto.graph)
    fix_input_shapes(model.proto.graph, input_shapes, model.name)
    upgrade = Upgrade(model.proto, versions[""], model.name)
    if upgrade.needed():
        inferred = infer_types(model.proto)
        upgrade.run(_all_types(inferred.graph))
    del model.proto.opset_import[:]
    for domain, version in {**versions, "": OPSET}.items():
        model.proto.opset_import.add(domain=domain, version=version)
    model.proto = infer_types(model.proto)
    return _Importer(model, versions).module()


def _inline_functions(model: ModelFile) -> ModelProto:
    try:
        return inliner.inline_local_functions(model.proto, convert_version=True)
    except Exception as error:
        raise GeError(
            "GE1016", f"the local functions of '{model.name}' cannot be inlined: {error}", model.name
        ) from error


def _all_types(graph: GraphProto) -> dict[str, ValueInfoProto]:
    """Types of the values of a graph and of the graphs in it; an outer value wins over an inner of the same name."""
    types: dict[str, ValueInfoProto] = {}
    for inner in reversed(list(graphs_of(graph))):
        types.update(value_types(inner))
    return types


class _Importer:
    """Builds the module of one model."""

    def __init__(self, model: ModelFile, versions: Mapping[str, int]) -> None:
        self.model = model
        self.versions = versions
        """Of the domains, as the model was written."""

    def module(self) -> ModuleOp:
        """The module with its one function."""
        proto = self.model.proto
        module = ModuleOp([self._function(proto.graph)])
        opsets = {domain or AI_ONNX: IntegerAttr(version, i64) for domain, version in self.versions.items()}
        module.attributes["onnx.opsets"] = DictionaryAttr(opsets)
        module.attributes["onnx.ir_version"] = IntegerAttr(proto.ir_version, i64)
        for field in ("producer_name", "producer_version", "domain"):
            if text := getattr(proto, field):
                module.attributes[f"onnx.{field}"] = StringAttr(text)
        if proto.model_version:
            module.attributes["onnx.model_version"] = IntegerAttr(proto.model_version, i64)
        _add_documentation(module, proto)
        return module

    def _function(self, graph: GraphProto) -> FuncOp:
        types = value_types(graph)
        constants = {tensor.name for tensor in graph.initializer}
        inputs = [value for value in graph.input if value.name not in constants]
        block = Block(arg_types=[type_of_proto(value.type) for value in inputs])
        returned = self._fill(block, inputs, graph, types, {})
        block.add_op(ReturnOp(*returned))
        type = FunctionType.from_lists([arg.type for arg in block.args], [value.type for value in returned])
        arg_attrs, res_attrs = _dims_attrs(inputs), _dims_attrs(graph.output)
        function = FuncOp("main", type, Region(block), arg_attrs=arg_attrs, res_attrs=res_attrs)
        function.attributes["onnx.input_names"] = _strings(value.name for value in inputs)
        function.attributes["onnx.output_names"] = _strings(value.name for value in graph.output)
        function.attributes["onnx.graph_name"] = StringAttr(graph.name)
        _add_documentation(function, graph)
        return function

    def _fill(
        self,
        block: Block,
        inputs: Sequence[ValueInfoProto],
        graph: GraphProto,
        types: Mapping[str, ValueInfoProto],
        outer: Mapping[str, SSAValue],
    ) -> list[SSAValue]:
        """Put the constants and nodes of a graph into a block; the values of the graph's outputs."""
        values = dict(outer)
        for value, arg in zip(inputs, block.args, strict=True):
            values[value.name] = _hint(arg, value.name)
        for tensor in graph.initializer:
            values[tensor.name] = self._constant(block, literal_of_tensor(tensor, self.model), tensor.name)
        for sparse in graph.sparse_initializer:
            literal = literal_of_sparse(sparse, self.model)
            values[sparse.values.name] = self._constant(block, literal, sparse.values.name)
        for node in graph.node:
            self._add_node(block, node, types, values)
        return [self._value(output.name, values, f"output of graph '{graph.name}'") for output in graph.output]

    def _constant(self, block: Block, literal: tuple[Attribute, Attribute], name: str) -> SSAValue:
        op = constant_from_literal(*literal, location=name_loc(name))
        block.add_op(op)
        return _hint(op.results[0], name)

    def _value(self, name: str, values: Mapping[str, SSAValue], user: str) -> SSAValue:
        if name not in values:
            raise GeError("GE1018", f"value '{name}' is not defined", f"{self.model.name}, {user}")
        return values[name]

    def _add_node(
        self, block: Block, node: NodeProto, types: Mapping[str, ValueInfoProto], values: dict[str, SSAValue]
    ) -> None:
        if node.op_type == "Constant" and node.domain in ("", AI_ONNX):
            values[node.output[0]] = self._constant(block, self._constant_literal(node), node.output[0])
            return
        user = f"node '{_label(node)}' ({node.op_type})"
        inputs = [self._value(name, values, user) if name else None for name in node.input]
        op = self._operation(node, inputs, [_result_type(name, types) for name in node.output], values)
        block.add_op(op)
        try:
            op.verify_()
        except VerifyException as error:
            raise GeError("GE1017", f"{node.op_type}: {error}", f"{self.model.name}, {user}") from error
        for name, result in zip(node.output, op.results, strict=True):
            if name:
                values[name] = _hint(result, name)

    def _operation(
        self,
        node: NodeProto,
        inputs: Sequence[SSAValue | None],
        result_types: Sequence[Attribute],
        values: Mapping[str, SSAValue],
    ) -> OnnxOp:
        cls = self._op_class(node)
        operands, properties = split_absent(inputs)
        graphs = {attribute.name: attribute.g for attribute in node.attribute if attribute.type == AttributeProto.GRAPH}
        names = cls.OPERATOR.region_names if cls is not Custom else tuple(graphs)
        if cls is Custom:
            properties |= {"domain_name": StringAttr(node.domain), "type_name": StringAttr(node.op_type)}
            if names:
                properties["regions_named"] = _strings(names)
        regions = [self._region(graphs[name], values) for name in names if name in graphs]
        attributes = {a.name: self._attribute(a, node) for a in node.attribute if a.type != AttributeProto.GRAPH}
        op = cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes={**attributes, **_name_notes(node)},
            regions=regions,
            location=name_loc(_label(node)),
        )
        _add_documentation(op, node)
        return op

    def _op_class(self, node: NodeProto) -> type[OnnxOp]:
        """The class of a node; Custom when the table does not have its operator, or in another version."""
        domain = "" if node.domain == AI_ONNX else node.domain
        cls = OP_CLASSES.get((domain, node.op_type), Custom)
        if domain == ML_DOMAIN and cls is not Custom:
            schema = schema_at(node.op_type, self.versions.get(domain, 1), domain)
            if schema is None or schema.since_version != cls.OPERATOR.since:
                return Custom
        return cls

    def _region(self, graph: GraphProto, values: Mapping[str, SSAValue]) -> Region:
        constants = {tensor.name for tensor in graph.initializer}
        inputs = [value for value in graph.input if value.name not in constants]
        block = Block(arg_types=[type_of_proto(value.type) for value in inputs])
        terminator = Yield(*self._fill(block, inputs, graph, value_types(graph), values))
        if graph.name:
            terminator.location = name_loc(graph.name)
        block.add_op(terminator)
        return Region(block)

    def _attribute(self, attribute: AttributeProto, node: NodeProto) -> Attribute:
        """One attribute of a node, other than a graph."""
        match attribute.type:
            case AttributeProto.TENSOR:
                return TensorAttr(*literal_of_tensor(attribute.t, self.model))
            case AttributeProto.SPARSE_TENSOR:
                return TensorAttr(*literal_of_sparse(attribute.sparse_tensor, self.model))
            case AttributeProto.TYPE_PROTO:
                return type_of_proto(attribute.tp)
            case AttributeProto.STRING:
                return StringAttr(attribute.s.decode())
            case AttributeProto.STRINGS:
                return to_attribute("strings", [text.decode() for text in attribute.strings])
            case AttributeProto.INT | AttributeProto.FLOAT | AttributeProto.INTS | AttributeProto.FLOATS:
                return to_attribute(_KINDS[attribute.type], onnx.helper.get_attribute_value(attribute))
            case _:
                what = f"attribute '{attribute.name}' is of a kind that operators do not have"
                raise GeError("GE1017", what, f"{self.model.name}, node '{_label(node)}' ({node.op_type})")

    def _constant_literal(self, node: NodeProto) -> tuple[Attribute, Attribute]:
        """The value of a Constant node, in whichever attribute it is."""
        import numpy as np

        if not node.attribute:
            raise GeError("GE1017", "Constant has no value", f"{self.model.name}, node '{_label(node)}'")
        attribute = node.attribute[0]
        value: Any = onnx.helper.get_attribute_value(attribute)
        match attribute.name:
            case "value":
                return literal_of_tensor(attribute.t, self.model)
            case "sparse_value":
                return literal_of_sparse(attribute.sparse_tensor, self.model)
            case "value_float" | "value_floats":
                return literal_of(np.array(value, np.float32))
            case "value_int" | "value_ints":
                return literal_of(np.array(value, np.int64))
            case _:
                return literal_of(np.array(value, object))


_KINDS: Mapping[int, AttributeKind] = {
    AttributeProto.INT: "int",
    AttributeProto.FLOAT: "float",
    AttributeProto.INTS: "ints",
    AttributeProto.FLOATS: "floats",
}


def _label(node: NodeProto) -> str:
    """What a node is called: its name, or its first output when it has none."""
    return node.name or next(filter(None, node.output), node.op_type)


def _result_type(name: str, types: Mapping[str, ValueInfoProto]) -> Attribute:
    if not name:
        return ABSENT
    return type_of_proto(types[name].type) if name in types else UNKNOWN


def _name_notes(node: NodeProto) -> dict[str, Attribute]:
    """What the exporter needs to give a node and its outputs their names again; see the module docstring."""
    notes: dict[str, Attribute] = {}
    if not node.name:
        notes["onnx.unnamed"] = UnitAttr()
    if list(node.output) != default_output_names(_label(node), not node.name, len(node.output)):
        notes["onnx.outputs"] = _strings(node.output)
    return notes


def _add_documentation(op: Operation, proto: ModelProto | GraphProto | NodeProto) -> None:
    """Keep the text and metadata of a message as notes."""
    if proto.doc_string:
        op.attributes["onnx.doc"] = StringAttr(proto.doc_string)
    if proto.metadata_props:
        entries = {entry.key: StringAttr(entry.value) for entry in proto.metadata_props}
        op.attributes["onnx.metadata"] = DictionaryAttr(entries)


def _strings(names: Iterable[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr(StringAttr(name) for name in names)


def _dims_attrs(values: Iterable[ValueInfoProto]) -> ArrayAttr[DictionaryAttr] | None:
    """The symbolic dimensions of inputs or outputs, or None when there are none."""
    names = [[dim.dim_param for dim in dimensions(value.type)] for value in values]
    if not any(map(any, names)):
        return None
    return ArrayAttr(DictionaryAttr({"onnx.dims": _strings(dims)} if any(dims) else {}) for dims in names)


def _hint(value: SSAValue, name: str) -> SSAValue:
    """Name a value in text after its ONNX name, as far as text allows."""
    hint = re.sub(r"[^A-Za-z0-9_$.-]+", "_", re.sub(r"_output_\d+$", "", name)).strip("_")
    if hint:
        value.name_hint = hint if hint[0].isalpha() else f"v{hint}"
    return value
