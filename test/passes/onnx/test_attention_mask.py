"""Masks on their way into Attention: rows that are masked as a whole, bounds of values; onnxruntime judges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import TensorProto
from onnx_models import F32, ModelBuilder
from optimised import check_optimised, count
from xdsl.dialects.func import ReturnOp

from ge.passes.onnx.value_bounds import value_bounds
from ge.targets.onnx.importer import import_model

LOWEST = float(np.finfo(np.float32).min)


def where(b: ModelBuilder, taken_away: float) -> str:
    """A mask out of bits: zero, or a number that takes an element away."""
    bits = b.input("bits", 2, 1, 5, 5, dtype=TensorProto.BOOL)
    return b.node("Where", bits, b.constant(0.0), b.constant(taken_away))


def product(b: ModelBuilder, taken_away: float) -> str:
    """A mask out of bits as older exporters write it: (1 - bits) times a number."""
    bits = b.node("Cast", b.input("bits", 2, 1, 5, 5, dtype=TensorProto.BOOL), to=TensorProto.FLOAT)
    return b.node("Mul", b.node("Sub", b.constant(1.0), bits), b.constant(taken_away))


def twice(b: ModelBuilder, taken_away: float) -> str:
    """The sum of two masks, which may be lower than each."""
    mask = where(b, taken_away)
    return b.node("Add", mask, mask)


def narrow(b: ModelBuilder, taken_away: float) -> str:
    """A mask by way of float16, where -1e9 is -inf."""
    half = b.node("Cast", where(b, taken_away), to=TensorProto.FLOAT16)
    return b.node("Cast", half, to=TensorProto.FLOAT)


@pytest.mark.parametrize("mask", [where, product, twice, narrow])
@pytest.mark.parametrize("taken_away", [-1e4, -1e9, LOWEST, -np.inf])
def test_rows_that_are_masked_as_a_whole(mask: Callable[[ModelBuilder, float], str], taken_away: float) -> None:
    b = ModelBuilder(opset=18)
    q, k, v = (b.input(name, 2, 3, 5, 8) for name in "qkv")
    scores = b.node("MatMul", q, b.node("Transpose", k, perm=[0, 1, 3, 2]))
    scores = b.node("Add", scores, mask(b, taken_away))
    b.output(b.node("MatMul", b.node("Softmax", scores, axis=-1), v))
    bits = np.tri(5, dtype=np.bool_) & (b.random.random((2, 1, 5, 5)) < 0.7)
    bits[:, :, 2] = False
    is_finite = taken_away * (2 if mask is twice else 1) >= (-1e4 if mask is narrow else LOWEST)
    tolerance = F32 if is_finite else 0  # which compares NaN, too
    found = check_optimised(b.build(), {**b.random_inputs(), "bits": bits}, tolerance=tolerance)
    assert count(found)["Attention"] == is_finite


BOUNDS: dict[str, tuple[Callable[[ModelBuilder], str], float, float]] = {
    "where": (lambda b: where(b, -1e4), -1e4, 0),
    "product of bits": (lambda b: product(b, -1e4), -1e4, 0),
    "sum": (lambda b: twice(b, -1e4), -2e4, 0),
    "moved": (lambda b: b.node("Unsqueeze", b.node("Neg", where(b, -4.0)), b.constant([0], np.int64)), 0, 4),
    "cast of bytes": (lambda b: b.node("Cast", b.input("x", 3, dtype=TensorProto.UINT8), to=TensorProto.FLOAT), 0, 255),
    "cut off": (lambda b: b.node("Min", b.node("Max", b.input("x", 3), b.constant(-2.0)), b.constant(6.0)), -2, 6),
    "input": (lambda b: b.node("Identity", b.input("x", 3)), -np.inf, np.inf),
    "integers that may overflow": (
        lambda b: b.node("Mul", b.input("x", 3, dtype=TensorProto.INT8), b.constant([100, 100, 100], np.int8)),
        -128,
        127,
    ),
    "infinity times zero": (lambda b: b.node("Mul", b.input("x", 3), b.constant(0.0)), -np.inf, np.inf),
    "not a number": (lambda b: b.node("Concat", b.constant([np.nan]), b.constant([1.0]), axis=0), -np.inf, np.inf),
    "a norm that is not zero": (
        lambda b: b.node("Clip", b.node("ReduceL2", b.input("x", 3)), b.constant(1e-12), ""), 1e-12, np.inf
    ),
    "a square": (lambda b: b.node("Mul", *[b.input("x", 3)] * 2), 0, np.inf),
    "a root": (lambda b: b.node("Sqrt", b.node("Add", b.node("Exp", b.input("x", 3)), b.constant(4.0))), 2, np.inf),
    "an even power": (lambda b: b.node("Pow", b.input("x", 3), b.constant(2.0)), 0, np.inf),
    "another operator": (lambda b: b.node("Erf", b.constant([1.0, 2.0])), -np.inf, np.inf),
}  # fmt: skip
"""What a value is, and between which numbers its elements lie."""


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_of_values(name: str) -> None:
    build, least, most = BOUNDS[name]
    b = ModelBuilder(opset=18)
    b.output(build(b))
    (end,) = (op for op in import_model(b.build()).walk() if isinstance(op, ReturnOp))
    assert value_bounds(end.operands[0]) == pytest.approx((least, most), rel=1e-6)
