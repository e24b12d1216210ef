"""Every graph pass, alone and with any other, keeps what small networks compute."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_models import F16, F32, ModelBuilder, assert_close, check, compile_to_graph, run_pass, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.graph import BatchNormOp, BinaryOp, Conv2DOp, FusionOp, HostOp, SoftmaxOp, TransDataOp
from ge.dialects.graph.meaning import run_module
from ge.passes.graph.report import collect

FUSIONS = [
    "graph-fold-constants",
    "graph-eliminate-identity",
    "recognise-activations",
    "channel-shuffle",
    "fold-transpose-matmul",
    "hoist-reshape",
    "fuse-conv-bn-relu",
    "fold-conv-bn",
    "batch-norm-to-conv",
    "decompose-lrn",
    "fuse-binary-activation",
    "merge-host",
]
DEVICE = ["assign-precision", "merge-host", "propagate-layout"]
KERNELS = [["fuse-conv-add", "fuse-elementwise"], ["autofuse"]]
"""Passes that put operations of the device into one kernel."""


def residual(m: ModelBuilder) -> None:
    x = m.node("Relu", m.conv_bn(m.input("x", 2, 3, 9, 11), 3, 8))
    y = m.node("Relu", m.conv_bn(x, 8, 8, bias=True))
    m.output(m.node("Relu", m.node("Add", m.conv_bn(y, 8, 8, 1), x)))


def shared_and_returned(m: ModelBuilder) -> None:
    """Convolutions that share weights, of which one is normalised, and values between that are outputs."""
    x, w = m.input("x", 1, 4, 6, 6), m.weights(4, 4, 3, 3, scale=0.2)
    a, b = (m.node("Conv", x, w, pads=[1, 1, 1, 1]) for _ in range(2))
    n = m.node("BatchNormalization", a, *m.statistics(4))
    m.output(m.node("Relu", n), n, m.node("Tanh", b))


def inverted_residual(m: ModelBuilder) -> None:
    x = m.input("x", 1, 24, 8, 8)
    y = m.node("Clip", m.conv_bn(x, 24, 48, 1), m.constant(0.0), m.constant(6.0))
    y = m.node("Clip", m.conv_bn(y, 48, 48, group=48), m.constant(0.0), m.constant(6.0))
    m.output(m.node("Add", x, m.conv_bn(y, 48, 24, 1)))


def squeeze_and_excite(m: ModelBuilder) -> None:
    x = m.conv_bn(m.input("x", 2, 16, 8, 8), 16, 32)
    x = m.node("Mul", x, m.node("Sigmoid", x))
    s = m.node("GlobalAveragePool", x)
    s = m.node("Relu", m.node("Conv", s, m.weights(8, 32, 1, 1, scale=0.2), m.weights(8)))
    s = m.node("Sigmoid", m.node("Conv", s, m.weights(32, 8, 1, 1, scale=0.2), m.weights(32)))
    m.output(m.node("Mul", x, s))


def gated_projections(m: ModelBuilder) -> None:
    """Convolutions of what a gate has scaled: of one position, and with padding; filters of no full block."""
    x, channels = m.input("x", 1, 24, 20, 20), 24
    for outputs, kernel in ((40, 1), (20, 3), (48, 3)):
        s = m.node("Sigmoid", m.conv_bn(m.node("GlobalAveragePool", x), channels, channels, 1))
        x = m.node("Mul", *((x, s) if kernel == 1 else (s, x)))
        w = m.weights(outputs, channels, kernel, kernel, scale=0.2)
        stride = kernel // 2 + 1
        y = m.node("Conv", x, w, m.weights(outputs), pads=[kernel // 2] * 4, strides=[stride, stride])
        x, channels = m.node("Relu", y), outputs
    m.output(x)


def shuffle_unit(m: ModelBuilder) -> None:
    x = m.input("x", 1, 20, 6, 6)
    m.node("Split", x, m.constant([10, 10], np.int64), name="half", outputs=2, axis=1)
    y = m.node("Relu", m.conv_bn("half_1", 10, 10, 1))
    joined = m.node("Concat", "half", m.conv_bn(y, 10, 10, group=10), axis=1)
    shape = [m.constant(s, np.int64) for s in ([1, 2, 10, 6, 6], [1, 20, 6, 6])]
    y = m.node("Reshape", m.node("Transpose", m.node("Reshape", joined, shape[0]), perm=[0, 2, 1, 3, 4]), shape[1])
    m.node("Split", y, m.constant([10, 10], np.int64), name="next", outputs=2, axis=1)
    m.output("next", "next_1")


def dense_block(m: ModelBuilder) -> None:
    """Normalisation before activation and convolution, with the scale and shift that Caffe models have."""
    x = m.input("x", 1, 8, 6, 6)
    for channels in (8, 12):
        n = m.node("BatchNormalization", x, *m.statistics(channels))
        n = m.node("Add", m.node("Mul", n, m.weights(channels, 1, 1)), m.weights(channels, 1, 1))
        y = m.node("Conv", m.node("Relu", n), m.weights(4, channels, 3, 3, scale=0.2), pads=[1, 1, 1, 1])
        x = m.node("Concat", x, y, axis=1)
    m.output(m.node("Conv", m.node("BatchNormalization", x, *m.statistics(16)), m.weights(4, 16, 1, 1, scale=0.2)))


def normalised_responses(m: ModelBuilder) -> None:
    x = m.node("Relu", m.node("Conv", m.input("x", 1, 3, 9, 9), m.weights(32, 3, 3, 3), m.weights(32)))
    x = m.node("LRN", x, size=5, alpha=0.5, beta=0.75, bias=1.0)
    m.output(m.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]))


def transformer_mlp(m: ModelBuilder) -> None:
    x = m.input("x", 2, 5, 24)
    y = m.node("Add", m.node("MatMul", x, m.weights(24, 48, scale=0.2)), m.weights(48))
    gate = m.node("Add", m.node("Erf", m.node("Div", y, m.constant(2**0.5))), m.constant(1.0))
    y = m.node("Mul", m.node("Mul", y, gate), m.constant(0.5))
    y = m.node("Add", m.weights(24), m.node("MatMul", y, m.weights(48, 24, scale=0.2)))
    m.output(m.node("Softmax", m.node("Add", x, y), axis=-1))


def attention(m: ModelBuilder) -> None:
    q, k, v = (m.node("MatMul", m.input(name, 2, 6, 16), m.weights(16, 16, scale=0.3)) for name in "qkv")
    scores = m.node("MatMul", q, m.node("Transpose", k, perm=[0, 2, 1]))
    m.output(m.node("MatMul", m.node("Softmax", m.node("Div", scores, m.constant(4.0)), axis=-1), v))


def heads(m: ModelBuilder) -> None:
    """Attention of two heads that fill blocks, and a normalisation of rows."""
    x = m.input("x", 2, 6, 32)
    apart, joined = m.constant((2, 6, 2, 16), np.int64), m.constant((2, 6, 32), np.int64)
    q, k, v = (m.node("Reshape", m.node("MatMul", x, m.weights(32, 32, scale=0.3)), apart) for _ in "qkv")
    q, v = (m.node("Transpose", each, perm=[0, 2, 1, 3]) for each in (q, v))
    scores = m.node("MatMul", q, m.node("Transpose", k, perm=[0, 2, 3, 1]))
    y = m.node("MatMul", m.node("Softmax", m.node("Div", scores, m.constant(4.0)), axis=-1), v)
    y = m.node("Reshape", m.node("Transpose", y, perm=[0, 2, 1, 3]), joined)
    y = m.node("Add", m.node("MatMul", y, m.weights(32, 32, scale=0.3)), x)
    m.output(m.node("LayerNormalization", y, m.weights(32), m.weights(32)))


def projections(m: ModelBuilder) -> None:
    """Products of matrices between reshapes, as Gemm wants them, with residuals of the shape around them."""
    x = m.input("x", 1, 6, 32)
    flat, back = m.constant((6, 32), np.int64), m.constant((1, 6, 32), np.int64)
    y = m.node("Gemm", m.node("Reshape", x, flat), m.weights(32, 32, scale=0.3), m.weights(32))
    x = m.node("Add", x, m.node("Reshape", y, back))
    y = m.node(
        "Relu", m.node("Reshape", m.node("MatMul", x, m.weights(32, 24, scale=0.3)), m.constant((6, 24), np.int64))
    )
    m.output(y, x)


def rows_apart(m: ModelBuilder) -> None:
    """Queries, keys and values in one product, of sequences that come first, as some exporters write them."""
    x = m.node("Transpose", m.input("x", 1, 6, 32), perm=[1, 0, 2])
    y = m.node("Add", m.node("MatMul", x, m.weights(32, 96, scale=0.1)), m.weights(96, scale=0.3))
    y = m.node("Transpose", m.node("Reshape", y, m.constant((6, 1, 3, 32), np.int64)), perm=[2, 0, 1, 3])
    parts = [m.node("Gather", y, m.constant(i, np.int64), axis=0) for i in range(3)]
    q, k, v = (m.node("Reshape", each, m.constant((6, 2, 16), np.int64)) for each in parts)
    q, k, v = (m.node("Transpose", each, perm=[1, 0, 2]) for each in (q, k, v))
    scores = m.node("MatMul", q, m.node("Transpose", k, perm=[0, 2, 1]))
    y = m.node("MatMul", m.node("Softmax", scores, axis=-1), v)
    y = m.node("Reshape", m.node("Transpose", y, perm=[1, 0, 2]), m.constant((6, 32), np.int64))
    m.output(m.node("Gemm", y, m.weights(32, 32, scale=0.3), m.weights(32)))


def windows(m: ModelBuilder) -> None:
    """Attention in windows of a feature map, with a bias for each head, as in a Swin transformer."""
    x = m.node("Relu", m.input("x", 1, 4, 6, 32))
    y = m.node("Reshape", x, m.constant((1, 2, 2, 3, 2, 32), np.int64))
    y = m.node("Reshape", m.node("Transpose", y, perm=[0, 1, 3, 2, 4, 5]), m.constant((6, 4, 32), np.int64))
    y = m.node("MatMul", y, m.weights(32, 64, scale=0.2))
    y = m.node("Transpose", m.node("Reshape", y, m.constant((6, 4, 2, 2, 16), np.int64)), perm=[2, 0, 3, 1, 4])
    q, v = (m.node("Gather", y, m.constant(i, np.int64), axis=0) for i in range(2))
    scores = m.node("Add", m.node("MatMul", q, m.node("Transpose", v, perm=[0, 1, 3, 2])), m.weights(1, 2, 4, 4))
    y = m.node("MatMul", m.node("Softmax", scores, axis=-1), v)
    y = m.node("Reshape", m.node("Transpose", y, perm=[0, 2, 1, 3]), m.constant((1, 2, 3, 2, 2, 32), np.int64))
    y = m.node("Reshape", m.node("Transpose", y, perm=[0, 1, 3, 2, 4, 5]), m.constant((1, 4, 6, 32), np.int64))
    m.output(m.node("Add", m.node("Mul", y, m.constant(0.1)), x))


def sound(m: ModelBuilder) -> None:
    """1-D convolutions: rows as feature maps of height 1."""
    x = m.input("x", 1, 4, 50)
    for cin, cout in ((4, 8), (8, 8)):
        x = m.node("Conv", x, m.weights(cout, cin, 5, scale=0.3), m.weights(cout), strides=[2], pads=[2, 2])
        x = m.node("Relu", m.node("BatchNormalization", x, *m.statistics(cout)))
    m.output(m.node("GlobalAveragePool", x))


def paddle_mobilenet(m: ModelBuilder) -> None:
    x = m.conv_bn(m.input("x", 1, 3, 8, 8), 3, 16)
    inner = m.node("Clip", m.node("Add", x, m.constant([3.0])), m.constant(0.0), m.constant(6.0))
    x = m.node("Div", m.node("Mul", x, inner), m.constant([6.0]))
    s = m.node("GlobalAveragePool", x)
    s = m.node("HardSigmoid", m.node("Conv", s, m.weights(16, 16, 1, 1)), alpha=0.2, beta=0.5)
    x = m.node("Mul", x, s)
    x = m.node("Flatten", m.node("GlobalAveragePool", x))
    m.output(m.node("Gemm", x, m.weights(10, 16), m.weights(10), transB=1))


def upsampling(m: ModelBuilder) -> None:
    """Host operators between device operators, and a way around them."""
    x = m.node("Relu", m.conv_bn(m.input("x", 1, 3, 8, 8), 3, 16))
    y = m.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = m.node("Resize", m.conv_bn(y, 16, 16), "", m.constant([1.0, 1.0, 2.0, 2.0]), mode="nearest")
    m.output(m.node("Add", x, m.node("Sin", y)), m.node("ReduceMean", y, axes=[1]))


def classifier_with_norm(m: ModelBuilder) -> None:
    x = m.node("MatMul", m.input("x", 3, 12), m.weights(12, 8))
    x = m.node("Relu", m.node("BatchNormalization", x, *m.statistics(8)))
    m.output(m.node("LogSoftmax", m.node("Gemm", x, m.weights(8, 5), m.weights(5)), axis=1))


NETWORKS = [
    residual,
    shared_and_returned,
    inverted_residual,
    squeeze_and_excite,
    shuffle_unit,
    dense_block,
    normalised_responses,
    transformer_mlp,
    attention,
    heads,
    projections,
    rows_apart,
    windows,
    sound,
    paddle_mobilenet,
    upsampling,
    classifier_with_norm,
]
Network = Callable[[ModelBuilder], None]


def build(network: Network) -> ModelBuilder:
    model = ModelBuilder()
    network(model)
    return model


def count(module: ModuleOp, op_type: type) -> int:
    return sum(isinstance(op, op_type) for op in module.walk())


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", FUSIONS)
def test_each_pass_alone(network: Network, name: str) -> None:
    check(build(network), name)


@pytest.mark.parametrize("network", NETWORKS)
def test_each_pair_of_passes(network: Network) -> None:
    model = build(network)
    proto, inputs = model.build(), model.random_inputs()
    want, lowered = run_reference(proto, inputs), compile_to_graph(proto)
    for pair in product(FUSIONS, FUSIONS):
        module = lowered.clone()
        for name in pair:
            run_pass(module, name)
        assert_close(run_module(module, inputs), want, F32)


@pytest.mark.parametrize("network", NETWORKS)
def test_all_fusions(network: Network) -> None:
    check(build(network), *FUSIONS)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("fusions", [[], FUSIONS])
def test_on_the_device(network: Network, fusions: list[str]) -> None:
    check(build(network), *fusions, *DEVICE, tolerance=F16)


@pytest.mark.parametrize("network", NETWORKS)
def test_joining_kernels_changes_no_bit(network: Network) -> None:
    """Also without the other fusions, which leave more to join; and joining again changes nothing."""
    model = build(network)
    inputs = model.random_inputs()
    for passes in (DEVICE, [*FUSIONS, *DEVICE]):
        module = compile_to_graph(model.build(), passes)
        want = run_module(module, inputs)
        for kernels in KERNELS:
            joined = module.clone()
            for name in (*kernels, kernels[-1]):
                run_pass(joined, name)
            for name, result in run_module(joined, inputs).items():
                np.testing.assert_array_equal(result, want[name])


@pytest.mark.parametrize(
    "network",
    [residual, inverted_residual, squeeze_and_excite, paddle_mobilenet, attention, heads, windows, transformer_mlp],
)
@pytest.mark.parametrize("kernels", [["fuse-conv-add"], ["autofuse"]])
def test_joined_kernels(network: Network, kernels: list[str]) -> None:
    """The tile kernels of fusions compute what the model computes."""
    check(build(network), *DEVICE, *kernels, "convert-graph-to-tile", tolerance=F16)


@pytest.mark.parametrize("lower", [[], ["convert-graph-to-tile"]])
def test_scaled_weights(lower: list[str]) -> None:
    """Two gates scale weights; the last map is smaller than the weights that follow it."""
    module = compile_to_graph(build(gated_projections).build(), DEVICE)
    with collect() as report:
        run_pass(module, "scale-conv-weights")
    assert [fusion.text for fusion in report.fusions] == [
        "Scale weights of Conv2D(40) instead of its input",
        "Scale weights of Conv2D(20) instead of its input",
    ]
    assert [miss.reason for miss in report.misses] == ["the weights are not smaller than the feature map"]
    check(build(gated_projections), *DEVICE, "scale-conv-weights", "autofuse", *lower, tolerance=F16)


@pytest.mark.parametrize(
    ("network", "kernels"), [(residual, 1), (inverted_residual, 1), (squeeze_and_excite, 0), (transformer_mlp, 2)]
)
def test_what_joins_in_networks(network: Network, kernels: int) -> None:
    """The sum at the end of a block joins, and the conversion after a softmax.

    A gate is computed from all of the map that it scales, and joins nothing.
    """
    module = check(build(network), *FUSIONS, *DEVICE, "autofuse", tolerance=F16)
    assert count(module, FusionOp) == kernels


def test_the_bias_of_windows_joins_the_softmax() -> None:
    module = check(build(windows), *FUSIONS, *DEVICE, "autofuse", tolerance=F16)
    kernels = [[type(step) for step in op.steps] for op in module.walk() if isinstance(op, FusionOp)]
    assert [BinaryOp, SoftmaxOp] in kernels


@pytest.mark.parametrize(
    "network", [residual, inverted_residual, squeeze_and_excite, shuffle_unit, dense_block, normalised_responses]
)
def test_a_convolution_net_is_converted_at_its_borders_only(network: Network) -> None:
    module = check(build(network), *FUSIONS, *DEVICE, tolerance=F16)
    outputs = len(build(network).build().graph.output)
    assert (count(module, HostOp), count(module, BatchNormOp), count(module, TransDataOp)) == (0, 0, 1 + outputs)


def test_keeping_every_node_changes_nothing() -> None:
    model = build(residual)
    names = tuple(node.name for node in model.build().graph.node)
    module = compile_to_graph(model.build())
    run_pass(module, "assign-precision", keep=names)
    assert {type(op) for op in module.walk() if op.name.startswith("graph.")} >= {HostOp}
    assert count(module, Conv2DOp) == 0
    assert "f16" not in str(module)


def test_the_report_tells_fusions_and_misses() -> None:
    module = compile_to_graph(build(shared_and_returned).build())
    with collect() as report:
        run_pass(module, "fuse-conv-bn-relu")
    assert [fusion.text for fusion in report.fusions] == [
        "Fuse Conv2D(4) + BatchNorm -> FusedConv2D",
        "Fuse Conv2D(4) + Tanh -> FusedConv2D",
    ]
    assert report.fusions[0].nodes == ("conv0", "batchnormalization2")
    assert report.counts() == {"fuse-conv-bn-relu": 2}

    model = ModelBuilder()
    y = model.node("Conv", model.input("x", 1, 2, 4, 4), model.weights(2, 2, 1, 1))
    model.output(y, model.node("BatchNormalization", y, *model.statistics(2)))
    module = compile_to_graph(model.build())
    with collect() as report:
        run_pass(module, "fuse-conv-bn-relu")
    assert report.fusions == []
    assert [miss.reason for miss in report.misses] == ["the result has other users"]


@settings(max_examples=40, deadline=None)
@given(
    groups=st.integers(1, 40),
    inputs=st.integers(1, 6),
    outputs=st.integers(1, 6),
    kernel=st.sampled_from([1, 3]),
    stride=st.integers(1, 2),
)
def test_merged_groups(groups: int, inputs: int, outputs: int, kernel: int, stride: int) -> None:
    model = ModelBuilder()
    x = model.input("x", 1, groups * inputs, 5, 4)
    w = model.weights(groups * outputs, inputs, kernel, kernel)
    model.output(model.node("Conv", x, w, group=groups, pads=[kernel // 2] * 4, strides=[stride, stride]))
    check(model, *DEVICE, tolerance=F16)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_random_chains_of_channel_operations(data: st.DataObject) -> None:
    """Concats, splits and shuffles of channels in any order, joined by `channel-shuffle`."""
    model = ModelBuilder()
    values = [(model.input("x", 1, 8, 2, 2), 8), (model.input("y", 1, 4, 2, 2), 4)]
    for _ in range(data.draw(st.integers(1, 6))):
        (a, ca), (b, cb) = (data.draw(st.sampled_from(values)) for _ in range(2))
        match data.draw(st.sampled_from(["concat", "slice", "shuffle"])):
            case "concat":
                values.append((model.node("Concat", a, b, axis=1), ca + cb))
            case "slice":
                start = data.draw(st.integers(0, ca - 1))
                end = data.draw(st.integers(start + 1, ca))
                bounds = [model.constant([v], np.int64) for v in (start, end, 1)]
                values.append((model.node("Slice", a, *bounds), end - start))
            case _:
                g = data.draw(st.sampled_from([g for g in range(1, ca + 1) if ca % g == 0]))
                shapes = [model.constant(s, np.int64) for s in ([1, g, ca // g, 2, 2], [1, ca, 2, 2])]
                y = model.node("Transpose", model.node("Reshape", a, shapes[0]), perm=[0, 2, 1, 3, 4])
                values.append((model.node("Reshape", y, shapes[1]), ca))
    model.output(*(model.node("Relu", name) for name, _ in values[2:]))
    module = check(model, "channel-shuffle", "graph-eliminate-identity", tolerance=F32)
    assert not any(op.name in ("graph.transpose", "graph.host") for op in module.walk())
