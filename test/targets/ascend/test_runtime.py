"""The run time: inputs are checked, models are loaded once, results and statistics are those of the last run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ge import Runtime
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.targets.ascend.om.writer import model_bytes, write_module
from ge.targets.ascend.runtime.launch import L2Cache
from ge.targets.ascend.soc import soc_names

SMALL = Path(__file__).parent / "om" / "inputs" / "small.mlir"
X = np.array([-3, 2, -9, 1], np.float32)
Y = [0, 4, 0, 5]


@pytest.fixture(scope="module")
def file() -> bytes:
    """y = relu(x + [1, 2, 3, 4]), and the indices of the elements of y that are not zero."""
    return model_bytes(parse_module(SMALL))


def error_of(file: bytes, inputs: Any) -> GeError:
    with pytest.raises(GeError) as error:
        Runtime().run(file, inputs)
    return error.value


@pytest.mark.parametrize("inputs", [{"x": X}, [X], (X,), X, {"x": X.astype(">f4")}, {"x": np.stack([X, X], 1)[:, 0]}])
def test_inputs_by_name_in_order_or_alone(file: bytes, inputs: Any) -> None:
    outputs = Runtime().run(file, inputs)
    assert list(outputs) == ["y", "count"]
    assert outputs["y"].tolist() == Y and outputs["y"].dtype == np.float32
    assert outputs["count"].tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("inputs", "code", "words"),
    [
        ({}, "GE6002", ["'x'"]),
        ([], "GE6002", ["'x'"]),
        ({"z": X}, "GE6003", ["'z'", "'x'"]),
        ({"x": X, "z": X}, "GE6003", ["'z'"]),
        ([X, X], "GE6003", ["2 inputs", "'x'"]),
        ({"x": X[:3]}, "GE6004", ["'x'", "[3]", "[4]"]),
        ({"x": X.reshape(1, 4)}, "GE6004", ["[1, 4]", "[4]"]),
        ({"x": X.astype(np.float64)}, "GE6005", ["'x'", "float64", "float32"]),
        ({"x": [1, 2, 3, 4]}, "GE6005", ["int64", "float32"]),
        ({"x": "abcd"}, "GE6005", ["'x'"]),
    ],
)
def test_inputs_that_do_not_fit_are_one_error(file: bytes, inputs: Any, code: str, words: list[str]) -> None:
    error = error_of(file, inputs)
    assert error.code == code
    assert all(word in error.what for word in words), error.what


def test_unknown_devices_are_refused() -> None:
    with pytest.raises(GeError) as error:
        Runtime(device="tpu")
    assert error.value.code == "GE6001"


@pytest.mark.parametrize("device", ["npu", 0, "0"])
def test_the_one_device_has_a_name_and_a_number(file: bytes, device: str | int) -> None:
    assert Runtime(device).run(file, {"x": X})["y"].tolist() == Y
    with pytest.raises(GeError, match="there is no device '1'; there is npu, 0, Ascend") as error:
        Runtime(1)
    assert error.value.code == "GE6001"


def test_a_device_runs_only_models_for_it(file: bytes) -> None:
    assert Runtime("Ascend310P3").run(file, {"x": X})["y"].tolist() == Y
    other = next(name for name in soc_names() if name != "Ascend310P3")
    with pytest.raises(GeError, match=f"compiled for Ascend310P3, the device is {other}") as error:
        Runtime(other).load(file)
    assert error.value.code == "GE6001"


def test_an_error_of_an_input_has_its_name_what_is_expected_and_what_is_given(file: bytes) -> None:
    given = {"x": np.zeros((2, 2))}
    assert error_of(file, given).what == "input 'x' is float64[2, 2], the model wants float32[4]"
    assert error_of(file, {}).what == "input 'x' (float32[4]) is missing; given: none"
    assert error_of(file, {"z": X}).what == "the model has no input 'z'; it has 'x' (float32[4])"


def test_a_loaded_model_runs_often_and_keeps_nothing(file: bytes) -> None:
    model = Runtime().load(file)
    assert [str(info) for info in model.inputs] == ["x: float32[4]"]
    first = model.run({"x": X})
    second = model.run({"x": np.zeros(4, np.float32)})
    assert first["y"].tolist() == Y and second["y"].tolist() == [1, 2, 3, 4]
    assert first["count"].shape == (2, 2) and second["count"].shape == (2, 4)


def test_results_do_not_change_with_a_later_run(file: bytes) -> None:
    model = Runtime().load(file)
    first = model.run({"x": X})["y"]
    model.run({"x": np.zeros(4, np.float32)})
    assert first.tolist() == Y


@pytest.mark.parametrize("strict", [False, True])
def test_strict_runs_give_the_same(file: bytes, strict: bool) -> None:
    assert Runtime(strict=strict).run(file, {"x": X})["y"].tolist() == Y


def test_a_file_is_loaded_again_only_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.om"
    write_module(parse_module(SMALL), path)
    runtime = Runtime()
    loads: list[Any] = []
    load = runtime.load
    monkeypatch.setattr(runtime, "load", lambda model: loads.append(model) or load(model))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    for _ in range(3):
        assert runtime.run(path, {"x": X})["y"].tolist() == Y
    assert len(loads) == 1
    text = SMALL.read_text().replace("0000803F", "00000041")  # the first weight is 8 now
    write_module(parse_module(text), path)
    assert runtime.run(str(path), {"x": X})["y"].tolist() == [5, 4, 0, 5]
    assert len(loads) == 2


def test_statistics_are_those_of_the_last_run(file: bytes) -> None:
    model = Runtime().load(file)
    before = model.statistics
    model.run({"x": X})
    after = model.statistics
    assert before is None and after is not None
    assert [(task.operator, task.on_host, task.cycles) for task in after.tasks] == [
        ("add", True, 0),
        ("nonzero", True, 0),
    ]
    assert after.cycles == 0 and after.seconds > 0 and after.device_seconds == 0


@pytest.mark.parametrize("size", [1 << 60, 24_000_000_001])
def test_a_model_too_large_for_the_device_is_one_error(size: int) -> None:
    text = SMALL.read_text().replace("memory 2560", f"memory {size}")
    with pytest.raises(GeError, match="Ascend310P3 has 24000000000") as error:
        Runtime().load(model_bytes(parse_module(text)))
    assert error.value.code == "GE6009"


def test_the_cache_holds_what_was_used_last_as_far_as_it_fits() -> None:
    cache = L2Cache(100)
    cache.use((0, 60))
    assert cache.holds((0, 60)) and not cache.holds((0, 30))
    cache.use((64, 30))
    assert cache.holds((0, 60))
    cache.use((200, 50))
    assert not cache.holds((0, 60)) and cache.holds((64, 30)) and cache.holds((200, 50))
    cache.use((210, 10))  # written over: the old content is gone
    assert not cache.holds((200, 50)) and cache.holds((210, 10))


def test_a_host_result_of_another_shape_is_one_error() -> None:
    text = SMALL.read_text().replace("at [-1]", "at [1024]")
    kernel, graph = text.split("  %x = om.op")
    kernel = kernel.replace("tensor<2x?xi64>", "tensor<i64>").replace("onnx.NonZero", "onnx.Size")
    text = f"{kernel}  %x = om.op{graph.replace('tensor<2x?xi64>', 'tensor<2xi64>')}"
    error = error_of(model_bytes(parse_module(text)), {"x": X})
    assert error.code == "GE6006" and "int64[]" in error.what and error.where == "node 'nonzero:0'"
