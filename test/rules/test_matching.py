"""What a rule matches and what it leaves alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ge.ir.parser import parse_text
from ge.ir.registry import context
from ge.ir.rewriting import apply_rules
from ge.ir.verifier import verify_module
from ge.ir.weights import WeightsReader
from ge.rules import compile_file
from ge.rules.functions import close


def rewritten(rules: str, body: str, signature: str = "%x: tensor<2x3xf32>, %z: tensor<2x3xf32>") -> str:
    """The operations of a function after rules were applied to it; they end in "test.op"."""
    text = f"func.func @main({signature}) {{\n{body}\nfunc.return\n}}"
    module = parse_text(context(), text, "test.mlir", WeightsReader(None))
    apply_rules(module, [rule.rewrite for rule in compile_file(rules, "r.gerules")])
    verify_module(module)
    return " ".join(op.name.removeprefix("onnx.") for op in module.walk() if op.name.startswith("onnx."))


T = "tensor<2x3xf32>"
UNARY = f"({T}) -> {T}"
BINARY = f"({T}, {T}) -> {T}"
USE = f'"test.op"(%y) : ({T}) -> ()'

SWISH = "rule r\nmatch\n    y = Mul(x, Sigmoid(x))\nrewrite\n    y = Swish(x)\n"


@pytest.mark.parametrize(("operands", "found"), [("%x, %s", "Swish"), ("%s, %x", "Swish"), ("%z, %s", "Sigmoid Mul")])
def test_commutative_operators_match_in_any_order(operands: str, found: str) -> None:
    body = f"%s = onnx.Sigmoid(%x) : {UNARY}\n%y = onnx.Mul({operands}) : {BINARY}\n{USE}"
    assert rewritten(SWISH, body) == found


def test_results_inside_may_have_no_other_user() -> None:
    body = f'%s = onnx.Sigmoid(%x) : {UNARY}\n%y = onnx.Mul(%x, %s) : {BINARY}\n"test.op"(%y, %s) : ({T}, {T}) -> ()'
    assert rewritten(SWISH, body) == "Sigmoid Mul"
    shared = SWISH.replace("Mul(x, Sigmoid(x))", "Mul(x, s)").replace("    y = Mul", "    s = Sigmoid(x)\n    y = Mul")
    shared = shared.replace("rewrite", "where\n    shared(s)\nrewrite")
    assert rewritten(shared, body) == "Sigmoid Swish"


@pytest.mark.parametrize(
    ("one", "number", "found"),
    [
        ("1.0", "tensor<f32>", "Softplus"),
        ("[1.0]", "tensor<1xf32>", "Constant Exp Add Log"),
        ("[[[1.0]]]", "tensor<1x1x1xf32>", "Constant Exp Add Log"),
    ],
)
def test_of_unknown_rank_no_constant_is_lost_that_could_widen_the_result(one: str, number: str, found: str) -> None:
    rules = "rule r\nmatch\n    y = Log(Add(Exp(x), 1))\nrewrite\n    y = Softplus(x)\n"
    t = "tensor<*xf32>"
    body = (
        f"%c = onnx.Constant dense<{one}> : {number}\n%e = onnx.Exp(%x) : ({t}) -> {t}\n"
        f"%a = onnx.Add(%e, %c) : ({t}, {number}) -> {t}\n%y = onnx.Log(%a) : ({t}) -> {t}\n"
        f'"test.op"(%y) : ({t}) -> ()'
    )
    assert rewritten(rules, body, f"%x: {t}") == found


@pytest.mark.parametrize(
    ("written", "number", "found"),
    [
        ("2", "2.0", "Relu"),
        ("2", "2.000001", "Constant Pow"),  # four steps of float32 from 2
        ("sqrt(2)", "1.414214", "Relu"),
        ("sqrt(2)", "1.4143", "Constant Pow"),
        ("inf", "0x7F800000", "Relu"),
    ],
)
def test_a_number_that_its_type_has_is_exact(written: str, number: str, found: str) -> None:
    rules = f"rule r\nmatch\n    y = Pow(x, {written})\nrewrite\n    y = Relu(x)\n"
    body = f"%c = onnx.Constant dense<{number}> : tensor<f32>\n%y = onnx.Pow(%x, %c) : ({T}, tensor<f32>) -> {T}\n{USE}"
    assert rewritten(rules, body) == found


def test_attributes_that_are_not_named_have_their_defaults() -> None:
    rules = "rule r\nmatch\n    y = Softmax(x)\nrewrite\n    y = Relu(x)\n"
    assert rewritten(rules, f"%y = onnx.Softmax(%x) : {UNARY}\n{USE}") == "Relu"
    assert rewritten(rules, f"%y = onnx.Softmax(%x) {{axis = -1}} : {UNARY}\n{USE}") == "Relu"
    assert rewritten(rules, f"%y = onnx.Softmax(%x) {{axis = 0}} : {UNARY}\n{USE}") == "Softmax"
    loose = rules.replace("Softmax(x)", "Softmax(x, ...)")
    assert rewritten(loose, f"%y = onnx.Softmax(%x) {{axis = 0}} : {UNARY}\n{USE}") == "Relu"
    named = rules.replace("Softmax(x)", "Softmax(x, axis = 0)")
    assert rewritten(named, f"%y = onnx.Softmax(%x) {{axis = 0}} : {UNARY}\n{USE}") == "Relu"
    assert rewritten(named, f"%y = onnx.Softmax(%x) : {UNARY}\n{USE}") == "Softmax"


def test_optional_and_absent_inputs() -> None:
    rules = "rule r\nmatch\n    y = Clip(x, a?, none)\nwhere\n    not given(a)\nrewrite\n    y = Relu(x)\n"
    constant = "%c = onnx.Constant dense<1.0> : tensor<f32>\n"
    assert rewritten(rules, f"%y = onnx.Clip(%x) : {UNARY}\n{USE}") == "Relu"
    low = f"{constant}%y = onnx.Clip(%x, %c) : ({T}, tensor<f32>) -> {T}\n{USE}"
    assert rewritten(rules, low) == "Constant Clip"
    high = f"{constant}%y = onnx.Clip(%x, none, %c) : ({T}, tensor<f32>) -> {T}\n{USE}"
    assert rewritten(rules, high) == "Constant Clip"


def test_variadic_inputs() -> None:
    rules = "rule r\nmatch\n    y = Sum(a, xs...)\nrewrite\n    y = Max(a, xs...)\n"
    assert rewritten(rules, f"%y = onnx.Sum(%x, %z, %x) : ({T}, {T}, {T}) -> {T}\n{USE}") == "Max"


def test_alternatives_are_variants() -> None:
    rules = "rule r\nmatch\n    y = Neg(Relu(x) | Abs(x))\nrewrite\n    y = Mish(x)\n"
    assert len(compile_file(rules, "r.gerules")) == 2
    for op, found in (("Relu", "Mish"), ("Abs", "Mish"), ("Exp", "Exp Neg")):
        assert rewritten(rules, f"%a = onnx.{op}(%x) : {UNARY}\n%y = onnx.Neg(%a) : {UNARY}\n{USE}") == found


@pytest.mark.parametrize(("number", "found"), [("1.41421354", True), ("1.41421", False), ("1.4142136", True)])
def test_literals_are_as_exact_as_their_type(number: str, found: bool) -> None:
    rules = "rule r\nmatch\n    y = Mul(x, sqrt(2))\nrewrite\n    y = Relu(x)\n"
    body = f"%c = onnx.Constant dense<{number}> : tensor<1xf32>\n"
    body += f"%y = onnx.Mul(%c, %x) : (tensor<1xf32>, {T}) -> {T}\n{USE}"
    assert rewritten(rules, body) == ("Relu" if found else "Constant Mul")


def test_several_results_and_results_that_are_not_named() -> None:
    rules = "rule r\nmatch\n    y = Dropout(x)\nrewrite\n    y = Relu(x)\n"
    drop = f"%y, %m = onnx.Dropout(%x) : ({T}) -> ({T}, tensor<2x3xi1>)\n"
    assert rewritten(rules, f"{drop}{USE}") == "Relu"
    both = f'{drop}"test.op"(%y, %m) : ({T}, tensor<2x3xi1>) -> ()'
    assert rewritten(rules, both) == "Dropout"


def test_operators_of_other_domains() -> None:
    rules = "rule r\nmatch\n    y = my.domain::Act(x, k = a)\nrewrite\n    y = Swish(x, alpha = a)\n"
    found = f'%y = onnx.Custom "my.domain" "Act"(%x) {{k = 2.0 : f32}} : {UNARY}\n{USE}'
    assert rewritten(rules, found) == "Swish"
    other = f'%y = onnx.Custom "my.domain" "Other"(%x) {{k = 2.0 : f32}} : {UNARY}\n{USE}'
    assert rewritten(rules, other) == "Custom"
    more = f'%y = onnx.Custom "my.domain" "Act"(%x) {{k = 2.0 : f32, l = 1 : i64}} : {UNARY}\n{USE}'
    assert rewritten(rules, more) == "Custom"


def test_a_replacement_of_another_type_is_refused() -> None:
    rules = "rule r\nmatch\n    y = Add(x, c)\nwhere\n    constant(c)\nrewrite\n    y = x\n"
    body = "%c = onnx.Constant dense<0.0> : tensor<4x1x1xf32>\n"
    body += f"%y = onnx.Add(%x, %c) : ({T}, tensor<4x1x1xf32>) -> tensor<4x2x3xf32>\n"
    body += '"test.op"(%y) : (tensor<4x2x3xf32>) -> ()'
    assert rewritten(rules, body) == "Constant Add"


def test_the_same_value_twice_is_one_value() -> None:
    rules = "rule r\nmatch\n    y = Mul(x, x)\nrewrite\n    y = Relu(x)\n"
    assert rewritten(rules, f"%y = onnx.Mul(%x, %x) : {BINARY}\n{USE}") == "Relu"
    assert rewritten(rules, f"%y = onnx.Mul(%x, %z) : {BINARY}\n{USE}") == "Mul"


def test_inside_regions() -> None:
    body = f"""
    %c = onnx.Constant dense<true> : tensor<i1>
    %y = onnx.If(%c) then_branch {{
      %s = onnx.Sigmoid(%x) : {UNARY}
      %t = onnx.Mul(%x, %s) : {BINARY}
      onnx.Yield %t : {T}
    }} else_branch {{
      onnx.Yield %x : {T}
    }} : (tensor<i1>) -> {T}
    {USE}"""
    assert "Swish" in rewritten(SWISH, body)


def test_the_function_that_a_rule_becomes_can_be_read() -> None:
    (rule,) = compile_file(SWISH, "r.gerules")
    assert rule.source.startswith("def rule_r(o1):\n    p1, p2 = o1.operands\n")
    assert rule.rewrite.name == "r"


def test_operators_with_any_number_of_results() -> None:
    """A pattern that names two results of a Split leaves one with a single result, or with a third in use, alone."""
    rule = "rule r\nmatch\n    a, b = Split(x, ...)\n    y = Add(a, b)\nrewrite\n    y = ReduceSum(x, [0])\n"
    body = """
  %a = onnx.Split(%x) {num_outputs = 1} : (tensor<2xf32>) -> tensor<2xf32>
  %0 = onnx.Add(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b, %c, %d = onnx.Split(%z) {num_outputs = 3} : (tensor<3xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  %1 = onnx.Add(%b, %c) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %e, %f = onnx.Split(%x) {num_outputs = 2} : (tensor<2xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  %2 = onnx.Add(%f, %e) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  "test.op"(%0, %1, %d, %2) : (tensor<2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> ()"""
    found = rewritten(rule, body, "%x: tensor<2xf32>, %z: tensor<3xf32>")
    assert found == "Split Add Split Add Constant ReduceSum"


def test_no_number_is_close_to_infinity() -> None:
    assert close(math.inf, math.inf) and close(0.3, np.float32(0.3).item())
    assert not close(5.0, math.inf) and not close(math.inf, 5.0) and not close(math.nan, math.inf)


def test_a_sum_of_nothing_is_no_mean() -> None:
    """1 / 0 elements is infinite, and no factor is."""
    rules = "rule r\nmatch\n    y = Mul(ReduceSum(x, a, ...), n)\nwhere\n    constant(a, n)\n    size(n) == 1\n"
    rules += "    close(scalar(n), 1 / prod(shape(x)[axes_of(a, rank(x))]))\nrewrite\n    y = ReduceMean(x, a)\n"
    t = "tensor<1xf32>"
    body = (
        f"%a = onnx.Constant dense<0> : tensor<1xi64>\n%n = onnx.Constant dense<0.5> : {t}\n"
        f"%s = onnx.ReduceSum(%x, %a) : (tensor<SIZExf32>, tensor<1xi64>) -> {t}\n"
        f'%y = onnx.Mul(%s, %n) : ({t}, {t}) -> {t}\n"test.op"(%y) : ({t}) -> ()'
    )
    for size, found in (("0", "ReduceSum Mul"), ("3", "ReduceSum Mul"), ("2", "ReduceMean")):
        assert rewritten(rules, body.replace("SIZE", size), f"%x: tensor<{size}xf32>").endswith(found)


DROPOUT = "rule r\nmatch\n    y, m = Dropout(x)\nrewrite\n    y = Identity(x)\n    m = Cast(x, to = 9)\n"


def test_a_result_that_the_model_leaves_out_is_not_replaced() -> None:
    assert rewritten(DROPOUT, f"%y = onnx.Dropout(%x) : {UNARY}\n{USE}").endswith("Cast")
    read = DROPOUT.replace("rewrite", "where\n    dtype(m) == bool\nrewrite")
    assert rewritten(read, f"%y = onnx.Dropout(%x) : {UNARY}\n{USE}") == "Dropout"


def test_another_result_than_that_of_the_pattern() -> None:
    rules = "rule r\nmatch\n    p, i = MaxPool(x, ...)\n    y = Add(i, z)\nrewrite\n    y = z\n"
    t = "tensor<1x1x2x2xf32>"
    body = (
        f"%p = onnx.MaxPool(%x) {{kernel_shape = [1, 1]}} : ({t}) -> {t}\n"
        f'%y = onnx.Add(%p, %x) : ({t}, {t}) -> {t}\n"test.op"(%y) : ({t}) -> ()'
    )
    assert rewritten(rules, body, f"%x: {t}") == "MaxPool Add"


@pytest.mark.parametrize("replacement", ["Elu(x, alpha = c)", "Softmax(x, axis = scalar(c) / 2)", "LRN(x, **s)"])
def test_what_is_no_attribute_when_it_is_computed_does_not_apply(replacement: str) -> None:
    match = "    s = Sigmoid(x)\n    y = Mul(s, c)"
    rules = f"rule r\nmatch\n{match}\nwhere\n    constant(c)\nrewrite\n    y = {replacement}\n"
    body = (
        "%c = onnx.Constant dense<[1.0, 3.0, 5.0]> : tensor<3xf32>\n"
        f"%s = onnx.Sigmoid(%x) : {UNARY}\n%y = onnx.Mul(%s, %c) : ({T}, tensor<3xf32>) -> {T}\n{USE}"
    )
    for constant in (body, body.replace("[1.0, 3.0, 5.0]", "[1.0]").replace("tensor<3xf32>", "tensor<1xf32>")):
        assert rewritten(rules, constant) == "Constant Sigmoid Mul"
