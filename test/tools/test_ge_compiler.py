"""ge-compiler: its options, its one-line errors, and that a failed run leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import ModelBuilder

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.registry import registry
from ge.tools import ge_compiler
from ge.tools.compile_options import CompileOptions
from ge.tools.options import ATC_OPTIONS
from ge.tools.pipeline import parse_pipeline, pipeline_text

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of one convolution."""
    builder = ModelBuilder()
    x = builder.input("x", 1, 3, 8, 8)
    builder.output(builder.node("Conv", x, builder.weights(4, 3, 3, 3), name="conv"))
    path = tmp_path / "model.onnx"
    onnx.save(builder.build(), path)
    return path


def error_of(*arguments: str) -> GeError:
    with pytest.raises(GeError) as error:
        ge_compiler.run(arguments)
    return error.value


@pytest.mark.parametrize("option", ["--help", "--h", "-h"])
def test_help_lists_every_option_under_a_title(capsys: pytest.CaptureFixture[str], option: str) -> None:
    ge_compiler.run([option])
    text = capsys.readouterr().out
    assert all(f"\n  {each}" in text for each in ge_compiler.OPTIONS)
    assert all(f"\n{title}:\n" in text for title in ge_compiler.GROUPS)
    assert all(len(line) <= 120 for line in text.splitlines())
    assert not ATC_OPTIONS & {option.name for option in ge_compiler.OPTIONS}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--modell=x.onnx"], "GE2007", "did you mean --model?"),
        (["--xyz=1"], "GE2007", "--xyz is unknown"),
        (["model.onnx"], "GE2007", "'model.onnx' is not an option"),
        (["--output=x"], "GE2008", "--model"),
        (["--model"], "GE2006", "--model=FILE"),
        (["--model="], "GE2006", "--model is empty"),
        (["--model=x", "--run", "--run"], "GE2003", "--run is given twice"),
        (["--model=x", "-O1", "--oo_level=O2"], "GE2003", "--oo_level is given twice"),
        (["--run=1", "--model=x"], "GE2006", "--run takes no value"),
        (["--model=x", "--report=xml"], "GE2006", "'xml'"),
        (["--model=x", "--virtual_type=1"], "GE2009", "--virtual_type of ATC"),
        (["--model=x", "--framework=3"], "GE2009", "--framework=3"),
        (["--model=x", "--mode=7"], "GE2009", "--mode=7"),
        (["--model=x", "--precision_mode=force_fp32"], "GE2009", "force_fp32"),
        (["--model=x", "--input_shape=1,3"], "GE2006", "1,3"),
        (["--model=x", "--input_shape=x:1,1.5"], "GE2006", "got '1.5'"),
        (["--model=x", "--input_shape=x:1;x:2"], "GE2006", "x:2"),
        (["--model=x", "--seed=a"], "GE2006", "--seed"),
        (["--model=x", "--fusion_switch_file=missing"], "GE1001", "missing"),
        (["--model=x", "--fusion_switch_file=x", "--no-fusion"], "GE2003", "--no-fusion"),
        (["--model=x", "-O4"], "GE2006", "'O4'"),
        (["--model=x", "--oo_level=fast"], "GE2006", "'fast'"),
    ],
)
def test_wrong_options_are_one_error(arguments: Sequence[str], code: str, words: str) -> None:
    error = error_of(*arguments)
    assert error.code == code
    assert words in error.what


@pytest.mark.parametrize(
    ("asked", "mode"),
    [
        ("force_fp16", "force_fp16"),
        ("allow_fp32_to_fp16", "force_fp16"),
        ("allow_mix_precision", "allow_mix_precision"),
        ("allow_mix_precision_fp16", "allow_mix_precision"),
        ("must_keep_origin_dtype", "must_keep_origin_dtype"),
    ],
)
def test_precision_modes_of_atc(asked: str, mode: str) -> None:
    assert ge_compiler.compile_options({"model": "x", "precision_mode": asked}).precision_mode == mode


@pytest.mark.parametrize(
    ("replacement", "place", "words"), [("Sin(x y)", ":5:15", "found 'y'"), ("Foo(x)", ":5:9", "'Foo' does not exist")]
)
def test_a_mistake_in_a_file_of_rules_ends_it(
    model: Path, tmp_path: Path, replacement: str, place: str, words: str
) -> None:
    rules, output = tmp_path / "my.gerules", tmp_path / "model.om"
    rules.write_text(f"rule mine\nmatch\n    y = Relu(x)\nrewrite\n    y = {replacement}\n")
    error = error_of(f"--model={model}", f"--output={output}", f"--fusion_rules={rules}")
    assert f"{rules}{place}" in str(error) and words in error.what
    assert not output.exists()


def test_values_follow_an_equals_sign_or_a_space(model: Path) -> None:
    values = ge_compiler.parse_options(["--model", str(model), "--input_shape=x:1,3,8,8", "--run"], ge_compiler.OPTIONS)
    assert values == {"model": str(model), "input_shape": "x:1,3,8,8", "run": "1"}


def test_table_of_shapes(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [f"--model={model}", f"--output={tmp_path / 'model.om'}", "--dump_shape=true"]
    ge_compiler.run(arguments)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["value", "type", "shape", "contents", "operator", "rule"]
    assert ["x", "f32", "[1,", "3,", "8,", "8]", "input"] in lines
    assert ["conv", "f32", "[1,", "4,", "6,", "6]", "Conv", "convolution"] in lines
    ge_compiler.run([*arguments, "--report=json"])
    (row,) = (row for row in json.loads(capsys.readouterr().out)["shapes"] if row["value"] == "conv")
    assert (row["shape"], row["rule"]) == ("[1, 4, 6, 6]", "convolution")


def test_levels_and_switches() -> None:
    def options(**values: str) -> CompileOptions:
        return ge_compiler.compile_options({"model": "x", **values})

    assert options().level == 3
    assert options(oo_level="O1").level == options(oo_level="1").level == 1
    assert not options(**{"no-fusion": "1"}).switches.allow_pass("fuse-conv-bn-relu")
    assert options().switches.allow_pass("fuse-conv-bn-relu")


def test_the_pipeline_is_printed_as_a_text_that_gives_it_again(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ge_compiler.run([f"--model={model}", "-O1", "--print-pipeline"])
    text = capsys.readouterr().out.strip()
    assert "eliminate-identity" in text and "fuse-conv-bn-relu" not in text
    assert pipeline_text(parse_pipeline(text, registry())) == text


def dynamic(path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def unknown_operator(path: Path, domain: str) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])
    graph = helper.make_graph([helper.make_node("Foo", ["x"], ["y"], name="foo", domain=domain)], "g", [x], [y])
    opsets = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)


def test_bad_models_are_one_error_and_leave_nothing_behind(tmp_path: Path, model: Path) -> None:
    output = tmp_path / "out.om"
    cut, text, shape, foo, custom = (tmp_path / f"{name}.onnx" for name in ("cut", "text", "shape", "foo", "custom"))
    cut.write_bytes(model.read_bytes()[:-100])
    text.write_text("this is not a model")
    dynamic(shape)
    unknown_operator(foo, "")
    unknown_operator(custom, "my.domain")
    for path, code, words in [
        (tmp_path / "missing.onnx", "GE1001", "missing.onnx"),
        (tmp_path, "GE1001", ""),
        (cut, "GE1011", ""),
        (text, "GE1010", ""),
        (shape, "GE3011", "input 'x' has shape [?, 3]"),
        (foo, "GE4001", "Foo of domain '' (node foo)"),
        (custom, "GE4001", "my.domain"),
    ]:
        error = error_of(f"--model={path}", f"--output={output}")
        assert (error.code, words in error.what) == (code, True), f"{path}: {error}"
    assert '--input_shape="x:1,3"' in error_of(f"--model={shape}").remedy
    assert not output.exists()


def test_stages_before_an_error_stay_readable(tmp_path: Path) -> None:
    builder = ModelBuilder()
    x = builder.input("x", 1, 3, 8, 8)
    builder.output(builder.node("Conv", x, builder.weights(16, 3, 3, 3), name="conv"))
    model = builder.build()
    model.graph.node.add(op_type="Foo", domain="my.domain", name="foo", input=["conv"], output=["y"])
    model.graph.output[0].name = "y"
    model.opset_import.add(domain="my.domain", version=1)
    onnx.save(model, tmp_path / "model.onnx")
    assert error_of(f"--model={tmp_path}/model.onnx", f"--debug={tmp_path}/dump").code == "GE4001"
    files = sorted(path.name for path in (tmp_path / "dump").iterdir())
    assert files == ["01-onnx.mlir", "02-onnx-optimised.mlir", "model.weights"]
    parse_module(tmp_path / "dump" / files[1]).verify()


def test_bad_chips_and_places_are_one_error(tmp_path: Path, model: Path) -> None:
    assert error_of(f"--model={model}", "--soc_version=Ascend999").code == "GE2020"
    assert error_of(f"--model={model}", f"--output={tmp_path}/missing/out.om").code == "GE1003"
    error = error_of(f"--model={model}", f"--output={tmp_path}/out", f"--debug={model}")
    assert error.code == "GE1003" and str(model) in error.what
    assert not list(tmp_path.glob("*.om"))


def test_the_command_reports_an_error_in_three_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        ge_compiler.main(["--model=missing.onnx"])
    assert exit.value.code == 1
    lines = capsys.readouterr().err.splitlines()
    assert (
        len(lines) == 3 and "[GE1001]" in lines[0] and lines[1].startswith("  why: ") and lines[2].startswith("  fix: ")
    )


@pytest.mark.parametrize("debug", ["--debug", "--debug=stages"])
def test_debugging_shows_tracebacks_of_faults_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], debug: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        ge_compiler.main(["--model=missing.onnx", debug])
    assert len(capsys.readouterr().err.splitlines()) == 3

    def fail(*_arguments: object, **_options: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(ge_compiler, "compile_options", fail)
    with pytest.raises(ValueError, match="broken"):
        ge_compiler.main(["--model=missing.onnx", debug])


def test_stages_go_to_a_folder_of_this_name(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ge_compiler.run([f"--model={model}", "--debug", "--log=null", "--quiet"])
    assert len(list((tmp_path / "dump").glob("*.mlir"))) == 11
    assert capsys.readouterr().err == ""
