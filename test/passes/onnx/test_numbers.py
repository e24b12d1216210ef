"""Every pass leaves the numbers of a model as they are: before and after, through onnxruntime, on random inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, parser
from onnx_models import F32, ModelBuilder, assert_close, run_pass, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx.meaning import run_module
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"

PIPELINE = ["infer-shapes", "constant-fold", "onnx-cse", "onnx-dce", "eliminate-identity", "onnx-dce"]


def check(model: ModelProto, feeds: dict[str, NDArray[Any]], *passes: str, exact: bool = False) -> ModuleOp:
    """Run passes and compare: bit by bit in onnxruntime, within float32 (or ``exact``) in our own evaluation."""
    module = check_exported(model, feeds, *passes)
    ours, want = run_module(module, feeds), run_reference(model, feeds)
    if exact:
        assert_equal(ours, want)
    else:
        assert_close(ours, want, F32)
    return module


def check_exported(model: ModelProto, feeds: dict[str, NDArray[Any]], *passes: str) -> ModuleOp:
    """Run passes and compare in onnxruntime, bit by bit."""
    module = run_passes(model, *passes)
    exported = export_model(module)
    onnx.checker.check_model(exported, full_check=True)
    assert_equal(run_reference(exported, feeds), run_reference(model, feeds))
    return module


def run_passes(model: ModelProto, *passes: str) -> ModuleOp:
    module = import_model(model)
    for name in passes:
        run_pass(module, name)
    return module


def assert_equal(got: dict[str, NDArray[Any]], want: dict[str, NDArray[Any]]) -> None:
    assert list(got) == list(want)
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value, err_msg=name)


def count(module: ModuleOp) -> dict[str, int]:
    counts: dict[str, int] = {}
    for op in module.walk():
        if op.name.startswith("onnx.") and op.name not in ("onnx.Constant", "onnx.Yield"):
            counts[op.name.removeprefix("onnx.")] = counts.get(op.name.removeprefix("onnx."), 0) + 1
    return counts


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet", "inception_v1", "resnet50"])
def test_real_models(name: str) -> None:
    model = onnx.load(LIGHT / f"light_{name}.onnx")
    graph_input = next(v for v in model.graph.input if v.name not in {t.name for t in model.graph.initializer})
    shape = [dim.dim_value for dim in graph_input.type.tensor_type.shape.dim]
    feeds = {graph_input.name: np.random.default_rng(0).standard_normal(shape).astype(np.float32)}
    module = check_exported(model, feeds, *PIPELINE)
    assert "ConstantOfShape" not in count(module)
    assert "?" not in str([value.type for op in module.walk() for value in op.results])
    assert_logits(model, feeds)


def assert_logits(model: ModelProto, feeds: dict[str, NDArray[Any]]) -> None:
    """Our evaluation of what the softmax at the end is given.

    All weights of these models are alike. So are the logits, which are so large that a rounding of one decides what
    their softmax is.
    """
    softmax = model.graph.node.pop()
    assert softmax.op_type == "Softmax"
    model.graph.output[0].name = softmax.input[0]
    assert_close(run_module(run_passes(model, *PIPELINE), feeds), run_reference(model, feeds), F32)


def exporter_shapes() -> ModelBuilder:
    """What exporters write for ``x.view(x.size(0), -1, 4).permute(...)``, with copies and dropout in between."""
    builder = ModelBuilder()
    x = builder.input("x", 2, 3, 8)
    zero = builder.constant(0, np.int64)
    rest = builder.constant([-1], np.int64)
    four = builder.constant([4], np.int64)
    axis = builder.constant([0], np.int64)
    size = builder.node("Unsqueeze", builder.node("Gather", builder.node("Shape", x), zero, axis=0), axis)
    target = builder.node("Concat", size, rest, four, axis=0)
    y = builder.node("Reshape", builder.node("Dropout", builder.node("Identity", x)), target)
    y = builder.node("Transpose", builder.node("Transpose", y, perm=[0, 1, 2]), perm=[0, 2, 1])
    scale = builder.node("Sqrt", builder.node("Cast", size, to=onnx.TensorProto.FLOAT))
    builder.output(builder.node("Div", y, scale))
    return builder


def test_shape_arithmetic_is_gone() -> None:
    builder = exporter_shapes()
    module = check(builder.build(), builder.random_inputs(), *PIPELINE)
    assert count(module) == {"Reshape": 1, "Transpose": 1, "Div": 1}


@pytest.mark.parametrize("passes", [[name] for name in dict.fromkeys(PIPELINE)], ids=lambda passes: passes[0])
def test_each_pass_alone(passes: list[str]) -> None:
    builder = exporter_shapes()
    check(builder.build(), builder.random_inputs(), *passes)


def test_folding_computes_as_the_runtime_does() -> None:
    """NaN, infinities, integer division and remainders of negative numbers, large integers, half precision."""
    builder = ModelBuilder(opset=20)
    x = builder.input("x", 4)
    special = builder.constant([np.nan, np.inf, -np.inf, -0.0])
    whole = builder.constant([7, -7, 2**62 + 1, -(2**62) - 1], np.int64)
    three = builder.constant([3, 3, 3, 3], np.int64)
    half = builder.constant([32000.0, 1e-7, 0.1, -2.5], np.float16)
    for value in (
        builder.node("Max", special, builder.constant([1.0, 2, 3, 4])),
        builder.node("Mul", special, builder.constant([0.0, 0, 0, 0])),
        builder.node("Sign", builder.constant([-0.0, np.inf, -3, 0])),
        builder.node("Round", builder.constant([0.5, 1.5, -0.5, 2.5])),
        builder.node("Cast", builder.node("Add", half, half), to=onnx.TensorProto.FLOAT),
        builder.node("Cast", builder.node("Div", whole, three), to=onnx.TensorProto.FLOAT),
        builder.node("Cast", builder.node("Mod", whole, three), to=onnx.TensorProto.FLOAT),
        builder.node("Cast", builder.node("Mod", whole, three, fmod=1), to=onnx.TensorProto.FLOAT),
    ):
        builder.output(builder.node("Add", x, value))
    for value in (
        builder.node("Add", whole, three),
        builder.node("Cast", builder.constant([1.9, -1.9, 0.5, -0.5]), to=onnx.TensorProto.INT32),
        builder.node("ArgMax", builder.constant([-0.0, -np.inf, np.inf, np.inf])),
    ):
        builder.output(builder.node("Identity", value))
    module = check(builder.build(), {"x": np.arange(4, dtype=np.float32)}, "constant-fold", exact=True)
    assert set(count(module)) == {"Add"}


def test_constant_condition_takes_the_branch() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[2] x) => (float[2] y)
    {
      a = Relu(x)
      one = Constant <value = int64 {1}> ()
      two = Constant <value = int64 {2}> ()
      c = Less(one, two)
      b = If(c) <
        then_branch = yes () => (float[2] t) { t = Add(a, x) },
        else_branch = no () => (float[2] e) { e = Sub(a, x) }
      >
      y = Neg(b)
    }
    """
    feeds: dict[str, NDArray[Any]] = {"x": np.array([-1, 2], np.float32)}
    module = check(parser.parse_model(text), feeds, *PIPELINE)
    assert count(module) == {"Relu": 1, "Add": 1, "Neg": 1}


def test_random_operators_stay_apart() -> None:
    builder = ModelBuilder()
    x = builder.input("x", 64)
    a, b = (builder.node("RandomNormal", shape=[64]) for _ in range(2))
    builder.output(builder.node("Mul", x, builder.node("Sub", a, b)))
    module = import_model(builder.build())
    for name in PIPELINE:
        run_pass(module, name)
    assert count(module) == {"RandomNormal": 2, "Sub": 1, "Mul": 1}
    outputs = run_module(module, {"x": np.ones(64, np.float32)})
    assert np.any(next(iter(outputs.values())) != 0)


def test_names_stay_unique_and_outputs_keep_theirs() -> None:
    builder = ModelBuilder()
    x = builder.input("x", 3)
    w = builder.constant([1.0, 2, 3], name="w")
    v = builder.constant([1.0, 2, 3], name="v")
    a = builder.node("Add", x, w, name="a")
    b = builder.node("Add", x, v, name="b")
    c = builder.node("Identity", builder.node("Identity", a, name="copy"), name="c")
    builder.output(c, builder.node("Mul", a, b, name="d"), a)
    module = check(builder.build(), builder.random_inputs(), *PIPELINE)
    exported = export_model(module)
    assert [value.name for value in exported.graph.output] == ["c", "d", "a"]
    names = [output for node in exported.graph.node for output in node.output]
    names += [tensor.name for tensor in exported.graph.initializer]
    assert len(names) == len(set(names))
    assert count(module) == {"Add": 1, "Identity": 1, "Mul": 1}


def test_passes_settle() -> None:
    """A second run of the pipeline changes nothing."""
    module = import_model(exporter_shapes().build())
    for name in PIPELINE:
        run_pass(module, name)
    before = str(module)
    for name in PIPELINE:
        run_pass(module, name)
    assert str(module) == before
