"""What users of such compilers complain about, in the group "fusion correctness", of batch normalisations.

Each test has the rank in its name; test_fusion_correctness.py has the other ranks. onnxruntime judges.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx_models import ModelBuilder, branch
from optimised import check_optimised, count

from ge.tools import ge_opt

Array = NDArray[Any]


# 1


def conv(b: ModelBuilder, x: str, kind: str, weight: str | None = None, **attributes: Any) -> str:
    """A convolution of 4 channels; the weights are of an initializer, or of a Constant node."""
    rank = 3 if kind == "3-D" else 1 if kind == "1-D" else 2
    group = 2 if kind == "groups" else 1
    transposed = kind == "transposed"
    shape = (4, 4 // group, *[3] * rank)
    if weight is None and kind == "constant node":
        value = numpy_helper.from_array(b.random.standard_normal(shape).astype(np.float32), "w")
        weight = b.node("Constant", name="weight_node", value=value)
    weight = weight or b.weights(*shape)
    bias = [b.weights(4)] if kind == "bias" else []
    op_type = "ConvTranspose" if transposed else "Conv"
    return b.node(op_type, x, weight, *bias, group=group, pads=[1] * (2 * rank), **attributes)


@pytest.mark.parametrize("kind", ["plain", "bias", "groups", "transposed", "1-D", "3-D", "constant node"])
def test_needs_01_batch_norm_folding_into_every_kind_of_convolution(kind: str) -> None:
    b = ModelBuilder()
    sizes = {"1-D": 1, "3-D": 3}.get(kind, 2)
    x = b.input("x", 2, 4, *[6] * sizes)
    b.output(b.node("BatchNormalization", conv(b, x, kind), *b.statistics(4)))
    found = count(check_optimised(b.build(), b.random_inputs()))
    assert found == {"ConvTranspose" if kind == "transposed" else "Conv": 1}


def test_needs_01_batch_norm_folding_of_convolutions_that_share_weights() -> None:
    b = ModelBuilder()
    x, z = b.input("x", 1, 4, 6, 6), b.input("z", 1, 4, 6, 6)
    shared = b.weights(4, 4, 3, 3, name="w")
    first = b.node("BatchNormalization", conv(b, x, "plain", shared), *b.statistics(4))
    second = b.node("BatchNormalization", conv(b, z, "plain", shared), *b.statistics(4))
    b.output(first, second, conv(b, x, "plain", shared, name="as_it_is"))
    assert count(check_optimised(b.build(), b.random_inputs()))["BatchNormalization"] == 0


def test_needs_01_batch_norm_folding_leaves_a_shared_convolution_and_an_output() -> None:
    b = ModelBuilder()
    x = b.input("x", 1, 4, 6, 6)
    parent = conv(b, x, "plain", name="parent")
    returned = conv(b, x, "bias", name="returned")
    one, two = (b.node("BatchNormalization", parent, *b.statistics(4)) for _ in range(2))
    b.output(one, two, returned, b.node("BatchNormalization", returned, *b.statistics(4)))
    assert count(check_optimised(b.build(), b.random_inputs()))["Conv"] >= 2


def test_needs_01_batch_norm_folding_leaves_statistics_that_are_computed() -> None:
    b = ModelBuilder()
    x, mean = b.input("x", 1, 4, 6, 6), b.input("mean", 4)
    scale, bias, _, variance = b.statistics(4)
    b.output(b.node("BatchNormalization", conv(b, x, "plain"), scale, bias, mean, variance))
    assert count(check_optimised(b.build(), b.random_inputs()))["BatchNormalization"] == 1


def test_needs_01_batch_norm_folding_leaves_training_mode() -> None:
    b = ModelBuilder()
    x = b.input("x", 1, 4, 6, 6)
    b.output(b.node("BatchNormalization", conv(b, x, "plain"), *b.statistics(4), outputs=3, training_mode=1))
    assert count(check_optimised(b.build(), b.random_inputs()))["BatchNormalization"] == 1


# 15


def conv_bn_relu(b: ModelBuilder) -> tuple[str, str, str]:
    x = b.input("x", 1, 3, 6, 6)
    c = b.node("Conv", x, b.weights(4, 3, 3, 3), name="conv_out")
    n = b.node("BatchNormalization", c, *b.statistics(4), name="bn_out")
    return c, n, b.node("Relu", n, name="relu_out")


@pytest.mark.parametrize("extra", [("conv_out",), ("bn_out",), ("conv_out", "bn_out")])
def test_needs_15_an_intermediate_that_is_an_output_stays(extra: tuple[str, ...]) -> None:
    b = ModelBuilder()
    *_, last = conv_bn_relu(b)
    b.output(last, *extra)
    found = check_optimised(b.build(), b.random_inputs())
    assert [value.name for value in found.graph.output] == [last, *extra]


def test_needs_15_an_intermediate_with_a_second_user_stays() -> None:
    b = ModelBuilder()
    _, middle, last = conv_bn_relu(b)
    b.output(last, b.node("Neg", b.node("Mul", middle, middle)))
    check_optimised(b.build(), b.random_inputs())


def test_needs_15_an_intermediate_that_a_branch_captures_stays() -> None:
    b = ModelBuilder()
    first, middle, last = conv_bn_relu(b)
    condition = b.input("c", dtype=TensorProto.BOOL)
    inner = [
        branch("then", helper.make_node("Neg", [first], ["t"])),
        branch("else", helper.make_node("Abs", [middle], ["e"])),
    ]
    b.output(last, b.node("If", condition, then_branch=inner[0], else_branch=inner[1]))
    feeds = {"x": b.random.standard_normal((1, 3, 6, 6)).astype(np.float32)}
    for chosen in (True, False):
        check_optimised(b.build(), {**feeds, "c": np.array(chosen)})


# 66


@pytest.mark.parametrize("where", ["initializer", "constant node"])
def test_needs_66_batch_norm_is_fused_wherever_its_constants_are(where: str) -> None:
    b = ModelBuilder()
    x = b.input("x", 1, 4, 6, 6)
    parts = b.statistics(4)
    if where == "constant node":
        arrays = [b.random.uniform(0.5, 1.5, 4).astype(np.float32) for _ in range(4)]
        parts = [
            b.node("Constant", name=f"part_node{index}", value=numpy_helper.from_array(array, ""))
            for index, array in enumerate(arrays)
        ]
    b.output(b.node("BatchNormalization", conv(b, x, "plain"), *parts))
    assert count(check_optimised(b.build(), b.random_inputs())) == {"Conv": 1}


@pytest.mark.parametrize("op_type", ["Gemm", "MatMul"])
def test_needs_66_batch_norm_after_a_matrix_product_is_fused(op_type: str) -> None:
    b = ModelBuilder()
    x = b.input("x", 3, 4)
    b.output(b.node("BatchNormalization", b.node(op_type, x, b.weights(4, 5)), *b.statistics(5)))
    assert "BatchNormalization" not in count(check_optimised(b.build(), b.random_inputs()))


def test_needs_66_a_near_miss_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    b = ModelBuilder()
    x = b.input("x", 1, 4, 6, 6)
    parent = conv(b, x, "plain", name="parent")
    b.output(b.node("BatchNormalization", parent, *b.statistics(4)), b.node("Exp", parent))
    onnx.save(b.build(), tmp_path / "m.onnx")
    ge_opt.run([str(tmp_path / "m.onnx"), "-O3", "--explain-fusion=onnx-fold-conv-bn", "-o", str(tmp_path / "o.onnx")])
    captured = capsys.readouterr()
    assert "near match" in captured.out + captured.err
