"""Attributes and tensor types as protobuf messages, both ways.

A tensor descriptor says a type twice: `shape` and `layout` are those of the storage, the attributes `origin_shape` and
`origin_format` those of the operator. What the numbering of element types cannot say (sequences, exotic numbers; only
on the host) is kept as text in the attribute `_type`.

Reading raises ValueError for a message without a meaning; the reader says where it happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from google.protobuf.message import DecodeError, Message
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    StringAttr,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute

from ge.dialects.om.values import SPARE, value_bytes
from ge.dialects.onnx.types import STRING
from ge.ir.attributes import STORAGE_FORMATS, LayoutAttr, block_lanes, layout_of
from ge.ir.errors import GeError
from ge.maths.layouts import round_up, storage_shape
from ge.targets.ascend.om.container import Container, PartitionType
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir

_ListType = ir.AttrDef.ListValue.ListValueType

ELEMENT_TYPES: Mapping[ir.DataType, Attribute] = {
    ir.DT_FLOAT: f32,
    ir.DT_FLOAT16: f16,
    ir.DT_INT8: IntegerType(8),
    ir.DT_UINT8: IntegerType(8, Signedness.UNSIGNED),
    ir.DT_INT16: IntegerType(16),
    ir.DT_UINT16: IntegerType(16, Signedness.UNSIGNED),
    ir.DT_INT32: IntegerType(32),
    ir.DT_INT64: i64,
    ir.DT_UINT32: IntegerType(32, Signedness.UNSIGNED),
    ir.DT_UINT64: IntegerType(64, Signedness.UNSIGNED),
    ir.DT_BOOL: i1,
    ir.DT_DOUBLE: f64,
    ir.DT_STRING: STRING,
    ir.DT_COMPLEX64: ComplexType(f32),
    ir.DT_COMPLEX128: ComplexType(f64),
    ir.DT_BF16: BFloat16Type(),
    ir.DT_INT4: IntegerType(4),
}
"""Element types by their number in a descriptor."""

MEMORY_NUMBERS: Mapping[Attribute, int] = {
    f32: 0,
    f16: 1,
    IntegerType(8): 2,
    IntegerType(32): 3,
    IntegerType(8, Signedness.UNSIGNED): 4,
    IntegerType(16): 6,
    IntegerType(16, Signedness.UNSIGNED): 7,
    IntegerType(32, Signedness.UNSIGNED): 8,
    i64: 9,
    IntegerType(64, Signedness.UNSIGNED): 10,
    f64: 11,
    i1: 12,
    STRING: 13,
    ComplexType(f32): 16,
    ComplexType(f64): 17,
    BFloat16Type(): 27,
    IntegerType(4): 29,
}
"""Numbers of element types as the run time counts them (in MODEL_INOUT_INFO); not those of descriptors."""

UNDEFINED_TYPE = 28
"""The number in :data:`MEMORY_NUMBERS` for what is no tensor of one of these types."""

_NUMBERS: Mapping[Attribute, ir.DataType] = {element: number for number, element in ELEMENT_TYPES.items()}

MessageT = TypeVar("MessageT", bound=Message)


def decode_partition(container: Container, kind: PartitionType, message: MessageT, where: str) -> MessageT:
    """Fill a message with a partition that holds one. Raises GE5006."""
    try:
        message.ParseFromString(bytes(container.partition(kind)))
    except DecodeError as error:
        raise GeError("GE5006", f"partition {kind.name} is not the message that it should be", where) from error
    return message


# ---------------------------------------------------------------- attributes


def write_attribute(attr: Attribute, message: ir.AttrDef) -> None:
    """Fill `message` with an attribute of an `om.op` (see `ge.dialects.om.program.is_operator_attribute`)."""
    match attr:
        case StringAttr():
            message.s = attr.data.encode()
        case IntegerAttr() if attr.type == i1:
            message.b = attr.value.data != 0
        case IntegerAttr():
            message.i = attr.value.data
        case FloatAttr():
            message.f = attr.value.data
        case DenseArrayBase():
            _write_list(attr.elt_type, cast("DenseArrayBase[I64]", attr).get_values(), message.list)
        case ArrayAttr():
            _write_array(list(attr), message)
        case _:
            raise ValueError(f"attribute {attr} has no form in an OM file")


def _write_list(element: Attribute, values: Sequence[float], message: ir.AttrDef.ListValue) -> None:
    if element == f32:
        message.val_type = _ListType.VT_LIST_FLOAT
        message.f.extend(values)
    elif element == i1:
        message.val_type = _ListType.VT_LIST_BOOL
        message.b.extend(value != 0 for value in values)
    else:
        message.val_type = _ListType.VT_LIST_INT
        message.i.extend(int(value) for value in values)


def _write_array(items: Sequence[Attribute], message: ir.AttrDef) -> None:
    """A list of strings, or a list of lists of integers."""
    if any(isinstance(item, DenseArrayBase) for item in items):
        for item in items:
            values = cast("DenseArrayBase[I64]", item).get_values()
            message.list_list_int.list_list_i.add().list_i.extend(values)
        return
    message.list.val_type = _ListType.VT_LIST_STRING
    message.list.s.extend(cast(StringAttr, item).data.encode() for item in items)


def read_attribute(message: ir.AttrDef) -> Attribute:
    """The attribute that a message holds."""
    match message.WhichOneof("value"):
        case "s":
            return StringAttr(message.s.decode())
        case "i":
            return IntegerAttr(message.i, i64)
        case "b":
            return IntegerAttr(int(message.b), i1)
        case "f":
            return FloatAttr(message.f, f32)
        case "list":
            return _read_list(message.list)
        case "list_list_int":
            lists = message.list_list_int.list_list_i
            return ArrayAttr(DenseArrayBase.from_list(i64, list(item.list_i)) for item in lists)
        case kind:
            raise ValueError(f"an attribute of kind '{kind}' is not supported")


def _read_list(message: ir.AttrDef.ListValue) -> Attribute:
    match message.val_type:
        case _ListType.VT_LIST_STRING:
            return ArrayAttr(StringAttr(item.decode()) for item in message.s)
        case _ListType.VT_LIST_INT:
            return DenseArrayBase.from_list(i64, list(message.i))
        case _ListType.VT_LIST_FLOAT:
            return DenseArrayBase.from_list(f32, list(message.f))
        case _ListType.VT_LIST_BOOL:
            return DenseArrayBase.from_list(i1, [int(item) for item in message.b])
        case kind:
            raise ValueError(f"an attribute that is a list of kind {kind} is not supported")


# ---------------------------------------------------------------- tensor types


def write_descriptor(type: Attribute, message: ir.TensorDescriptor) -> None:
    """Fill a tensor descriptor with the type of a value."""
    message.device_type = "NPU"
    tensor = _as_tensor(type)
    if tensor is None:
        message.layout = "ND"
        message.shape.SetInParent()
        message.attr["_type"].s = str(type).encode()
        return
    shape = [-1 if size == DYNAMIC_INDEX else size for size in tensor.get_shape()]
    origin_format = "NCHW" if len(shape) == 4 else "ND"
    layout = layout_of(tensor)
    message.dtype = _NUMBERS[tensor.element_type]
    message.layout = origin_format if layout == "ND" else layout
    message.shape.SetInParent()
    message.shape.dim.extend(shape if -1 in shape else storage_shape(layout, shape, block_lanes(tensor)))
    write_attribute(DenseArrayBase.from_list(i64, shape), message.attr["origin_shape"])
    message.attr["origin_format"].s = origin_format.encode()
    size = value_bytes(tensor)
    if size is not None:
        message.size = round_up(size + SPARE, SPARE)


def _as_tensor(type: Attribute) -> TensorType[Attribute] | None:
    """The type, when a descriptor has a number for its elements."""
    if not isinstance(type, TensorType):
        return None
    tensor = cast("TensorType[Attribute]", type)
    return tensor if tensor.element_type in _NUMBERS else None


def read_type(message: ir.TensorDescriptor) -> Attribute:
    """The type that a tensor descriptor says."""
    if "_type" in message.attr:
        return _parse_type(message.attr["_type"].s.decode())
    element = ELEMENT_TYPES.get(message.dtype)
    if element is None:
        raise ValueError(f"element type number {message.dtype} is not supported")
    origin = message.attr["origin_shape"].list.i if "origin_shape" in message.attr else message.shape.dim
    layout = "ND" if message.layout == "NCHW" else message.layout
    if layout not in STORAGE_FORMATS:
        raise ValueError(f"storage format '{message.layout}' is not supported")
    if any(size < -1 for size in origin):
        raise ValueError(f"shape {list(origin)} has a negative size")
    shape = [DYNAMIC_INDEX if size == -1 else size for size in origin]
    type = TensorType(element, shape, NoneAttr() if layout == "ND" else LayoutAttr(layout))
    if -1 not in origin and storage_shape(layout, origin, block_lanes(type)) != tuple(message.shape.dim):
        raise ValueError(f"shape {list(message.shape.dim)} is not that of {list(origin)} in format {message.layout}")
    return type


def _parse_type(text: str) -> Attribute:
    from xdsl.utils.exceptions import ParseError

    from ge.ir.parser import GeParser
    from ge.ir.registry import context

    try:
        return GeParser(context(), text, "<type>").parse_attribute()
    except ParseError as error:
        raise ValueError(f"'{text}' is not a type") from error
