"""Modules that compute the same by the same operations are known without running them."""

from __future__ import annotations

import pytest

from ge.ir.parser import parse_module
from ge.tools.formulas import Formulas, output_numbers

T = "tensor<4xf32>"
BINARY = f"({T}, {T}) -> {T}"
UNARY = f"({T}) -> {T}"

BEFORE = f"""
  %c = onnx.Constant dense<2.0> : {T}
  %0 = onnx.Mul(%x, %c) : {BINARY}
  %1 = onnx.Neg(%0) : {UNARY}
  %y = onnx.Add(%1, %0) : {BINARY}"""


def same(before: str, after: str) -> bool:
    modules = [
        parse_module(f"func.func @main(%x: {T}, %z: {T}) -> {T} {{\n{text}\n  func.return %y : {T}\n}}\n")
        for text in (before, after)
    ]
    formulas = Formulas()
    numbers = [formulas.of(module) for module in modules]
    found = [
        None if known is None else output_numbers(module, known) for known, module in zip(numbers, modules, strict=True)
    ]
    return found[0] is not None and found[0] == found[1]


def test_order_repetition_names_types_and_unused_operations_do_not_count() -> None:
    after = f"""
  %unused = onnx.Relu(%z) : {UNARY}
  %d = onnx.Constant dense<2.0> : {T}
  %c = onnx.Constant dense<2.0> : {T}
  %a = onnx.Mul(%x, %d) : {BINARY} loc("other")
  %b = onnx.Mul(%x, %c) : ({T}, {T}) -> tensor<?xf32>
  %n = onnx.Neg(%b) : (tensor<?xf32>) -> {T}
  %y = onnx.Add(%n, %a) : {BINARY}"""
    assert same(BEFORE, after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dense<2.0>", "dense<2.5>"),
        ("Mul(%x", "Mul(%z"),
        ("Neg", "Abs"),
        ("Add(%1, %0)", "Add(%0, %1)"),
    ],
)
def test_everything_else_does(old: str, new: str) -> None:
    assert same(BEFORE, BEFORE)
    assert not same(BEFORE, BEFORE.replace(old, new))


@pytest.mark.parametrize("attribute", ["axis = 0", "axis = -1"])
def test_attributes(attribute: str) -> None:
    def softmax(given: str) -> str:
        return f"  %y = onnx.Softmax(%x) {{{given}}} : {UNARY}"

    assert same(softmax("axis = 0"), softmax(attribute)) == (attribute == "axis = 0")


def test_what_may_give_something_else_each_time_is_not_known() -> None:
    random = f"  %y = onnx.RandomNormalLike(%x) {{seed = 1.0}} : {UNARY}"
    foreign = f'  %y = onnx.Custom "a.domain" "Foo"(%x) : {UNARY}'
    for text in (random, foreign):
        assert not same(text, text)


def test_subgraphs() -> None:
    def branch(op: str, taken: str) -> str:
        return f"""
  %c = onnx.Constant dense<true> : tensor<i1>
  %a = onnx.Neg(%x) : {UNARY}
  %b = onnx.Abs(%x) : {UNARY}
  %y = onnx.If(%c) then_branch {{
    %t = onnx.{op}({taken}) : {UNARY}
    onnx.Yield %t : {T}
  }} else_branch {{
    onnx.Yield %a : {T}
  }} : (tensor<i1>) -> {T}"""

    assert same(branch("Relu", "%b"), branch("Relu", "%b"))
    unused = f"%t = onnx.Exp(%x) : {UNARY}\n    %u = "
    assert same(branch("Relu", "%b"), branch("Relu", "%b").replace("%t = ", unused).replace("Yield %t", "Yield %u"))
    assert not same(branch("Relu", "%b"), branch("Exp", "%b"))
    assert not same(branch("Relu", "%b"), branch("Relu", "%a"))


def test_arguments_of_graphs_inside_each_other_are_told_apart() -> None:
    def loops(used: str) -> str:
        t = f"(tensor<i64>, tensor<i1>, {T}) -> {T}"
        return f"""
  %n = onnx.Constant dense<2> : tensor<i64>
  %c = onnx.Constant dense<true> : tensor<i1>
  %y = onnx.Loop(%n, %c, %x) body {{
  ^bb0(%i: tensor<i64>, %on: tensor<i1>, %a: {T}):
    %r = onnx.Loop(%n, %c, %a) body {{
    ^bb1(%j: tensor<i64>, %go: tensor<i1>, %b: {T}):
      %s = onnx.Add(%a, {used}) : {BINARY}
      onnx.Yield %go, %s : tensor<i1>, {T}
    }} : {t}
    onnx.Yield %on, %r : tensor<i1>, {T}
  }} : {t}"""

    assert same(loops("%b"), loops("%b"))
    assert not same(loops("%b"), loops("%a"))


@pytest.mark.parametrize("shape", ["2x2", "1x4", "4x1"])
def test_constants_of_other_shapes(shape: str) -> None:
    def text(type: str) -> str:
        return f"""
  %c = onnx.Constant dense<2.0> : {type}
  %r = onnx.ReduceSum(%c) {{keepdims = 0}} : ({type}) -> tensor<f32>
  %y = onnx.Mul(%x, %r) : ({T}, tensor<f32>) -> {T}"""

    assert not same(text("tensor<4xf32>"), text(f"tensor<{shape}xf32>"))
    assert not same(text("tensor<4xf32>"), text("tensor<4xf64>"))
