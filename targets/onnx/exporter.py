"""From a module of the onnx dialect to an ONNX model: the inverse of :mod:`ge.targets.onnx.importer`.

Names, opsets and metadata come from the notes that the importer left; where a pass has removed them or made two alike,
new unique names are invented. Constants become initializers. The model gets the opset it was imported with when every
operator means the same there, otherwise the oldest that has the newest version of every operator in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto, helper
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge.dialects.onnx import ABSENT, OPSET, UNKNOWN, Constant, Custom, OnnxOp, TensorAttr, yielded
from ge.dialects.onnx.attributes import to_python
from ge.dialects.onnx.ops import ML_DOMAIN
from ge.dialects.onnx.types import type_code
from ge.ir.errors import GeError
from ge.ir.locations import node_names, where
from ge.targets.onnx.importer import AI_ONNX, default_output_names
from ge.targets.onnx.opsets import keeps_meaning, schema_at
from ge.targets.onnx.tensors import proto_of_type, tensor_of_literal

_MIN_IR_VERSION = 4
"""The first in which initializers need not be inputs."""

_MAX_MESSAGE_BYTES = 2**31 - 1
"""What protobuf can serialise; larger models keep their tensors in a second file."""


def export_model(module: ModuleOp) -> ModelProto:
    """The model of a module that has one function of onnx operations. Raises GE3004 for other operations."""
    function = next((op for op in module.ops if isinstance(op, FuncOp)), None)
    if function is None:
        raise GeError("GE3004", "the module has no function to export", where(module))
    block = function.body.block
    graph = _Exporter().graph(
        block.ops, block.args, yielded(block), _names(function, "input_names"), _names(function, "output_names")
    )
    graph.name = _text(function, "graph_name") or "main"
    graph.doc_string = _text(function, "doc")
    _add_dims(graph.input, function.arg_attrs)
    _add_dims(graph.output, function.res_attrs)
    _add_metadata(graph, function)
    return _model(graph, module, function)


def save_model(module: ModuleOp, path: str | Path) -> None:
    """Write the model of a module to a file; above 2 GB its tensors go to ``<path>.data``. Raises GE1003."""
    model = export_model(module)
    size = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    try:
        onnx.save_model(
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
    outputs are called ``x0``, ``x1``, ... and ``y0``, ... unless named here.
    """
    ops = list(ops.ops) if isinstance(ops, Block) else list(ops)
    inside = {op for op in ops if isinstance(op, OnnxOp)}
    outer = dict.fromkeys(
        operand.owner
        for op in inside
        for inner in op.walk()
        for operand in inner.operands
        if isinstance(operand.owner, Constant) and operand.owner not in inside
    )
    body = [*(op for op in outer if not any(op.is_ancestor(other) for other in inside)), *inside]
    order = {op: position for position, op in enumerate(ops)}
    body.sort(key=lambda op: order.get(op, -1))
    graph = _Exporter().graph(
        cast("list[Operation]", body),
        inputs,
        outputs,
        list(input_names) or [f"x{i}" for i in range(len(inputs))],
        list(output_names) or [f"y{i}" for i in range(len(outputs))],
    )
    graph.name = "region"
    return _model(graph, None, *cast("list[Operation]", body))


class _Exporter:
    """Builds the graphs of one model; names are unique in all of them."""

    def __init__(self) -> None:
        self.names: dict[SSAValue, str] = {}
        self.taken: set[str] = set()
        self.node_names: set[str] = set()

    def graph(
        self,
        ops: Iterable[Operation],
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        input_names: Sequence[str] = (),
        output_names: Sequence[str] = (),
    ) -> GraphProto:
        """The graph of some operations. Outputs that need a value of their own get it from an Identity node."""
        ops = [op for op in ops if isinstance(op, OnnxOp) or not _is_terminator(op)]
        graph = GraphProto()
        self.taken.update(input_names, output_names)
        for position, value in enumerate(inputs):
            self._name(value, input_names[position] if position < len(input_names) else value.name_hint or "input")
        own = {result for op in ops if not isinstance(op, Constant) for result in op.results}
        copies: list[tuple[SSAValue, str]] = []
        for position, value in enumerate(outputs):
            name = output_names[position] if position < len(output_names) else ""
            if value in own and (value not in self.names):
                self.names[value] = name or self._unique(_wanted_name(value))
            else:
                copies.append((value, name or self._unique("output")))
        for op in ops:
            self._add(graph, op)
        for value, name in copies:
            graph.node.append(helper.make_node("Identity", [self.names[value]], [name], name=self._node_name(name)))
        copied = iter(copies)
        names = [self.names[value] for value in inputs]
        graph.input.extend(map(_value_info, names, inputs))
        seen: set[SSAValue] = set()
        for value in outputs:
            first = value in own and value not in seen
            seen.add(value)
            graph.output.append(_value_info(self.names[value] if first else next(copied)[1], value))
        return graph

    def _name(self, value: SSAValue, name: str) -> None:
        self.names[value] = name if name in self.taken and name not in self.names.values() else self._unique(name)

    def _unique(self, name: str) -> str:
        candidate, number = name, 0
        while candidate in self.taken or not candidate:
            number += 1
            candidate = f"{name}_{number}"
        self.taken.add(candidate)
        return candidate

    def _node_name(self, name: str) -> str:
        candidate, number = name, 0
        while candidate in self.node_names:
            number += 1
            candidate = f"{name}_{number}"
        self.node_names.add(candidate)
        return candidate

    def _add(self, graph: GraphProto, op: Operation) -> None:
        """Add the node, or the initializer, of one operation."""
        if not isinstance(op, OnnxOp):
            raise GeError("GE3004", f"operation '{op.name}' has no form in ONNX", where(op))
        for result in op.results:
            if result not in self.names and result.type != ABSENT:
                self.names[result] = self._unique(_wanted_name(result))
        if isinstance(op, Constant):
            value = op.results[0]
            graph.initializer.append(tensor_of_literal(op.attributes["value"], value.type, self.names[value]))
            return
        graph.node.append(self._node(op))
        if isinstance(op, Custom):
            known = [result for result in op.results if result.type not in (ABSENT, UNKNOWN)]
            graph.value_info.extend(_value_info(self.names[result], result) for result in known)

    def _node(self, op: OnnxOp) -> NodeProto:
        node = NodeProto(op_type=op.op_type, domain=op.domain)
        node.input.extend("" if value is None else self._read(op, value) for value in op.input_list())
        node.output.extend(self.names.get(result, "") for result in op.results)
        if "onnx.unnamed" not in op.attributes:
            node.name = self._node_name(next(iter(node_names(op)), next(filter(None, node.output), op.op_type)))
        for name, attribute in op.attributes.items():
            if "." not in name:
                spec = op.operator.attributes.get(name)
                node.attribute.append(_attribute(name, attribute, None if spec is None else spec.kind))
        for name, region in zip(op.region_names, op.regions, strict=True):
            node.attribute.append(AttributeProto(name=name, type=AttributeProto.GRAPH, g=self._body(region.block)))
        node.doc_string = _text(op, "doc")
        _add_metadata(node, op)
        return node

    def _read(self, op: OnnxOp, value: SSAValue) -> str:
        if value not in self.names:
            raise GeError("GE3003", f"'{op.op_type}' reads a value that is not in the exported operations", where(op))
        return self.names[value]

    def _body(self, block: Block) -> GraphProto:
        graph = self.graph(block.ops, block.args, yielded(block))
        last = block.last_op
        graph.name = next(iter(node_names(last)), "body") if last is not None else "body"
        return graph


def _is_terminator(op: Operation) -> bool:
    block = op.parent
    return block is not None and block.last_op is op


def _wanted_name(value: SSAValue) -> str:
    """The ONNX name that the notes of the importer give a result."""
    op = cast(Operation, value.owner)
    index = list(op.results).index(cast(Any, value))
    written = op.attributes.get("onnx.outputs")
    if isinstance(written, ArrayAttr) and len(written.data) == len(op.results):
        return cast("ArrayAttr[StringAttr]", written).data[index].data
    label = next(iter(node_names(op)), "") or value.name_hint or op.name.rpartition(".")[2]
    if isinstance(op, Constant):
        return label
    return default_output_names(label, "onnx.unnamed" in op.attributes, len(op.results))[index]


def _value_info(name: str, value: SSAValue) -> ValueInfoProto:
    return helper.make_value_info(name, proto_of_type(value.type))


_TYPES: Mapping[str, int] = {
    "int": AttributeProto.INT,
    "float": AttributeProto.FLOAT,
    "string": AttributeProto.STRING,
    "ints": AttributeProto.INTS,
    "floats": AttributeProto.FLOATS,
    "strings": AttributeProto.STRINGS,
}


def _attribute(name: str, attribute: Attribute, kind: str | None) -> AttributeProto:
    """One attribute of a node; the kind tells what an empty list is a list of."""
    if isinstance(attribute, TensorAttr):
        tensor = tensor_of_literal(attribute.literal, attribute.type, name)
        if kind == "sparse_tensor":
            raise GeError("GE3004", f"attribute '{name}' is sparse, which only constants may be")
        return helper.make_attribute(name, tensor)
    value = to_python(attribute)
    if isinstance(value, Attribute):
        return AttributeProto(name=name, type=AttributeProto.TYPE_PROTO, tp=proto_of_type(value))
    return helper.make_attribute(name, value, attr_type=_TYPES.get(kind or ""))


def _text(op: Operation, note: str) -> str:
    attribute = op.attributes.get(f"onnx.{note}")
    return attribute.data if isinstance(attribute, StringAttr) else ""


def _names(op: Operation, note: str) -> list[str]:
    attribute = op.attributes.get(f"onnx.{note}")
    return [name.data for name in cast("ArrayAttr[StringAttr]", attribute)] if isinstance(attribute, ArrayAttr) else []


def _add_metadata(proto: Any, op: Operation) -> None:
    attribute = op.attributes.get("onnx.metadata")
    if isinstance(attribute, DictionaryAttr):
        for key, value in attribute.data.items():
            proto.metadata_props.add(key=key, value=cast(StringAttr, value).data)


def _add_dims(values: Sequence[ValueInfoProto], notes: ArrayAttr[DictionaryAttr] | None) -> None:
    """Give the symbolic dimensions of inputs or outputs their names again."""
    for value, note in zip(values, notes or (), strict=False):
        names = note.data.get("onnx.dims")
        if not isinstance(names, ArrayAttr):
            continue
        dims = value.type.tensor_type.shape.dim
        for dim, name in zip(dims, cast("ArrayAttr[StringAttr]", names), strict=False):
            if name.data and not dim.HasField("dim_value"):
                dim.dim_param = name.data


def _model(graph: GraphProto, module: ModuleOp | None, *roots: Operation) -> ModelProto:
    """The model around a graph: versions, producer and metadata from the module."""
    ops = [op for root in roots for op in root.walk() if isinstance(op, OnnxOp)]
    imported = _opsets(module)
    versions = {**imported, "": _opset(ops, imported.get("", OPSET if module is None else 1))}
    used = {op.domain for op in ops} | {""} | set(imported)
    imports = [
        helper.make_opsetid(domain, versions.get(domain, _DEFAULT_VERSIONS.get(domain, 1))) for domain in sorted(used)
    ]
    model = ModelProto(graph=graph, opset_import=imports)
    model.ir_version = max(_MIN_IR_VERSION, helper.find_min_ir_version_for([imports[0]]))
    if module is None:
        return model
    if isinstance(version := module.attributes.get("onnx.ir_version"), IntegerAttr):
        model.ir_version = max(model.ir_version, version.value.data)
    for field in ("producer_name", "producer_version", "domain", "doc_string"):
        setattr(model, field, _text(module, field))
    if isinstance(version := module.attributes.get("onnx.model_version"), IntegerAttr):
        model.model_version = version.value.data
    _add_metadata(model, module)
    return model


_DEFAULT_VERSIONS = {ML_DOMAIN: 5}


def _opsets(module: ModuleOp | None) -> dict[str, int]:
    """The domains that the module was imported with."""
    attribute = None if module is None else module.attributes.get("onnx.opsets")
    if not isinstance(attribute, DictionaryAttr):
        return {}
    pairs = cast("Mapping[str, IntegerAttr]", attribute.data)
    return {"" if domain == AI_ONNX else domain: version.value.data for domain, version in pairs.items()}


def _opset(ops: Sequence[OnnxOp], imported: int) -> int:
    """The opset to export with: that of the import when all operators fit there."""
    own = [op for op in ops if not op.domain and not isinstance(op, Custom)]
    if all(_fits(op, imported) for op in own):
        return imported
    return max([imported, *(op.operator.since for op in own)])


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
        and all(_allowed(value, parameter) for value, parameter in _typed_inputs(op, schema))
    )


def _typed_inputs(
    op: OnnxOp, schema: onnx.defs.OpSchema
) -> Iterator[tuple[SSAValue, onnx.defs.OpSchema.FormalParameter]]:
    for position, value in enumerate(op.input_list()):
        if value is not None:
            yield value, schema.inputs[min(position, len(schema.inputs) - 1)]


def _allowed(value: SSAValue, parameter: onnx.defs.OpSchema.FormalParameter) -> bool:
    proto: TypeProto = proto_of_type(value.type)
    if not proto.WhichOneof("value"):
        return True
    return _type_name(value.type) in parameter.types


def _type_name(type: Attribute) -> str:
    """A type as the schemas of onnx write it: ``tensor(float)``, ``seq(tensor(float))``."""
    from ge.dialects.onnx import MapType, OptionalType, SequenceType
    from ge.targets.onnx.tensors import data_type_of

    match type:
        case SequenceType():
            return f"seq({_type_name(type.element_type)})"
        case OptionalType():
            return f"optional({_type_name(type.element_type)})"
        case MapType():
            return type_code(type)
        case _:
            element = cast(Any, type).element_type
            return f"tensor({onnx.TensorProto.DataType.Name(data_type_of(element)).lower()})"
