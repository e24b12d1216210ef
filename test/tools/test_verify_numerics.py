"""--verify-numerics: right passes pass, a wrong one is named, with the operator that it broke."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planted_fault import planted

from ge.tools.ge_opt import main
from ge.tools.verify_numerics import difference


def test_wrong_pass_is_named_with_its_operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, plugin = planted(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main([str(model), f"--load-plugin={plugin}", "--verify-numerics", "--infer-shapes", "--planted", "--onnx-dce"])
    error = capsys.readouterr().err
    assert stop.value.code == 1
    assert "pass 'planted' changes output 'sub_9'" in error
    assert "the first value that differs is that of node 'abs_7' (onnx.Relu)" in error
    assert "[GE3014]" in error


WRONG_KERNELS = '''
from dataclasses import dataclass
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Drop(ModulePass):
    """Take the additions out of all kernels."""

    name = "drop-additions"

    def apply(self, ctx, op):
        for each in list(op.walk()):
            if each.name == "cube.vadd":
                each.detach()
                each.erase()


PASSES = {"drop-additions": Drop}
'''


def test_wrong_instructions_are_named_with_their_operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plugin = tmp_path / "wrong.py"
    plugin.write_text(WRONG_KERNELS)
    text = """
  %z = onnx.Relu(%x) : (tensor<16xf32>) -> tensor<16xf32> loc("first")
  %y = onnx.Add(%z, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<*xf32> loc("sum")"""
    passes = ["infer-shapes", "convert-onnx-to-graph", "assign-precision", "propagate-layout"]
    passes += ["convert-graph-to-tile", "convert-tile-to-cube", "drop-additions"]
    with pytest.raises(SystemExit):
        checked(tmp_path, "%x: tensor<16xf32>", text, f"--load-plugin={plugin}", *(f"--{name}" for name in passes))
    error = capsys.readouterr().err
    assert "pass 'drop-additions' changes output" in error
    assert "the first value that differs is that of node 'sum' (graph.launch)" in error


def test_right_passes_pass(tmp_path: Path) -> None:
    model, _ = planted(tmp_path)
    passes = ["--infer-shapes", "--constant-fold", "--fusion-rules", "--onnx-cse", "--convert-onnx-to-graph"]
    device = ["--graph-fold-constants", "--assign-precision", "--merge-host", "--propagate-layout"]
    output = tmp_path / "out.mlir"
    main([str(model), "--verify-numerics", *passes, *device, "-o", str(output)])
    assert output.exists()


def test_inputs_of_unknown_size(tmp_path: Path) -> None:
    t = "(tensor<?x3xf32>) -> tensor<?x3xf32>"
    text = f"%y = onnx.Softmax(%x) : {t}\nfunc.return %y : tensor<?x3xf32>"
    file = tmp_path / "m.mlir"
    file.write_text(f"func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {{\n{text}\n}}\n")
    main([str(file), "--verify-numerics", "--infer-shapes", "-o", str(tmp_path / "out.mlir")])


def checked(tmp_path: Path, inputs: str, text: str, *passes: str) -> None:
    file = tmp_path / "m.mlir"
    file.write_text(f"func.func @main({inputs}) -> tensor<*xf32> {{\n{text}\n  func.return %y : tensor<*xf32>\n}}\n")
    main([str(file), "--verify-numerics", *passes, "-o", str(tmp_path / "out.mlir")])


def test_what_was_judged_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
  %e = onnx.Sigmoid(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %i = onnx.Identity(%e) : (tensor<?xf32>) -> tensor<?xf32>
  %y = onnx.Tanh(%i) : (tensor<?xf32>) -> tensor<*xf32>"""
    checked(tmp_path, "%x: tensor<?xf32>", text, "--infer-shapes", "--onnx-cse", "--eliminate-identity")
    assert capsys.readouterr().err == (
        "numerics: 1 of 3 passes changed the operations, none the numbers, on 6 of 6 draws of inputs "
        "(normal, zeros, negative, tiny, large, mixed)\n"
    )


def test_draws_that_were_not_judged_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The logarithm of zeros alone is minus infinity, that of negative numbers is none."""
    text = "  %y = onnx.Log(%x) : (tensor<?xf32>) -> tensor<*xf32>"
    checked(tmp_path, "%x: tensor<?xf32>", text, "--infer-shapes")
    assert "on 3 of 6 draws of inputs (normal, tiny, large)" in (error := capsys.readouterr().err)
    assert "; without outputs to compare: zeros, negative, mixed" in error


def test_outputs_that_do_not_depend_on_the_inputs_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
  %z = onnx.Sub(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %i = onnx.Identity(%z) : (tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.Cos(%i) : (tensor<4xf32>) -> tensor<*xf32>"""
    checked(tmp_path, "%x: tensor<4xf32>", text, "--eliminate-identity")
    assert capsys.readouterr().err.endswith("; every draw gives the same outputs, which tells little\n")


def test_without_a_draw_there_is_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = """
  %0 = onnx.Abs(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = onnx.Neg(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %y = onnx.Log(%1) : (tensor<?xf32>) -> tensor<*xf32>"""
    refused = """
  %s = onnx.Constant dense<[7, 11, 13]> : tensor<3xi64>
  %y = onnx.Reshape(%x, %s) : (tensor<?xf32>, tensor<3xi64>) -> tensor<*xf32>"""
    for text, why in ((nothing, "its outputs have no finite number"), (refused, "it refuses what is drawn: ")):
        with pytest.raises(SystemExit):
            checked(tmp_path, "%x: tensor<?xf32>", text, "--infer-shapes")
        error = capsys.readouterr().err
        assert f"none of 6 draws of inputs can be judged: {why}" in error
        assert "[GE3018]" in error


def test_shapes_that_a_pass_states_are_those_of_the_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
  %s = onnx.Constant dense<[7, 1, 1]> : tensor<3xi64>
  %i = onnx.Identity(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %y = onnx.Expand(%i, %s) : (tensor<?xf32>, tensor<3xi64>) -> tensor<*xf32>"""
    checked(tmp_path, "%x: tensor<?xf32>", text, '--infer-shapes=input-shape="x:5"', "--eliminate-identity")
    assert "on 6 of 6 draws of inputs" in capsys.readouterr().err


def test_a_rounding_that_the_model_magnifies_is_none_of_the_pass(tmp_path: Path) -> None:
    """x · 3.3 · 0.7 less x · 2.31 is nothing but roundings."""
    text = """
  %a = onnx.Constant dense<3.3> : tensor<f32>
  %b = onnx.Constant dense<0.7> : tensor<f32>
  %c = onnx.Constant dense<2.31> : tensor<f32>
  %0 = onnx.Mul(%x, %a) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = onnx.Mul(%0, %b) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %2 = onnx.Mul(%x, %c) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %y = onnx.Sub(%1, %2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<*xf32>"""
    checked(tmp_path, "%x: tensor<64xf32>", text, "--combine-constants")


def array(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_tolerances() -> None:
    assert difference(array(1, 100), array(1, 100), half=False) is None
    assert difference(array(1.0005, 100), array(1, 100), half=False) is None  # 1e-5 of the largest value
    assert difference(array(1.01, 100), array(1, 100), half=False) == (0,)
    assert difference(array(1.01, 100), array(1, 100), half=True) is None
    assert difference(array(2, 100), array(1, 100), half=True) == (0,)
    assert difference(np.array([1, 2]), np.array([1, 3]), half=True) == (1,)
    assert difference(array(np.nan, 1), array(np.nan, 1), half=False) is None
    assert difference(array(0, 1), array(np.nan, 1), half=False) == (0,)
    assert difference(array(0, 1), array(np.inf, 1), half=False, strict=False) is None
    assert difference(array(np.inf, 1), array(0, 1), half=False, strict=False) == (0,)
    assert difference(array(1), array(1, 2), half=False) == ()
    assert difference([array(1)], [array(1), array(2)], half=False) == ()
    assert difference([array(1), array(3)], [array(1), array(2)], half=False) == (1, 0)
