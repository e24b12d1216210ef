"""The OM container: a 256-byte header, a partition table and the partitions, all little-endian.

    [ header, 256 bytes ][ partition table ][ partition 0 ][ partition 1 ] ...

Partitions follow each other in table order; offsets count from the end of the table. Files are written without a gap;
those of others may have some zero bytes in front of a partition and at the end, which align them. The table has
32-bit entries, or 64-bit ones when the header's `model_length` is set; files are written with the narrow table, which
every reader knows, as long as they stay below 4 GiB.

Reading is strict: what the header and the table say must agree with each other and with the size of the file, else one
error of the group GE5xxx is raised. Partitions are views of the file, never copies.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from typing_extensions import Buffer

from ge.dialects.om.container import MAX_GAP
from ge.ir.errors import GeError

MAGIC = b"IMOD"
VERSION = 0x20000000
"""The file format version written: a header with `model_num` and `model_length`."""
OLD_VERSION = 0x10000000
"""The version of 2020, whose header has neither. Read only."""
MODEL_DEF_VERSION = 2
"""`ModelDef.version`, repeated in the header."""


class Header(NamedTuple):
    """The fields of the header, in file order."""

    magic: bytes = MAGIC
    header_size: int = 256
    version: int = VERSION
    checksum: bytes = b""  # 64 bytes, zero in every known file
    length: int = 0  # bytes after the header, of a file with a 32-bit table
    is_encrypted: int = 0
    is_unchecked: int = 1
    model_type: int = 0
    generation_mode: int = 0
    name: bytes = b""
    compute_power: int = 0
    user_info: bytes = b""
    model_def_version: int = MODEL_DEF_VERSION
    model_count: int = 1
    platform_version: bytes = b""
    platform_type: int = 0
    model_length: int = 0  # bytes after the header, of a file with a 64-bit table
    needs_host_check: int = 0
    is_dynamic: int = 0


_HEADER = struct.Struct("<4sII64sIBBBB32sI32sII20sB3xQBB62x")
HEADER_BYTES = _HEADER.size
_NAME_BYTES = 31
"""Bytes of the model name in the header; one more is the terminating zero."""
_SINGLE_MODEL_TYPES = (0, 1)
"""Model types (IR model, standard) that hold one model."""
_FLOW = 3
"""The model type of a flow of models: a graph, what connects them, and each of the models as an OM file inside. Tiny,
lite and bundle files are laid out differently."""
_MAX_PARTITIONS = 32
_MAX_MODELS = 4096
_NARROW_LIMIT = 1 << 32


class PartitionType(IntEnum):
    """What a partition holds. Our files have those up to 4 and MODEL_INOUT_INFO; other numbers are kept as numbers."""

    MODEL_DEF = 0
    WEIGHTS_DATA = 1
    TASK_INFO = 2
    TBE_KERNELS = 3
    CUST_AICPU_KERNELS = 4
    SO_BINS = 5
    FLOW_MODEL = 6
    FLOW_SUBMODEL = 7
    MODEL_INOUT_INFO = 8
    STATIC_TASK_DESC = 9
    DYNAMIC_TASK_DESC = 10
    TASK_PARAM = 11
    TILING_DATA = 12
    PRE_MODEL_DESC = 20
    PRE_MODEL_SQE = 21
    PRE_KERNEL_ARGS = 22
    PRE_MODEL_DESC_EXTEND = 23
    BUNDLE_MODEL_INFO = 24
    BUNDLE_MODEL_VAR_INFO = 25
    CUSTOM_OPS = 26


def partition_name(kind: int) -> str:
    """The name of a partition type; its number when it has none."""
    return PartitionType(kind).name if kind in set(PartitionType) else f"partition {kind}"


class Partition(NamedTuple):
    """A partition: its type number, where it begins in the file, the zero bytes in front of it, and its bytes."""

    kind: int
    offset: int
    gap: int
    data: memoryview


@dataclass(frozen=True)
class Container:
    """An OM file taken apart: its model name and its partitions."""

    name: str
    entries: tuple[Partition, ...]
    """All partitions, in file order."""
    header: Header
    is_wide: bool
    """Whether the partition table has 64-bit entries."""
    start: int
    """Where the partition table begins in the file."""
    tail: int = 0
    """Zero bytes behind the last partition."""

    @cached_property
    def partitions(self) -> Mapping[int, memoryview]:
        """The partitions by type number, in file order; the first of those that there are several of."""
        found: dict[int, memoryview] = {}
        for each in self.entries:
            found.setdefault(each.kind, each.data)
        return found

    @property
    def table_bytes(self) -> int:
        """The size of the partition table."""
        head, entry = _table_form(self.is_wide)
        return head + entry.size * len(self.entries)

    @property
    def offsets(self) -> Mapping[int, int]:
        """Where each of these begins in the file."""
        return {each.kind: each.offset for each in reversed(self.entries)}

    def partition(self, kind: PartitionType) -> memoryview:
        """The bytes of a partition; no bytes when the file does not have it."""
        return self.partitions.get(kind, memoryview(b""))


# ---------------------------------------------------------------- writing


def pack_container(
    name: str, partitions: Sequence[tuple[PartitionType, Buffer]], *, wide: bool | None = None
) -> list[Buffer]:
    """The pieces of an OM file, to be written one after the other. The partitions are passed through, not copied.

    The table is narrow as long as the file stays below 4 GiB, unless ``wide`` says otherwise.
    """
    sizes = [memoryview(data).nbytes for _, data in partitions]
    if wide is None:
        wide = _HEADER.size + 4 + 12 * len(partitions) + sum(sizes) >= _NARROW_LIMIT
    table = pack_table([kind for kind, _ in partitions], sizes, wide)
    payload = len(table) + sum(sizes)
    length, model_length = (0, payload) if wide else (payload, 0)
    header = Header(name=_header_name(name), length=length, model_length=model_length)
    return [pack_header(header), table, *(data for _, data in partitions)]


def _header_name(name: str) -> bytes:
    """The name as it fits into the header, cut at a character boundary."""
    return name.encode()[:_NAME_BYTES].decode(errors="ignore").encode()


def _table_form(wide: bool) -> tuple[int, struct.Struct]:
    """The bytes before the entries of a partition table, and the form of an entry."""
    return (8, struct.Struct("<I4xQQ")) if wide else (4, struct.Struct("<III"))


def pack_header(header: Header) -> bytes:
    """The bytes of a header. Raises struct.error when a field does not fit."""
    return _HEADER.pack(*header)


def pack_table(kinds: Sequence[int], sizes: Sequence[int], wide: bool, gaps: Sequence[int] = ()) -> bytes:
    """The partition table of partitions of these types and sizes, with bytes in front of each where there are gaps."""
    head, entry = _table_form(wide)
    table = struct.pack("<I", len(kinds)).ljust(head, b"\0")
    offset = 0
    for kind, size, gap in zip(kinds, sizes, gaps or [0] * len(kinds), strict=True):
        table += entry.pack(kind, offset + gap, size)
        offset += gap + size
    return table


# ---------------------------------------------------------------- reading


def read_container(data: Buffer, where: str) -> Container:
    """Take an OM file of one model apart. `where` names it in errors. Raises GE5001, GE5002, GE5003 or GE5004."""
    header, wide = _read_header(memoryview(data).cast("B"), where)
    if header.model_type not in _SINGLE_MODEL_TYPES:
        raise GeError("GE5004", f"the file is of model type {header.model_type}, not a single model", where)
    if _model_count(header) > 1:
        raise GeError("GE5004", f"the file holds {header.model_count} models", where)
    return _read_models(data, header, wide, where)[0]


def read_containers(data: Buffer, where: str) -> list[Container]:
    """Take an OM file apart: the model, and after it those of its parts that are models of their own.

    Only files for dynamic shapes have such parts, which follow as a table and partitions each. Raises what
    `read_container` does.
    """
    header, wide = _read_header(memoryview(data).cast("B"), where)
    return _read_models(data, header, wide, where)


def _read_header(view: memoryview, where: str) -> tuple[Header, bool]:
    """The header, and whether partition tables are wide."""
    if bytes(view[: len(MAGIC)]) != MAGIC:
        raise GeError("GE5001", f"the file begins with {bytes(view[:4])!r}, not with {MAGIC!r}", where)
    if view.nbytes < _HEADER.size:
        raise GeError("GE5002", f"the file has {view.nbytes} bytes, less than its header of {_HEADER.size}", where)
    header = Header._make(_HEADER.unpack_from(view))
    _check_kind(header, where)
    found = view.nbytes - _HEADER.size
    wide = header.model_length == found if header.version == OLD_VERSION else header.model_length != 0
    announced = header.model_length if wide else header.length
    wide |= header.model_type == _FLOW
    if announced != found:
        raise GeError("GE5002", f"the header announces {announced} bytes after it, the file has {found}", where)
    return header, wide


def _model_count(header: Header) -> int:
    """How many models the file holds; headers of 2020 do not say it, and 0 means 1."""
    return 1 if header.version == OLD_VERSION else max(1, header.model_count)


def _read_models(data: Buffer, header: Header, wide: bool, where: str) -> list[Container]:
    view = memoryview(data).cast("B").toreadonly()
    name = header.name.split(b"\0")[0].decode(errors="replace")
    containers: list[Container] = []
    start = _HEADER.size
    for _ in range(_model_count(header)):
        entries, end = _read_partitions(view, start, header, wide, where)
        containers.append(Container(name, entries, header, wide, start))
        start = end
    if not _is_gap(view[start:]):
        raise GeError("GE5003", f"{view.nbytes - start} bytes belong to no partition", where)
    return [*containers[:-1], replace(containers[-1], tail=view.nbytes - start)]


def _is_gap(data: memoryview) -> bool:
    """Whether bytes are there to align what follows."""
    return data.nbytes <= MAX_GAP and not any(data)


def _check_kind(header: Header, where: str) -> None:
    """Refuse the kinds of OM file that are laid out differently."""
    if header.header_size != _HEADER.size or header.version not in (VERSION, OLD_VERSION):
        raise GeError("GE5004", f"the header has {header.header_size} bytes and version {header.version:#x}", where)
    if header.is_encrypted:
        raise GeError("GE5004", "the file is encrypted", where)
    if header.model_type not in (*_SINGLE_MODEL_TYPES, _FLOW):
        raise GeError("GE5004", f"the file is of model type {header.model_type}, which is laid out differently", where)
    if header.version != OLD_VERSION and header.model_count > _MAX_MODELS:
        raise GeError("GE5004", f"the file announces {header.model_count} models", where)


def _read_partitions(
    view: memoryview, start: int, header: Header, wide: bool, where: str
) -> tuple[tuple[Partition, ...], int]:
    """The partitions behind a table that begins at ``start`` of the file, and where the last one ends."""
    head, entry = _table_form(wide)
    if view.nbytes < start + head:
        raise GeError("GE5002", "the file ends inside its partition table", where)
    (count,) = struct.unpack_from("<I", view, start)
    if not 1 <= count <= (_MAX_MODELS if header.model_type == _FLOW else _MAX_PARTITIONS):
        raise GeError("GE5003", f"the partition table announces {count} partitions", where)
    base = start + head + count * entry.size
    if view.nbytes < base:
        raise GeError("GE5002", "the file ends inside its partition table", where)
    entries: list[Partition] = []
    kinds: set[int] = set()
    end = base
    for kind, offset, size in entry.iter_unpack(view[start + head : base]):
        if kind in kinds and not (header.model_type == _FLOW and kind == PartitionType.FLOW_SUBMODEL):
            raise GeError("GE5003", f"partition type {kind} occurs twice", where)
        begin = base + offset
        if begin < end or not _is_gap(view[end:begin]):
            raise GeError("GE5003", f"partition type {kind} begins at {offset}, not at {end - base}", where)
        if begin + size > view.nbytes:
            raise GeError("GE5002", f"partition type {kind} ends after the end of the file", where)
        kinds.add(kind)
        entries.append(Partition(kind, begin, begin - end, view[begin : begin + size]))
        end = begin + size
    if PartitionType.MODEL_DEF not in kinds:
        raise GeError("GE5003", "the file has no model definition", where)
    return tuple(entries), end
