"""OM files of any compiler as ``om.file``, and back to the same bytes.

What this project can take apart exactly, it does; the rest are bytes. Reading ends with a comparison: what would not be
written again as it was is kept as it is.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from google.protobuf.descriptor import Descriptor
from typing_extensions import Buffer
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from ge.dialects.om.container import BinaryOp, ContainerOp, FileOp, KernelStoreOp, PartitionOp
from ge.dialects.om.message import MessageAttr
from ge.ir.attributes import WeightsAttr
from ge.ir.errors import GeError
from ge.ir.weights import Origin, Weights
from ge.targets.ascend.om.container import (
    HEADER_BYTES,
    Container,
    Header,
    Partition,
    PartitionType,
    pack_header,
    pack_table,
    partition_name,
    read_containers,
)
from ge.targets.ascend.om.kernel_store import pack_store, read_store
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.proto import task_pb2 as task
from ge.targets.ascend.om.wire import BYTES_PER_FIELD, MIN_FIELDS, decode_message, encode_message

_SCHEMAS: Mapping[str, Descriptor] = {
    PartitionType.MODEL_DEF.name: cast(Descriptor, ir.ModelDef.DESCRIPTOR),
    PartitionType.TASK_INFO.name: cast(Descriptor, task.ModelTaskDef.DESCRIPTOR),
}
"""What the partitions are that hold one message."""
_STORES = (PartitionType.TBE_KERNELS, PartitionType.CUST_AICPU_KERNELS)
_SIZES = ("length", "model_length")
"""The fields of the header that follow from what comes behind it."""


# ---------------------------------------------------------------- reading


def file_op(data: Buffer, file: Path | None, where: str) -> FileOp:
    """The OM file in ``data``; ``file`` is where text may refer to. Raises GE5001 to GE5004."""
    view = memoryview(data).cast("B").toreadonly()
    containers = read_containers(view, where)
    reader = _Reader(view, file)
    ops = [reader.container(each) for each in containers]
    header, wide = containers[0].header, containers[0].is_wide
    shown = _header_fields(header)
    op = FileOp(ops, shown, wide)
    if memoryview(_packed_header(op, view.nbytes - HEADER_BYTES)) != view[:HEADER_BYTES]:
        op.raw = reader.weights(0, view[:HEADER_BYTES])
    return op


def _header_fields(header: Header) -> dict[str, Attribute]:
    """The fields of a header that are not what this project writes."""
    fields: dict[str, Attribute] = {}
    for name, value in header._asdict().items():
        if name in _SIZES:
            continue
        if isinstance(value, bytes):
            value = value.rstrip(b"\0")
        if value == Header._field_defaults[name]:
            continue
        if isinstance(value, bytes):
            fields[name] = StringAttr(value.decode(errors="replace"))
        else:
            fields[name] = IntegerAttr(value, i64)
    return fields


class _Reader:
    """Makes operations of the parts of one file."""

    def __init__(self, view: memoryview, file: Path | None) -> None:
        self.view = view
        self.file = file

    def weights(self, offset: int, data: memoryview) -> WeightsAttr:
        """Bytes at an offset of the file."""
        return WeightsAttr(Weights(data, data.nbytes, None if self.file is None else Origin(self.file, offset)))

    def container(self, container: Container) -> ContainerOp:
        """A table with its partitions."""
        entries = container.entries
        partitions = [self.partition(each) for each in entries]
        table = self.view[container.start : container.start + container.table_bytes]
        kinds, sizes = [each.kind for each in entries], [each.data.nbytes for each in entries]
        derived = memoryview(pack_table(kinds, sizes, container.is_wide, [each.gap for each in entries]))
        other = None if table == derived else self.weights(container.start, table)
        return ContainerOp(partitions, other, container.tail)

    def partition(self, partition: Partition) -> PartitionOp | KernelStoreOp:
        """A partition as an operation."""
        kind, offset, gap, data = partition
        name = _kind_name(kind)
        if kind in _STORES and (kernels := self.kernels(data, offset)) is not None:
            return KernelStoreOp(name, kernels, gap)
        max_fields = max(MIN_FIELDS, self.view.nbytes // BYTES_PER_FIELD)
        message = decode_message(data, _SCHEMAS[name], max_fields) if name in _SCHEMAS else None
        return PartitionOp(name, self.weights(offset, data) if message is None else MessageAttr(message), gap)

    def kernels(self, data: memoryview, offset: int) -> list[BinaryOp] | None:
        """The kernels of a store; None when it is not one, or not written as this project writes it."""
        try:
            store = read_store(data, "")
        except GeError:
            return None
        if memoryview(pack_store(store)) != data:
            return None
        ends = offset
        binaries: list[BinaryOp] = []
        for name, binary in store.items():
            ends += len(pack_store({name: binary}))
            binaries.append(BinaryOp(name, self.weights(ends - binary.nbytes, binary)))
        return binaries


def _kind_name(kind: int) -> str:
    """The name of a partition type; its number when it has none."""
    return partition_name(kind) if kind in set(PartitionType) else str(kind)


# ---------------------------------------------------------------- writing


def file_pieces(op: FileOp) -> list[Buffer]:
    """The pieces of an OM file, to be written one after the other. Raises GE5009 for what has no form in one."""
    wide = op.wide is not None
    body: list[Buffer] = []
    for container in op.containers:
        kinds = [_kind_number(partition.kind.data) for partition in container.partitions]
        contents = [_content(partition) for partition in container.partitions]
        gaps = [0 if each.gap is None else each.gap.value.data for each in container.partitions]
        derived = pack_table(kinds, [memoryview(each).nbytes for each in contents], wide, gaps)
        body.append(derived if container.table is None else container.table.buffer)
        for gap, content in zip(gaps, contents, strict=True):
            body += [bytes(gap), content]
        body.append(bytes(0 if container.tail is None else container.tail.value.data))
    size = sum(memoryview(each).nbytes for each in body)
    return [_packed_header(op, size) if op.raw is None else op.raw.buffer, *body]


def _packed_header(op: FileOp, size: int) -> bytes:
    """The header that a file of ``size`` bytes behind it has by its fields. Raises GE5009."""
    fields: dict[str, bytes | int] = {"model_length" if op.wide is not None else "length": size}
    for name, value in op.header.data.items():
        if name not in Header._fields or name in _SIZES:
            raise GeError("GE5009", f"the header of an OM file has no field '{name}'")
        if isinstance(value, StringAttr):
            fields[name] = value.data.encode()
        elif isinstance(value, IntegerAttr):
            fields[name] = cast("IntegerAttr", value).value.data
    try:
        return pack_header(Header(**fields))  # type: ignore[arg-type]
    except (struct.error, TypeError) as error:
        raise GeError("GE5009", f"a field of the header of an OM file cannot be that: {error}") from error


def _content(op: PartitionOp | KernelStoreOp) -> Buffer:
    if isinstance(op, KernelStoreOp):
        return pack_store({each.label.data: each.value.buffer for each in op.binaries})
    if isinstance(op.content, WeightsAttr):
        return op.content.buffer
    try:
        return encode_message(op.content.data, _SCHEMAS.get(op.kind.data))
    except ValueError as error:
        raise GeError("GE5009", f"partition '{op.kind.data}': {error}") from error


def _kind_number(name: str) -> int:
    if name in PartitionType.__members__:
        return PartitionType[name]
    if name.isdecimal() and int(name) < 1 << 32:
        return int(name)
    raise GeError("GE5009", f"partition type '{name}' is unknown")
