"""What users of such compilers complain about in the group "precision", of modes; each test has the rank in its name.

Rank 7: something between all in float16 and all in float32. Rank 62: a mode that keeps everything changes nothing.
Rank 72: bfloat16, where float16 overflows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto
from onnx_models import ModelBuilder, compile_to_graph, run_pass, run_reference

from ge.dialects.graph import HostOp
from ge.dialects.graph.meaning import run_module as run_graph
from ge.dialects.onnx.meaning import run_module
from ge.ir.registry import context, registry
from ge.passes.pipelines import onnx_pipeline
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.ascend.runtime import Runtime
from ge.targets.onnx.importer import import_model
from ge.tools import ge_compiler
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions
from ge.tools.pipeline import PassRunner, parse_pipeline

Array = NDArray[Any]


def cosine(got: Mapping[str, Array], want: Mapping[str, Array]) -> float:
    """Of the angle between two outputs: 1 when they have the same direction."""
    ((a, b),) = zip(got.values(), want.values(), strict=True)
    x, y = a.astype(np.float64).reshape(-1), b.astype(np.float64).reshape(-1)
    return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))


def neck() -> ModelBuilder:
    """A pyramid of features: one goes up again by a transposed convolution, and is added to the other.

    Between them is a block whose exponentials are up to e¹⁴, where float16 ends at e¹¹.
    """
    b = ModelBuilder(seed=7)
    fine = b.node("Relu", b.node("Conv", b.input("x", 1, 4, 16, 16), b.weights(8, 4, 3, 3, scale=0.2), pads=[1] * 4))
    coarse = b.node("Conv", fine, b.weights(8, 8, 2, 2, scale=0.2), strides=[2, 2])
    wide = b.node("Exp", b.node("Mul", b.node("Sigmoid", coarse), b.constant(14.0)), name="hot")
    gate = b.node("Div", wide, b.node("ReduceSum", wide, b.constant([2, 3], np.int64)), name="share")
    up = b.node("ConvTranspose", gate, b.weights(8, 8, 2, 2), strides=[2, 2])
    b.output(b.node("Conv", b.node("Add", up, b.node("Mul", fine, b.constant(0.01))), b.weights(2, 8, 1, 1)))
    return b


@pytest.mark.parametrize(
    ("options", "holds"),
    [
        ({"mode": "force_fp16"}, False),
        ({"mode": "allow_mix_precision"}, True),
        ({"keep": ("hot", "share")}, True),
        ({"keep_types": ("Exp", "Div")}, True),
        ({"mode": "must_keep_origin_dtype"}, True),
    ],
)
def test_needs_07_one_block_may_keep_its_precision(options: dict[str, Any], holds: bool) -> None:
    b = neck()
    model, feeds = b.build(), b.random_inputs()
    module = compile_to_graph(model)
    run_pass(module, "assign-precision", **options)
    for name in ("merge-host", "propagate-layout"):
        run_pass(module, name)
    assert (cosine(run_graph(module, feeds), run_reference(model, feeds)) >= 0.999) == holds
    if options.get("mode") != "must_keep_origin_dtype":
        on_host = {inner.name for op in module.walk() if isinstance(op, HostOp) for inner in op.body.walk()}
        assert "onnx.Conv" not in on_host, "the rest is computed by the device"


def test_needs_62_a_mode_that_keeps_everything_changes_no_bit(tmp_path: Path) -> None:
    """The whole way to the device and back."""
    b = neck()
    onnx.save(b.build(), tmp_path / "m.onnx")
    feeds = b.random_inputs()
    options = CompileOptions(tmp_path / "m.onnx", precision_mode="must_keep_origin_dtype", level=0)
    (got,) = Runtime().run(model_bytes(compile_model(options).module), feeds).values()
    (want,) = run_module(import_model(b.build()), feeds).values()
    np.testing.assert_array_equal(got, want)


# 72


def wide_model() -> ModelBuilder:
    """In bfloat16, with values beyond float16 and constants that are folded."""
    b = ModelBuilder(opset=20, seed=3)
    x = b.input("x", 2, 32, dtype=TensorProto.BFLOAT16)
    big = b.node("Mul", x, b.constant(3e30, ml_dtypes.bfloat16))
    scale = b.node("Div", b.constant(1.0, ml_dtypes.bfloat16), b.constant(3.0, ml_dtypes.bfloat16))
    y = b.node(
        "Add", b.node("Mul", big, scale), b.node("Mul", b.node("Identity", big), b.constant(1.0, ml_dtypes.bfloat16))
    )
    b.output(b.node("Relu", y))
    return b


def bfloat(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_needs_72_values_in_bfloat16_are_rounded_to_the_nearest_and_do_not_overflow(level: int) -> None:
    module = import_model(wide_model().build())
    passes = parse_pipeline(onnx_pipeline(level, "model"), registry())
    PassRunner(lambda module: module.verify(), str).run(context(), module, passes)
    x = bfloat((2, 32))
    (got,) = run_module(module, {"x": x}).values()
    third = (np.float32(1) / np.float32(3)).astype(ml_dtypes.bfloat16)
    big = (x.astype(np.float32) * np.float32(ml_dtypes.bfloat16(3e30))).astype(ml_dtypes.bfloat16)
    part = (big.astype(np.float32) * third.astype(np.float32)).astype(ml_dtypes.bfloat16)
    want = np.maximum((part.astype(np.float32) + big.astype(np.float32)).astype(ml_dtypes.bfloat16), 0)
    assert got.dtype == ml_dtypes.bfloat16
    assert np.isfinite(got.astype(np.float32)).all()
    assert got.astype(np.float32).max() > 1e30
    np.testing.assert_array_equal(got, want)


def test_needs_72_a_model_in_bfloat16_compiles_and_keeps_its_type(tmp_path: Path) -> None:
    onnx.save(wide_model().build(), tmp_path / "m.onnx")
    x = bfloat((2, 32))
    (got,) = Runtime().run(model_bytes(compile_model(CompileOptions(tmp_path / "m.onnx")).module), {"x": x}).values()
    (want,) = run_module(import_model(wide_model().build()), {"x": x}).values()
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got, want)


def test_needs_72_a_mode_that_the_chip_has_not_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The cube and vector units of this chip have no bfloat16: the modes that there are, are named."""
    onnx.save(neck().build(), tmp_path / "m.onnx")
    with pytest.raises(SystemExit):
        ge_compiler.main(
            [f"--model={tmp_path}/m.onnx", f"--output={tmp_path}/m", "--precision_mode=allow_mix_precision_bf16"]
        )
    error = capsys.readouterr().err
    assert "precision_mode" in error
    assert "force_fp16" in error
    assert "allow_mix_precision" in error
