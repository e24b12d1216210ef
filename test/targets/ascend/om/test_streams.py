"""Streams and events in OM files: written as they are read, and refused where they make no sense."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ge import Runtime
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.maths.streams import Step
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.proto import task_pb2 as task
from ge.targets.ascend.om.reader import read_model, read_module
from ge.targets.ascend.om.writer import model_bytes, write_module
from ge.tools.om_inspection import om_facts

STREAMS = Path(__file__).parent / "inputs" / "streams.mlir"
RELU, EXP, RECORD, WAIT, MUL = range(5)


@pytest.fixture(scope="module")
def file() -> bytes:
    return model_bytes(parse_module(STREAMS))


def task_info(file: bytes) -> task.ModelTaskDef:
    return task.ModelTaskDef.FromString(bytes(read_container(file, "x").partition(PartitionType.TASK_INFO)))


def with_tasks(file: bytes, change: Callable[[task.ModelTaskDef], object]) -> bytes:
    """The file with its tasks changed, and nothing else."""
    info = task_info(file)
    change(info)
    parts = [
        (PartitionType(kind), info.SerializeToString() if kind == PartitionType.TASK_INFO else bytes(part))
        for kind, part in read_container(file, "x").partitions.items()
    ]
    return b"".join(bytes(memoryview(piece)) for piece in pack_container("x", parts))


def test_text_and_bytes_say_the_same(file: bytes) -> None:
    module = read_module(file)
    module.verify()
    assert model_bytes(module) == file
    lines = [line.strip() for line in print_module(module).splitlines()]
    assert lines[-7:-2] == [line.strip() for line in STREAMS.read_text().splitlines()[-6:-1]]


def test_tasks_and_events_have_the_numbers_of_the_public_tools(file: bytes) -> None:
    info = task_info(file)
    assert [(each.type, each.stream_id, each.event_id) for each in info.task] == [
        (0, 0, 0),
        (0, 1, 0),
        (1, 1, 0),
        (2, 0, 0),
        (0, 0, 0),
    ]
    assert (info.stream_num, info.event_num) == (2, 1)
    assert read_model(file).steps == (Step(0), Step(1), Step(1, records=0), Step(0, waits=0), Step(0))


def test_inspection_counts_streams_and_events(tmp_path: Path) -> None:
    write_module(parse_module(STREAMS), tmp_path / "streams.om")
    opened = OmFile.open(tmp_path / "streams.om")
    facts = om_facts(opened)
    assert (facts["streams"], facts["events"]) == (2, 1)
    assert {op.name: op.stream_id for op in opened.operators if op.name in ("relu", "exp", "mul")} == {
        "relu": 0,
        "exp": 1,
        "mul": 0,
    }


def swap(info: task.ModelTaskDef, order: list[int]) -> None:
    tasks = [task.TaskDef.FromString(info.task[index].SerializeToString()) for index in order]
    del info.task[:]
    info.task.extend(tasks)


REFUSED: dict[str, tuple[Callable[[task.ModelTaskDef], object], str, str]] = {
    "nobody waits": (lambda i: i.task.pop(WAIT), "GE5007", "event 0 is recorded, but nothing waits for it"),
    "no event": (lambda i: swap(i, [RELU, EXP, MUL]), "GE5007", "'mul' reads 'exp:0', which no task before it makes"),
    "too early": (
        lambda i: swap(i, [RELU, RECORD, EXP, WAIT, MUL]),
        "GE5007",
        "'mul' reads 'exp:0', which no task before it makes",
    ),
    "waits twice": (lambda i: swap(i, [RELU, EXP, RECORD, WAIT, WAIT, MUL]), "GE5007", "event 0 is waited for twice"),
    "task twice": (lambda i: swap(i, [*range(5), EXP]), "GE5007", "operator 'exp' has more than one task"),
    "unknown stream": (lambda i: setattr(i.task[EXP], "stream_id", 2), "GE5007", "is in stream 2 of 2"),
    "unknown event": (lambda i: setattr(i.task[WAIT], "event_id", 1), "GE5007", "is about event 1 of 1"),
    "too many streams": (lambda i: setattr(i, "stream_num", 1 << 31), "GE5007", "are more than a model may have"),
    "other type": (lambda i: setattr(i.task[RELU], "type", 3), "GE5007", "of type 3"),
    "waits for itself": (
        lambda i: setattr(i.task[RECORD], "stream_id", 0) or swap(i, [0, 1, 3, 2, 4]),
        "GE5012",
        "2 (stream 0)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_streams_without_sense_are_refused(file: bytes, case: str) -> None:
    change, code, what = REFUSED[case]
    with pytest.raises(GeError) as error:
        read_model(with_tasks(file, change))
    assert error.value.code == code
    assert what in str(error.value)


def test_streams_that_wait_for_each_other_name_the_tasks(file: bytes) -> None:
    """Stream 0 waits for event 0, which stream 1 records after it has waited for event 1 of stream 0."""
    text = STREAMS.read_text().replace(
        '  om.task @host.exp for "exp" blocks 1 stream 1\n',
        '  om.wait event 1 stream 1\n  om.task @host.exp for "exp" blocks 1 stream 1\n',
    )
    text = text.replace("  om.wait event 0 stream 0\n", "  om.wait event 0 stream 0\n  om.record event 1 stream 0\n")
    with pytest.raises(GeError, match=r"tasks 1 \(stream 1\), 4 \(stream 0\) wait for events of each other") as error:
        Runtime().load(model_bytes(parse_module(text)))
    assert error.value.code == "GE5012"


def test_streams_that_write_the_same_bytes_are_refused() -> None:
    """Also when only the spare bytes behind one lie on the other."""
    for offset in (0, 32):
        text = STREAMS.read_text().replace('"exp"(%x) at [512]', f'"exp"(%x) at [{offset}]')
        with pytest.raises(GeError, match="tasks of 'relu' and 'exp' use the same memory") as error:
            read_model(model_bytes(parse_module(text)))
        assert error.value.code == "GE5013"
    text = STREAMS.read_text().replace('"exp"(%x) at [512]', '"exp"(%x) at [48]')
    assert len(read_model(model_bytes(parse_module(text))).tasks) == 3


def test_memory_that_an_event_hands_on_may_be_used_again() -> None:
    """The product lies on one factor; without the event that would be refused for two reasons."""
    text = STREAMS.read_text().replace('"mul"(%relu, %exp) at [2048]', '"mul"(%relu, %exp) at [512]')
    x = np.array([-1, 0, 1, 2], np.float32)
    y = Runtime().load(model_bytes(parse_module(text))).run(x)["y"]
    assert np.array_equal(y, np.maximum(x, 0) * np.exp(x))


def test_a_wait_may_come_before_its_record_in_the_file(file: bytes) -> None:
    """What counts is the order inside each stream."""
    x = np.array([-1, 0, 1, 2], np.float32)
    changed = with_tasks(file, lambda info: swap(info, [RELU, WAIT, MUL, EXP, RECORD]))
    for each in (file, changed):
        y = Runtime().load(each).run(x)["y"]
        assert np.array_equal(y, np.maximum(x, 0) * np.exp(x))


def test_any_order_of_the_streams_gives_the_same_bits(file: bytes) -> None:
    x = np.array([-1, 0, 1, 2], np.float32)
    expected = Runtime().load(file).run(x)
    model = Runtime(interleaving=0).load(file)
    runs = [model.run(x, tap=["*"]) for _ in range(20)]
    assert {each["y"].tobytes() for each in runs} == {expected["y"].tobytes()}
    assert {tuple(each.taps) for each in runs} == {("relu", "exp", "mul"), ("exp", "relu", "mul")}
    tasks = [[(each.operator, each.stream) for each in run.statistics.tasks] for run in runs]
    assert tasks == [[("relu", 0), ("exp", 1), ("mul", 0)]] * 20
