"""--verify-numerics: right passes pass, a wrong one is named, with the operator that it broke."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planted_fault import planted
from xdsl.dialects.builtin import TensorType, f32, i32, i64

from ge.maths.hostile import KINDS
from ge.tools.arrays import InputInfo
from ge.tools.ge_opt import main
from ge.tools.verify_numerics import difference, draw_input


def test_wrong_pass_is_named_with_its_operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, plugin = planted(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main([str(model), f"--load-plugin={plugin}", "--verify-numerics", "--infer-shapes", "--planted", "--onnx-dce"])
    error = capsys.readouterr().err
    assert stop.value.code == 1
    assert "pass 'planted' changes output 'sub_9'" in error
    assert "the first value that differs is that of node 'abs_7' (onnx.Relu)" in error
    assert "[GE3014]" in error


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


@pytest.mark.parametrize("kind", KINDS)
def test_what_may_be_how_often_a_loop_turns_is_small(kind: str) -> None:
    random = np.random.default_rng(0)
    for type in (TensorType(i64, []), TensorType(i32, [1])):
        assert 0 <= draw_input(InputInfo("n", type), kind, 2, random, counts=True).item() < 4
    floats = draw_input(InputInfo("x", TensorType(f32, [])), kind, 2, random, counts=True)
    assert floats.dtype == np.float32


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
