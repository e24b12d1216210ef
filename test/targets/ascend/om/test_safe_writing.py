"""Whatever happens while an OM file is written: there is the old file, or the whole new one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType

from ge.dialects.om import ModelOp, OperatorOp, WeightsOp
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import element_type
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.weights import map_file
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import model_bytes, write_module

REPOSITORY = Path(__file__).parents[4]


def large(fill: int, size: int = 1 << 23) -> ModuleOp:
    """A model of nothing but a constant, which is its output."""
    weights = WeightsOp(WeightsAttr.from_buffer(bytearray([fill]) * size))
    constant = OperatorOp("Const", "w", [], [TensorType(element_type(np.dtype(np.int8)), [size])], [0])
    end = OperatorOp("NetOutput", "end", [constant.results[0]])
    return ModuleOp([ModelOp("large", "Ascend310P3", 0, 0, ["y"], [weights, constant, end])])


def _write_for_ever(path: str) -> None:
    modules = [large(1), large(2)]
    while True:
        for module in modules:
            write_module(module, path)


def test_killed_at_any_moment_the_file_is_old_or_new(tmp_path: Path) -> None:
    path = tmp_path / "large.om"
    whole = {model_bytes(large(fill)) for fill in (1, 2)}
    random = Random(0)
    write_module(large(1), path)
    for _ in range(20):
        process = multiprocessing.get_context("fork").Process(target=_write_for_ever, args=(str(path),))
        process.start()
        time.sleep(random.uniform(0.005, 0.08))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert path.read_bytes() in whole
        read_model(path)


def test_a_full_disk_is_one_error() -> None:
    with pytest.raises(GeError, match="No space left on device") as error:
        write_module(large(1), "/dev/full")
    assert error.value.code == "GE1003"


def test_a_file_that_becomes_too_large_leaves_the_old_one(tmp_path: Path) -> None:
    """As on a full disk, a part of the file could be written; the limit of the process is what stops it here."""
    path = tmp_path / "model.om"
    path.write_bytes(b"the old one")
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from test_safe_writing import large, write_module\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        "from ge.ir.errors import GeError\n"
        "try:\n    write_module(large(1), sys.argv[1])\n"
        "except GeError as error:\n    print(error.code, error.what)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path, Path(__file__).parent],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("GE1003 cannot write") and "File too large" in done.stdout
    assert path.read_bytes() == b"the old one" and list(tmp_path.iterdir()) == [path]


def test_reading_copies_no_weights(tmp_path: Path) -> None:
    path = tmp_path / "large.om"
    write_module(large(1), path)
    for read in (read_model, OmFile.open):
        tracemalloc.start()
        read(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < path.stat().st_size / 4


def test_a_file_of_4_gib_has_a_wide_table(tmp_path: Path) -> None:
    """The weights are a hole in a file: neither memory nor disk is used."""
    path = tmp_path / "weights"
    with path.open("wb") as stream:
        stream.truncate(1 << 32)
    header, table, *_ = pack_container(
        "x", [(PartitionType.MODEL_DEF, b"m"), (PartitionType.WEIGHTS_DATA, map_file(path))]
    )
    assert struct.unpack_from("<I4xI4xQQI4xQQ", table) == (2, 0, 0, 1, 1, 1, 1 << 32)
    assert struct.unpack_from("<I", header, 76) == (0,)
    assert struct.unpack_from("<Q", header, 184) == ((1 << 32) + 1 + memoryview(table).nbytes,)


def test_both_tables_are_written_and_read() -> None:
    data = model_bytes(parse_module(Path(__file__).parent / "inputs" / "small.mlir"))
    parts = [(PartitionType(kind), bytes(part)) for kind, part in read_container(data, "x").partitions.items()]
    for wide in (False, True):
        packed = b"".join(bytes(memoryview(piece)) for piece in pack_container("small", parts, wide=wide))
        container = read_container(packed, "x")
        assert container.is_wide is wide
        assert [(PartitionType(kind), bytes(part)) for kind, part in container.partitions.items()] == parts
        assert read_model(packed).inputs == read_model(data).inputs
        start = container.offset(PartitionType.WEIGHTS_DATA)
        assert packed[start:].startswith(dict(parts)[PartitionType.WEIGHTS_DATA])
