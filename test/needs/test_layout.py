"""What users of such compilers complain about, in the group "layout"; each test has the rank in its name.

Rank 78, the layout and element type of inputs and outputs, is about options of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx_models import ModelBuilder, compile_to_graph, run_reference
from optimised import check_optimised, count

from ge.dialects.graph import TransDataOp
from ge.dialects.graph.meaning import run_module
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.ascend.runtime import Runtime
from ge.tools.agreement import compare
from ge.tools.compilation import CompileOptions, compile_model

DEVICE = ["assign-precision", "merge-host", "propagate-layout"]

# 11


def sensitive(b: ModelBuilder, kind: str) -> str:
    """An operator that depends on where the channels are, between two transposes as exporters write them."""
    x = b.node("Transpose", b.input("x", 2, 6, 6, 4), perm=[0, 3, 1, 2])
    match kind:
        case "Conv":
            y = b.node("Conv", x, b.weights(4, 4, 3, 3), pads=[1, 1, 1, 1])
        case "BatchNormalization":
            y = b.node(kind, x, *b.statistics(4))
        case "InstanceNormalization":
            y = b.node(kind, x, b.weights(4), b.weights(4))
        case "Resize":
            y = b.node(kind, x, "", b.constant([1.0, 1.0, 2.0, 2.0]), mode="nearest")
        case "DepthToSpace":
            y = b.node(kind, x, blocksize=2)
        case "LRN":
            y = b.node(kind, x, size=3)
        case "PRelu":
            y = b.node(kind, x, b.weights(4, 1, 1))
        case "Softmax":
            y = b.node(kind, x, axis=1)
        case "GridSample":
            y = b.node(kind, x, b.constant(b.random.uniform(-1, 1, (2, 3, 5, 2))))
        case "MaxPool" | "AveragePool":
            y = b.node(kind, x, kernel_shape=[2, 3], strides=[2, 1])
        case _:
            y = b.node(kind, x)
    return b.node("Transpose", y, perm=[0, 2, 3, 1])


SENSITIVE = (
    *("Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "BatchNormalization", "LRN"),
    *("InstanceNormalization", "Resize", "DepthToSpace", "PRelu", "Softmax", "GridSample"),
)


@pytest.mark.parametrize("kind", SENSITIVE)
def test_needs_11_transposes_pass_no_operator_that_depends_on_the_layout(kind: str) -> None:
    b = ModelBuilder()
    b.output(sensitive(b, kind))
    check_optimised(b.build(), b.random_inputs())


@pytest.mark.parametrize("kind", SENSITIVE)
def test_needs_11_formats_of_the_device_change_no_numbers(kind: str) -> None:
    b = ModelBuilder()
    b.output(sensitive(b, kind))
    model, feeds = b.build(), b.random_inputs()
    got = run_module(compile_to_graph(model, DEVICE), feeds)
    (agreement,) = compare(got, run_reference(model, feeds), half=True)
    assert agreement.passed, agreement


# 12


def padded_channels(b: ModelBuilder, kind: str, channels: int) -> str:
    """An operation over channels that do not fill a block of 16, behind a convolution."""
    x = b.node(
        "Conv", b.input("x", 1, channels, 6, 6), b.weights(channels, channels, 1, 1, scale=0.3), b.weights(channels)
    )
    match kind:
        case "ReduceMean":
            return b.node(kind, x, axes=[1])
        case "Softmax":
            return b.node(kind, x, axis=1)
        case "Concat":
            return b.node(kind, x, b.node("Conv", x, b.weights(5, channels, 1, 1, scale=0.3)), axis=1)
        case "Split":
            first = b.node(kind, x, b.constant([1, channels - 1], np.int64), axis=1, outputs=2)
            return b.node("Concat", f"{first}_1", first, axis=1)
        case "Div":
            return b.node("Div", x, b.constant(b.random.uniform(0.5, 2, (channels, 1, 1))))
        case "Exp":
            return b.node("GlobalAveragePool", b.node("Exp", x))
        case _:
            return b.node("ArgMax", x, axis=1)


@pytest.mark.parametrize("channels", [3, 17])
@pytest.mark.parametrize("kind", ["ReduceMean", "Softmax", "Concat", "Split", "Div", "Exp", "ArgMax"])
def test_needs_12_unused_lanes_reach_no_output(kind: str, channels: int, tmp_path: Path) -> None:
    """The whole way to the simulated chip, whose memory holds NaN where nothing has been written."""
    b = ModelBuilder(seed=1)
    b.output(padded_channels(b, kind, channels))
    onnx.save(b.build(), tmp_path / "m.onnx")
    feeds = b.random_inputs()
    file = model_bytes(compile_model(CompileOptions(tmp_path / "m.onnx")).module)
    got = Runtime().run(file, feeds)
    want = run_reference(onnx.load(tmp_path / "m.onnx"), feeds)
    if kind == "ArgMax":  # where float16 makes two elements equal, either is right
        assert next(iter(got.values())).max() < channels
        return
    assert all(each.passed for each in compare(got, want, half=True))


# 63


def residual_block(b: ModelBuilder) -> str:
    x = b.input("x", 1, 16, 8, 8)
    y = b.node("Relu", b.conv_bn(x, 16, 16))
    return b.node("Relu", b.node("Add", b.conv_bn(y, 16, 16), x))


def channels_last_chain(b: ModelBuilder) -> str:
    """What converters from channels-last frameworks write: a pair of transposes around every operator."""
    y = b.input("x", 1, 8, 8, 4)
    for make in (
        lambda v: b.node("Conv", v, b.weights(4, 4, 3, 3), pads=[1, 1, 1, 1]),
        lambda v: b.node("Relu", v),
        lambda v: b.node("Add", v, b.weights(4, 1, 1)),
        lambda v: b.node("LeakyRelu", v),
        lambda v: b.node("Conv", v, b.weights(4, 4, 3, 3), pads=[1, 1, 1, 1]),
    ):
        y = b.node("Transpose", make(b.node("Transpose", y, perm=[0, 3, 1, 2])), perm=[0, 2, 3, 1])
    return y


def test_needs_63_transposes_between_operators_cancel() -> None:
    b = ModelBuilder()
    b.output(channels_last_chain(b))
    assert count(check_optimised(b.build(), b.random_inputs()))["Transpose"] == 2


@pytest.mark.parametrize("build", [residual_block])
def test_needs_63_a_convolution_net_converts_its_layout_at_its_borders_alone(
    build: Callable[[ModelBuilder], str],
) -> None:
    b = ModelBuilder()
    b.output(build(b))
    model, feeds = b.build(), b.random_inputs()
    module = compile_to_graph(model, ["fuse-conv-bn-relu", "fold-conv-bn", "fuse-binary-activation", *DEVICE])
    assert sum(isinstance(op, TransDataOp) for op in module.walk()) == 2
    got: dict[str, NDArray[np.float32]] = run_module(module, feeds)
    assert all(each.passed for each in compare(got, run_reference(model, feeds), half=True))
