"""What the AI Core has kernels for."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f16, f32, f64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge.dialects import graph
from ge.dialects.graph import ActivationAttr
from ge.dialects.graph.capabilities import broadcast_form, kernel_formats, obstacle
from ge.dialects.graph.constants import constant


def value(*shape: int, element_type: Attribute = f16) -> SSAValue:
    return Block(arg_types=[TensorType(element_type, shape)]).args[0]


def weights(*shape: int) -> SSAValue:
    return constant(np.zeros(shape, np.float16)).y


@pytest.mark.parametrize(
    ("operand", "form"),
    [
        ((2, 16, 4, 5), "same"),
        ((), "scalar"),
        ((1, 1), "scalar"),
        ((16, 1, 1), "channel"),
        ((1, 16, 1, 1), "channel"),
        ((2, 16, 1, 1), "channel"),
        ((5,), "trailing"),
        ((1, 1, 4, 5), "trailing"),
        ((4, 1), "repeated"),
        ((2, 1, 4, 5), "repeated"),
        ((2, 1, 1, 1), "repeated"),
        ((4, 2), None),
    ],
)
def test_broadcast_forms(operand: tuple[int, ...], form: str | None) -> None:
    assert broadcast_form(operand, (2, 16, 4, 5)) == form


def formats(op: Operation) -> list[str]:
    return [choice.result for choice in kernel_formats(op)]


def test_elementwise_operations_take_any_format_but_not_where_padding_could_be_divided_by() -> None:
    assert formats(graph.UnaryOp(value(1, 3, 4, 5), "relu")) == ["NC1HWC0", "FRACTAL_NZ", "ND"]
    assert formats(graph.UnaryOp(value(1, 3, 4, 5), "log")) == ["ND"]
    assert formats(graph.UnaryOp(value(1, 16, 4, 5), "log")) == ["NC1HWC0", "ND"]
    assert formats(graph.UnaryOp(value(16, 32), "log")) == ["FRACTAL_NZ", "ND"]
    assert formats(graph.UnaryOp(value(7), "relu")) == ["ND"]
    assert formats(graph.BinaryOp("mul", value(1, 3, 4, 5), value(3, 1, 1))) == ["NC1HWC0", "ND"]
    assert formats(graph.BinaryOp("add", value(6, 5), value(5))) == ["ND"]
    assert formats(graph.BinaryOp("add", value(6, 5), value(1))) == ["FRACTAL_NZ", "ND"]
    assert formats(graph.BinaryOp("div", value(1, 3, 4, 5), value(3, 1, 1))) == ["ND"]


def test_operands_that_repeat_are_plain_or_whole_matrices() -> None:
    assert formats(graph.BinaryOp("add", value(2, 3, 4, 32), value(2, 1, 4, 32))) == ["FRACTAL_NZ", "ND"]
    assert formats(graph.BinaryOp("add", value(1, 3, 4, 32), value(2, 1, 4, 32))) == ["ND"]
    assert formats(graph.BinaryOp("sub", value(16, 32), value(16, 1))) == ["ND"]
    assert formats(graph.BinaryOp("sub", value(16, 1), value(1, 32))) == ["ND"]
    assert formats(graph.BinaryOp("add", value(2, 16, 4, 32), value(2, 1, 1, 32))) == ["ND"]
    assert formats(graph.BinaryOp("add", value(1, 16, 1, 1), value(4, 32))) == ["ND"]
    assert formats(graph.BinaryOp("mul", value(2000, 4), value(4))) == ["ND"]
    assert formats(graph.BinaryOp("mul", value(2, 1000, 2, 2), value(1, 1000, 1, 1))) == ["NC1HWC0", "ND"]


def test_whole_blocks_of_channels_are_no_places() -> None:
    x = value(1, 1 << 15, 1, 1)
    assert obstacle(graph.GatherChannelsOp([x], [*range(1 << 14, 1 << 15), *range(1 << 14)])) is None
    assert obstacle(graph.ConcatOp([x] * 100, 1)) is None
    assert obstacle(graph.GatherChannelsOp([x], range(8, 1 << 14))) is None
    assert obstacle(graph.GatherChannelsOp([x], range(1023, -1, -1))) is None


REFUSED: list[tuple[Operation, str]] = [
    (graph.UnaryOp(value(2, element_type=f64), "relu"), "the element type is f64"),
    (graph.UnaryOp(value(DYNAMIC_INDEX), "relu"), "a shape is not static"),
    (graph.UnaryOp(value(0, 3), "relu"), "a tensor is empty"),
    (graph.UnaryOp(value(), "relu"), "the value has no dimension"),
    (graph.UnaryOp(value(2), "leaky_relu", float("inf")), "a parameter of leaky_relu is not finite"),
    (graph.UnaryOp(value(2), "celu", 0.0), "the width of celu is too small"),
    (graph.UnaryOp(value(2), "celu", 1e-45), "the width of celu is too small"),
    (graph.MatmulOp(value(2, 2), value(2, 2), activation=ActivationAttr("elu", float("nan"))), "is not finite"),
    (graph.BinaryOp("pow", value(2), value(2)), "powers have no kernel"),
    (graph.BinaryOp("mul", value(2000, 4), value(2000, 1)), "repeat over more than 1024 rows of less than 16 elements"),
    (graph.BinaryOp("div", value(2, 999, 2, 2), value(1, 999, 1, 1)), "repeat over more than 1024 rows"),
    (graph.BinaryOp("add", value(2, 3), value(3), activation=ActivationAttr("relu")), "not fused"),
    (graph.Conv2DOp(value(1, 2, 4, 4), value(2, 2, 1, 1)), "the weights are not constant"),
    (graph.Conv2DOp(value(1, 1, 300, 4), weights(1, 1, 256, 1)), "the window is larger"),
    (graph.Conv2DOp(value(1, 1, 300, 4), weights(1, 1, 1, 1), strides=(64, 1)), "the stride is larger"),
    (graph.Conv2DOp(value(1, 1, 4, 4), weights(1, 1, 1, 1), pads=(0, 256, 0, 0)), "the padding"),
    (graph.Conv2DOp(value(1, 1, 9, 4000), weights(1, 1, 7, 7)), "do not fit into L1"),
    (graph.Pool2DOp(value(1, 1, 9, 9), "max", (2, 2), dilations=(2, 1)), "the window is dilated"),
    (graph.Pool2DOp(value(1, 1, 9, 9), "max", (2, 2), pads=(2, 0, 0, 0)), "the padding"),
    (graph.Pool2DOp(value(1, 1, 99, 1000), "max", (90, 90)), "does not fit into the unified buffer"),
    (graph.MatmulOp(value(2, 3, 4), value(5, 2, 4, 3)), "the leading dimensions broadcast"),
    (graph.MatmulOp(value(3, 4), weights(4, 2), value(2, element_type=f32)), "the bias is not constant"),
    (graph.SoftmaxOp(value(3, 4), 0), "the axis is not the last"),
    (graph.SoftmaxOp(value(1, 10000), 1), "a row is longer"),
    (graph.ReduceOp("sum", value(2, 3, 4), (0, 2)), "dimensions that stay are between those that are reduced"),
    (graph.ReduceOp("max", value(2, 1, 4), (1,)), "it combines nothing"),
    (graph.ReduceOp("mean", value(DYNAMIC_INDEX, 4), (1,)), "a shape is not static"),
    (graph.ReduceOp("mean", value(0, 4), (1,)), "a tensor is empty"),
    (graph.ReduceOp("sum", value(4, 4, element_type=f64), (1,)), "the element type is f64"),
    (graph.ConcatOp([value(1, 2), value(1, 2)], 1), "do not fill blocks"),
    (graph.GatherChannelsOp([value(1, 1040, 1, 1)], range(1039, -1, -1)), "from 1040 places are more than 1024"),
    (graph.ConcatOp([value(1, 1, 1, 1)] * 1026, 1), "from 1026 places are more than 1024"),
    (
        graph.TransposeOp(value(2, 3, 5), (2, 1, 0)),
        "it moves elements of rows in another way than by transposing matrices",
    ),
    (graph.LrnOp(value(1, 3, 2, 2), 3), "not decomposed"),
]


@pytest.mark.parametrize(("op", "reason"), REFUSED)
def test_reasons(op: Operation, reason: str) -> None:
    assert reason in (obstacle(op) or "")
    assert kernel_formats(op) == ()


ACCEPTED: list[Operation] = [
    graph.Conv2DOp(value(1, 2, 4, 4, element_type=f16), weights(2, 2, 3, 3), pads=(255, 0, 0, 0), strides=(63, 1)),
    graph.Pool2DOp(value(1, 1, 300, 300), "average", (300, 300)),
    graph.MatmulOp(value(2, 3, 4), value(2, 4, 3)),
    graph.MatmulOp(value(2, 3, 4), weights(4, 3)),
    graph.SoftmaxOp(value(3, 4), -1),
    graph.GatherChannelsOp([value(1, 3, 2, 2)], (2, 0)),
    graph.ReshapeOp(value(2, 3), (6,)),
]


@pytest.mark.parametrize("op", ACCEPTED)
def test_what_has_a_kernel(op: Operation) -> None:
    assert obstacle(op) is None
    assert len(kernel_formats(op)) == (2 if isinstance(op, graph.SoftmaxOp) else 1)


ND, NZ, MAPS = ("ND", "ND"), ("FRACTAL_NZ", "FRACTAL_NZ"), ("NC1HWC0", "NC1HWC0")

REDUCTIONS: list[tuple[tuple[int, ...], tuple[int, ...], list[tuple[str, str]]]] = [
    ((4, 32), (1,), [ND, ("FRACTAL_NZ", "ND")]),
    ((4, 768), (1,), [ND, ("FRACTAL_NZ", "ND")]),
    ((4, 784), (1,), [ND]),
    ((4, 33), (1,), [ND]),
    ((4, 33), (0,), [ND, NZ]),
    ((4, 32), (0, 1), [ND]),
    ((5, 4, 32), (1,), [ND, NZ]),
    ((5, 4, 32), (0,), [ND, NZ]),
    ((5, 1, 4, 32), (0, 1, 2), [ND]),
    ((64,), (0,), [ND]),
    ((2, 3, 4, 5), (2, 3), [ND, MAPS]),
    ((2, 3, 4, 5), (2,), [ND, NZ, MAPS]),
    ((2, 3, 4, 5), (3,), [ND, MAPS]),
    ((2, 3, 4, 5), (1,), [ND, NZ]),
    ((2, 3, 4, 5), (0,), [ND, NZ, MAPS]),
    ((2, 3, 1, 5), (1, 3), [ND]),
]


@pytest.mark.parametrize(("shape", "axes", "formats"), REDUCTIONS)
def test_formats_of_reductions(shape: tuple[int, ...], axes: tuple[int, ...], formats: list[tuple[str, str]]) -> None:
    op = graph.ReduceOp("sum", value(*shape), axes)
    assert [(choice.operands[0], choice.result) for choice in kernel_formats(op)] == formats
