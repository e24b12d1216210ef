"""How memory is used, as options of ge-compiler: each has an effect that the report shows, and none changes results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from device_programs import build
from onnx import TensorProto, helper, save
from xdsl.context import Context

from ge import Runtime
from ge.ir.errors import GeError
from ge.passes.graph.plan_memory import PlanMemoryPass
from ge.tools import ge_compiler
from ge.tools.memory_config import MemoryConfig, read_memory_config


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two branches of convolutions that are added up."""
    random = np.random.default_rng(0)
    nodes, weights = [], []
    for name, source, channels in (("a", "x", 32), ("b", "a", 16), ("c", "x", 32), ("d", "c", 16)):
        shape = (channels, 16 if source == "x" else 32, 3, 3)
        data = random.standard_normal(shape).astype(np.float32) / 16
        weights.append(helper.make_tensor(f"w{name}", TensorProto.FLOAT, shape, data.tobytes(), raw=True))
        nodes.append(helper.make_node("Conv", [source, f"w{name}"], [name], f"conv_{name}", pads=[1, 1, 1, 1]))
    nodes.append(helper.make_node("Add", ["b", "d"], ["s"], "sum"))
    nodes.append(helper.make_node("Relu", ["s"], ["y"], "relu"))
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16, 24, 24]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], weights)
    path = tmp_path_factory.mktemp("memory") / "model.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def memory_of(model: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """What the report says of memory."""
    ge_compiler.run([f"--model={model}", f"--output={model.with_suffix('.om')}", "--report=json", *options])
    return json.loads(capsys.readouterr().out)["compilation"]["memory"]


def result_of(model: Path) -> Any:
    x = np.random.default_rng(1).standard_normal((1, 16, 24, 24)).astype(np.float32)
    return Runtime().run(model.with_suffix(".om"), {"x": x})["y"]


def config(folder: Path, **keys: Any) -> str:
    file = folder / "config.json"
    file.write_text(json.dumps({"memory_optimization": keys}))
    return f"--optimization_config={file}"


def test_every_key_shows_in_the_report(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = memory_of(model, capsys)
    expected = result_of(model)
    assert usual["values"] == usual["values_lower_bound"] >= usual["values_lower_bound_of_any_order"] > 0
    assert usual["values_limit"] is None

    kept = memory_of(model, capsys, config(tmp_path, reuse_memory=False))
    assert kept["values"] == kept["values_without_reuse"] > usual["values"]
    np.testing.assert_array_equal(result_of(model), expected)

    limited = memory_of(model, capsys, config(tmp_path, workspace_size=1))
    assert limited["values_limit"] == 1 << 20

    single = memory_of(model, capsys, config(tmp_path, enable_double_buffer=False))
    assert (usual["double_buffer"], single["double_buffer"]) == (True, False)
    largest = np.abs(expected).max()  # other tiles add up in another order
    np.testing.assert_allclose(result_of(model), expected, rtol=1e-3, atol=1e-3 * largest)


def test_one_buffer_is_slower(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cycles: list[int] = []
    for on in (True, False):
        command = [f"--model={model}", f"--output={tmp_path}/m.om", "--report=json", "--run"]
        ge_compiler.run([*command, config(tmp_path, enable_double_buffer=on)])
        cycles.append(json.loads(capsys.readouterr().out)["run"]["cycles"])
    assert cycles[0] < cycles[1]


def test_a_model_that_does_not_fit_says_what_takes_the_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64, 256, 256]) for name in "xy"]
    nodes = [helper.make_node("Exp", ["x"], ["a"], "first"), helper.make_node("MaxPool", ["a"], ["b"], "second",
             kernel_shape=[3, 3], pads=[1, 1, 1, 1]), helper.make_node("Exp", ["b"], ["y"], "third")]  # fmt: skip
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    command = [f"--model={tmp_path}/m.onnx", f"--output={tmp_path}/m.om", "--report=none"]
    with pytest.raises(GeError, match=r"need \d+ bytes at the same time, 1048576 are allowed.*'first'") as error:
        ge_compiler.run([*command, config(tmp_path, workspace_size=1)])
    assert error.value.code == "GE4024"
    assert not (tmp_path / "m.om").exists()
    ge_compiler.run([*command, config(tmp_path, workspace_size=64)])
    assert (tmp_path / "m.om").exists()


def test_low_and_high_give_the_same_results(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    high = memory_of(model, capsys, "--memory_optimize=high")
    expected = result_of(model)
    low = memory_of(model, capsys, "--memory_optimize=low")
    assert (high["planner"], low["planner"]) == ("search", "greedy-by-size")
    assert high["values"] <= low["values"]
    np.testing.assert_array_equal(result_of(model), expected)


def test_a_solver_places_values(model: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Twice the same bytes, and the numbers of the other planners."""
    high = memory_of(model, capsys, "--memory_optimize=high")
    expected = result_of(model)
    solved = memory_of(model, capsys, "--memory_optimize=solver")
    first = model.with_suffix(".om").read_bytes()
    assert solved["planner"] == "solver"
    assert solved["values_lower_bound"] <= solved["values"] <= high["values"]
    np.testing.assert_array_equal(result_of(model), expected)
    memory_of(model, capsys, "--memory_optimize=solver")
    assert model.with_suffix(".om").read_bytes() == first


def test_without_its_package_there_is_no_solver(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said first, before anything is compiled, is which extra to install."""
    monkeypatch.setitem(sys.modules, "ortools", None)
    command = [f"--model={model}", f"--output={tmp_path}/m.om", "--report=none"]
    with pytest.raises(GeError) as error:
        ge_compiler.run([*command, "--memory_optimize=solver"])
    assert error.value.code == "GE2050" and "graph-engine[solver]" in error.value.remedy
    assert not (tmp_path / "m.om").exists()
    with pytest.raises(GeError) as error:
        PlanMemoryPass(planner="solver").apply(Context(), build(Random(0), 4))
    assert error.value.code == "GE2050"
    ge_compiler.run([*command, "--memory_optimize=high"])


def test_named_nodes_share_memory_with_nothing(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = memory_of(model, capsys)
    kept = memory_of(model, capsys, "--no_reuse=conv_a,conv_c")
    assert usual["values"] < kept["values"] < kept["values_without_reuse"] + 1


def test_the_picture_has_a_rectangle_for_every_value(model: Path, tmp_path: Path) -> None:
    page = tmp_path / "memory.html"
    command = [f"--model={model}", f"--output={tmp_path}/m.om", "--report=none", f"--memory_report={page}"]
    ge_compiler.run(command)
    svg = ElementTree.fromstring(
        page.read_text().partition("<svg")[2].join(["<svg", ""]).partition("</svg>")[0] + "</svg>"
    )
    titles = ["".join(each.itertext()) for each in svg.findall("rect")]
    assert len(titles) >= 3
    assert any("conv_a" in title and "bytes at" in title for title in titles)
    with pytest.raises(GeError) as error:
        ge_compiler.run([*command[:-1], f"--memory_report={tmp_path}/missing/memory.html"])
    assert error.value.code == "GE1003"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{"memory_optimization": {"reuse_memry": true}}', "1:26", "near it are 'reuse_memory'"),
        ('{"memory_optimisation": {}}', "1:2", "near it are 'memory_optimization'"),
        ('{"memory_optimization": {\n  "workspace_size": "1024"}}', "2:3", "not a whole number"),
        ('{"memory_optimization": {"workspace_size": true}}', "1:26", "'workspace_size' is true, not a whole number"),
        ('{"memory_optimization": {"workspace_size": -1}}', "1:26", "less than nothing"),
        ('{"memory_optimization": {"reuse_memory": 1}}', "1:26", "not true or false"),
        ('{"memory_optimization": {"reuse_memory": true, "reuse_memory": false}}', "1:48", "there twice"),
        ('{"memory_optimization": []}', "1:2", "not an object"),
        ("[]", "1:1", "not an object"),
        ("{", "1:2", "not JSON"),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, text: str, place: str, words: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(GeError) as error:
        read_memory_config(str(file))
    assert (error.value.code, error.value.where) == ("GE2031", f"{file}:{place}")
    assert words in error.value.what


def test_keys_may_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    for text in ("{}", '{"memory_optimization": {}}'):
        file.write_text(text)
        assert read_memory_config(str(file)) == MemoryConfig()
    with pytest.raises(GeError) as error:
        read_memory_config(str(tmp_path / "missing.json"))
    assert error.value.code == "GE1001"
