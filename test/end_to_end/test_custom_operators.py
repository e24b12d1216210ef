"""Operators of plug-ins, from the ONNX model through the OM file to a run, with every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ge import Runtime
from ge.custom import unregister_operator
from ge.dialects.onnx import Custom
from ge.ir.errors import GeError
from ge.targets.ascend.om.reader import read_module
from ge.tools import ge_bisect, ge_compiler, ge_opt, ge_reduce, ge_run, ge_translate

ROOT = Path(__file__).resolve().parents[2]

PLUGIN = """
import numpy as np
from ge.custom import Cost, elements, like_input, register_operator

@register_operator("end.to.end", "Twice", "x: T -> y: T", types={"T": "f16 f32"}, shapes=like_input, since=2,
                   decomposition=lambda ops, x: ops.Add(x, x))
def twice(x):
    return x + x

@register_operator("end.to.end", "Sorted", "x: T -> y: T", types={"T": "f32"}, shapes=like_input, since=2,
                   cost=lambda node: Cost(flops=4 * elements(node.shape(0))))
def in_order(x):
    return np.sort(x, -1)
"""


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    file = tmp_path / "my_operators.py"
    file.write_text(PLUGIN)
    for name in ("Twice", "Sorted"):
        unregister_operator("end.to.end", name)
    return str(file)


@pytest.fixture
def model(tmp_path: Path) -> str:
    nodes = [
        helper.make_node("Twice", ["x"], ["a"], name="twice", domain="end.to.end"),
        helper.make_node("Sorted", ["a"], ["b"], name="sorted", domain="end.to.end"),
        helper.make_node("Relu", ["b"], ["y"], name="relu"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 16]) for name in "xy")
    versions = [helper.make_opsetid("", 18), helper.make_opsetid("end.to.end", 2)]
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=versions), path)
    return str(path)


def test_compiled_with_the_plugin_it_runs_with_the_plugin_only(plugin: str, model: str, tmp_path: Path) -> None:
    om = tmp_path / "model.om"
    ge_compiler.run([f"--load-plugin={plugin}", f"--model={model}", f"--output={om}", "--report=none"])
    assert "--load-plugin=my_operators.py" in str(read_module(om))
    kinds = {op.op_type for op in read_module(om).walk() if isinstance(op, Custom)}
    assert kinds == {"Sorted"}  # the other one has a decomposition
    x = np.random.default_rng(0).normal(size=(2, 16)).astype(np.float32)
    (y,) = Runtime().run(om, {"x": x}).values()
    np.testing.assert_allclose(y, np.maximum(np.sort(2 * x, -1), 0), rtol=2e-3, atol=2e-3)

    unregister_operator("end.to.end", "Sorted")
    with pytest.raises(GeError, match=r"operator 'end\.to\.end::Sorted'") as error:
        Runtime().run(om, {"x": x})
    assert error.value.code == "GE6011"
    assert "my_operators.py" in error.value.why and "--load-plugin=my_operators.py" in error.value.remedy


def test_the_file_does_not_depend_on_the_plugin_being_loaded(plugin: str, model: str, tmp_path: Path) -> None:
    om, text, again = tmp_path / "model.om", tmp_path / "model.mlir", tmp_path / "again.om"
    ge_compiler.run([f"--load-plugin={plugin}", f"--model={model}", f"--output={om}", "--report=none"])
    for loaded in (True, False):
        ge_translate.run(["--om-to-mlir", str(om), "-o", str(text)])
        ge_translate.run(["--mlir-to-om", str(text), "-o", str(again)])
        assert again.read_bytes() == om.read_bytes(), loaded
        for name in ("Twice", "Sorted"):
            unregister_operator("end.to.end", name)


def test_the_report_tells_what_the_host_computes(
    plugin: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [f"--load-plugin={plugin}", f"--model={model}", f"--output={tmp_path / 'model.om'}"]
    ge_compiler.run([*arguments, "--report=json"])
    facts = json.loads(capsys.readouterr().out)["compilation"]
    cost = {"operator": "end.to.end::Sorted", "plugin": "my_operators.py", "count": 1, "flops": 128, "bytes": 256}
    assert facts["custom_operators"] == [cost]  # 32 float32 in and out
    ge_compiler.run(arguments)
    assert "end.to.end::Sorted of my_operators.py on the host  x1: 128 flops" in capsys.readouterr().out


def test_without_the_plugin_it_is_refused(model: str, tmp_path: Path, plugin: str) -> None:
    with pytest.raises(GeError, match=r"Twice of domain 'end\.to\.end' \(node twice\)") as error:
        ge_compiler.run([f"--model={model}", f"--output={tmp_path / 'model.om'}"])
    assert error.value.code == "GE4001" and "--load-plugin" in error.value.remedy
    with pytest.raises(GeError) as error:
        ge_compiler.run(["--mode=3", f"--model={model}"])
    assert error.value.code == "GE4003"


def test_the_precheck_finds_all_that_is_wrong_with_nodes(
    plugin: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [
        helper.make_node("Scaled", ["x"], ["a"], name="right", domain="end.to.end", factor=1.0),
        helper.make_node("Scaled", ["x"], ["b"], name="missing", domain="end.to.end"),
        helper.make_node("Scaled", ["x"], ["c"], name="kind", domain="end.to.end", factor=1),
        helper.make_node("Scaled", ["x"], ["d"], name="unknown", domain="end.to.end", factor=1.0, faktor=2.0),
        helper.make_node("Scaled", ["x", "x"], ["e"], name="many", domain="end.to.end", factor=1.0),
        helper.make_node("Scaled", [""], ["f"], name="few", domain="end.to.end", factor=1.0),
        helper.make_node("Nothing", ["x"], ["g"], name="nothing", domain="end.to.end"),
        helper.make_node("Sum", [*"abcdefg"], ["y"], name="sum"),
    ]
    Path(plugin).write_text(
        PLUGIN
        + '@register_operator("end.to.end", "Scaled", "x: f32 -> y: f32", attributes=["factor: float"], '
        + "shapes=like_input)\ndef scaled(x, *, factor):\n    return x\n"
    )
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    versions = [helper.make_opsetid("", 18), helper.make_opsetid("end.to.end", 1)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=versions), tmp_path / "m.onnx")
    with pytest.raises(GeError):
        ge_compiler.run([f"--load-plugin={plugin}", "--mode=3", f"--model={tmp_path / 'm.onnx'}", "--report=json"])
    found = {each["node"]: each["what"] for each in json.loads(capsys.readouterr().out)["findings"]}
    assert found == {
        "missing": "Scaled lacks its attribute 'factor'",
        "kind": "Scaled has attribute 'factor' of kind int, it must be float",
        "unknown": "Scaled has no attribute 'faktor'; it has factor",
        "many": "Scaled has 2 inputs, it takes 1",
        "few": "Scaled lacks its input 'x'",
        "nothing": "operator Nothing of domain 'end.to.end' is not known",
    }
    unregister_operator("end.to.end", "Scaled")


def test_operators_in_branches_need_the_plugin_too(
    plugin: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def branch(operator: str, result: str) -> onnx.GraphProto:
        node = helper.make_node(operator, ["x"], [result], domain="end.to.end", name=f"in_{result}")
        return helper.make_graph([node], result, [], [helper.make_tensor_value_info(result, TensorProto.FLOAT, [4])])

    node = helper.make_node("If", ["c"], ["y"], then_branch=branch("Sorted", "s"), else_branch=branch("Twice", "t"))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("c", TensorProto.BOOL, []), x], [y])
    versions = [helper.make_opsetid("", 18), helper.make_opsetid("end.to.end", 2)]
    onnx.save(helper.make_model(graph, opset_imports=versions), tmp_path / "branches.onnx")
    model, om = str(tmp_path / "branches.onnx"), str(tmp_path / "branches.om")
    ge_compiler.run([f"--load-plugin={plugin}", f"--model={model}", f"--output={om}", "--report=none"])
    ge_run.run([f"--load-plugin={plugin}", om, "--random-input", "--compare", model])
    assert "those of plug-ins included" in capsys.readouterr().out
    unregister_operator("end.to.end", "Sorted")
    with pytest.raises(GeError) as error:
        Runtime().run(om, {"c": np.array(True), "x": np.zeros(4, np.float32)})
    assert error.value.code == "GE6011" and "my_operators.py" in error.value.remedy


def test_every_command_loads_plugins(
    plugin: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load = f"--load-plugin={plugin}"
    ge_compiler.run(["--mode=3", load, f"--model={model}"])
    assert "0 problems" in capsys.readouterr().out
    ge_opt.run([load, model, "--decompose-custom", "-o", str(tmp_path / "standard.onnx")])
    assert [node.op_type for node in onnx.load(tmp_path / "standard.onnx").graph.node] == ["Add", "Sorted", "Relu"]
    ge_run.run(["--load-plugin", plugin, model, "--random-input", "--compare", str(tmp_path / "standard.onnx")])
    assert "those of plug-ins included" in capsys.readouterr().out
    ge_translate.run([load, "--onnx-to-mlir", model, "-o", str(tmp_path / "model.mlir")])
    ge_bisect.run([load, model, "--against", "definition", "--infer-shapes", "--decompose-custom"])
    with pytest.raises(GeError) as error:
        ge_reduce.run([load, model, "--decompose-custom"])
    assert error.value.code == "GE2010"  # it does not fail


@pytest.mark.parametrize("command", [ge_compiler, ge_run, ge_translate, ge_bisect, ge_reduce])
def test_a_plugin_that_is_not_there_is_one_error(command: object) -> None:
    with pytest.raises(GeError, match=r"nothing\.py") as error:
        command.run(["--load-plugin=nothing.py", "x"])  # type: ignore[attr-defined]
    assert error.value.code == "GE2005"
    with pytest.raises(GeError, match="needs a value") as error:
        command.run(["--load-plugin"])  # type: ignore[attr-defined]
    assert error.value.code == "GE2006"


def test_a_plugin_that_ends_the_process_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(GeError, match="it ends the process") as error:
        ge_run.run([f"--load-plugin={tmp_path}/ends.py", "x"])
    assert error.value.code == "GE2005"


INSTALLED = """
import sys
import numpy as np
from ge import Runtime
from ge.tools import ge_compiler

ge_compiler.run([f"--model={sys.argv[1]}", "--output=model.om", "--report=none"])
x = np.arange(32, dtype=np.float32).reshape(2, 16)[:, ::-1]
(y,) = Runtime().run("model.om", {"x": x}).values()
print(bool((y == 2 * x[:, ::-1]).all()))
"""


def test_an_installed_package_is_found_by_its_entry_point(plugin: str, model: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    information = site / "my_package-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[ge.plugins]\nmine = my_operators\n")
    (site / "my_operators.py").write_text(Path(plugin).read_text())
    (tmp_path / "script.py").write_text(INSTALLED)

    def run(*path: Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT)))}
        command = [sys.executable, str(tmp_path / "script.py"), model]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert run(site).stdout == "True\n"
    assert "GE4001" in run().stderr
    with pytest.raises(GeError) as error:
        Runtime().run(tmp_path / "model.om", {"x": np.zeros((2, 16), np.float32)})
    assert error.value.code == "GE6011" and error.value.remedy == "Install the package with 'my_operators'."
