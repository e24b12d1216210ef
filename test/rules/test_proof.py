"""--check-rules: the shipped rules hold, wrong ones are caught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ge.custom import unregister_operator
from ge.passes.onnx.fusion_rules import SHIPPED, shipped_rules
from ge.rules import compile_file
from ge.rules.proof import Verdict, prove
from ge.tools.ge_opt import main

NAMES = list(dict.fromkeys(rule.name for rule in shipped_rules()))


@pytest.mark.parametrize("name", NAMES)
def test_shipped_rule_keeps_numbers(name: str) -> None:
    (verdict,) = prove([rule for rule in shipped_rules() if rule.name == name], instances=6)
    assert verdict.holds, verdict
    assert verdict.instances >= 6


def test_every_shipped_rule_says_what_it_is() -> None:
    assert all(rule.variant.rule.description for rule in shipped_rules())
    assert {Path(rule.variant.rule.at.file).parent for rule in shipped_rules()} == {SHIPPED}


def verdict_of(match: str, rewrite: str, where: str = "") -> Verdict:
    conditions = f"where\n{where}\n" if where else ""
    (verdict,) = prove(compile_file(f"rule r\nmatch\n{match}\n{conditions}rewrite\n{rewrite}\n", "r.gerules"))
    return verdict


@pytest.mark.parametrize(
    ("match", "rewrite", "where"),
    [
        ("    y = Mul(x, Sigmoid(x))", "    y = Mish(x)", ""),
        ("    y = Sqrt(Mul(x, x))", "    y = x", ""),  # of negative numbers
        ("    y = Div(x, x)", "    y = Add(Mul(x, 0), 1)", "    is_float(x)"),  # of zeros
        ("    y = Add(MatMul(a, b), c)", "    y = Gemm(a, b, c, beta = 0.5)", "    rank(a) == 2\n    rank(b) == 2"),
        ("    y = Div(x, c)", "    y = Mul(x, floor(1 / c))", "    constant(c)"),
        (  # permutations in the wrong order
            "    y = Transpose(Transpose(x, perm = p), perm = q)",
            "    y = Transpose(x, perm = q[p])",
            "    rank(x) == 3",
        ),
        (  # a 0 is a size of the value between: seen where sizes are unknown
            "    y = Reshape(Reshape(x, _, ...), s)",
            "    y = Reshape(x, s)",
            "    constant(s)",
        ),
        ("    y = Relu(Clip(x, a?, b?))", "    y = Clip(x, a, b)", ""),
        # attributes that are open
        ("    y = Conv(x, w, ...)", "    y = Conv(x, w)", ""),
        ("    y = Conv(x, w, group = g, ...)", "    y = Conv(x, w, **y, dilations = none)", ""),
        ("    y = Pad(x, p, none, none, mode = m)", "    y = Pad(x, p)", "    constant(p)"),
        ("    y = CumSum(x, 0, exclusive = e, reverse = r)", "    y = CumSum(x, 0, exclusive = e)", ""),
        (
            "    y = AveragePool(x, kernel_shape = k, pads = p, ...)",
            "    y = AveragePool(x, kernel_shape = k, pads = p, count_include_pad = 1)",
            "",
        ),
        ("    y = Softmax(x, axis = a)", "    y = Softmax(x, axis = 1)", "    a in [1, -1]"),
        # NaN
        ("    y = Not(Less(a, b))", "    y = GreaterOrEqual(a, b)", "    is_float(a)"),
        ("    y = Mul(x, 0)", "    y = ConstantOfShape(Shape(x))", "    dtype(x) == f32"),
        ("    y = Where(Greater(a, b), a, b)", "    y = Max(a, b)", "    same_type(a, b)"),
        # no elements
        ("    y = Flatten(x, axis = 1)", "    y = Reshape(x, [0, -1])", ""),
        # the ends of integers
        ("    y = Less(Neg(x), 0)", "    y = Greater(x, 0)", "    is_integer(x)"),
        ("    y = Div(Mul(x, 2), 2)", "    y = x", "    dtype(x) == i64"),
        ("    y = Div(Mul(x, 2), 2)", "    y = x", "    dtype(x) == i8"),
        ("    y = Greater(Add(x, 1), x)", "    y = Equal(x, x)", "    dtype(x) == i64"),
        (  # integers that float64 does not hold
            "    y = Add(x, c)",
            "    y = Cast(Add(Cast(x, to = 11), Cast(c, to = 11)), to = 7)",
            "    dtype(x) == i64\n    constant(c)",
        ),
        # operators that not all element types have
        ("    y = Sub(a, b)", "    y = Add(a, Neg(b))", ""),
    ],
)
def test_wrong_rule_is_caught(match: str, rewrite: str, where: str) -> None:
    assert verdict_of(match, rewrite, where).counterexample is not None


@pytest.mark.parametrize(
    ("match", "rewrite"),
    [
        ("    y = Relu(x)", "    y = Relu(Relu(x))"),
        ("    y = Add(a, b)", "    y = Add(b, a)"),
        ("    y = Relu(x)", "    y = Relu(x)"),
    ],
)
def test_rule_that_applies_to_its_own_result(match: str, rewrite: str) -> None:
    verdict = verdict_of(match, rewrite)
    assert verdict.counterexample is None and verdict.is_endless and not verdict.holds


def test_replacement_of_another_type_is_given_as_the_reason() -> None:
    verdict = verdict_of("    y = Relu(x)", "    y = Greater(x, 0)")
    assert verdict.untried == 1 and "another type" in verdict.refused


def test_right_rule_that_is_more_exact_is_not_blamed() -> None:
    assert verdict_of("    y = Log(Exp(x))", "    y = x").holds


def test_conditions_that_nothing_fulfils() -> None:
    verdict = verdict_of("    y = Add(x, c)", "    y = x", "    constant(c)\n    rank(x) == 1\n    rank(x) == 2")
    assert verdict.untried == 1 and not verdict.holds


def test_the_same_seed_gives_the_same_verdict() -> None:
    rules = [rule for rule in shipped_rules() if rule.name == "gelu"]
    first, second = (prove(rules, instances=4, seed=7)[0] for _ in range(2))
    assert (first.instances, first.worst) == (second.instances, second.worst)


WRONG = "rule wrong\nmatch\n    y = Mul(x, Sigmoid(x))\nrewrite\n    y = Mish(x)\n"


def test_command_fails_on_a_wrong_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.gerules"
    file.write_text(WRONG)
    with pytest.raises(SystemExit) as stop:
        main([f"--check-rules={file}"])
    output = capsys.readouterr()
    assert stop.value.code == 1
    assert "WRONG" in output.out and "before the rule" in output.out
    assert f"{file}:1:6: error: 1 of 1 rules change numbers: 'wrong' [GE3022]" in output.err


def test_command_reports_right_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "right.gerules"
    file.write_text(WRONG.replace("Mish", "Swish").replace("wrong", "right"))
    main([f"--check-rules={file}"])
    assert "right" in (output := capsys.readouterr().out) and "holds" in output


def test_rule_files_without_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--fusion_rules=FILE is the pass on that file, in its place among the passes."""
    rules, model = tmp_path / "my.gerules", tmp_path / "m.mlir"
    rules.write_text("rule mine\nmatch\n    y = Neg(Neg(x))\nrewrite\n    y = Relu(x)\n")
    t = "(tensor<2xf32>) -> tensor<2xf32>"
    body = f"%a = onnx.Neg(%x) : {t}\n%y = onnx.Neg(%a) : {t}\nfunc.return %y : tensor<2xf32>"
    model.write_text(f"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{\n{body}\n}}\n")
    main([str(model), f"--fusion_rules={rules}"])
    assert "onnx.Relu" in capsys.readouterr().out


PLUGIN = """
import numpy as np
from ge import register_operator
from ge.custom import like_input

@register_operator(
    "com.example", "SoftThreshold", "x: T -> y: T",
    attributes=["threshold: float = 0.5"], types={"T": "f16 f32"}, shapes=like_input,
)
def soft_threshold(x, *, threshold):
    return np.sign(x) * np.maximum(np.abs(x) - x.dtype.type(threshold), 0)
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    yield path
    unregister_operator("com.example", "SoftThreshold")


SOFT = """rule soft
match
    y = com.example::SoftThreshold(x, threshold = t)
where
    t >= 0
rewrite
    y = Sub(Relu(Sub(x, t)), Relu(Sub(Neg(x), t)))
"""


def test_rule_that_decomposes_an_operator_of_a_plugin(
    tmp_path: Path, plugin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "soft.gerules"
    file.write_text(SOFT)
    main([f"--load-plugin={plugin}", f"--check-rules={file}"])
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("soft ") and "holds" in line and line.endswith("f32, f16")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("where\n    t >= 0\n", ""),  # of a negative threshold
        ("Neg(x)", "x"),
        ("Sub(x, t)", "Sub(x, 0.5)"),  # of another threshold than the default
    ],
)
def test_wrong_decomposition_is_caught(
    tmp_path: Path, plugin: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    file = tmp_path / "soft.gerules"
    file.write_text(SOFT.replace(old, new))
    with pytest.raises(SystemExit):
        main([f"--load-plugin={plugin}", f"--check-rules={file}"])
    assert "[GE3022]" in capsys.readouterr().err


def test_rule_about_an_operator_that_nothing_defines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "soft.gerules"
    file.write_text(SOFT)
    with pytest.raises(SystemExit):
        main([f"--check-rules={file}"])
    error = capsys.readouterr().err
    assert "nothing says what com.example::SoftThreshold computes, in the pattern of 'soft' [GE3023]" in error
    assert "--load-plugin" in error
