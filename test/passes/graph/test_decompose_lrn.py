"""Local response normalisation on the device: large numbers, whose squares float16 does not hold, and small ones."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import F16, ModelBuilder, assert_close, compile_to_graph, run_reference

from ge.dialects.graph import Conv2DOp
from ge.dialects.graph.meaning import run_module
from ge.maths.floats import FLOAT16_MAX
from ge.passes.graph.decompose_lrn import LARGEST_ROOT, band_exponent


@pytest.mark.parametrize(
    ("size", "alpha", "beta", "bias", "scale"),
    [
        (3, 1.0, 0.5, 2.0, 300.0),
        (3, 1.0, 0.5, 2.0, 5e3),
        (3, 1.0, 0.5, 2.0, 1.0),
        (5, 1e-4, 0.75, 1.0, 1e4),
        (5, 1e-9, 0.75, 1.0, 1e4),
        (3, 1e-4, 0.75, 1e-5, 0.01),
        (7, 0.01, 0.75, 1.0, 0.1),
    ],
)
def test_numbers_of_any_size(size: int, alpha: float, beta: float, bias: float, scale: float) -> None:
    b = ModelBuilder()
    x = b.input("x", 2, 32, 3, 4)
    b.output(b.node("LRN", x, size=size, alpha=alpha, beta=beta, bias=bias))
    x = (b.random.standard_normal((2, 32, 3, 4)) * scale).astype(np.float16).astype(np.float32)
    model = b.build()
    graph = compile_to_graph(model, ["decompose-lrn", "assign-precision"])
    assert any(isinstance(op, Conv2DOp) for op in graph.walk())
    assert_close(run_module(graph, {"x": x}), run_reference(model, {"x": x}), 2 * F16)


def test_alexnet_takes_every_number() -> None:
    factor = np.sqrt(1e-4 / 5) * 2.0 ** -band_exponent(5, 1e-4, 1.0)
    assert factor * FLOAT16_MAX <= LARGEST_ROOT


def test_without_squares() -> None:
    assert band_exponent(5, 0.0, 1.0) == 0
