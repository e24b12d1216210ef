"""Streams as options of ge-compiler: what is chosen, what the report says, and that no order changes a result."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import ModelBuilder

from ge import Runtime
from ge.ir.errors import GeError
from ge.targets.ascend.om.reader import read_model
from ge.tools import ge_compiler
from ge.tools.agreement import compare
from ge.tools.reference import run_onnx
from ge.tools.report import print_compilation, print_profile


def inception(builder: ModelBuilder, x: str, channels: int) -> str:
    """A module of four branches, 64 channels out of ``channels``."""

    def conv(y: str, cin: int, cout: int, kernel: int) -> str:
        weights = builder.weights(cout, cin, kernel, kernel, scale=0.1)
        return builder.node("Relu", builder.node("Conv", y, weights, pads=[kernel // 2] * 4))

    branches = [
        conv(x, channels, 16, 1),
        conv(conv(x, channels, 16, 1), 16, 16, 3),
        conv(conv(x, channels, 16, 1), 16, 16, 5),
        conv(builder.node("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1]), channels, 16, 1),
    ]
    return builder.node("Concat", *branches, axis=1)


@dataclass(frozen=True)
class Built:
    """An OM file, and what the report says of it."""

    file: Path
    facts: dict[str, Any]

    @property
    def streams(self) -> Any:
        return self.facts["streams"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Large values first; then a module of branches, and work of the host beside what follows."""
    builder = ModelBuilder()
    x = builder.input("x", 1, 16, 28, 28)
    y = builder.node("Relu", builder.node("Conv", x, builder.weights(32, 16, 3, 3, scale=0.1), pads=[1] * 4))
    y = builder.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    y = inception(builder, y, 32)
    builder.output(builder.node("GlobalAveragePool", y, name="y"))
    builder.output(builder.node("CumSum", y, builder.constant(1, np.int64), name="sums"))
    path = tmp_path_factory.mktemp("streams") / "model.onnx"
    onnx.save(builder.build(), path)
    return path


@pytest.fixture(scope="module")
def built(model: Path) -> Callable[..., Built]:
    """Compiles with options, once for each choice of them."""
    made: dict[tuple[str, ...], Built] = {}

    def build(*options: str) -> Built:
        if options not in made:
            file = model.with_name(f"{len(made)}.om")
            output = StringIO()
            with redirect_stdout(output):
                ge_compiler.run([f"--model={model}", f"--output={file}", "--report=json", *options])
            made[options] = Built(file, json.loads(output.getvalue())["compilation"])
        return made[options]

    return build


SINGLE, PARALLEL = "--enable_single_stream=true", "--auto_parallel=true"


def image() -> Any:
    return np.random.default_rng(1).standard_normal((1, 16, 28, 28)).astype(np.float32)


def bits(outputs: Any) -> dict[str, bytes]:
    return {name: value.tobytes() for name, value in outputs.items()}


def test_branches_go_to_streams_where_that_costs_little_memory(built: Callable[..., Built]) -> None:
    one, many = built(SINGLE), built()
    streams = many.streams
    assert one.streams is None
    assert streams["count"] > 1
    assert streams["cycles"] < 0.98 * streams["cycles_in_one_stream"]
    assert 0 < streams["events"] <= streams["events_before_reduction"]
    assert streams["values_in_one_stream"] == one.facts["memory"]["values"]
    assert many.facts["memory"]["values"] <= 1.01 * streams["values_in_one_stream"]
    assert {step.stream for step in read_model(one.file).steps} == {0}
    assert {step.stream for step in read_model(many.file).steps} == set(range(streams["count"]))
    assert bits(Runtime().run(many.file, image())) == bits(Runtime().run(one.file, image()))


def test_the_time_of_a_run_is_what_was_expected(built: Callable[..., Built]) -> None:
    """Within a tenth: where values lie decides a little what is in the cache."""
    run = Runtime().load(built().file).run(image()).statistics
    assert run.device_cycles == pytest.approx(built().streams["cycles"], rel=0.1)
    assert run.device_cycles < sum(task.cycles + run.soc.launch_cycles for task in run.tasks if not task.on_host)


@pytest.mark.parametrize("strict", [False, True])
def test_any_order_of_the_streams_gives_the_same_bits(built: Callable[..., Built], strict: bool) -> None:
    file = built(PARALLEL).file
    expected = bits(Runtime().run(file, image()))
    loaded = Runtime(interleaving=0, strict=strict).load(file)
    runs = [loaded.run(image(), tap=["*"]) for _ in range(3 if strict else 20)]
    assert all(bits(run) == expected for run in runs)
    assert len({tuple(run.taps) for run in runs}) > 1


def test_sharing_the_cores_is_faster_still(model: Path, built: Callable[..., Built]) -> None:
    many, shared = built().streams, built(PARALLEL).streams
    assert shared["cycles"] <= many["cycles"]
    assert shared["cycles_in_one_stream"] == pytest.approx(many["cycles_in_one_stream"], rel=0.02)
    by_cores = shared["launches_by_cores"]
    assert sum(by_cores.values()) == built(PARALLEL).facts["launches"]
    tasks = [task for task in read_model(built(PARALLEL).file).tasks if not task.on_host]
    assert {task.blocks for task in tasks} == {int(cores) for cores in by_cores}
    assert sum(task.blocks for task in tasks) < sum(
        task.blocks for task in read_model(built().file).tasks if not task.on_host
    )
    _, expected = run_onnx(str(model), {"x": image()})
    outputs = Runtime().run(built(PARALLEL).file, image())
    assert all(agreement.passed for agreement in compare(outputs, expected, half=True))


def test_the_text_names_streams_and_cores(built: Callable[..., Built], capsys: pytest.CaptureFixture[str]) -> None:
    print_compilation(built(PARALLEL).facts)
    text = capsys.readouterr().out
    for part in ("launches on cores", "expected time", "against one stream on all cores", "before they were reduced"):
        assert part in text


def test_a_profile_says_in_which_stream_a_task_ran(
    built: Callable[..., Built], capsys: pytest.CaptureFixture[str]
) -> None:
    print_profile(Runtime().run(built().file, image()).statistics.tasks)
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["operator", "stream", "on"]
    assert {row.split()[2] for row in rows if "cores" in row} == set(map(str, range(built().streams["count"])))
    print_profile(Runtime().run(built(SINGLE).file, image()).statistics.tasks)
    assert "stream" not in capsys.readouterr().out


def test_options_that_contradict_each_other_are_refused(model: Path) -> None:
    with pytest.raises(GeError) as error:
        ge_compiler.run([f"--model={model}", SINGLE, PARALLEL])
    assert error.value.code == "GE2003"
