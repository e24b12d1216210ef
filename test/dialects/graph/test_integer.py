"""Operations on 8-bit integers: what they compute, on the host as well, and which of them have kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f16, f32, i8
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import (
    ActivationAttr,
    DequantiseOp,
    IntegerAddOp,
    IntegerConv2DOp,
    IntegerMatmulOp,
    Pool2DOp,
    QuantiseOp,
    ReshapeOp,
    TransposeOp,
    UnaryKind,
)
from ge.dialects.graph.capabilities import kernel_formats, obstacle
from ge.dialects.graph.constants import constant, dtype_of
from ge.dialects.graph.host import host_equivalent
from ge.dialects.graph.meaning import evaluate
from ge.ir.attributes import ui8
from ge.ir.constants import element_type
from ge.maths.group_merge import merge_weights

RELU = ActivationAttr(UnaryKind.RELU)
RNG = np.random.default_rng(5)


def value(shape: Sequence[int], dtype: Any = np.uint8) -> SSAValue:
    return TestOp(result_types=[TensorType(element_type(np.dtype(dtype)), shape)]).results[0]


def vectors(outputs: int) -> tuple[SSAValue, SSAValue]:
    bias, scale = RNG.integers(-3000, 3000, outputs).astype(np.int32), RNG.uniform(1e-4, 2e-3, outputs)
    return constant(bias).y, constant(scale.astype(np.float32)).y


def weights(*shape: int) -> SSAValue:
    return constant(RNG.integers(-128, 128, shape).astype(np.int8)).y


def convolution(**fields: Any) -> IntegerConv2DOp:
    return IntegerConv2DOp(value((1, 4, 6, 7)), weights(6, 4, 3, 3), *vectors(6), ui8, pads=(1, 1, 1, 1), **fields)


OPERATIONS = {
    "quantise": QuantiseOp(value((2, 3, 4), np.float32), ui8, 0.02, 128),
    "quantise half": QuantiseOp(value((2, 3, 4), np.float16), i8, 0.02, -3),
    "dequantise": DequantiseOp(value((2, 3, 4), np.int8), f32, 0.02, -7),
    "dequantise to half": DequantiseOp(value((2, 3, 4)), f16, 0.02, 7),
    "add": IntegerAddOp(value((2, 6)), value((2, 6), np.int8), ui8, (0.25, 0.5, 0.5), (100, -3, 30)),
    "conv": convolution(padding=130, zero_point=20),
    "conv relu": convolution(padding=130, zero_point=20, activation=RELU),
    "conv that quantises": IntegerConv2DOp(
        value((1, 4, 6, 7), np.float32), weights(6, 4, 3, 3), *vectors(6), ui8, padding=130, x_scale=0.02, x_type=ui8
    ),
    "conv groups": IntegerConv2DOp(value((1, 4, 6, 6), np.int8), weights(8, 1, 3, 3), *vectors(8), i8, groups=4),
    "conv merged groups": IntegerConv2DOp(
        value((1, 4, 6, 6), np.int8),
        constant(merge_weights(RNG.integers(-128, 128, (8, 1, 3, 3)).astype(np.int8), 4, 3)).y,
        *vectors(8),
        i8,
        groups=4,
        group_merge=3,
        padding=-5,
        pads=(1, 1, 1, 1),
    ),
    "matmul": IntegerMatmulOp(value((2, 5, 8)), weights(8, 3), *vectors(3), i8, zero_point=4),
    "matmul to half": IntegerMatmulOp(value((5, 8), np.int8), weights(8, 3), *vectors(3), f16, activation=RELU),
}


def arrays_for(op: Operation) -> list[Any]:
    """Random operands; constants are what they are."""
    arrays: list[Any] = []
    for operand in op.operands:
        if not isinstance(operand.owner, TestOp):
            arrays.append(evaluate(operand.owner, [])[0])  # pyright: ignore[reportArgumentType]
            continue
        dtype, shape = dtype_of(operand), operand.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
        if dtype.kind == "f":
            arrays.append(RNG.standard_normal(shape).astype(dtype))
        else:
            arrays.append(RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype))
    return arrays


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_host_computes_the_same(name: str) -> None:
    op = OPERATIONS[name]
    arrays = arrays_for(op)
    (want,) = evaluate(op, arrays)
    host = host_equivalent(op)
    inputs = [array for array, operand in zip(arrays, op.operands, strict=True) if isinstance(operand.owner, TestOp)]
    (got,) = evaluate(host, inputs)
    assert got.dtype == want.dtype == dtype_of(op.results[0])
    if want.dtype.kind == "f":
        assert np.allclose(got, want, rtol=1e-6)
    else:
        assert np.array_equal(got, want)
        assert len(np.unique(want)) > 3, "nearly all results saturate, the test shows little"


def test_rounding() -> None:
    """Half to even before the zero point, and saturation after it."""
    x = np.array([0.25, 0.75, 1.25, -0.25, -0.75, 63.0, 64.25, -64.5, 1e9, -1e9], np.float32)
    op = QuantiseOp(value(x.shape, np.float32), i8, 0.5, 1)
    assert evaluate(op, [x])[0].tolist() == [1, 3, 3, 1, -1, 127, 127, -128, 127, -128]


@pytest.mark.parametrize(
    ("op", "formats"),
    [
        (QuantiseOp(value((1, 3, 8, 8), np.float32), ui8, 1.0), ["ND->NC1HWC0", "ND->ND"]),
        (QuantiseOp(value((1, 3, 7, 7), np.float32), ui8, 1.0), ["ND->NC1HWC0"]),
        (QuantiseOp(value((1, 3, 7, 7), np.float16), ui8, 1.0), ["ND->NC1HWC0", "NC1HWC0->NC1HWC0"]),
        (DequantiseOp(value((5, 5)), f16, 1.0), []),
        (DequantiseOp(value((5, 6)), f16, 1.0), ["ND->ND"]),
        (DequantiseOp(value((1, 3, 8, 8)), f16, 1.0), ["NC1HWC0->NC1HWC0", "ND->ND"]),
        (DequantiseOp(value((1, 3, 8, 8)), f32, 1.0), ["ND->ND"]),
        (DequantiseOp(QuantiseOp(value((1, 3, 7, 7), np.float32), ui8, 1.0), f16, 1.0), ["NC1HWC0->NC1HWC0"]),
        (ReshapeOp(value((5, 6)), (30,)), ["ND->ND"]),
        (Pool2DOp(value((1, 3, 8, 8)), "max", (2, 2)), ["NC1HWC0->NC1HWC0"]),
    ],
)
def test_formats(op: Operation, formats: list[str]) -> None:
    assert [f"{choice.operands[0]}->{choice.result}" for choice in kernel_formats(op)] == formats


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        (Pool2DOp(value((1, 3, 8, 8)), "average", (2, 2)), "the element type is ui8"),
        (Pool2DOp(value((1, 3, 7, 7)), "max", (2, 2)), "the element type is ui8"),
        (TransposeOp(value((4, 8)), (1, 0)), "the element type is ui8"),
        (
            IntegerConv2DOp(value((1, 4, 5, 5)), weights(6, 4, 3, 3), *vectors(6), ui8),
            "a plane has an odd number of elements of 8 bits",
        ),
        (
            IntegerMatmulOp(value((2, 7)), weights(7, 3), *vectors(3), i8),
            "a row has an odd number of elements of 8 bits",
        ),
        (
            IntegerMatmulOp(value((2, 8)), value((8, 3), np.int8), *vectors(3), i8),
            "weights, bias or scales are not constant",
        ),
        (DequantiseOp(value((5, 5)), f16, 1.0), "an odd number of elements of 8 bits does not fill blocks"),
    ],
)
def test_obstacles(op: Operation, reason: str) -> None:
    assert obstacle(op) == reason
