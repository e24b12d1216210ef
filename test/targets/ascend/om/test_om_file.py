"""Writing and reading OM files: what goes in comes out, equal modules give equal bytes, broken files are one error."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from bench.safe_writing import large
from ge.dialects.om.values import Area
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.ir.printer import write_module as write_text
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.proto import task_pb2 as task
from ge.targets.ascend.om.reader import read_model, read_module
from ge.targets.ascend.om.writer import model_bytes, write_module

SMALL = Path(__file__).parent / "inputs" / "small.mlir"
REPOSITORY = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def file() -> bytes:
    return model_bytes(parse_module(SMALL))


def rebuilt(
    file: bytes,
    model: Callable[[ir.ModelDef], object] = lambda message: None,
    tasks: Callable[[task.ModelTaskDef], object] = lambda message: None,
) -> bytes:
    """The file with its messages changed, and nothing else."""
    container = read_container(file, "x")
    definition = ir.ModelDef.FromString(bytes(container.partition(PartitionType.MODEL_DEF)))
    task_info = task.ModelTaskDef.FromString(bytes(container.partition(PartitionType.TASK_INFO)))
    model(definition)
    tasks(task_info)
    changed = {
        PartitionType.MODEL_DEF: definition.SerializeToString(),
        PartitionType.TASK_INFO: task_info.SerializeToString(),
    }
    parts = [
        (PartitionType(kind), changed.get(PartitionType(kind), bytes(part)))
        for kind, part in container.partitions.items()
    ]
    return b"".join(bytes(memoryview(piece)) for piece in pack_container("x", parts))


def code_of(file: bytes) -> str:
    with pytest.raises(GeError) as error:
        read_model(file)
    return error.value.code


def test_text_to_bytes_to_text_is_the_same_text(file: bytes) -> None:
    module = read_module(file)
    module.verify()
    text = print_module(module)
    assert text == print_module(read_module(model_bytes(parse_module(text))))
    assert model_bytes(module) == file
    assert [line for line in text.splitlines() if "om." in line] == [
        line for line in print_module(parse_module(SMALL)).splitlines() if "om." in line
    ]


def test_plain_data_says_what_the_module_says(file: bytes) -> None:
    model = read_model(file)
    assert (model.name, model.soc, model.memory_size) == ("small", "Ascend310P3", 2560)
    assert np.frombuffer(model.weights, np.float32).tolist() == [1, 2, 3, 4]
    assert {name: (value.area, value.offset, value.nbytes) for name, value in model.inputs.items()} == {
        "x": (Area.MEMORY, 1024, 16)
    }
    assert {name: (value.name, value.area, value.offset) for name, value in model.outputs.items()} == {
        "y": ("add:0", Area.MEMORY, 1536),
        "count": ("nonzero:0", Area.HOST, -1),
    }
    add, nonzero = model.tasks
    assert (add.operator, add.kind, add.kernel, add.on_host, add.nodes) == (
        "add",
        "HostCall",
        "host.add",
        True,
        ("add", "relu"),
    )
    assert [(value.name, value.area) for value in add.inputs] == [("x:0", Area.MEMORY), ("w:0", Area.WEIGHTS)]
    assert [value.offset for value in nonzero.inputs] == [1536]
    assert set(model.host_kernels) == {"host.add", "host.count"}


def test_the_file_is_complete_and_mapped(tmp_path: Path, file: bytes) -> None:
    path = tmp_path / "small.om"
    write_module(parse_module(SMALL), path)
    assert path.read_bytes() == file
    assert [each.name for each in tmp_path.iterdir()] == ["small.om"]
    write_text(read_module(path), tmp_path / "small.mlir")
    assert '#ge.weights<"small.om"' in (tmp_path / "small.mlir").read_text()
    assert model_bytes(parse_module(tmp_path / "small.mlir")) == file


def test_bytes_depend_on_nothing_but_the_module(tmp_path: Path, file: bytes) -> None:
    script = (
        "import sys; from ge.ir.parser import parse_module; from ge.targets.ascend.om.writer import write_module\n"
        "write_module(parse_module(open(sys.argv[1]).read()), sys.argv[2])"
    )
    output = tmp_path / "other.om"
    environment = {**os.environ, "PYTHONHASHSEED": "123", "PYTHONPATH": str(REPOSITORY), "TZ": "Asia/Shanghai"}
    subprocess.run([sys.executable, "-c", script, SMALL, output], cwd=tmp_path, env=environment, check=True)
    assert output.read_bytes() == file
    assert str(REPOSITORY).encode() not in file


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(GeError) as error:
        write_module(parse_module(SMALL), tmp_path / "missing" / "small.om")
    assert error.value.code == "GE1003"
    with pytest.raises(GeError) as error:
        write_module(parse_module("builtin.module {}"), tmp_path / "small.om")
    assert error.value.code == "GE5009"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("source", "code"), [("missing.om", "GE1001"), (".", "GE1001")], ids=["missing", "folder"])
def test_a_file_that_cannot_be_read_is_one_error(tmp_path: Path, source: str, code: str) -> None:
    with pytest.raises(GeError) as error:
        read_model(tmp_path / source)
    assert error.value.code == code


GRAPH_CHANGES: list[Callable[[ir.ModelDef], object]] = [
    lambda m: m.ClearField("graph"),
    lambda m: m.attr["memory_size"].Clear(),
    lambda m: m.attr["soc_version"].Clear(),
    lambda m: setattr(m.attr["memory_size"], "i", -1),
    lambda m: setattr(m.attr["memory_size"], "i", 100),
    lambda m: m.attr["attr_model_out_nodes_name"].list.s.append(b"z"),
    lambda m: m.graph[0].op[2].input.append("nobody:0"),
    lambda m: m.graph[0].op[2].input.append("nonzero:0"),
    lambda m: setattr(m.graph[0].op[2], "name", "x"),
    lambda m: m.graph[0].op[2].output_i.append(3),
    lambda m: m.graph[0].op[1].output_i.__setitem__(0, 512),
    lambda m: m.graph[0].op[1].output_i.__setitem__(0, -5),
    lambda m: setattr(m.graph[0].op[1].output_desc[0], "dtype", 26),
    lambda m: setattr(m.graph[0].op[1].output_desc[0], "layout", "FRACTAL_Z_WINO"),
    lambda m: m.graph[0].op[1].output_desc[0].shape.dim.__setitem__(0, 1 << 62),
    lambda m: m.graph[0].op[1].output_desc[0].attr["origin_shape"].list.i.__setitem__(0, -7),
    lambda m: m.graph[0].op[2].attr["names"].list.s.append(b"\xff"),
    lambda m: setattr(m.graph[0].op[2].attr["names"], "bt", b"bytes"),
    lambda m: m.graph[0].op[3].output_i.__setitem__(0, -1),
    lambda m: m.graph[0].op.pop(0),
    lambda m: m.graph[0].op.pop(),
    lambda m: setattr(m.graph[0].op[2].attr["_no_task"], "b", True) or m.graph[0].op[2].ClearField("input"),
]

TASK_CHANGES: list[Callable[[task.ModelTaskDef], object]] = [
    lambda m: setattr(m.task[0], "type", 13),
    lambda m: setattr(m.task[0].kernel.context, "op_index", 99),
    lambda m: setattr(m.task[0].kernel.context, "op_index", 0),
    lambda m: setattr(m.task[0].kernel.context, "kernel_type", 2),
    lambda m: setattr(m.task[0].kernel, "kernel_name", "nobody"),
    lambda m: setattr(m.task[0].kernel, "args", b"12345678"),
    lambda m: setattr(m.task[0].kernel, "block_dim", 0),
    lambda m: m.task.pop(),  # the output 'count' has no producer
    lambda m: m.task.pop(0),
    lambda m: m.task.reverse(),
]


def test_a_constant_without_a_place_is_one_error() -> None:
    """Also one that only the model returns, which no task would miss."""
    data = model_bytes(large(1, 64))
    assert code_of(rebuilt(data, model=lambda m: m.graph[0].op[0].output_i.__setitem__(0, -1))) == "GE5007"


@pytest.mark.parametrize("change", GRAPH_CHANGES)
def test_a_graph_that_contradicts_itself_is_one_error(file: bytes, change: Callable[[ir.ModelDef], object]) -> None:
    assert code_of(rebuilt(file, model=change)) == "GE5007"


@pytest.mark.parametrize("change", TASK_CHANGES)
def test_tasks_that_contradict_the_graph_are_one_error(
    file: bytes, change: Callable[[task.ModelTaskDef], object]
) -> None:
    assert code_of(rebuilt(file, tasks=change)) == "GE5007"


def test_a_kernel_of_the_host_gives_what_its_operator_says(file: bytes) -> None:
    def wider(definition: ir.ModelDef) -> None:
        """Let the positions of positive elements be of three numbers each, not of two."""
        nonzero, end = definition.graph[0].op[4], definition.graph[0].op[5]
        for desc in (nonzero.output_desc[0], end.input_desc[1]):
            for dims in (desc.shape.dim, desc.attr["origin_shape"].list.i):
                dims[0] = 3

    container = read_container(rebuilt(file, model=wider), "x")
    parts = [
        (PartitionType(kind), bytes(part))
        for kind, part in container.partitions.items()
        if kind != PartitionType.MODEL_INOUT_INFO
    ]
    with pytest.raises(
        GeError, match=r"kernel 'host\.count' of the host gives tensor<2x.*, its operator says"
    ) as error:
        read_module(b"".join(bytes(memoryview(piece)) for piece in pack_container("x", parts)))
    assert error.value.code == "GE5005"


def test_a_file_of_another_compiler_is_named(file: bytes) -> None:
    assert code_of(rebuilt(file, model=lambda m: setattr(m, "custom_version", "atc"))) == "GE5008"


def test_damaged_files_are_one_error_or_another_valid_file(file: bytes) -> None:
    random = Random(0)
    for size in random.sample(range(len(file)), 200):
        assert code_of(file[:size]).startswith("GE5")
    for _ in range(300):
        damaged = bytearray(file)
        for _ in range(random.randint(1, 4)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        try:
            read_module(bytes(damaged))
        except GeError as error:
            assert error.code[:3] in ("GE5", "GE1")  # the ONNX models of host kernels are models, too
