"""ge-compiler --mode=3: all that stands in the way of compiling, at once; the report as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_models import ModelBuilder

from ge.dialects.onnx.shapes.input_shapes import parse_input_shapes
from ge.ir.errors import GeError
from ge.tools import ge_compiler
from ge.tools.compile_options import CompileOptions
from ge.tools.precheck import Finding, Precheck, precheck


def check(model: ModelProto | Path, tmp_path: Path, shapes: str = "") -> Precheck:
    if isinstance(model, ModelProto):
        onnx.save(model, tmp_path / "model.onnx")
        model = tmp_path / "model.onnx"
    return precheck(CompileOptions(model, input_shapes=parse_input_shapes(shapes) if shapes else {}))


def one(model: ModelProto | Path, tmp_path: Path, shapes: str = "") -> Finding:
    (finding,) = check(model, tmp_path, shapes).findings
    return finding


def model_of(*nodes: onnx.NodeProto, opset: int = 17, shape: Any = (1, 3), **domains: int) -> ModelProto:
    """A model from x to y."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in (("x", shape), ("y", None)))
    imports = [helper.make_opsetid(*item) for item in {"": opset, **domains}.items()]
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=imports, ir_version=8)


def small() -> ModelProto:
    builder = ModelBuilder()
    x = builder.input("x", 1, 3, 8, 8)
    builder.output(builder.node("Relu", builder.node("Conv", x, builder.weights(4, 3, 3, 3))))
    return builder.build()


def test_nothing_stands_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(small(), tmp_path).findings == ()
    ge_compiler.run(["--mode=3", f"--model={tmp_path}/model.onnx"])
    assert capsys.readouterr().out.endswith("model.onnx: 0 problems, 0 notes\n")
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def everything() -> ModelProto:
    """A model with a problem of every kind."""
    body = helper.make_graph(
        [helper.make_node("Inner", ["b"], ["r"], name="inner", domain="my.domain")],
        "then",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
    )
    nodes = [
        helper.make_node("Foo", ["x"], ["a"], name="foo", domain="my.domain"),
        helper.make_node("Bar", ["a"], ["b"], name="bar"),
        helper.make_node("Relu", ["b"], ["c"], name="relu", alpha=1.0),
        helper.make_node("GridSample", ["c", "g"], ["d"]),
        helper.make_node("If", ["k"], ["e"], name="if", then_branch=body, else_branch=body),
        helper.make_node("Add", ["e", "w"], ["y"], name="add"),
    ]
    model = model_of(*nodes, opset=13, shape=("N", 3), **{"my.domain": 2})
    model.graph.input.add().CopyFrom(helper.make_tensor_value_info("g", TensorProto.FLOAT, [1]))
    model.graph.input.add().CopyFrom(helper.make_tensor_value_info("k", TensorProto.BOOL, []))
    for name, location in (("w", "missing.bin"), ("v", "../outside.bin")):
        tensor = numpy_helper.from_array(np.ones(3, np.float32), name)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
        model.graph.initializer.append(tensor)
    return model


def test_everything_is_found_at_once(tmp_path: Path) -> None:
    findings = check(everything(), tmp_path, "g:1,2").findings
    found = {(each.code, each.operator, each.domain, each.opset, each.node) for each in findings}
    assert found == {
        ("GE1012", "", "", None, "w"),
        ("GE1013", "", "", None, "v"),
        ("GE1017", "GridSample", "", 13, "d"),
        ("GE1017", "Relu", "", 13, "relu"),
        ("GE1019", "", "", None, "g"),
        ("GE3011", "", "", None, "x"),
        ("GE4001", "Bar", "", 13, "bar"),
        ("GE4001", "Foo", "my.domain", 2, "foo"),
        ("GE4001", "Inner", "my.domain", 2, "inner"),
    }
    assert all(each.severity == "error" and each.what and each.why and each.remedy for each in findings)


def test_report_is_written_and_the_command_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(everything(), tmp_path / "model.onnx")
    command = ["--mode=3", f"--model={tmp_path}/model.onnx", f"--check_report={tmp_path}/report.json"]
    with pytest.raises(SystemExit) as status:
        ge_compiler.main(command)
    out, err = capsys.readouterr()
    assert status.value.code == 1
    assert "8 problems in the way" in err and "[GE4003]" in err
    assert "(node 'relu', Relu of ai.onnx, opset 13) [GE1017]" in out
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["passed"] is False and len(report["findings"]) == 8
    with pytest.raises(SystemExit):
        ge_compiler.main([*command[:2], "--report=json"])
    assert json.loads(capsys.readouterr().out) == report


def test_operators_of_the_host_are_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="relu"),
        helper.make_node("Erf", ["a"], ["b"], name="erf"),
        helper.make_node("CumSum", ["b", "axis"], ["y"], name="sum"),
    ]
    model = model_of(*nodes)
    model.graph.initializer.append(numpy_helper.from_array(np.array(1), "axis"))
    notes = check(model, tmp_path).findings
    sums = [note for note in notes if note.operator == "CumSum"]
    assert [(note.severity, note.node, note.opset, note.domain) for note in sums] == [("note", "sum", 17, "")]
    assert "Relu" not in {note.operator for note in notes}
    ge_compiler.run(["--mode=3", f"--model={tmp_path}/model.onnx"])
    assert "note: CumSum will run on the host (sum)" in capsys.readouterr().out


def test_files_that_are_no_models(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("this is not a model")
    assert one(tmp_path / "missing.onnx", tmp_path).code == "GE1001"
    assert one(tmp_path / "text.onnx", tmp_path).code == "GE1010"


def test_what_only_the_import_finds(tmp_path: Path) -> None:
    undefined = one(model_of(helper.make_node("Add", ["x", "z"], ["y"], name="add")), tmp_path)
    assert undefined.code == "GE1018"
    newer = one(model_of(helper.make_node("Relu", ["x"], ["y"]), opset=999), tmp_path)
    assert (newer.code, newer.opset) == ("GE1015", 999)


def test_what_only_a_late_stage_finds(tmp_path: Path) -> None:
    model = model_of(helper.make_node("Relu", ["x"], ["y"], name="relu"), shape=(1, 256, 16384, 16384))
    assert one(model, tmp_path).code == "GE4022"


def test_shapes_given_are_no_problem(tmp_path: Path) -> None:
    model = model_of(helper.make_node("Relu", ["x"], ["y"]), shape=("N", 3))
    assert '--input_shape="x:1,3"' in one(model, tmp_path).remedy
    assert check(model, tmp_path, "x:4,3").findings == ()
    assert one(model, tmp_path, "x:4,5").code == "GE1019"
    assert "'z' is not an input" in check(model, tmp_path, "z:4,5").findings[0].what


def test_functions_of_the_model_are_known(tmp_path: Path) -> None:
    model = model_of(helper.make_node("twice", ["x"], ["y"], domain="local"), local=1)
    inner = helper.make_node("Add", ["a", "a"], ["b"])
    model.functions.append(helper.make_function("local", "twice", ["a"], ["b"], [inner], [helper.make_opsetid("", 17)]))
    assert check(model, tmp_path).findings == ()
    model.functions[0].node[0].op_type = "Unknown"
    assert [each.operator for each in check(model, tmp_path).findings] == ["Unknown"]


def test_what_other_outputs_do_not_need_may_be_unknown(tmp_path: Path) -> None:
    """Operators behind the outputs asked for are no problem, those before them are; also in branches."""
    info = helper.make_tensor_value_info
    y = info("y", TensorProto.FLOAT, [1, 3])
    branches: dict[str, Any] = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(op, ["r"], ["y"], f"in_{name}", domain=domain)], name, [], [y]
        )
        for name, op, domain in (("then", "Relu", ""), ("else", "Foo", "my"))
    }
    model = model_of(
        helper.make_node("Relu", ["x"], ["r"], "first"),
        helper.make_node("ReduceSum", ["r"], ["s"], "sum", keepdims=0),
        helper.make_node("Cast", ["s"], ["c"], "cond", to=TensorProto.BOOL),
        helper.make_node("If", ["c"], ["b"], "branches", **branches),
        helper.make_node("Bar", ["b"], ["y"], "last", domain="my"),
        my=1,
    )
    onnx.save(model, tmp_path / "model.onnx")

    def nodes(outputs: str) -> list[str]:
        findings = precheck(CompileOptions(tmp_path / "model.onnx", outputs=outputs)).findings
        return [finding.node for finding in findings if finding.severity == "error"]

    assert nodes("") == nodes("y") == nodes("last:0") == ["in_else", "last"]
    assert nodes("branches:0") == nodes("b") == ["in_else"]
    assert nodes("first:0") == nodes("r;s") == []


def test_options(tmp_path: Path) -> None:
    with pytest.raises(GeError) as error:
        ge_compiler.run(["--model=x", "--check_report=y"])
    assert error.value.code == "GE2003"
    onnx.save(small(), tmp_path / "model.onnx")
    with pytest.raises(GeError) as error:
        ge_compiler.run(["--mode=3", f"--model={tmp_path}/model.onnx", f"--check_report={tmp_path}/no/report.json"])
    assert error.value.code == "GE1003"
