"""The container: every documented byte of the header and the tables, and every way in which they can be wrong."""

from __future__ import annotations

import struct

import pytest

from ge.ir.errors import GeError
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.kernel_store import pack_store, read_store

PARTS = [(PartitionType.MODEL_DEF, b"model"), (PartitionType.WEIGHTS_DATA, b"weights"), (PartitionType.TASK_INFO, b"")]


def packed(name: str = "demo") -> bytes:
    return b"".join(bytes(memoryview(piece)) for piece in pack_container(name, PARTS))


def u32(data: bytes, offset: int) -> int:
    return struct.unpack_from("<I", data, offset)[0]


def changed(data: bytes, offset: int, format: str, value: object) -> bytes:
    copy = bytearray(data)
    struct.pack_into(format, copy, offset, value)
    return bytes(copy)


def wide(parts: list[tuple[int, bytes]] | None = None) -> bytes:
    """The same file with a 64-bit table, as the current ATC writes it."""
    parts = [(int(kind), data) for kind, data in PARTS] if parts is None else parts
    table = struct.pack("<I4x", len(parts))
    offset = 0
    for kind, data in parts:
        table += struct.pack("<I4xQQ", kind, offset, len(data))
        offset += len(data)
    body = table + b"".join(data for _, data in parts)
    header = changed(changed(packed()[:256], 76, "<I", 0), 184, "<Q", len(body))
    return header + body


def code_of(data: bytes) -> str:
    with pytest.raises(GeError) as error:
        read_container(data, "model.om")
    assert error.value.where == "model.om"
    return error.value.code


def test_header_and_table_have_the_documented_bytes() -> None:
    data = packed()
    assert data[:4] == b"IMOD"
    assert (u32(data, 4), u32(data, 8)) == (256, 0x20000000)
    assert data[12:76] == bytes(64)  # checksum
    assert u32(data, 76) == len(data) - 256  # length
    assert data[80:84] == bytes([0, 1, 0, 0])  # not encrypted, unchecked, IR model, offline
    assert data[84:116] == b"demo".ljust(32, b"\0")
    assert (u32(data, 152), u32(data, 156)) == (2, 1)  # version of the model definition, number of models
    assert data[160:256] == bytes(96)
    assert struct.unpack_from("<10I", data, 256) == (3, 0, 0, 5, 1, 5, 7, 2, 12, 0)
    assert data[296:] == b"modelweights"


def test_long_names_are_cut_between_characters() -> None:
    assert packed("x" * 40)[84:116] == b"x" * 31 + b"\0"
    assert packed("x" * 30 + "网")[84:116] == b"x" * 30 + b"\0\0"


@pytest.mark.parametrize("data", [packed(), wide()], ids=["32-bit", "64-bit"])
def test_partitions_are_views_of_the_file(data: bytes) -> None:
    container = read_container(data, "model.om")
    assert container.name == "demo"
    assert {kind: bytes(part) for kind, part in container.partitions.items()} == dict(PARTS)
    assert container.partition(PartitionType.WEIGHTS_DATA).obj is data
    assert bytes(container.partition(PartitionType.TBE_KERNELS)) == b""


def test_the_header_of_2020_has_no_number_of_models() -> None:
    data = changed(packed(), 8, "<I", 0x10000000)
    assert read_container(changed(data, 156, "<I", 99), "model.om").name == "demo"


@pytest.mark.parametrize("file", [packed(), wide()], ids=["32-bit", "64-bit"])
def test_every_cut_is_noticed(file: bytes) -> None:
    for size in range(len(file)):
        assert code_of(file[:size]) == ("GE5001" if size < 4 else "GE5002")
    assert code_of(file + b"x") == "GE5002"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "GE5001"),
        (b"PK\x03\x04" + packed()[4:], "GE5001"),
        (changed(packed(), 4, "<I", 128), "GE5004"),
        (changed(packed(), 8, "<I", 0x30000000), "GE5004"),
        (changed(packed(), 80, "B", 1), "GE5004"),
        (changed(packed(), 82, "B", 2), "GE5004"),
        (changed(wide(), 82, "B", 3), "GE5004"),
        (changed(packed(), 156, "<I", 2), "GE5004"),
        (changed(packed(), 256, "<I", 0), "GE5003"),
        (changed(packed(), 256, "<I", 33), "GE5003"),
        (changed(packed(), 256, "<I", 0xFFFFFFFF), "GE5003"),
        (changed(packed(), 276, "<I", 4), "GE5003"),  # a gap
        (changed(packed(), 280, "<I", 6), "GE5003"),  # ends before the next begins
        (changed(packed(), 292, "<I", 9), "GE5002"),  # beyond the end
        (changed(packed(), 272, "<I", 0), "GE5003"),  # twice the same
        (changed(packed(), 260, "<I", 9), "GE5003"),  # no model definition
        (changed(wide(), 256 + 8 + 8 + 24, "<Q", 1 << 63), "GE5003"),
        (wide([(0, b"m"), (0, b"n")]), "GE5003"),
    ],
)
def test_what_does_not_fit_is_one_error(data: bytes, code: str) -> None:
    assert code_of(data) == code


def test_kernel_store_has_the_documented_bytes() -> None:
    kernels = {"conv": b"12345", "网": b""}
    store = pack_store(kernels)
    first, second = struct.pack("<III", 0x5D776EFD, 4, 5), struct.pack("<III", 0x5D776EFD, 3, 0)
    assert store == first + b"conv12345" + second + "网".encode()
    assert {name: bytes(binary) for name, binary in read_store(memoryview(store), "x").items()} == kernels
    assert read_store(memoryview(b""), "x") == {}


@pytest.mark.parametrize(
    "store",
    [
        pack_store({"a": b"1"})[:-1],
        pack_store({"a": b"1"}) + bytes(5),
        pack_store({"a": b"1"}) * 2,
        bytes(12),
        struct.pack("<III", 0x5D776EFD, 0xFFFFFFFF, 0xFFFFFFFF),
        struct.pack("<III", 0x5D776EFD, 1, 0) + b"\xff",
    ],
)
def test_wrong_kernel_stores_are_one_error(store: bytes) -> None:
    with pytest.raises(GeError) as error:
        read_store(memoryview(store), "model.om")
    assert error.value.code == "GE5005"
