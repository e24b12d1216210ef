"""MODEL_INOUT_INFO: its documented bytes, and what happens when they are damaged or say something else."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.inout_info import InOutInfo, TensorInfo, pack_inout_info, read_inout_info
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import model_bytes

SMALL = Path(__file__).parent / "inputs" / "small.mlir"
INFO = InOutInfo(
    (TensorInfo("x", 96, 0, 1, (1, 3, 4, 4)), TensorInfo("网", 8, 2, 9, ())),
    (TensorInfo("y", 0, 2, 0, (-1,), (1, 8)),),
)


def test_the_bytes_are_the_documented_ones() -> None:
    data = pack_inout_info(INFO)
    inputs = struct.pack("<I", 2)
    inputs += struct.pack("<QiiIIII", 96, 0, 1, 1, 32, 32, 0) + b"x" + struct.pack("<8q", 1, 3, 4, 4, 1, 3, 4, 4)
    inputs += struct.pack("<QiiIIII", 8, 2, 9, 3, 0, 0, 0) + "网".encode()
    outputs = struct.pack("<IQiiIIII", 1, 0, 2, 0, 1, 8, 8, 16) + b"y" + struct.pack("<4q", -1, -1, 1, 8)
    assert data == struct.pack("<II", 0, len(inputs)) + inputs + struct.pack("<II", 1, len(outputs)) + outputs
    assert read_inout_info(memoryview(data), "x") == INFO
    assert pack_inout_info(InOutInfo((), ())) == b""


def test_blocks_of_other_types_are_passed_over() -> None:
    data = struct.pack("<III", 2, 4, 7) + pack_inout_info(INFO)
    assert read_inout_info(memoryview(data), "x") == INFO


def test_every_cut_is_one_error() -> None:
    data = pack_inout_info(InOutInfo(INFO.inputs, ()))
    for size in range(1, len(data)):
        with pytest.raises(GeError) as error:
            read_inout_info(memoryview(data)[:size], "model.om")
        assert (error.value.code, error.value.where) == ("GE5006", "model.om")


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<III", 0, 4, 0xFFFFFFFF),
        struct.pack("<III", 0, 8, 0) + bytes(4),
        struct.pack("<II", 0, 37) + struct.pack("<IQiiIIII", 1, 0, 0, 0, 1, 0, 0, 0) + b"\xff",
        struct.pack("<II", 0, 40) + struct.pack("<IQiiIIII", 1, 0, 0, 0, 0, 4, 0, 0) + bytes(4),
    ],
)
def test_wrong_lengths_are_one_error(data: bytes) -> None:
    with pytest.raises(GeError) as error:
        read_inout_info(memoryview(data), "model.om")
    assert error.value.code == "GE5006"


def with_info(change: Callable[[InOutInfo], InOutInfo | None]) -> bytes:
    container = read_container(model_bytes(parse_module(SMALL)), "x")
    parts = {PartitionType(kind): bytes(part) for kind, part in container.partitions.items()}
    info = change(read_inout_info(memoryview(parts.pop(PartitionType.MODEL_INOUT_INFO)), "x"))
    if info is not None:
        parts[PartitionType.MODEL_INOUT_INFO] = pack_inout_info(info)
    return b"".join(bytes(memoryview(piece)) for piece in pack_container("small", list(parts.items())))


def test_a_file_says_what_its_graph_says() -> None:
    info = read_inout_info(
        read_container(model_bytes(parse_module(SMALL)), "x").partition(PartitionType.MODEL_INOUT_INFO), "x"
    )
    assert info.inputs == (TensorInfo("x", 16, 2, 0, (4,)),)
    assert info.outputs == (TensorInfo("y", 16, 2, 0, (4,)), TensorInfo("count", 0, 2, 9, (2, -1)))
    read_model(with_info(lambda info: info))
    read_model(with_info(lambda info: None))  # older files do not have it
    with pytest.raises(GeError) as error:
        read_model(with_info(lambda info: InOutInfo(info.inputs, ())))
    assert error.value.code == "GE5007"
