"""ge-run: the same inputs through files of any level, compared with each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx_models import ModelBuilder

from ge.dialects.onnx.shapes.input_shapes import parse_input_shapes
from ge.ir.errors import GeError
from ge.ir.printer import write_module
from ge.targets.ascend.om.writer import write_module as write_om
from ge.targets.ascend.runtime import Model, Outputs
from ge.targets.ascend.runtime.inputs import Inputs
from ge.targets.onnx.importer import import_model
from ge.tools import ge_opt, ge_run
from ge.tools.arrays import write_outputs
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions

X = np.linspace(-1, 1, 192, dtype=np.float32).reshape(1, 3, 8, 8)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Convolution, batch normalisation and relu."""
    builder = ModelBuilder()
    x = builder.input("x", 1, 3, 8, 8)
    builder.output(builder.node("Relu", builder.conv_bn(x, 3, 4), name="y"))
    path = tmp_path / "model.onnx"
    onnx.save(builder.build(), path)
    np.save(tmp_path / "x.npy", X)
    return path


def run(*arguments: str | Path) -> None:
    ge_run.run([str(argument) for argument in arguments])


def error_of(*arguments: str | Path) -> GeError:
    with pytest.raises(GeError) as error:
        run(*arguments)
    return error.value


def test_every_level_of_a_model_gives_the_same(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = model.parent
    write_module(import_model(model), folder / "onnx.mlir")
    ge_opt.run([str(model), "--convert-onnx-to-graph", "-o", str(folder / "graph.mlir")])
    ge_opt.run([str(model), "--convert-onnx-to-graph", "--fuse-conv-bn-relu", "-o", str(folder / "fused.mlir")])
    for name, level in [
        ("model.onnx", "onnx"),
        ("onnx.mlir", "onnx"),
        ("graph.mlir", "graph"),
        ("fused.mlir", "graph"),
    ]:
        run(folder / name, "--input", f"x={folder / 'x.npy'}", "--compare", model)
        shown = capsys.readouterr().out
        assert f"{name}: {level} level" in shown
        assert "y: float32[1, 4, 8, 8] = [" in shown and "y: agrees" in shown


def test_inputs_come_from_files_of_every_kind(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = model.parent
    np.savez(folder / "inputs.npz", x=X)
    (folder / "x.pb").write_bytes(numpy_helper.from_array(X).SerializeToString())
    for option in [folder / "x.npy", folder / "inputs.npz", f"x={folder / 'inputs.npz'}", f"x={folder / 'x.pb'}"]:
        run(model, "--input", option)
    lines = [line for line in capsys.readouterr().out.splitlines() if "y: " in line]
    assert len(lines) == 4 and len(set(lines)) == 1


def test_random_inputs_depend_on_the_seed_only(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in ("1", "1", "2"):
        run(model, "--random-input", "--seed", seed)
    lines = [line for line in capsys.readouterr().out.splitlines() if "y: " in line]
    assert lines[0] == lines[1] != lines[2]


def test_open_shapes_are_given_for_models_and_their_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, text = tmp_path / "open.onnx", tmp_path / "open.mlir"
    builder = ModelBuilder()
    builder.output(builder.node("Relu", builder.input("x", "n", 4), name="y"))
    onnx.save(builder.build(), model)
    write_module(import_model(model), text)
    for path in (model, text):
        run(path, "--random-input", "--input-shape", "x:3,4")
        assert error_of(path, "--random-input", "--input-shape", "x:3,5").code == "GE1019"
    lines = [line for line in capsys.readouterr().out.splitlines() if ": float32[3, 4]" in line]
    assert len(lines) == 2 and len(set(lines)) == 1


def test_outputs_are_written_as_arrays(model: Path) -> None:
    run(model, "--input", model.parent / "x.npy", "--output-dir", model.parent / "out" / "deep")
    value = np.load(model.parent / "out" / "deep" / "y.npy")
    assert value.shape == (1, 4, 8, 8) and (value >= 0).all()


def test_a_difference_ends_with_an_error(model: Path) -> None:
    builder = ModelBuilder(seed=7)
    builder.output(builder.node("Relu", builder.conv_bn(builder.input("x", 1, 3, 8, 8), 3, 4), name="y"))
    other = model.parent / "other.onnx"
    onnx.save(builder.build(), other)
    assert error_of(model, "--random-input", "--compare", other).code == "GE6008"
    with pytest.raises(SystemExit) as exit:
        ge_run.main([str(model), "--random-input", "--compare", str(other)])
    assert exit.value.code == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], "GE6002"),
        (["--input", "x=missing.npy"], "GE6007"),
        (["--input", "{model}"], "GE6007"),
        (["--input", "x={model}"], "GE6007"),
        (["--input-shape", "x"], "GE2006"),
    ],
)
def test_wrong_inputs_are_one_error(model: Path, arguments: list[str], code: str) -> None:
    assert error_of(model, *(each.replace("{model}", str(model)) for each in arguments)).code == code


def test_unknown_files_are_one_error(tmp_path: Path) -> None:
    assert error_of(tmp_path / "missing.om").code == "GE1001"
    assert error_of(tmp_path / "missing.onnx").code == "GE1001"
    assert error_of(tmp_path / "model.txt").code == "GE1002"
    (tmp_path / "empty.mlir").write_text("builtin.module {\n}\n")
    assert error_of(tmp_path / "empty.mlir").code == "GE3004"


def test_random_values_that_no_memory_holds_are_one_error(tmp_path: Path) -> None:
    for sizes in ("99999999999x99999", "4000000000000000000x4000000000000000000"):
        text = f"func.func @main(%x: tensor<{sizes}xf32>) {{\n  func.return\n}}\n"
        (tmp_path / "huge.mlir").write_text(text)
        assert error_of(tmp_path / "huge.mlir", "--random-input").code == "GE6009"


def test_names_that_become_one_file_name_are_kept_apart(tmp_path: Path) -> None:
    values = {
        "/a/b": np.zeros(1),
        "_a_b": np.ones(1),
        "/a.b": np.full(1, 2.0),
        "s": [np.ones(2), np.zeros(3)],
        "n": None,
    }
    files = write_outputs(values, tmp_path)
    assert [file.name for file in files] == ["_a_b.npy", "_a_b~1.npy", "_a.b.npy", "s.0.npy", "s.1.npy"]
    assert list(files.values()) == ["/a/b", "_a_b", "/a.b", "s.0", "s.1"]
    assert [np.load(file).tolist() for file in files] == [[0], [1], [2], [1, 1], [0, 0, 0]]


def test_a_tolerance_is_the_measure(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ModelBuilder(seed=7)
    builder.output(builder.node("Relu", builder.conv_bn(builder.input("x", 1, 3, 8, 8), 3, 4), name="y"))
    other = model.parent / "other.onnx"
    onnx.save(builder.build(), other)
    run(model, "--random-input", "--compare", other, "--atol=1000")
    assert error_of(model, "--random-input", "--compare", other, "--rtol=1e-3").code == "GE6008"
    assert capsys.readouterr().out.count(", the reference has ") == 10


def test_the_signature_has_the_same_name_for_the_same_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ModelBuilder()
    x = builder.input("x", "n", 3, 8, 8)
    builder.output(builder.node("Flatten", builder.conv_bn(x, 3, 4), name="y"))
    model, text, om = (tmp_path / f"model.{ending}" for ending in ("onnx", "mlir", "om"))
    onnx.save(builder.build(), model)
    write_module(import_model(model), text)
    for path in (model, text):
        run(path, "--signature")
        assert capsys.readouterr().out == "inputs\n  x: float32[n, 3, 8, 8]\noutputs\n  y: float32[n, 256]\n"
    fixed = "inputs\n  x: float32[2, 3, 8, 8]\noutputs\n  y: float32[2, 256]\n"
    for path in (model, text):
        run(path, "--signature", "--input-shape", "x:2,3,8,8")
        assert capsys.readouterr().out == fixed
    shapes = parse_input_shapes("x:2,3,8,8")
    write_om(compile_model(CompileOptions(model, input_shapes=shapes)).module, om)
    run(om, "--signature")
    assert capsys.readouterr().out == fixed


@pytest.mark.parametrize("level", ["onnx", "mlir", "om"])
@pytest.mark.parametrize(
    ("name", "value", "code", "words"),
    [
        ("x", np.zeros((1, 3, 8, 9), np.float32), "GE6004", ["'x'", "[1, 3, 8, 9]", "[1, 3, 8, 8]"]),
        ("x", np.zeros((3, 8, 8), np.float32), "GE6004", ["'x'", "[3, 8, 8]", "[1, 3, 8, 8]"]),
        ("x", np.zeros((1, 3, 8, 8), np.int32), "GE6005", ["'x'", "int32", "float32"]),
        ("z", X, "GE6003", ["'z'", "'x'"]),
    ],
)
def test_an_input_that_does_not_fit_is_one_error_at_every_level(
    model: Path, level: str, name: str, value: np.ndarray, code: str, words: list[str]
) -> None:
    file, array = model.with_suffix(f".{level}"), model.parent / "value.npy"
    np.save(array, value)
    if level == "mlir":
        write_module(import_model(model), file)
    if level == "om":
        write_om(compile_model(CompileOptions(model)).module, file)
    error = error_of(file, f"--input={name}={array}")
    assert error.code == code and all(word in error.what for word in words), error.what


def compiled(model: Path) -> Path:
    file = model.with_suffix(".om")
    write_om(compile_model(CompileOptions(model)).module, file)
    return file


@pytest.mark.parametrize("device", ["npu", "0", "Ascend310P3"])
def test_a_device_by_its_number_or_name_changes_no_result(
    model: Path, device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = compiled(model)
    for options in ([], [f"--device={device}"], ["--device", device, "--threads=3"]):
        run(file, "--random-input", *options, "--dump=all", "--dump-dir", model.parent / "values", "--compare", model)
    lines = [line for line in capsys.readouterr().out.splitlines() if "y: float32" in line]
    assert len(lines) == 3 and len(set(lines)) == 1
    run(file, "--random-input", f"--device={device}", "--compare", model, "--layerwise")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--device=1"], "GE6001", "there is no device '1'; there is npu, 0, Ascend"),
        (["--device=Ascend310P4"], "GE6001", "there is no device 'Ascend310P4'"),
        (["--device=Ascend910A"], "GE6001", "was compiled for Ascend310P3, the device is Ascend910A"),
        (["--threads=0"], "GE2006", "not between 1 and 256"),
        (["--threads=1000000"], "GE2006", "not between 1 and 256"),
        (["--threads=2", "--signature"], "GE2006", "never"),
        (["--threads=2", "--layerwise", "--compare={model}"], "GE2006", "--layerwise once"),
    ],
)
def test_a_wrong_device_is_one_error(model: Path, options: list[str], code: str, words: str) -> None:
    options = [each.replace("{model}", str(model)) for each in options]
    error = error_of(compiled(model), "--random-input", *options)
    assert error.code == code and words in error.what


@pytest.mark.parametrize("option", ["--device=0", "--threads=1"])
def test_what_runs_on_no_device_has_none(model: Path, option: str) -> None:
    assert error_of(model, "--random-input", option).code == "GE2006"


def test_runs_at_the_same_time_with_other_bits_are_an_error(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when two runs shared memory that is not the weights."""
    file, run_alone, count = compiled(model), Model.run, iter(range(3))

    def disturbed(self: Model, inputs: Inputs, tap: Sequence[str] = ()) -> Outputs:
        outputs = run_alone(self, inputs, tap)
        if next(count) == 1:
            outputs["y"][0, 0, 0, 0] += 1
        return outputs

    monkeypatch.setattr(Model, "run", disturbed)
    assert error_of(file, "--random-input", "--threads=3").code == "GE6008"


def test_what_left_the_range_of_float16_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sums of 8 products of 50 and 100 fit, of 8 products of 50 and 10 000 do not."""
    builder = ModelBuilder()
    x = builder.input("x", 1, 8)
    for name, weight in (("small", 100.0), ("large", 10_000.0)):
        builder.output(builder.node("MatMul", x, builder.constant(np.full((8, 4), weight)), name=name))
    onnx.save(builder.build(), tmp_path / "model.onnx")
    om = tmp_path / "model.om"
    write_om(compile_model(CompileOptions(tmp_path / "model.onnx", level=1)).module, om)
    for value, saturated in ((0.5, "no result of float16"), (50.0, "4 results of 1 operators became 65504 or -65504")):
        np.save(tmp_path / "x.npy", np.full((1, 8), value, np.float32))
        arguments = [om, "--input", tmp_path / "x.npy", "--profile"]
        run(*arguments)
        assert f"saturated: {saturated}" in capsys.readouterr().out
    assert error_of(om, "--input", tmp_path / "x.npy", "--compare", tmp_path / "model.onnx").code == "GE6008"
    assert "saturated: 4 results of 1 operators became 65504 or -65504, first of large" in capsys.readouterr().out
