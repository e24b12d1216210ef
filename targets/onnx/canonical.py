"""When two models are the same: what a model may say in more than one way, said in one.

:func:`canonical` changes nothing that has a meaning, a name or a place:

* the elements of a tensor are in ``raw_data``, those of a string tensor in ``string_data``;
* the attributes of a node, the defaults of those of a function, and the values that a graph states types of, are sorted
  by name;
* ``ai.onnx`` is the empty domain; a domain that is imported twice is imported once;
* a text that is empty, a type that says nothing, and a version that is zero are left out;
* attributes have their kind (models of IR version 1 leave it out).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from onnx import AttributeProto, ModelProto, TensorProto, numpy_helper

from ge.dialects.onnx.shape_inference import AI_ONNX
from ge.targets.onnx.node_attributes import complete_kinds


def canonical(model: ModelProto) -> ModelProto:
    """A copy of a model, whose tensors are in the message, in its canonical form."""
    copy = ModelProto()
    copy.CopyFrom(model)
    _canonicalise(copy)
    return copy


def same_model(a: ModelProto, b: ModelProto) -> bool:
    """Whether two models are the same, bit by bit in their canonical form."""
    first, second = (canonical(model).SerializeToString(deterministic=True) for model in (a, b))
    return first == second


def _canonicalise(message: Any) -> None:
    """Bring a message, and those in it, into its canonical form, in place."""
    if isinstance(message, TensorProto):
        _use_raw_data(message)
        return
    name = message.DESCRIPTOR.name
    if name in _RULES:
        _RULES[name](message)
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for inner in value if field.is_repeated else (value,):
                _canonicalise(inner)
        elif field.type == field.TYPE_STRING and not field.is_repeated and not value:
            message.ClearField(field.name)


def _use_raw_data(tensor: TensorProto) -> None:
    for text in ("name", "doc_string"):
        if not getattr(tensor, text):
            tensor.ClearField(text)
    tensor.ClearField("data_location")
    if tensor.data_type == TensorProto.STRING or tensor.HasField("raw_data"):
        return
    raw = numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
    for field in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
        tensor.ClearField(field)
    tensor.raw_data = raw


def _model(message: Any) -> None:
    if not message.model_version:
        message.ClearField("model_version")
    _opsets(message)


def _opsets(message: Any) -> None:
    versions = {"" if entry.domain == AI_ONNX else entry.domain: entry.version for entry in message.opset_import}
    del message.opset_import[:]
    for domain, version in versions.items():
        message.opset_import.add(domain=domain, version=version)


def _function(message: Any) -> None:
    _opsets(message)
    _sort(message.value_info)
    _sort(message.attribute_proto)


def _graph(message: Any) -> None:
    _sort(message.value_info)


def _value_info(message: Any) -> None:
    if not message.type.ListFields():
        message.ClearField("type")


def _node(message: Any) -> None:
    if message.domain == AI_ONNX:
        message.ClearField("domain")
    complete_kinds(message)
    _sort(message.attribute)


def _sort(messages: Any) -> None:
    entries: list[Any] = sorted(messages, key=attrgetter("name"))
    copies = [type(entry)() for entry in entries]
    for copy, entry in zip(copies, entries, strict=True):
        copy.CopyFrom(entry)
    del messages[:]
    messages.extend(copies)


_NUMBERS = {AttributeProto.INT: "i", AttributeProto.FLOAT: "f", AttributeProto.STRING: "s"}


def _attribute(message: Any) -> None:
    field = _NUMBERS.get(message.type)
    if field is not None and not message.ref_attr_name:
        setattr(message, field, getattr(message, field))


_RULES: Mapping[str, Callable[[Any], None]] = {
    "ModelProto": _model,
    "GraphProto": _graph,
    "FunctionProto": _function,
    "NodeProto": _node,
    "ValueInfoProto": _value_info,
    "AttributeProto": _attribute,
}
