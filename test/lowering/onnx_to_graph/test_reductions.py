"""Reductions compute what onnxruntime computes, at the graph level and on the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx_models import F16, F32, ModelBuilder, assert_close, compile_to_graph, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge import Runtime
from ge.dialects.graph import HostOp, Pool2DOp, ReduceOp
from ge.dialects.graph.meaning import run_module
from ge.targets.ascend.om.writer import model_bytes
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions

DEVICE = ["assign-precision", "merge-host", "propagate-layout", "convert-graph-to-tile"]

KINDS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare"]

Feeds = dict[str, Any]


def reduction(op_type: str, shape: Sequence[int], axes: list[int] | None, opset: int = 18, **attributes: Any) -> Any:
    """A model of one reduction, with the axes where its opset has them; and inputs of whole and broken numbers."""
    b = ModelBuilder(opset)
    x = b.input("x", *shape)
    as_input = opset >= 18 or (op_type == "ReduceSum" and opset >= 13)
    names = [b.constant(axes, np.int64)] if axes is not None and as_input else []
    if axes is not None and not as_input:
        attributes["axes"] = axes
    b.output(b.node(op_type, x, *names, **attributes))
    return b.build(), b.random_inputs()


def hosts(module: ModuleOp) -> list[HostOp]:
    """Operations that run on the host."""
    return [op for op in module.walk() if isinstance(op, HostOp)]


def check_on_device(model: Any, feeds: Feeds) -> ModuleOp:
    """The kernels on the device give what onnxruntime gives on the float16 values that they get."""
    module = compile_to_graph(model, DEVICE)
    rounded = {name: value.astype(np.float16).astype(np.float32) for name, value in feeds.items()}
    assert_close(run_module(module, rounded), run_reference(model, rounded), F16)
    return module


SHAPES: list[tuple[tuple[int, ...], list[int] | None]] = [
    ((5, 24), [1]),
    ((5, 24), [0]),
    ((2, 3, 40), [-1]),
    ((2, 3, 40), [1, 0]),
    ((2, 3, 40), [1]),
    ((2, 3, 40), None),
    ((2, 3, 40), []),
    ((7,), [0]),
    ((2, 3, 4, 5), [-1, -2]),
    ((2, 3, 4, 5), [1]),
    ((2, 3, 1, 5), [1, 3]),
    ((2, 1, 4, 1), [1, 3]),
    ((2, 3, 2, 4, 5), [2, 3, 4]),
]


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
@pytest.mark.parametrize("op_type", KINDS)
def test_reductions(op_type: str, shape: Sequence[int], axes: list[int] | None, keepdims: int) -> None:
    model, feeds = reduction(op_type, shape, axes, keepdims=keepdims)
    module = compile_to_graph(model)
    assert not hosts(module)
    assert_close(run_module(module, feeds), run_reference(model, feeds), F32)
    squares_nothing = op_type == "ReduceSumSquare" and shape == (2, 1, 4, 1)
    assert squares_nothing == bool(hosts(check_on_device(model, feeds)))


@pytest.mark.parametrize("opset", [11, 13, 18, 20])
@pytest.mark.parametrize("op_type", KINDS)
def test_axes_of_every_opset(op_type: str, opset: int) -> None:
    model, feeds = reduction(op_type, (3, 4, 20), [-1], opset, keepdims=0)
    module = compile_to_graph(model)
    assert not hosts(module)
    assert_close(run_module(module, feeds), run_reference(model, feeds), F32)


@pytest.mark.parametrize("axes", [None, []])
@pytest.mark.parametrize("op_type", KINDS)
def test_no_axes_may_mean_none(op_type: str, axes: list[int] | None) -> None:
    model, feeds = reduction(op_type, (3, 20), axes, noop_with_empty_axes=1)
    module = compile_to_graph(model)
    assert_close(run_module(module, feeds), run_reference(model, feeds), F32)
    assert bool(hosts(module)) == (op_type == "ReduceSumSquare")


HOSTED = {
    "dimensions between": ("ReduceSum", (2, 3, 4), [0, 2]),
    "no elements": ("ReduceSum", (0, 3), [1]),
    "no rows": ("ReduceSum", (3, 0), [1]),
}


@pytest.mark.parametrize("case", HOSTED)
def test_what_has_no_kernel_stays_on_the_host(case: str) -> None:
    model, feeds = reduction(*HOSTED[case])
    module = compile_to_graph(model, DEVICE)
    assert [op.name for host in hosts(module) for op in host.body.block.ops if "Reduce" in op.name]
    assert_close(run_module(module, feeds), run_reference(model, feeds), F32)


def test_integers_stay_on_the_host() -> None:
    b = ModelBuilder(18)
    b.output(b.node("ReduceMax", b.input("n", 3, 4, dtype=TensorProto.INT64), b.constant([1], np.int64)))
    assert len(hosts(compile_to_graph(b.build()))) == 1


def test_means_of_feature_maps_are_pooled_and_those_of_sequences_are_not() -> None:
    """The result of a convolution of one row is a feature map, too."""
    b = ModelBuilder(18)
    last = b.constant([2], np.int64)
    b.output(b.node("ReduceMean", b.input("sequence", 2, 5, 32), last))
    b.output(b.node("ReduceMean", b.node("Conv", b.input("row", 1, 3, 20), b.weights(4, 3, 5)), last))
    b.output(b.node("ReduceMean", b.input("map", 1, 3, 4, 5), b.constant([2, 3], np.int64)))
    b.output(b.node("ReduceSum", b.input("other", 1, 3, 4, 5), b.constant([2, 3], np.int64)))
    module = compile_to_graph(b.build())
    kinds = [str(op.kind.data) for op in module.walk() if isinstance(op, Pool2DOp | ReduceOp)]
    assert kinds == ["mean", "average", "average", "sum"]
    check_on_device(b.build(), b.random_inputs())


def test_a_norm_on_the_chip(tmp_path: Path) -> None:
    """x / √(mean x² + ε) of one row, and of each of several, on the whole way to the simulated chip."""
    b = ModelBuilder(18)
    for name, rows in (("one", 1), ("some", 20)):
        x = b.node("MatMul", b.input(name, 1, rows, 64), b.weights(64, 512, scale=0.1))
        mean = b.node("ReduceMean", b.node("Mul", x, x), b.constant([-1], np.int64))
        root = b.node("Sqrt", b.node("Add", mean, b.constant(1e-3)))
        b.output(b.node("Div", x, root) if rows == 1 else root)
    onnx.save(b.build(), tmp_path / "m.onnx")
    feeds = b.random_inputs()
    module = compile_model(CompileOptions(tmp_path / "m.onnx")).module
    got = Runtime().run(model_bytes(module), feeds)
    assert_close(got, run_reference(b.build(), feeds), 3 * F16)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op_type", KINDS)
def test_numbers_that_are_none_or_too_large(op_type: str, axis: int) -> None:
    """NaN stays NaN; sums are taken in float32, and saturate where float16 ends."""
    model, _ = reduction(op_type, (40, 40), [axis])
    x = np.random.default_rng(3).standard_normal((40, 40)).astype(np.float16)
    x[3, 4], x[7, 7], x[11, 11] = np.nan, 65504, -65504
    x[:, 20] = x[20, :] = 60000
    x[20::2, 20] = x[20, 20::2] = -60000
    (got,) = run_module(compile_to_graph(model, DEVICE), {"x": x.astype(np.float32)}).values()
    exact = {
        "ReduceSum": lambda v: v.sum(axis, keepdims=True),
        "ReduceMean": lambda v: v.mean(axis, keepdims=True),
        "ReduceMax": lambda v: v.max(axis, keepdims=True),
        "ReduceMin": lambda v: v.min(axis, keepdims=True),
        "ReduceSumSquare": lambda v: (v * v).sum(axis, keepdims=True),
    }[op_type](x.astype(np.float64))
    want = np.clip(exact, -65504, 65504)
    assert np.isnan(got).reshape(-1)[[4, 3][axis]]
    np.testing.assert_allclose(got, want, rtol=2**-10, atol=2**-8)
