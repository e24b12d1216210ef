"""ge-opt as an optimiser of ONNX models: what it writes is valid, smaller, and computes the same in onnxruntime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx_models import ModelBuilder, run_reference

from ge.tools import ge_opt

TOLERANCE = 1e-4
"""Largest difference, relative to the largest value of an output: sums of weights that were rounded differently."""


def optimise(model: ModelProto, folder: Path, *options: str) -> ModelProto:
    """The model after the passes that an optimiser runs."""
    onnx.save(model, folder / "in.onnx")
    passes = ["--constant-fold", "--cse", "--fuse-conv-bn-relu"]
    ge_opt.run([str(folder / "in.onnx"), *passes, *options, "-o", str(folder / "out.onnx")])
    optimised = onnx.load(folder / "out.onnx")
    onnx.checker.check_model(optimised, full_check=True)
    return optimised


def check(builder: ModelBuilder, folder: Path, *options: str) -> Counter[str]:
    """Compare a model with its optimised form; how often each operator is left."""
    model, feeds = builder.build(), builder.random_inputs()
    optimised = optimise(model, folder, *options)
    want, got = run_reference(model, feeds), run_reference(optimised, feeds)
    assert list(got) == list(want)
    for name, value in want.items():
        assert np.abs(got[name] - value).max() <= TOLERANCE * np.abs(value).max(), name
    return Counter(node.op_type for node in optimised.graph.node)


def residual(m: ModelBuilder) -> None:
    """The block that residual networks consist of, with groups and a bias."""
    x = m.node("Relu", m.conv_bn(m.input("x", 2, 3, 9, 11), 3, 8))
    y = m.node("Relu", m.conv_bn(x, 8, 8, bias=True, group=4))
    m.output(m.node("Relu", m.node("Add", m.conv_bn(y, 8, 8, 1), x)))


def transposed(m: ModelBuilder) -> None:
    """Transposed convolutions, grouped and not, with bias and without."""
    x = m.input("x", 1, 4, 5, 5)
    y = m.node("ConvTranspose", x, m.weights(4, 6, 3, 3), strides=[2, 2])
    y = m.node("Relu", m.node("BatchNormalization", y, *m.statistics(6)))
    y = m.node("ConvTranspose", y, m.weights(6, 2, 2, 2), m.weights(4), group=2)
    m.output(m.node("BatchNormalization", y, *m.statistics(4)))


def shared(m: ModelBuilder) -> None:
    """Convolutions that share weights, of which some are normalised, differently."""
    x, y, w = m.input("x", 1, 4, 6, 6), m.input("y", 1, 4, 6, 6), m.weights(4, 4, 3, 3, scale=0.2)
    a, b, c = (m.node("Conv", value, w, pads=[1] * 4) for value in (x, y, m.node("Neg", x)))
    normal = [m.node("BatchNormalization", value, *m.statistics(4)) for value in (a, b)]
    m.output(m.node("Add", *normal), c)


def one_dimension(m: ModelBuilder) -> None:
    """A convolution of signals; the normalised value is an output."""
    y = m.node("Conv", m.input("x", 2, 3, 16), m.weights(5, 3, 3))
    m.output(m.node("BatchNormalization", y, *m.statistics(5), epsilon=0.1))


@pytest.mark.parametrize("opset", [11, 17, 20])
@pytest.mark.parametrize("network", [residual, transposed, shared, one_dimension])
def test_normalisation_is_folded(network: Callable[[ModelBuilder], None], opset: int, tmp_path: Path) -> None:
    builder = ModelBuilder(opset=17)
    network(builder)
    left = check(builder, tmp_path, f"--target-opset={opset}")
    assert "BatchNormalization" not in left
    assert onnx.load(tmp_path / "out.onnx").opset_import[0].version == opset


def test_outputs_in_between_stay(tmp_path: Path) -> None:
    builder = ModelBuilder()
    conv = builder.node("Conv", builder.input("x", 1, 3, 8, 8), builder.weights(4, 3, 3, 3))
    builder.output(conv, builder.node("BatchNormalization", conv, *builder.statistics(4)))
    assert check(builder, tmp_path)["BatchNormalization"] == 1


def test_float16_is_rounded_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((4, 2, 1, 1)).astype(np.float16)
    scale, shift, mean = (rng.standard_normal(4).astype(np.float16) for _ in range(3))
    var = rng.uniform(0.5, 2, 4).astype(np.float16)
    arrays = {"w": weights, "scale": scale, "shift": shift, "mean": mean, "var": var}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("BatchNormalization", ["c", "scale", "shift", "mean", "var"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT16, [1, c, 3, 3]) for name, c in (("x", 2), ("y", 4)))
    constants = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "test", [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    folded = {t.name: onnx.numpy_helper.to_array(t) for t in optimise(model, tmp_path).graph.initializer}
    factor = scale.astype(np.float64) / np.sqrt(var.astype(np.float64) + np.float32(1e-5))
    np.testing.assert_array_equal(folded["w"], (weights * factor.reshape(4, 1, 1, 1)).astype(np.float16))
    np.testing.assert_array_equal(folded["shift"], (shift - mean * factor).astype(np.float16))


def test_equal_operators_become_one_and_random_ones_do_not(tmp_path: Path) -> None:
    builder = ModelBuilder()
    x = builder.input("x", 2, 3)
    equal = [builder.node("Exp", x) for _ in range(2)]
    random = [builder.node("RandomNormalLike", x, seed=1.0) for _ in range(2)]
    builder.output(builder.node("Sub", *equal), builder.node("Sub", *random), *equal)
    model = builder.build()
    left = Counter(node.op_type for node in optimise(model, tmp_path).graph.node)
    assert left["RandomNormalLike"] == 2
    feeds = builder.random_inputs()
    want, got = run_reference(model, feeds), run_reference(onnx.load(tmp_path / "out.onnx"), feeds)
    assert list(got) == list(want)
    for name in (builder_output for builder_output in want if builder_output.startswith("exp")):
        np.testing.assert_array_equal(got[name], want[name])
