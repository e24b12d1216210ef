"""Kernels of fusions give what their operations give one after another, as tiles and on the simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cube_kernels
import numpy as np
import pytest
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import (
    ActivationAttr,
    BinaryOp,
    CastOp,
    Conv2DOp,
    FusionOp,
    MatmulOp,
    Pool2DOp,
    UnaryKind,
    UnaryOp,
)
from ge.dialects.graph.constants import constant
from ge.dialects.graph.fusion_limits import MAX_FUNCTION_BYTES, MAX_OPERANDS, fusion_obstacle, inner_bytes, lane_bytes
from ge.dialects.tile.meaning import run_kernel
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.lowering.graph_to_tile.elementwise import lower_binary, lower_unary
from ge.lowering.graph_to_tile.fusion import lower_fusion
from ge.lowering.graph_to_tile.steps import steps_cost
from ge.maths.group_merge import merge_count, merge_weights
from ge.passes.graph.fusion_groups import make_fusion

Check = Any
Value = Callable[..., SSAValue]
Constant = Callable[[Array], SSAValue]

NC1HWC0, NZ = "NC1HWC0", "FRACTAL_NZ"
RELU = ActivationAttr("relu")
UB = cube_kernels.LARGE.buffers["ub"]


def fuse(*steps: Operation) -> FusionOp:
    """The fusion of operations that follow each other."""
    Block(list(steps))
    assert fusion_obstacle(steps, UB) is None
    return make_fusion(steps)


def check_all(fusion: Callable[[], FusionOp], check: Check, check_small: Check) -> None:
    """Check a fusion as tiles on two chips, and on the simulator of the one that needs many tiles, in strict mode."""
    check(fusion(), lower_fusion)
    check_small(fusion(), lower_fusion)
    kernel, inputs = cube_kernels.kernel_of(fusion(), cube_kernels.SMALL)
    cube_kernels.check(kernel, inputs, cube_kernels.SMALL)


def number(value: float) -> SSAValue:
    return constant(np.array(value, np.float16)).y


# Elementwise


@pytest.mark.parametrize(
    ("shape", "format"),
    [((2, 32, 5, 5), NC1HWC0), ((1, 20, 7, 9), NC1HWC0), ((7, 9), "ND"), ((3, 5, 32), NZ), ((700, 33), "ND")],
)
def test_a_chain(shape: tuple[int, ...], format: str, check: Check, check_small: Check, value: Value) -> None:
    def chain() -> FusionOp:
        scaled = BinaryOp("mul", value(shape, format), number(0.5))
        shifted = BinaryOp("sub", number(1.0), scaled.y)
        gate = UnaryOp(shifted.y, "sigmoid")
        return fuse(scaled, shifted, gate, BinaryOp("max", gate.y, value(shape, format), activation=RELU))

    check_all(chain, check, check_small)


def test_a_tree_with_a_value_used_twice(check: Check, check_small: Check, value: Value) -> None:
    """x·tanh(x) + |y|/4, all on values of the fusion and operands that several steps read."""

    def tree() -> FusionOp:
        x, y = value((3, 50)), value((3, 50))
        total = BinaryOp("add", x, y)
        tanh, size = UnaryOp(total.y, "tanh"), UnaryOp(y, "abs")
        product, quarter = BinaryOp("mul", total.y, tanh.y), BinaryOp("div", size.y, number(4.0))
        return fuse(total, tanh, size, product, quarter, BinaryOp("add", product.y, quarter.y))

    check_all(tree, check, check_small)


def test_operands_that_spread_as_channels(check: Check, check_small: Check, value: Value) -> None:
    def gated() -> FusionOp:
        x = value((2, 40, 9, 9), NC1HWC0)
        scaled = BinaryOp("mul", x, value((2, 40, 1, 1), NC1HWC0))
        shifted = BinaryOp("add", value((1, 40, 1, 1), NC1HWC0), scaled.y)
        return fuse(scaled, shifted, UnaryOp(shifted.y, "swish"))

    check_all(gated, check, check_small)


def test_operands_that_spread_as_rows(check: Check, check_small: Check, value: Value) -> None:
    def affine() -> FusionOp:
        scaled = BinaryOp("mul", value((6, 5, 48)), value((48,)))
        shifted = BinaryOp("add", scaled.y, value((1, 48)))
        return fuse(scaled, shifted, UnaryOp(shifted.y, "gelu"))

    check_all(affine, check, check_small)


@pytest.mark.parametrize("mask", [(20, 24), (1, 1, 20, 24), (3, 20, 24)])
def test_operands_that_spread_as_matrices(
    mask: tuple[int, ...], check: Check, check_small: Check, value: Value
) -> None:
    """In FRACTAL_NZ, also where the last block of columns is not full."""

    def masked() -> FusionOp:
        scaled = BinaryOp("mul", value((2, 3, 20, 24), NZ), number(0.5))
        return fuse(scaled, BinaryOp("add", scaled.y, value(mask, NZ)))

    check_all(masked, check, check_small)


def test_a_scalar_that_is_computed(check: Check, check_small: Check, value: Value) -> None:
    def scaled() -> FusionOp:
        product = BinaryOp("mul", value((5, 100)), value((1,)))
        return fuse(product, BinaryOp("add", product.y, value((5, 100))))

    check_all(scaled, check, check_small)


def test_casts_at_both_ends(check: Check, check_small: Check, value: Value) -> None:
    def between() -> FusionOp:
        half = CastOp(value((4, 77), dtype=np.float32), f16)
        swish = UnaryOp(half.y, "swish")
        return fuse(half, swish, CastOp(swish.y, f32))

    check_all(between, check, check_small)


def test_a_fusion_changes_no_bit(check: Check, value: Value) -> None:
    """Hostile values, too: large ones saturate in each step, as they do in kernels of their own."""
    x = np.array([0.1, -3, 60000, -60000, 1e-7, 0.0, 2047.5, 700] * 16, np.float16)
    a, b = value((128,)), value((128,))
    total = BinaryOp("add", a, b)
    scaled = BinaryOp("mul", total.y, number(0.3))
    swish = UnaryOp(scaled.y, "swish")
    separate: dict[SSAValue, Array] = {a: x, b: x[::-1].copy()}
    for op in (total, scaled, swish):
        outlined = lower_unary(op, check.target) if isinstance(op, UnaryOp) else lower_binary(op, check.target)
        (separate[op.results[0]],) = run_kernel(outlined.kernel, [separate[v].reshape(-1, 16) for v in outlined.inputs])
    expected = separate[swish.y]
    outlined = lower_fusion(fuse(total, scaled, swish), check.target)
    (got,) = run_kernel(outlined.kernel, [separate[v].reshape(-1, 16) for v in outlined.inputs])
    np.testing.assert_array_equal(got, expected)
    assert len(outlined.inputs) == 2


# After convolutions and matrix products


def conv(value: Value, x: tuple[int, ...], outputs: int, kernel: int = 3, groups: int = 1, **more: Any) -> Conv2DOp:
    random = np.random.default_rng(5)
    merge = merge_count(x[1], outputs, groups)
    w = merge_weights(random.standard_normal((outputs, x[1] // groups, kernel, kernel)) / 5, groups, merge)
    weights = constant(w.astype(np.float16), "FRACTAL_Z").y
    bias = constant(random.standard_normal(outputs).astype(np.float32)).y
    pads = (kernel // 2,) * 4
    return Conv2DOp(value(x, NC1HWC0), weights, bias, pads=pads, groups=groups, group_merge=merge, **more)


CONVOLUTIONS: dict[str, dict[str, Any]] = {
    "3x3": {"x": (1, 40, 14, 14), "outputs": 72},
    "1x1 of two images": {"x": (2, 24, 7, 7), "outputs": 56, "kernel": 1, "activation": RELU},
    "stride": {"x": (1, 16, 15, 13), "outputs": 32, "strides": (2, 2), "activation": ActivationAttr("swish")},
    "depthwise": {"x": (1, 40, 9, 9), "outputs": 40, "groups": 40},
    "groups": {"x": (1, 64, 9, 9), "outputs": 64, "groups": 2},
}


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_a_residual(case: str, check: Check, check_small: Check, value: Value) -> None:
    def block() -> FusionOp:
        y = conv(value, **CONVOLUTIONS[case])
        other = value(y.y.type.get_shape(), NC1HWC0)
        return fuse(y, BinaryOp("add", *((other, y.y) if "groups" in case else (y.y, other)), activation=RELU))

    check_all(block, check, check_small)


def test_a_long_epilogue(check: Check, check_small: Check, value: Value) -> None:
    """A residual, a gate per channel, a number, and a function that needs float32."""

    def block() -> FusionOp:
        y = conv(value, (2, 20, 9, 11), 40)
        shape = y.y.type.get_shape()
        total = BinaryOp("add", y.y, value(shape, NC1HWC0))
        gated = BinaryOp("mul", total.y, value((2, 40, 1, 1), NC1HWC0))
        halved = BinaryOp("mul", gated.y, number(0.5))
        mish = UnaryOp(halved.y, "mish")
        return fuse(y, total, gated, halved, mish, BinaryOp("sub", mish.y, value(shape, NC1HWC0)))

    check_all(block, check, check_small)


def test_the_result_of_a_convolution_added_to_itself(check: Check, check_small: Check, value: Value) -> None:
    def block() -> FusionOp:
        y = conv(value, (1, 16, 6, 6), 16)
        return fuse(y, BinaryOp("add", y.y, y.y))

    check_all(block, check, check_small)
    check.without_double_buffering()(block(), lower_fusion)


@pytest.mark.parametrize("shape", [(37, 40), (2, 3, 20, 24)])
def test_a_matrix_product(shape: tuple[int, ...], check: Check, check_small: Check, value: Value) -> None:
    def block() -> FusionOp:
        *batch, _, k = shape
        right = value((*batch, k, 56), NZ)
        y = MatmulOp(value(shape, NZ), right)
        total = BinaryOp("add", value(y.y.type.get_shape(), NZ), y.y)
        return fuse(y, total, UnaryOp(total.y, "tanh"))

    check_all(block, check, check_small)


@pytest.mark.parametrize("heads", [(2, 3), (5,), (1, 1)])
@pytest.mark.parametrize("columns", [40, 56, 200])
def test_a_mask_for_all_matrices(
    heads: tuple[int, ...], columns: int, check: Check, check_small: Check, value: Value
) -> None:
    """One right operand for each matrix, and one for all of them."""
    for right in ((*heads, 32, columns), (32, columns)):

        def block(right: tuple[int, ...] = right) -> FusionOp:
            y = MatmulOp(value((*heads, 20, 32), NZ), value(right, NZ))
            scaled = BinaryOp("mul", y.y, number(0.125))
            return fuse(y, scaled, BinaryOp("add", scaled.y, value((20, columns), NZ)))

        check_all(block, check, check_small)


def test_convolutions_of_resnet_keep_their_cores_busy(check: Check, value: Value) -> None:
    for channels, size, outputs in [(64, 56, 256), (128, 28, 512), (256, 14, 1024), (512, 7, 2048)]:
        y = conv(value, (1, channels, size, size), outputs, 1)
        residual = value((1, outputs, size, size), NC1HWC0)
        outlined = lower_fusion(fuse(y, BinaryOp("add", y.y, residual, activation=RELU)), check.target)
        check.check_capacity(outlined)
        assert outlined.kernel.block_count == 8
        assert (outlined.op_type, str(outlined.op_attrs["fused_ops"])) == ("Conv2D", '"Conv2D, Add"')


# What is no fusion


def obstacle_of(*steps: Operation) -> str | None:
    Block(list(steps))
    return fusion_obstacle(steps, UB)


def test_what_one_kernel_cannot_hold(value: Value) -> None:
    shape = (1, 32, 6, 6)
    y = conv(value, shape, 32)
    z = conv(value, shape, 32)
    assert obstacle_of(y, z, BinaryOp("add", y.y, z.y)) == "graph.conv2d and graph.conv2d share no kernel"

    relu = UnaryOp(value(shape, NC1HWC0), "relu")
    y = Conv2DOp(relu.y, constant(np.ones((32, 32, 1, 1), np.float16), "FRACTAL_Z").y)
    assert obstacle_of(y, relu) == "the anchor takes the result of another step"

    x = UnaryOp(value(shape, NC1HWC0), "relu")
    assert "is no step" in (obstacle_of(x, Pool2DOp(x.y, "max", (6, 6))) or "")

    x = UnaryOp(value((1, 32, 1, 1), NC1HWC0), "sigmoid")
    assert obstacle_of(x, BinaryOp("mul", value(shape, NC1HWC0), x.y)) == "steps have other shapes or storage formats"

    x = UnaryOp(value((4, 32)), "relu")
    tanh = UnaryOp(x.y, "tanh")
    Block([UnaryOp(x.y, "abs")])
    assert obstacle_of(x, tanh) == "a value between them has other users"

    y = MatmulOp(value((2, 3, 4, 16), NZ), value((2, 3, 16, 32), NZ))
    assert obstacle_of(y, BinaryOp("add", y.y, value((3, 4, 32), NZ))) == "an operand is not one matrix for all"

    x = UnaryOp(value((4, 32), dtype=np.float32), "relu")
    assert obstacle_of(x, UnaryOp(x.y, "tanh")) == "a step does not compute on float16"

    steps: list[Operation] = [UnaryOp(value((4, 32)), "relu")]
    for _ in range(MAX_OPERANDS):
        steps.append(BinaryOp("add", steps[-1].results[0], value((4, 32))))
    assert obstacle_of(*steps) == f"it has more than {MAX_OPERANDS} operands"


def test_such_fusions_have_no_kernel(check: Check, value: Value) -> None:
    x = UnaryOp(value((1, 32, 6, 6), NC1HWC0), "relu")
    steps: Sequence[Operation] = [x, Pool2DOp(x.y, "max", (6, 6))]
    Block(list(steps))
    with pytest.raises(GeError, match=r"GE4010.*pool2d is no step of a fusion"):
        lower_fusion(make_fusion(steps), check.target)


@pytest.mark.parametrize("kind", [str(kind) for kind in UnaryKind])
@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_the_bound_of_a_lane_holds(kind: str, alpha: float, value: Value) -> None:
    """What passes reckon with is not less than what kernels take."""
    steps = [UnaryOp(value((4, 32)), ActivationAttr(kind, alpha, 3.0))]
    assert steps_cost(steps).lane_bytes <= lane_bytes(steps)
    assert steps_cost(steps).inner_bytes <= inner_bytes(steps[0]) <= MAX_FUNCTION_BYTES
