"""What a model says of a value beside its name: its type, text and metadata, as notes and back.

The type of a value in IR is what inference finds; a model may say less, or say it in other words. The notes of a value
hold the difference, so that the export repeats what the model said:

| note | what |
|---|---|
| ``onnx.dims`` | the names of dimensions that are not numbers |
| ``onnx.type`` | the type that the model states, when it is not that of the value |
| ``onnx.proto`` | the type as protobuf writes it, when it has no other form (denotations, opaque types, ...) |
| ``onnx.doc``, ``onnx.metadata`` | text and metadata |

Arguments and results of a function have these notes directly. An operation has ``onnx.stated`` for its results: alone
when the model states them all just as they are, or a list of their notes, ``unit`` for a result that it does not state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import cast

from onnx import TypeProto, ValueInfoProto
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation

from ge.dialects.onnx.protos import (
    add_documentation,
    dimensions,
    documentation,
    message_text,
    parse_message,
    proto_of_type,
    type_of_proto,
)
from ge.dialects.onnx.types import UNKNOWN, MapType, OptionalType, SequenceType

PLACEHOLDERS = ("?", "-1", "None", "unk")
"""What some exporters write as the name of every dimension that they do not know: equal ones are not equal."""


def value_notes(info: ValueInfoProto, type: Attribute) -> dict[str, Attribute]:
    """What ``info`` says that name and ``type`` of a value do not."""
    stated, notes = _read_type(info.type.SerializeToString())
    if stated != type:
        notes = {"onnx.type": stated, **notes}
    return {**notes, **documentation(info)}


@lru_cache(1024)
def _read_type(message: bytes) -> tuple[Attribute, Mapping[str, Attribute]]:
    """The IR type of a serialised ONNX type, and the notes on what it says beside that. A model has few types."""
    proto = TypeProto.FromString(message)
    stated, notes = type_of_proto(proto), dict[str, Attribute]()
    dims = [_name(dim.dim_param) for dim in dimensions(proto)]
    if any(dims):
        notes["onnx.dims"] = ArrayAttr(map(StringAttr, dims))
    if _named_type(stated, dims) != proto:
        notes["onnx.proto"] = StringAttr(message_text(proto))
    return stated, notes


def value_info(name: str, type: Attribute, notes: Mapping[str, Attribute] | None = None) -> ValueInfoProto:
    """The inverse of :func:`value_notes`. A stated type that contradicts ``type`` is left out: a pass changed it."""
    notes = notes or {}
    proto = _stated_type(type, notes)
    info = ValueInfoProto(name=name, type=proto if proto.ListFields() else None)
    add_documentation(info, notes)
    return info


def _stated_type(type: Attribute, notes: Mapping[str, Attribute]) -> TypeProto:
    if isinstance(text := notes.get("onnx.proto"), StringAttr):
        proto = parse_message(text.data, TypeProto())
        if _agree(type_of_proto(proto), type):
            return proto
    stated = notes.get("onnx.type", type)
    dims = cast("Sequence[StringAttr]", notes.get("onnx.dims", ()))
    return _named_type(stated if _agree(stated, type) else type, [dim.data for dim in dims])


def _named_type(type: Attribute, dims: Sequence[str]) -> TypeProto:
    """The ONNX type of an IR type whose unknown dimensions have names."""
    proto = proto_of_type(type)
    for dim, name in zip(dimensions(proto), dims, strict=False):
        if name and not dim.HasField("dim_value"):
            dim.dim_param = name
    return proto


def _name(dim: str) -> str:
    return "" if dim in PLACEHOLDERS else dim


def _agree(a: Attribute, b: Attribute) -> bool:
    """Whether one value may have both types."""
    if UNKNOWN in (a, b):
        return True
    match a, b:
        case (SequenceType(), SequenceType()) | (OptionalType(), OptionalType()):
            return _agree(a.element_type, b.element_type)
        case MapType(), MapType():
            return a.key_type == b.key_type and _agree(a.value_type, b.value_type)
        case (TensorType() | UnrankedTensorType(), TensorType() | UnrankedTensorType()):
            x, y = cast("TensorType[Attribute]", a), cast("TensorType[Attribute]", b)
            return x.element_type == y.element_type and _shapes_agree(x, y)
        case _:
            return a == b


def _shapes_agree(a: Attribute, b: Attribute) -> bool:
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return True
    pairs = list(zip(a.get_shape(), b.get_shape(), strict=False))
    return a.get_num_dims() == b.get_num_dims() and all(x == y or DYNAMIC_INDEX in (x, y) for x, y in pairs)


# The results of operations


def stated_note(infos: Sequence[ValueInfoProto | None], types: Sequence[Attribute]) -> dict[str, Attribute]:
    """The note ``onnx.stated`` of an operation whose results have ``types``, of which the model states ``infos``."""
    if all(info is None for info in infos):
        return {}
    entries = [
        UnitAttr() if info is None else DictionaryAttr(value_notes(info, type))
        for info, type in zip(infos, types, strict=True)
    ]
    plain = all(isinstance(entry, DictionaryAttr) and not entry.data for entry in entries)
    return {"onnx.stated": UnitAttr() if plain else ArrayAttr(entries)}


def stated_infos(op: Operation, names: Sequence[str]) -> Iterator[ValueInfoProto]:
    """What the model states of the results of an operation, which have ``names`` now (empty: there is no value)."""
    note = op.attributes.get("onnx.stated")
    if note is None:
        return
    entries = (
        cast("ArrayAttr[Attribute]", note).data if isinstance(note, ArrayAttr) else [DictionaryAttr({})] * len(names)
    )
    for name, type, entry in zip(names, op.result_types, entries, strict=False):
        if name and isinstance(entry, DictionaryAttr):
            yield value_info(name, type, entry.data)


def forget_stated_types(root: Operation) -> None:
    """Drop what the model states of types: the shapes of its inputs have been fixed since, and inference knows more."""
    for op in root.walk():
        for tables in (op.attributes, op.properties):
            for key in _NOTED & tables.keys():
                tables[key] = _without_types(tables[key])


_NOTED = frozenset({"onnx.stated", "onnx.input_values", "onnx.output_values", "arg_attrs", "res_attrs"})
"""Attributes that hold lists of notes of values."""


def _without_types(note: Attribute) -> Attribute:
    if isinstance(note, ArrayAttr):
        return ArrayAttr(map(_without_types, cast("ArrayAttr[Attribute]", note)))
    if isinstance(note, DictionaryAttr):
        return DictionaryAttr({k: v for k, v in note.data.items() if k not in ("onnx.type", "onnx.proto")})
    return note
