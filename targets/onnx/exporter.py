"""From a module of the onnx dialect to an ONNX model: the inverse of :mod:`ge.targets.onnx.importer`.

Names, opsets, stated types and metadata come from the notes that the importer left; where a pass has removed them or
made two names alike, new unique names are invented. A model that no pass has changed is written as it was, up to the
canonical form of :mod:`ge.targets.onnx.canonical`.

The model gets the opset it was imported with when every operator means the same there, otherwise the oldest newer one
in which that is so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from onnx import FunctionProto, GraphProto, ModelProto, OperatorSetIdProto, helper
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.onnx import ABSENT, ML_OPSET, Constant, Custom, OnnxOp
from ge.dialects.onnx.custom import split_symbol
from ge.dialects.onnx.functions import local_functions
from ge.dialects.onnx.graph_builder import GraphBuilder
from ge.dialects.onnx.notes import INITIALIZERS_ARE_NO_INPUTS
from ge.dialects.onnx.ops import ML_DOMAIN
from ge.dialects.onnx.protos import (
    TensorMaker,
    add_documentation,
    add_rest,
    attribute_protos,
    dictionary_note,
    proto_of_type,
    tensor_proto,
    text_note,
    text_notes,
)
from ge.dialects.onnx.registered import plugin_of
from ge.dialects.onnx.shape_inference import AI_ONNX
from ge.ir.collection import collection_paused
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import where
from ge.ir.weights import atomic_write
from ge.targets.onnx.adapters.graphs import graphs_of
from ge.targets.onnx.external_data import ExternalData
from ge.targets.onnx.model_writer import ModelWriter
from ge.targets.onnx.opset_choice import oldest_opset
from ge.targets.onnx.opsets import write_for_opset

_OLDEST_OPSET = 13
"""The oldest opset to export operations with that come from no model."""

_MAX_MESSAGE_BYTES = 2**31 - 2**24
"""What protobuf can serialise, less what a model has beside its weights."""


def export_model(
    module: ModuleOp, target_opset: int | None = None, *, tensor: TensorMaker = tensor_proto
) -> ModelProto:
    """The model of a module, written for ``target_opset`` if it is given; ``tensor`` makes the messages of constants.

    Raises GE3004 for what is not at the onnx level, GE2006 for an opset out of range, GE1021 for what the opset cannot
    express.
    """
    main = next((op for op in module.ops if isinstance(op, FuncOp) and op not in set(local_functions(module))), None)
    if main is None:
        raise GeError("GE3004", "the module has no function to export", where(module))
    builder = GraphBuilder(tensor=tensor, scoped=target_opset is None)
    graph = builder.block(body_of(main), main)
    if "onnx.graph_name" not in main.attributes:
        graph.name = "main"
    model = _model(graph, module, main)
    model.functions.extend(_function(function, tensor, target_opset is None) for function in local_functions(module))
    if target_opset is not None:
        types = {name: proto_of_type(value.type) for value, name in builder.names.items() if value.type != ABSENT}
        write_for_opset(model, types, target_opset)
    return model


def save_model(module: ModuleOp, path: str | Path, target_opset: int | None = None) -> None:
    """Write the model of a module to a file. Raises GE1003 and what :func:`export_model` raises.

    Weights of more than 2 GB, which a message cannot hold, go to ``<name>.data`` next to it.
    """
    path = Path(path)
    external, writer = ExternalData(f"{path.name}.data"), ModelWriter()
    is_large = _weight_bytes(module) > _MAX_MESSAGE_BYTES
    in_message = writer.tensor if target_opset is None else tensor_proto  # conversions read constants
    with collection_paused():
        model = export_model(module, target_opset, tensor=external.tensor if is_large else in_message)
    try:
        external.write(path.parent)
        with atomic_write(path) as stream:
            writer.write(model, stream)
    except OSError as error:
        raise GeError("GE1003", f"'{path}': {error.strerror or error}", str(path)) from error


def _weight_bytes(module: ModuleOp) -> int:
    """The bytes of all constants."""
    return sum(getattr(op.attributes["value"], "nbytes", 0) for op in module.walk() if isinstance(op, Constant))


def export_region(
    ops: Iterable[Operation] | Block,
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    input_names: Sequence[str] = (),
    output_names: Sequence[str] = (),
) -> ModelProto:
    """A model of some onnx operations (or those of a block, but for its terminator) that computes ``outputs``.

    Values from outside must be ``inputs`` or results of ``onnx.Constant``, which become part of the model. Inputs and
    outputs are called ``x0``, ``x1``, ... and ``y0``, ``y1``, ... unless named here.
    """
    ops = list(ops.ops if isinstance(ops, Block) else ops)
    inside = dict.fromkeys(inner for op in ops for inner in op.walk())
    read = (operand.owner for op in inside for operand in op.operands)
    constants = dict.fromkeys(owner for owner in read if isinstance(owner, Constant) and owner not in inside)
    graph = GraphBuilder().graph(
        [*constants, *ops],
        inputs,
        outputs,
        list(input_names) or [f"x{i}" for i in range(len(inputs))],
        list(output_names) or [f"y{i}" for i in range(len(outputs))],
    )
    graph.name = "region"
    return _model(graph, None, *ops)


def _function(function: FuncOp, tensor: TensorMaker, scoped: bool) -> FunctionProto:
    """A function of the model."""
    graph = GraphBuilder(tensor=tensor, scoped=scoped, only_nodes=True).block(body_of(function), function)
    domain, name, overload = split_symbol(function.sym_name.data)
    proto = FunctionProto(domain=domain, name=name, node=graph.node, value_info=graph.value_info)
    if overload:
        proto.overload = overload
    proto.input.extend(value.name for value in graph.input)
    proto.output.extend(value.name for value in graph.output)
    proto.attribute.extend(text_notes(function, "attributes"))
    proto.attribute_proto.extend(attribute_protos(dictionary_note(function, "attribute_defaults"), tensor))
    proto.opset_import.extend(_opset_imports(graph, function, function))
    add_documentation(proto, function.attributes)
    return proto


def _model(graph: GraphProto, module: ModuleOp | None, *roots: Operation) -> ModelProto:
    """The model around a graph: versions, producer and metadata from the module."""
    imports = _opset_imports(graph, module, *roots)
    model = ModelProto(graph=graph, opset_import=imports)
    oldest = max(INITIALIZERS_ARE_NO_INPUTS, helper.find_min_ir_version_for(imports, ignore_unknown=True))
    model.ir_version = oldest
    if module is None:
        return model
    if isinstance(version := module.attributes.get("onnx.ir_version"), IntegerAttr):
        written = version.value.data
        is_possible = written >= INITIALIZERS_ARE_NO_INPUTS or _initializers_are_inputs(graph)
        unchanged = {entry.domain: entry.version for entry in imports} == _versions(module)
        model.ir_version = written if is_possible and unchanged else max(oldest, written)
    for field in ("producer_name", "producer_version", "domain"):
        if text := text_note(module, field):
            setattr(model, field, text)
    if isinstance(version := module.attributes.get("onnx.model_version"), IntegerAttr):
        model.model_version = version.value.data
    add_documentation(model, module.attributes)
    add_rest(model, module)
    return model


def _initializers_are_inputs(graph: GraphProto) -> bool:
    return {tensor.name for tensor in graph.initializer} <= {value.name for value in graph.input}


_DEFAULT_VERSIONS = {ML_DOMAIN: ML_OPSET}


def _opset_imports(graph: GraphProto, noted: Operation | None, *roots: Operation) -> list[OperatorSetIdProto]:
    """The versions of all domains of a graph: those that the notes say, if they can stay, and of other domains."""
    versions = _versions(noted)
    used = {node.domain for inner in graphs_of(graph) for node in inner.node}
    if "" in used or not versions:
        ops = (op for root in roots for op in root.walk() if isinstance(op, OnnxOp))
        versions[""] = oldest_opset(ops, versions.get("", _OLDEST_OPSET))
    for domain in sorted(used - versions.keys()):
        versions[domain] = _DEFAULT_VERSIONS.get(domain) or _version_of(domain, roots)
    return [helper.make_opsetid(domain, version) for domain, version in versions.items()]


def _version_of(domain: str, roots: Sequence[Operation]) -> int:
    """The oldest version of a domain that has all of its operators here, as plug-ins say; 1 for work of the host."""
    ops = (op for root in roots for op in root.walk() if isinstance(op, Custom) and op.domain == domain)
    known = (op.definition for op in ops if plugin_of(op) is None)
    return max((definition.operator.since for definition in known if definition is not None), default=1)


def _versions(noted: Operation | None) -> dict[str, int]:
    """The versions of the domains that the notes of a module or function say."""
    attribute = None if noted is None else noted.attributes.get("onnx.opsets")
    if not isinstance(attribute, DictionaryAttr):
        return {}
    pairs = cast("Mapping[str, IntegerAttr]", attribute.data)
    return {"" if domain == AI_ONNX else domain: version.value.data for domain, version in pairs.items()}
