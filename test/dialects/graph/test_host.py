"""Every operation of the graph level and its ONNX equivalent on the host compute the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType, f16, f32
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects import graph
from ge.dialects.graph import FUNCTIONS, ActivationAttr, BinaryKind, UnaryKind
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.constants import constant
from ge.dialects.graph.host import has_equivalent, host_equivalent
from ge.dialects.graph.meaning import evaluate
from ge.ir.errors import GeError

POSITIVE = (UnaryKind.LOG, UnaryKind.SQRT, UnaryKind.RSQRT, UnaryKind.RECIPROCAL, UnaryKind.POWER)


def values(*shapes: tuple[int, ...]) -> list[SSAValue]:
    return list(Block(arg_types=[TensorType(f32, shape) for shape in shapes]).args)


def random(value: SSAValue, *, positive: bool = False) -> NDArray[np.float32]:
    array = np.random.default_rng(0).standard_normal(shape_of(value)).astype(np.float32)
    return np.abs(array) + np.float32(0.1) if positive else array


def check(op: Operation, *, positive: bool = False) -> None:
    host = host_equivalent(op)
    host.verify()
    arrays = {operand: random(operand, positive=positive) for operand in (*op.operands, *host.operands)}
    arrays |= {
        operand: evaluate(operand.owner, [])[0] for operand in op.operands if isinstance(operand.owner, Operation)
    }
    want = evaluate(op, [arrays[operand] for operand in op.operands])[0]
    got = evaluate(host, [arrays[operand] for operand in host.operands])[0]
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * float(np.abs(want).max()))


@pytest.mark.parametrize("kind", list(UnaryKind))
def test_unary(kind: UnaryKind) -> None:
    parameters = {UnaryKind.CLIP: (-0.5, 0.75), UnaryKind.SQUARE: (0.5,), UnaryKind.POWER: (-0.75,)}.get(
        kind, FUNCTIONS[kind].defaults
    )
    check(graph.UnaryOp(values((3, 5))[0], kind, *parameters), positive=kind in POSITIVE)


@pytest.mark.parametrize("kind", list(BinaryKind))
def test_binary(kind: BinaryKind) -> None:
    a, b = values((3, 5), (5,))
    check(graph.BinaryOp(kind, a, b), positive=kind in (BinaryKind.POW, BinaryKind.DIV))


RELU = ActivationAttr(UnaryKind.RELU)


def batch_norm() -> Operation:
    x, scale, bias, mean, var = values((1, 3, 2, 2), (3,), (3,), (3,), (3,))
    return graph.BatchNormOp(x, scale, bias, mean, var, 1e-3)


def reduction(kind: graph.ReduceKind) -> Operation:
    return graph.ReduceOp(kind, values((2, 3, 4))[0], (0, 2))


OPERATIONS: Sequence[Callable[[], Operation]] = [
    lambda: graph.Conv2DOp(*values((1, 4, 6, 6), (6, 2, 3, 3), (6,)), pads=(1, 0, 1, 0), groups=2, activation=RELU),
    lambda: graph.MatmulOp(*values((2, 3, 4), (2, 5, 4)), transpose_b=True),
    lambda: graph.MatmulOp(*values((2, 3, 4), (4, 5), (5,)), activation=ActivationAttr(UnaryKind.GELU)),
    batch_norm,
    lambda: graph.Pool2DOp(values((1, 3, 7, 7))[0], "max", (3, 3), strides=(2, 2), pads=(1, 1, 1, 1), ceil_mode=True),
    lambda: graph.Pool2DOp(values((1, 3, 7, 7))[0], "average", (3, 2), pads=(1, 1, 1, 1), count_include_pad=True),
    lambda: graph.BinaryOp("add", *values((3, 4), (3, 4)), activation=RELU),
    lambda: graph.SoftmaxOp(values((2, 3, 4))[0], 1),
    lambda: graph.SoftmaxOp(values((2, 3, 4))[0], -1, log=True),
    lambda: graph.LrnOp(values((1, 7, 2, 2))[0], 3, 0.5, 0.75, 1.0),
    lambda: graph.LayerNormOp(*values((2, 3, 8), (8,), (8,)), epsilon=1e-3),
    *(partial(reduction, kind) for kind in graph.ReduceKind),
    lambda: graph.ConcatOp(values((1, 2, 3), (1, 2, 2)), 2),
    lambda: graph.SliceOp(values((2, 5, 3))[0], 1, 2, 3),
    lambda: graph.GatherChannelsOp(values((1, 2, 3, 3), (1, 3, 3, 3)), (4, 0, 0, 2)),
    lambda: graph.GatherChannelsOp(values((1, 4, 3, 3)), (3, 1)),
    lambda: graph.ReshapeOp(values((2, 6))[0], (3, 4)),
    lambda: graph.TransposeOp(values((2, 3, 4))[0], (2, 0, 1)),
    lambda: graph.CastOp(values((2, 3))[0], f16),
]


@pytest.mark.parametrize("make", OPERATIONS)
def test_other_operations(make: Callable[[], Operation]) -> None:
    op = make()
    check(op, positive=isinstance(op, graph.BatchNormOp))


def test_constants_go_into_the_region() -> None:
    weights = constant(np.arange(12, dtype=np.float32).reshape(4, 3))
    op = graph.MatmulOp(values((2, 4))[0], weights)
    assert len(host_equivalent(op).inputs) == 1
    check(op)


def test_packed_constants_are_unpacked_for_the_host() -> None:
    weights = constant(np.arange(12, dtype=np.float32).reshape(4, 3), "FRACTAL_Z")
    check(graph.MatmulOp(values((2, 4))[0], weights))


def test_what_is_no_operator_has_no_equivalent() -> None:
    x = values((2, 3))[0]
    op = graph.TransDataOp(x, tensor(x))
    assert not has_equivalent(op)
    with pytest.raises(GeError, match="cannot run on the host"):
        host_equivalent(op)
