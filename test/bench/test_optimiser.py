"""The benchmark of the optimiser: counting, agreement and the page, and our side of it on a small model."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from bench.each_model import run_json
from bench.optimiser import commands, document
from bench.optimiser.agreement import compare, distance
from bench.optimiser.tools import count_operators, measure


def small_model() -> onnx.ModelProto:
    """A product and a sum with constants in nodes, an If, and what does nothing."""
    then = helper.make_graph(
        [helper.make_node("Constant", [], ["k"], value_float=2.0), helper.make_node("Mul", ["s", "k"], ["t"])],
        "then",
        [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
    )
    other = helper.make_graph(
        [helper.make_node("Neg", ["s"], ["e"])],
        "else",
        [],
        [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)],
    )
    weight = numpy_helper.from_array(np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32), "w")
    nodes = [
        helper.make_node("Constant", [], ["one"], value_float=1.0),
        helper.make_node("Identity", ["x"], ["same"]),
        helper.make_node("MatMul", ["same", "w"], ["m"]),
        helper.make_node("Add", ["m", "one"], ["s"]),
        helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    graph = helper.make_graph(
        nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [weight]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_nodes_of_branches_count_and_constants_do_not() -> None:
    expected = {"Identity": 1, "MatMul": 1, "Add": 1, "If": 1, "Mul": 1, "Neg": 1}
    assert dict(count_operators(small_model())) == expected


@pytest.mark.parametrize("tool", ["ge -O2", "ge -O3"])
def test_our_side_optimises_measures_and_agrees(tool: str, tmp_path: Path) -> None:
    source, target = tmp_path / "m.onnx", tmp_path / "o.onnx"
    onnx.save(small_model(), source)
    measured = measure(tool, source, target, repeat=2)
    assert len(measured.seconds) == 2
    assert "Identity" not in measured.operators
    assert sum(measured.operators.values()) < 6
    assert measured.opset == 17
    found = compare(source, [target])[str(target)]
    assert found["distance"] < 1e-6


def test_commands_take_turns_and_one_that_fails_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "m.onnx"
    onnx.save(small_model(), source)
    failing = (sys.executable, "-c", "import sys; sys.exit('no such model')")
    lines = {"ge -O3": commands.COMMANDS["ge -O3"], "broken": failing, "missing": (str(tmp_path / "tool"),)}
    monkeypatch.setattr(commands, "COMMANDS", lines)
    found = commands.time_commands(source, tmp_path, repeat=2, limit=60)
    assert len(found["ge -O3"]["seconds"]) == 2
    assert found["broken"] == {"seconds": [], "error": "no such model"}
    assert "tool" in found["missing"]["error"]


def test_distance_is_relative_to_the_largest_value_and_none_where_equality_is_asked() -> None:
    wanted = np.array([1.0, -10.0], np.float32)
    assert distance(wanted + np.float32(0.5), wanted) == pytest.approx(0.05)
    assert distance(np.array([1, 2]), np.array([1, 3])) is None
    assert distance(np.array([1, 2]), np.array([1, 2])) == 0
    assert distance(wanted[:1], wanted) is None
    assert distance(wanted.astype(np.float64), wanted) is None
    assert distance(np.array([np.nan, 1.0]), np.array([np.nan, 1.0])) == 0
    assert distance(np.array([0.0, 1.0]), np.array([np.nan, 1.0])) is None
    assert distance(np.array([np.nan, 1.0]), np.array([0.0, 1.0])) is None


def result(ours: int, sim: int, slim: int, seconds: float, found: float | None = 0.0) -> dict[str, object]:
    """One model with nodes of three tools; the others take a second."""

    def tool(nodes: int, time: float) -> dict[str, object]:
        return {
            "operators": {"Add": nodes},
            "seconds": [2 * time, time],
            "peak_megabytes": 1.0,
            "agreement": {"distance": found},
        }

    tools = {"ge -O3": tool(ours, seconds), "onnxsim": tool(sim, 1.0), "onnxslim": tool(slim, 1.0)}
    commands = {
        "ge -O3": {"seconds": [2.0, 1.0]},
        "onnxsim": {"seconds": [1.25, 1.5]},
        "onnxslim": {"seconds": [], "error": "killed"},
    }
    return {"original": {"Add": 9}, "tools": tools, "commands": commands}


def test_totals_compare_with_the_better_peer() -> None:
    results = {
        "fewer": result(3, 4, 5, 0.5),
        "equal": result(4, 4, 5, 0.5),
        "more": result(5, 4, 6, 1.5),
        "wrong": result(1, 4, 4, 0.5, found=None),
        "far": result(1, 4, 4, 0.5, found=2e-4),
    }
    assert not document.Outcome(1, 1.0, 1.0, 2e-4).agrees
    assert document.Outcome(1, 1.0, 1.0, 2e-4, own=1.5e-4).agrees
    assert not document.Outcome(1, 1.0, 1.0, 2e-4, own=0.5e-4).agrees
    rows = [document.Row.of(name, each) for name, each in results.items()]
    text = "\n".join(document.totals(rows))
    assert "never more nodes than the better of onnxsim and onnxslim: **4 of 5**" in text
    assert "fewer nodes than both: **3 of 5**" in text
    assert "faster than both once it is loaded: **4 of 5**" in text
    assert "faster than both as a command: **5 of 5**" in text
    assert "agree with the original: **3 of 5**" in text


def test_a_tool_that_fails_has_no_numbers_and_ours_that_fails_counts_against_us() -> None:
    failing = result(3, 4, 5, 0.5)
    failing["tools"] = {"ge -O3": {"error": "cannot read"}, "onnxsim": {"error": "killed"}}
    failing["commands"] = {"ge -O3": {"seconds": [], "error": "cannot read"}, "onnxsim": {"seconds": [1.0]}}
    row = document.Row.of("failing", failing)
    text = "\n".join(document.totals([row]))
    assert text.count("**0 of 1**") == 9
    assert "ge -O3: cannot read" in document.line("failing", failing)


def test_a_tool_that_was_given_up_has_the_time_in_the_place_of_its_numbers() -> None:
    found = run_json("http.server", "0", seconds=1)
    assert found == {"error": "no result after 1 s"}
    slow = result(3, 4, 5, 0.5)
    slow["tools"] = {**slow["tools"], "onnxslim": found, "onnxsim": {"error": "killed"}}  # type: ignore[dict-item]
    text = document.page({"models": {"slow": slow}, "traffic": {}}, repeat=1)
    assert "| slow | 9 | 3 | - | fails | > 1 s | - | 0e+00 | - | - | - |" in text
    assert "| slow | 0.500 | - | fails | > 1 s | - | - | - | 1 | - | - |" in text


def test_the_page_has_all_tables() -> None:
    def one(name: str, before: int, after: int) -> dict[str, object]:
        sides = {"operations_before": 9, "operations_after": 7, "bytes_before": before, "bytes_after": after}
        return {"name": name, "rewrites": 1, **sides}

    fused = {"count": 1, "bytes_before": 6000000, "bytes_after": 2000000}
    measured = {
        "access_bytes": {"before": 8000000, "after": 4000000},
        "passes": [one("fuse-conv-bn-relu", 8000000, 4000000)],
        "conv_bn_relu": fused,
        "conv_bn": {"count": 0, "bytes_before": 0, "bytes_after": 0},
        "kernels": 2,
        "launches": 3,
        "host_operators": 0,
    }
    text = document.page({"models": {"small": result(3, 4, 5, 0.5)}, "traffic": {"net": measured}}, repeat=3)
    assert "| small | 9 | 3 | - | 4 | 5 | - | 0e+00 | - | 0e+00 | 0e+00 |" in text
    assert "| small | 0.500 | - | 1.000 | 1.000 | - | 0.50 | 0.50 | 1 | 1 | 1 |" in text
    assert "| small | 1.00 | 1.25 | - | 0.80 | - |" in text
    assert "| net | 9 | 3 | 2 | 0 | 8.0 | 4.0 | -50% |" in text
    assert "| `fuse-conv-bn-relu` | -2, -50.0% |" in text
    assert "| **conv + bn + activation** | 1: -67% |" in text
