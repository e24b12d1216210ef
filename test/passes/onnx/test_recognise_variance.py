"""A variance far from zero has digits left on the device, and the same ones in float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_models import ModelBuilder

from ge import Runtime
from ge.dialects.onnx.meaning import run_module
from ge.ir.registry import context, registry
from ge.ir.verifier import verify_module
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.onnx.importer import import_model
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions
from ge.tools.pipeline import PassRunner, parse_pipeline


def model(keepdims: int) -> onnx.ModelProto:
    m = ModelBuilder(opset=18)
    x, axes = m.node("MatMul", m.input("x", 6, 64), m.constant(np.eye(64))), m.constant((1,), np.int64)
    squares = m.node("ReduceMean", m.node("Mul", x, x), axes, keepdims=keepdims)
    mean = m.node("ReduceMean", x, axes, keepdims=keepdims)
    m.output(m.node("Sub", squares, m.node("Mul", mean, mean)), mean)
    return m.build()


def values() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return (100 + 0.5 * np.random.default_rng(0).standard_normal((6, 64))).astype(np.float32)


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(("level", "largest_error"), [(1, None), (2, 0.02)])
def test_on_the_device(keepdims: int, level: int, largest_error: float | None, tmp_path: Path) -> None:
    """Without the pass what is left of the variance is noise: squares around 10000 are rounded to multiples of 8."""
    onnx.save(model(keepdims), tmp_path / "model.onnx")
    file = model_bytes(compile_model(CompileOptions(tmp_path / "model.onnx", level=level)).module)
    got = next(iter(Runtime().run(file, {"x": values()}).values())).reshape(-1)
    error = float(np.abs(got - values().astype(np.float64).var(axis=1)).max())
    assert error > 0.1 if largest_error is None else error < largest_error, error


@pytest.mark.parametrize("keepdims", [0, 1])
def test_in_float32(keepdims: int) -> None:
    module = import_model(model(keepdims))
    before = run_module(module, {"x": values()})
    PassRunner(verify_module, str).run(context(), module, parse_pipeline("recognise-variance", registry()))
    for name, got in run_module(module, {"x": values()}).items():
        np.testing.assert_allclose(got, before[name], rtol=0.02)  # the difference of squares has lost five digits
