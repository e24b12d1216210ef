"""Whatever happens while an OM file is written: there is the old file, or the whole new one."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path

import pytest

from bench.safe_writing import FORMS, kill_writers, large
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.weights import map_file
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.reader import read_model, read_module
from ge.targets.ascend.om.writer import model_bytes, write_module

REPOSITORY = Path(__file__).parents[4]


@pytest.mark.parametrize("form", FORMS)
def test_killed_at_any_moment_the_file_is_old_or_new(form: str, tmp_path: Path) -> None:
    """A few moments; ``python -m bench.safe_writing`` takes many."""
    found = kill_writers(tmp_path / "large.om", FORMS[form], 7)
    assert {*found} <= {1, 2} and found.total() == 7


def test_a_full_disk_is_one_error() -> None:
    with pytest.raises(GeError, match="No space left on device") as error:
        write_module(large(1), "/dev/full")
    assert error.value.code == "GE1003"


@pytest.mark.parametrize("external", [False, True])
def test_a_file_that_becomes_too_large_leaves_the_old_one(external: bool, tmp_path: Path) -> None:
    """As on a full disk, a part of the file could be written; the limit of the process is what stops it here."""
    path = tmp_path / "model.om"
    write_module(large(2, 1 << 10, external=external), path)
    old = {file: file.read_bytes() for file in tmp_path.iterdir()}
    script = (
        "import resource, signal, sys\n"
        "from bench.safe_writing import large, write_module\n"
        "from ge.ir.errors import GeError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        f"try:\n    write_module(large(1, external={external}), sys.argv[1])\n"
        "except GeError as error:\n    print(error.code, error.what)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("GE1003 cannot write") and "File too large" in done.stdout
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == old


@pytest.mark.parametrize("external", [False, True])
def test_reading_and_writing_copy_no_weights(external: bool, tmp_path: Path) -> None:
    path, size = tmp_path / "large.om", 1 << 23
    module = large(1, size, external=external)

    def open_weights(path: Path) -> memoryview:
        return OmFile.open(path).weights

    for act in (partial(write_module, module), partial(write_module, module), read_model, open_weights, read_module):
        tracemalloc.start()
        act(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < size / 4


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
        start = container.offsets[PartitionType.WEIGHTS_DATA]
        assert packed[start:].startswith(dict(parts)[PartitionType.WEIGHTS_DATA])
