"""What modules are tried on: what they take, and what tells something."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i32, i64

from ge.ir.parser import parse_module
from ge.maths.hostile import KINDS
from ge.tools.arrays import InputInfo
from ge.tools.execute import executable
from ge.tools.input_draws import Draws, compared_values, draw_for, draw_input


def module(inputs: str, text: str) -> ModuleOp:
    return parse_module(
        f"func.func @main({inputs}) -> tensor<?xf32> {{\n{text}\n  func.return %y : tensor<?xf32>\n}}\n"
    )


def drawn(model: ModuleOp) -> Draws:
    program = executable(model)
    return draw_for(model, program, program.inputs, seed=0)


RATE = module(
    "%x: tensor<?xf32>, %rate: tensor<i64>",
    """
  %known = onnx.Constant dense<16000> : tensor<1xi64>
  %wrong = onnx.Constant dense<[2, 3, 5, 7]> : tensor<4xi64>
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %flat = onnx.Reshape(%rate, %one) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %is = onnx.Equal(%known, %flat) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %y = onnx.If(%is) then_branch {
    %a = onnx.Neg(%x) : (tensor<?xf32>) -> tensor<?xf32>
    onnx.Yield %a : tensor<?xf32>
  } else_branch {
    %b = onnx.Reshape(%x, %wrong) : (tensor<?xf32>, tensor<4xi64>) -> tensor<?xf32>
    onnx.Yield %b : tensor<?xf32>
  } : (tensor<1xi1>) -> tensor<?xf32>""",
)
"""Takes one rate of samples."""


def test_values_that_an_input_is_compared_with() -> None:
    (position,) = compared_values(RATE)
    (value,) = compared_values(RATE)[position]
    assert (position, value.item(), value.shape, value.dtype) == (1, 16000, (), np.int64)


def test_values_of_what_is_computed_or_has_several_elements_are_none() -> None:
    text = """
  %c = onnx.Constant dense<3.0> : tensor<f32>
  %0 = onnx.Less(%x, %c) : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
  %1 = onnx.Neg(%n) : (tensor<f32>) -> tensor<f32>
  %2 = onnx.Less(%1, %c) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %3 = onnx.Less(%n, %x) : (tensor<f32>, tensor<?xf32>) -> tensor<?xi1>
  %y = onnx.Neg(%x) : (tensor<?xf32>) -> tensor<?xf32>"""
    assert compared_values(module("%x: tensor<?xf32>, %n: tensor<f32>", text)) == {}


def test_a_module_is_tried_on_the_values_that_it_knows() -> None:
    draws = drawn(RATE)
    assert [draw.kind for draw in draws.kept] == list(KINDS)
    assert {int(draw.inputs[1]) for draw in draws.kept} == {16000}
    assert not draws.refused


def test_both_ways_of_a_branch_are_tried() -> None:
    text = """
  %c = onnx.Constant dense<7> : tensor<i64>
  %is = onnx.Equal(%n, %c) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = onnx.Where(%is, %x, %x) : (tensor<i1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>"""
    values = [int(draw.inputs[1]) for draw in drawn(module("%x: tensor<?xf32>, %n: tensor<i64>", text)).kept]
    assert values[1::2] == [7, 7, 7]
    assert 7 not in values[::2]


def test_larger_sizes_are_tried() -> None:
    text = """
  %w = onnx.Constant dense<1.0> : tensor<1x1x20xf32>
  %shape = onnx.Constant dense<[1, 1, -1]> : tensor<3xi64>
  %flat = onnx.Constant dense<[-1]> : tensor<1xi64>
  %0 = onnx.Reshape(%x, %shape) : (tensor<?xf32>, tensor<3xi64>) -> tensor<1x1x?xf32>
  %1 = onnx.Conv(%0, %w) : (tensor<1x1x?xf32>, tensor<1x1x20xf32>) -> tensor<1x1x?xf32>
  %y = onnx.Reshape(%1, %flat) : (tensor<1x1x?xf32>, tensor<1xi64>) -> tensor<?xf32>"""
    assert {draw.inputs[0].size for draw in drawn(module("%x: tensor<?xf32>", text)).kept} == {32}


def test_draws_that_tell_nothing_are_left_out() -> None:
    text = """
  %0 = onnx.Abs(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = onnx.Neg(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %y = onnx.Log(%1) : (tensor<?xf32>) -> tensor<?xf32>"""
    draws = drawn(module("%x: tensor<?xf32>", text))
    assert not draws.kept
    assert draws.silent == list(KINDS), "NaN everywhere, or minus infinity"


@pytest.mark.parametrize("kind", KINDS)
def test_what_may_be_how_often_a_loop_turns_is_small(kind: str) -> None:
    random = np.random.default_rng(0)
    for type in (TensorType(i64, []), TensorType(i32, [1])):
        assert 0 <= draw_input(InputInfo("n", type), kind, 2, random, counts=True).item() < 4
    floats: Any = draw_input(InputInfo("x", TensorType(f32, [])), kind, 2, random, counts=True)
    assert floats.dtype == np.float32
