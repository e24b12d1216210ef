"""Divisors that are above zero in the model are above zero in float16; onnxruntime judges, on rows of zeros, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_models import F16, ModelBuilder, assert_close, compile_to_graph, run_pass, run_reference

from ge.dialects.graph import BinaryKind, BinaryOp, HostOp
from ge.dialects.graph.meaning import run_module
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.ascend.runtime import Runtime
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions

EPSILON = 1e-12


def normalised(b: ModelBuilder, x: str) -> str:
    """x / max(|x|, epsilon), as torch.nn.functional.normalize has it: with the norm expanded."""
    norm = b.node("Clip", b.node("ReduceL2", x, axes=[1]), b.constant(EPSILON), "")
    return b.node("Div", x, b.node("Expand", norm, b.node("Shape", x)))


def rooted(b: ModelBuilder, x: str) -> str:
    """x · 1/√(x² + epsilon)."""
    square = b.node("Add", b.node("Mul", x, x), b.constant(EPSILON))
    return b.node("Mul", x, b.node("Reciprocal", b.node("Sqrt", square)))


def divided(b: ModelBuilder, x: str) -> str:
    """x / √(x² + epsilon)."""
    return b.node("Div", x, b.node("Sqrt", b.node("Add", b.node("Pow", x, b.constant(2.0)), b.constant(EPSILON))))


def entropy(b: ModelBuilder, x: str) -> str:
    """p · ln(p + epsilon)."""
    p = b.node("Relu", x)
    return b.node("Mul", p, b.node("Log", b.node("Add", p, b.constant(EPSILON))))


def surprise(b: ModelBuilder, x: str) -> str:
    """x / (ln p + epsilon): a logarithm of a softmax is below zero, and stays that."""
    return b.node("Div", x, b.node("Add", b.node("LogSoftmax", x, axis=1), b.constant(1e-9)))


KEPT: list[Callable[[ModelBuilder, str], str]] = [normalised, rooted, divided, entropy, surprise]


@pytest.mark.parametrize("formula", KEPT)
def test_zeros_over_what_is_nearly_zero(formula: Callable[[ModelBuilder, str], str], tmp_path: Path) -> None:
    b = ModelBuilder(opset=17)
    b.output(formula(b, b.input("x", 4, 32)))
    x = b.random.standard_normal((4, 32)).astype(np.float32)
    x[1] = 0
    model = b.build()
    want = run_reference(model, {"x": x})
    graph = compile_to_graph(model, ["assign-precision"])
    assert_close(run_module(graph, {"x": x}), want, F16)
    onnx.save(model, tmp_path / "m.onnx")
    program = compile_model(CompileOptions(tmp_path / "m.onnx"))
    assert_close(dict(Runtime().load(model_bytes(program.module)).run({"x": x})), want, F16)


def kept(build: Callable[[ModelBuilder], None]) -> int:
    """How many divisors are kept above zero."""
    b = ModelBuilder(opset=17)
    build(b)
    graph = compile_to_graph(b.build(), ["assign-precision"])
    return sum(isinstance(op, BinaryOp) and op.kind.data is BinaryKind.MAX for op in graph.walk())


def far_above(b: ModelBuilder) -> None:
    x = b.input("x", 4, 32)
    square = b.node("Add", b.node("Mul", x, x), b.constant(1e-3))
    b.output(b.node("Div", x, b.node("Sqrt", square)))


def of_any_sign(b: ModelBuilder) -> None:
    x = b.input("x", 4, 32)
    b.output(b.node("Div", x, b.node("Add", x, b.constant(EPSILON))))


def zero_in_the_model(b: ModelBuilder) -> None:
    x = b.input("x", 4, 32)
    b.output(b.node("Div", x, b.node("Relu", x)))


def numerator(b: ModelBuilder) -> None:
    x = b.input("x", 4, 32)
    small = b.node("Add", b.node("Mul", x, x), b.constant(EPSILON))
    b.output(b.node("Div", small, b.input("y", 4, 32)))


def float16_of_the_model(b: ModelBuilder) -> None:
    x = b.input("x", 4, 32, dtype=onnx.TensorProto.FLOAT16)
    square = b.node("Add", b.node("Mul", x, x), b.constant(1e-7, np.float16))
    b.output(b.node("Div", x, square))


def twice(b: ModelBuilder) -> None:
    x = b.input("x", 4, 32)
    square = b.node("Add", b.node("Mul", x, x), b.constant(EPSILON))
    b.output(b.node("Div", x, square), b.node("Div", b.input("y", 4, 32), square))


@pytest.mark.parametrize(
    ("build", "count"),
    [(far_above, 0), (of_any_sign, 0), (zero_in_the_model, 0), (numerator, 0), (float16_of_the_model, 0), (twice, 1)],
)
def test_what_is_kept(build: Callable[[ModelBuilder], None], count: int) -> None:
    assert kept(build) == count


def test_what_the_host_divides_stays_as_it_is() -> None:
    b = ModelBuilder(opset=17)
    b.output(normalised(b, b.input("x", 4, 32)))
    module = compile_to_graph(b.build())
    run_pass(module, "assign-precision", keep_types=("Div",))
    assert not any(isinstance(op, BinaryOp) for op in module.walk())
    assert any(isinstance(op, HostOp) for op in module.walk())
