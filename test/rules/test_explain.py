"""Why a rule does not apply: every kind of reason, and silence where nothing is near."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge.ir.parser import parse_module
from ge.ir.rewrite_log import observe
from ge.ir.rewriting import apply_rules
from ge.rules import load_rules

RULES = """
rule swish
match
    y = Mul(x, Sigmoid(x))
rewrite
    y = Swish(x)

rule half
match
    y = Mul(Neg(x), 0.5)
rewrite
    y = Neg(x)

rule log-softmax
match
    y = Log(Softmax(x, axis = 1))
where
    rank(x) == 2
    shape(x)[0] == 3
rewrite
    y = LogSoftmax(x, axis = 1)

rule plus-constant
match
    y = Add(Neg(x), c)
where
    constant(c)
    all(c > 0)
rewrite
    y = Neg(x)

rule plain-clip
match
    y = Relu(Clip(x, low?))
rewrite
    y = Relu(x)

rule elu
match
    y = Relu(Elu(x))
rewrite
    y = Relu(x)
"""

T = "tensor<2x3xf32>"


def reasons(tmp_path: Path, rule: str, body: str, *, result: str = "y", arguments: str = "") -> list[str]:
    """What one rule says about a function of %x."""
    file = tmp_path / "my.gerules"
    file.write_text(RULES)
    types = ", ".join([T] * (1 + result.count(",")))
    text = f"func.func @main(%x: {T}{arguments}) -> ({types}) {{\n{body}\n func.return {result} : {types}\n}}"
    with observe(explain={rule}) as log:
        apply_rules(parse_module(text), [each.rewrite for each in load_rules(file)])
    assert all(miss.rule == rule for miss in log.misses)
    return [miss.reason.replace(f"{file}:", "") for miss in log.misses]


def op(name: str, operator: str, *inputs: str, attributes: str = "") -> str:
    types = ", ".join([T] * len(inputs))
    return f' %{name} = onnx.{operator}({", ".join(inputs)}){attributes} : ({types}) -> {T} loc("{name}")'


def test_another_user(tmp_path: Path) -> None:
    body = "\n".join([op("s", "Sigmoid", "%x"), op("y", "Mul", "%x", "%s"), op("z", "Neg", "%s")])
    (reason,) = reasons(tmp_path, "swish", body, result="%y, %z")
    assert reason.startswith("the result of Sigmoid") and "has other users" in reason and "node 'z'" in reason


def test_an_output_of_the_model(tmp_path: Path) -> None:
    body = "\n".join([op("s", "Sigmoid", "%x"), op("y", "Mul", "%x", "%s")])
    (reason,) = reasons(tmp_path, "swish", body, result="%y, %s")
    assert reason.endswith("is an output, too")


def test_two_values_of_one_name(tmp_path: Path) -> None:
    body = "\n".join([op("n", "Neg", "%x"), op("s", "Sigmoid", "%n"), op("y", "Mul", "%x", "%s")])
    assert reasons(tmp_path, "swish", body, result="%y") == ["'x' would be two values, %x and %n"]


def test_another_number(tmp_path: Path) -> None:
    constant = " %c = onnx.Constant dense<0.7> : tensor<f32>\n"
    y = f" %y = onnx.Mul(%n, %c) : ({T}, tensor<f32>) -> {T}"
    (reason,) = reasons(tmp_path, "half", f"{constant}{op('n', 'Neg', '%x')}\n{y}", result="%y")
    assert reason.startswith("the constant 0.699") and "is not the constant 0.5 (10:21)" in reason


def test_not_a_constant(tmp_path: Path) -> None:
    body = "\n".join([op("n", "Neg", "%x"), op("s", "Exp", "%x"), op("y", "Add", "%n", "%s")])
    assert reasons(tmp_path, "plus-constant", body, result="%y") == ["'c' is not constant: %s"]


def test_a_condition_on_data(tmp_path: Path) -> None:
    constant = " %c = onnx.Constant dense<[1.0, -1.0, 2.0]> : tensor<3xf32>\n"
    y = f" %y = onnx.Add(%n, %c) : ({T}, tensor<3xf32>) -> {T}"
    (reason,) = reasons(tmp_path, "plus-constant", f"{constant}{op('n', 'Neg', '%x')}\n{y}", result="%y")
    assert reason == "condition 'all(c > 0)' (28:5) does not hold"


def test_an_attribute_and_conditions_in_order(tmp_path: Path) -> None:
    def log_softmax(axis: int) -> str:
        softmax = op("s", "Softmax", "%x", attributes=f" {{axis = {axis}}}")
        return f"{softmax}\n{op('y', 'Log', '%s')}"

    (reason,) = reasons(tmp_path, "log-softmax", log_softmax(0), result="%y")
    assert "'axis = 1'" in reason and "it is 0; this does not hold" in reason
    (reason,) = reasons(tmp_path, "log-softmax", log_softmax(1), result="%y")
    assert reason == "condition 'shape(x)[0] == 3' (19:5) does not hold"


def test_an_attribute_that_the_pattern_does_not_mention(tmp_path: Path) -> None:
    elu = op("e", "Elu", "%x", attributes=" {alpha = 2.0e+00}")
    (reason,) = reasons(tmp_path, "elu", f"{elu}\n{op('y', 'Relu', '%e')}", result="%y")
    assert "attribute 'alpha' of Elu" in reason and "is 2.0" in reason


def test_more_inputs_than_the_pattern_has(tmp_path: Path) -> None:
    constant = " %c = onnx.Constant dense<0.0> : tensor<f32>\n"
    clip = f" %k = onnx.Clip(%x, %c, %c) : ({T}, tensor<f32>, tensor<f32>) -> {T}"
    (reason,) = reasons(tmp_path, "plain-clip", f"{constant}{clip}\n{op('y', 'Relu', '%k')}", result="%y")
    assert reason == "Clip has 3 inputs, the rule asks for 2"


@pytest.mark.parametrize("rule", ["swish", "half", "log-softmax", "plus-constant"])
def test_silence_where_nothing_is_near_or_the_rule_applies(tmp_path: Path, rule: str) -> None:
    far = "\n".join([op("n", "Exp", "%x"), op("y", "Mul", "%x", "%n"), op("z", "Log", "%y")])
    assert reasons(tmp_path, rule, far, result="%z") == []
    swish = "\n".join([op("s", "Sigmoid", "%x"), op("y", "Mul", "%s", "%x")])
    assert reasons(tmp_path, rule, swish, result="%y") == []
