"""Errors in rule files carry file, line and column, and say what was expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ge.ir.errors import GeError
from ge.rules import compile_file, load_rules

MATCH = "rule r\nmatch\n    y = Mul(x, c)\n"
CONSTANT = f"{MATCH}where\n    constant(c)\n"


def error_of(text: str) -> GeError:
    with pytest.raises(GeError) as caught:
        compile_file(text, "my.gerules")
    return caught.value


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("foo", "1:1", "expected 'rule' or the end of the file, found 'foo'"),
        ("rule A\n", "1:6", "expected the name of the rule"),
        ("rule r match", "1:8", "found 'match'"),
        ("rule r\nmatch\n    y = \n", "3:9", "expected a value, found the end of the line"),
        ("rule r\nmatch\n    y = Mul(x c)\n", "3:15", "found 'c'"),
        ("rule r\nmatch\n    y = Mul(x, c\nrewrite\n    y = x\n", "4:1", "found 'rewrite'"),
        (MATCH, "4:1", "expected 'rewrite', 'where' or a name, found the end of the file"),
        (f"{MATCH}rewrite\n    if = x\n", "5:5", "'if' is a word of the language"),
        (f"{MATCH}rewrite\n    y = Mul(x, $)\n", "5:16", "found '$'"),
        (f"{CONSTANT}rewite\n    y = x\n", "7:7", "found '='; is 'rewite' in line 6 meant to be 'rewrite'?"),
        (f"{CONSTANT}rewrite\n    y = x\nsampel\n    x = 1\n", "8:7", "is 'sampel' in line 8 meant to be 'sample'?"),
        (
            "rule r\nmatch\n    y = Gemm(alpha = 2, a)\nrewrite\n    y = a\n",
            "3:25",
            "an input comes before the attributes",
        ),
    ],
)
def test_syntax(text: str, place: str, expected: str) -> None:
    error = error_of(text)
    assert error.code == "GE3020"
    assert error.where == f"my.gerules:{place}"
    assert expected in error.what


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        (f"{MATCH}rewrite\n    y = Swich(x)\n", "5:9", "operator 'Swich' does not exist, did you mean 'Swish'?"),
        (f"{MATCH}rewrite\n    y = Mul(x, 2 * c)\n", "5:20", "the elements of 'c' are not known"),
        (f"{CONSTANT}rewrite\n    y = Mul(x, 2 * d)\n", "7:20", "'d' is not defined"),
        (f"{CONSTANT}rewrite\n    y = Mul(x, sqr(c))\n", "7:16", "did you mean 'sqrt'?"),
        (f"{CONSTANT}rewrite\n    y = Mul(x, sqrt(c, c))\n", "7:16", "expected sqrt(array), found 2 arguments"),
        (f"{CONSTANT}rewrite\n    y = Mul(x)\n", "7:9", "with 2 inputs, found 1"),
        (f"{CONSTANT}rewrite\n    y = Relu(none)\n", "7:14", "'Relu' needs its input 'X'"),
        (f"{CONSTANT}rewrite\n    y = Concat(x, none, axis = 0)\n", "7:19", "'Concat' needs its input 'inputs'"),
        ("rule r\nmatch\n    y = Mul(x, none)\nrewrite\n    y = x\n", "3:16", "'Mul' needs its input 'B'"),
        (f"{CONSTANT}rewrite\n    y = Elu(x, alpha = 1, alpha = 2)\n", "7:35", "'alpha' is given already"),
        ("rule r\nmatch\n    y = Elu(x, alpha = a, alpha = b)\nrewrite\n    y = x\n", "3:35", "given already"),
        (f'{CONSTANT}rewrite\n    y = Elu(x, alpha = "1")\n', "7:24", "attribute 'alpha' of 'Elu' is a number"),
        (f"{CONSTANT}rewrite\n    y = Elu(x, alpha = [1])\n", "7:25", "attribute 'alpha' of 'Elu' is a number"),
        (f"{CONSTANT}rewrite\n    y = Softmax(x, axis = 1.5)\n", "7:27", "attribute 'axis' of 'Softmax' is an integer"),
        (f"{CONSTANT}rewrite\n    y = Cast(x, to = f16)\n", "7:22", "attribute 'to' of 'Cast' is an integer"),
        (f"{CONSTANT}rewrite\n    y = Transpose(x, perm = 1)\n", "7:29", "is a list of integers"),
        ('rule r\nmatch\n    y = Elu(x, alpha = "a")\nrewrite\n    y = x\n', "3:24", "is a number"),
        (
            f'{MATCH}where\n    dtype(x) == "float32"\nrewrite\n    y = x\n',
            "5:17",
            "no element type, did you mean 'f32'?",
        ),
        (f'{MATCH}where\n    dtype(x) in [f32, "fp16"]\nrewrite\n    y = x\n', "5:23", "no element type"),
        (f'{MATCH}where\n    "a text"\nrewrite\n    y = x\n', "5:5", "this is no condition"),
        (f"{MATCH}where\n    [1, 2]\nrewrite\n    y = x\n", "5:6", "this is no condition"),
        (f"{CONSTANT}rewrite\n    y = x\nsample\n    xx = tensor([2])\n", "9:5", "no input or attribute"),
        (f"{CONSTANT}rewrite\n    z = Mul(x, c)\n", "7:5", "does not define 'y'"),
        (f"{CONSTANT}rewrite\n    c = Mul(x, c)\n", "7:5", "'c' is defined already"),
        (f"{CONSTANT}rewrite\n    y = Softmax(x, axs = 1)\n", "7:26", "did you mean 'axis'?"),
        (f"{CONSTANT}rewrite\n    z = Relu(x)\n    y = Mul(x, z * 2)\n", "8:16", "'z' is computed when the model runs"),
        (f"{CONSTANT}rewrite\n    y = Cast(x)\n", "7:9", "attribute 'to' of 'Cast' must be given"),
        (f"{MATCH}where\n    rank(z) == 2\nrewrite\n    y = x\n", "5:10", "'rank' takes a value of the pattern"),
        (f"{MATCH}where\n    y.axis == 2\nrewrite\n    y = x\n", "5:5", "'Mul' has no attribute 'axis'"),
        (f"{MATCH}where\n    shared(x)\nrewrite\n    y = x\n", "5:12", "no result inside the pattern"),
        ("rule r\nmatch\n    z = Relu(x)\n    y = Neg(x)\nrewrite\n    y = x\n", "3:5", "'z' does not lead to 'y'"),
        ("rule r\nmatch\n    y = Relu(y)\nrewrite\n    y = x\n", "3:5", "'y' is computed from itself"),
        ("rule r\nmatch\n    y = Cast(x)\nrewrite\n    y = x\n", "3:9", "attribute 'to' of 'Cast' has no default"),
        ("rule r\nmatch\n    y = If(x)\nrewrite\n    y = x\n", "3:9", "'If' has subgraphs"),
        (
            "rule r\nmatch\n    y = RandomNormalLike(x)\nrewrite\n    y = x\n",
            "3:9",
            "two runs of",
        ),
        ("rule r\nmatch\n    y = 3\nrewrite\n    y = x\n", "3:9", "a pattern is an operator"),
        ("rule r\nmatch\n    y = Concat(x..., z, ...)\nrewrite\n    y = z\n", "3:16", "comes last"),
        (f"{MATCH}rewrite\n    y = x\n\n{MATCH}rewrite\n    y = x\n", "7:6", "rule 'r' is there already"),
    ],
)
def test_sense(text: str, place: str, expected: str) -> None:
    error = error_of(text)
    assert error.code == "GE3021"
    assert error.where == f"my.gerules:{place}"
    assert expected in error.what


def test_too_many_variants() -> None:
    either = "Relu(x) | Neg(x)"
    text = f"rule r\nmatch\n    y = Sum({', '.join([either] * 7)})\nrewrite\n    y = x\n"
    assert "multiply to 128 variants" in error_of(text).what


def test_missing_file() -> None:
    with pytest.raises(GeError) as caught:
        load_rules("no/such.gerules")
    assert caught.value.code == "GE1001"


def test_empty_file_has_no_rules() -> None:
    assert compile_file("# nothing yet\n", "empty.gerules") == ()


@pytest.mark.parametrize(
    "change", [lambda text: text, lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")]
)
def test_files_as_editors_write_them(tmp_path: Path, change: Callable[[str], str]) -> None:
    file = tmp_path / "my.gerules"
    file.write_bytes(change(f"{MATCH}rewrite\n    y = x\n").encode())
    assert [rule.name for rule in load_rules(file)] == ["r"]


def test_nesting_without_end() -> None:
    error = error_of(f"{MATCH}where\n    {'(' * 5000}1{')' * 5000} == 1\nrewrite\n    y = x\n")
    assert error.code == "GE3020" and "nested too deeply" in error.what
