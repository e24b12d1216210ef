"""From a module of the onnx dialect to an ONNX model: the inverse of :mod:`ge.targets.onnx.importer`.

Names, opsets and metadata come from the notes that the importer left; where a pass has removed them or made two alike,
new unique names are invented. Constants become initializers. The model gets the opset it was imported with when every
operator means the same there, otherwise the oldest newer one in which that is so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import onnx
from onnx import GraphProto, ModelProto, ValueInfoProto, helper
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge.dialects.onnx import (
    ABSENT,
    ML_OPSET,
    OPSET,
    UNKNOWN,
    Constant,
    Custom,
    OnnxOp,
    OptionalType,
    SequenceType,
    yielded,
)
from ge.dialects.onnx.ops import ML_DOMAIN
from ge.dialects.onnx.protos import (
    GraphBuilder,
    add_documentation,
    data_type_of,
    dimensions,
    proto_of_type,
    text_note,
    text_notes,
)
from ge.dialects.onnx.shape_inference import AI_ONNX
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.targets.onnx.opsets import keeps_meaning, schema_at, write_for_opset

_MIN_IR_VERSION = 4
"""The first in which initializers need not be inputs."""

_OLDEST_OPSET = 13
"""The oldest opset to export operations with that come from no model."""

_MAX_MESSAGE_BYTES = 2**31 - 1
"""What protobuf can serialise; larger models keep their tensors in a second file."""


def export_model(module: ModuleOp, target_opset: int | None = None) -> ModelProto:
    """The model of a module that has one function of onnx operations, written for ``target_opset`` if it is given.

    Raises GE3004 for other operations, GE2006 for an opset out of range, GE1021 for what the opset cannot express.
    """
    function = next((op for op in module.ops if isinstance(op, FuncOp)), None)
    if function is None:
        raise GeError("GE3004", "the module has no function to export", where(module))
    block = function.body.block
    builder = GraphBuilder()
    graph = builder.graph(
        block.ops, block.args, yielded(block), text_notes(function, "input_names"), text_notes(function, "output_names")
    )
    graph.name = text_note(function, "graph_name") or "main"
    _add_dims(graph.input, function.arg_attrs)
    _add_dims(graph.output, function.res_attrs)
    add_documentation(graph, function)
    model = _model(graph, module, function)
    if target_opset is not None:
        types = {name: proto_of_type(value.type) for value, name in builder.names.items() if value.type != ABSENT}
        write_for_opset(model, types, target_opset)
    return model


def save_model(module: ModuleOp, path: str | Path) -> None:
    """Write the model of a module to a file; above 2 GB its tensors go to ``<path>.data``. Raises GE1003."""
    model = export_model(module)
    size = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    try:
        onnx.save_model(  # pyright: ignore[reportUnknownMemberType]
            model,
            str(path),
            save_as_external_data=size > _MAX_MESSAGE_BYTES // 2,
            location=f"{Path(path).name}.data",
        )
    except OSError as error:
        raise GeError("GE1003", f"'{path}': {error.strerror or error}", str(path)) from error


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


def _add_dims(values: Sequence[ValueInfoProto], notes: ArrayAttr[DictionaryAttr] | None) -> None:
    """Give the symbolic dimensions of inputs or outputs their names again."""
    for value, note in zip(values, notes or (), strict=False):
        names = note.data.get("onnx.dims")
        if not isinstance(names, ArrayAttr):
            continue
        for dim, name in zip(dimensions(value.type), cast("ArrayAttr[StringAttr]", names), strict=False):
            if name.data and not dim.HasField("dim_value"):
                dim.dim_param = name.data


def _model(graph: GraphProto, module: ModuleOp | None, *roots: Operation) -> ModelProto:
    """The model around a graph: versions, producer and metadata from the module."""
    ops = [op for root in roots for op in root.walk() if isinstance(op, OnnxOp)]
    imported = _opsets(module)
    versions = {**imported, "": _opset(ops, imported.get("", _OLDEST_OPSET))}
    used = {op.domain for op in ops} | {""} | set(imported)
    imports = [
        helper.make_opsetid(domain, versions.get(domain, _DEFAULT_VERSIONS.get(domain, 1))) for domain in sorted(used)
    ]
    model = ModelProto(graph=graph, opset_import=imports)
    model.ir_version = max(_MIN_IR_VERSION, helper.find_min_ir_version_for([imports[0]], ignore_unknown=True))
    if module is None:
        return model
    if isinstance(version := module.attributes.get("onnx.ir_version"), IntegerAttr):
        model.ir_version = max(model.ir_version, version.value.data)
    for field in ("producer_name", "producer_version", "domain"):
        setattr(model, field, text_note(module, field))
    if isinstance(version := module.attributes.get("onnx.model_version"), IntegerAttr):
        model.model_version = version.value.data
    add_documentation(model, module)
    return model


_DEFAULT_VERSIONS = {ML_DOMAIN: ML_OPSET}


def _opsets(module: ModuleOp | None) -> dict[str, int]:
    """The domains that the module was imported with."""
    attribute = None if module is None else module.attributes.get("onnx.opsets")
    if not isinstance(attribute, DictionaryAttr):
        return {}
    pairs = cast("Mapping[str, IntegerAttr]", attribute.data)
    return {"" if domain == AI_ONNX else domain: version.value.data for domain, version in pairs.items()}


def _opset(ops: Sequence[OnnxOp], imported: int) -> int:
    """The opset to export with: the oldest from that of the import on in which all operators mean what they do here."""
    own = [op for op in ops if not op.domain and not isinstance(op, Custom)]
    return next((version for version in range(imported, OPSET) if all(_fits(op, version) for op in own)), OPSET)


def _fits(op: OnnxOp, version: int) -> bool:
    """Whether an operation means the same as a node of opset ``version``."""
    if isinstance(op, Constant):
        return True
    schema = schema_at(op.op_type, version)
    if schema is None or not keeps_meaning(op.op_type, version, OPSET):
        return False
    attributes = {name for name in op.attributes if "." not in name}
    return (
        attributes <= {*schema.attributes}
        and len(op.input_list()) <= schema.max_input
        and len(op.results) <= schema.max_output
        and _allowed(op.input_list(), schema.inputs)
        and _allowed(op.results, schema.outputs)
    )


def _allowed(values: Sequence[SSAValue | None], parameters: Sequence[onnx.defs.OpSchema.FormalParameter]) -> bool:
    """Whether the parameters of an operator allow the types of values."""
    for position, value in enumerate(values):
        types = parameters[min(position, len(parameters) - 1)].types
        if value is None or value.type in (UNKNOWN, ABSENT) or not types:
            continue
        if _type_name(value.type) not in types:
            return False
    return True


def _type_name(type: Attribute) -> str:
    """A type as the schemas of onnx write it: ``tensor(float)``, ``seq(tensor(float))``."""
    element = cast(Any, type).element_type
    match type:
        case SequenceType():
            return f"seq({_type_name(element)})"
        case OptionalType():
            return f"optional({_type_name(element)})"
        case _:
            return f"tensor({onnx.TensorProto.DataType.Name(data_type_of(element)).lower()})"
