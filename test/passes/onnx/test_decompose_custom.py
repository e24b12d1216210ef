"""`decompose-custom`: the decomposition computes what the operator computes; what cannot be is one clear error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge.custom import like_input, register_operator, unregister_operator
from ge.dialects.onnx import Custom, ranked
from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.ir.parser import parse_text
from ge.ir.registry import context, load_plugin
from ge.ir.verifier import verify_module
from ge.ir.weights import WeightsReader
from ge.passes.onnx.decompose_custom import DecomposeCustomPass

HERE = Path(__file__).parent
HOSTILE = [0.0, -0.0, 1.5, -2.25, 1e-30, 3e38, -3e38, np.inf, -np.inf, np.nan]


def functions(text: str) -> list[str]:
    """The functions of a test as texts of their own."""
    return [
        f"func.func {part}"
        for part in text.partition("\n// CHECK-LABEL: func.func private")[0].split("\nfunc.func @")[1:]
    ]


def module_of(text: str) -> ModuleOp:
    module = parse_text(context(), text, "test.mlir", WeightsReader(None))
    verify_module(module)
    return module


def decomposed(module: ModuleOp) -> ModuleOp:
    copy = module.clone()
    DecomposeCustomPass().apply(context(), copy)
    verify_module(copy)
    return copy


def inputs_of(module: ModuleOp) -> dict[str, Any]:
    random = np.random.default_rng(7)
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    found: dict[str, Any] = {}
    for argument in function.body.block.args:
        type = ranked(argument)
        assert type is not None
        kind, shape = str(type.element_type), type.get_shape()
        dtype = {"f16": np.float16, "f32": np.float32, "i64": np.int64}[kind]
        values = random.integers(-9, 9, shape) if dtype is np.int64 else random.choice(HOSTILE, shape)
        with np.errstate(over="ignore"):
            found[argument.name_hint or ""] = np.asarray(values, dtype)
    return found


@pytest.mark.parametrize("name", ["function", "rules", "variadic", "optional", "left_alone"])
def test_numbers_stay(name: str) -> None:
    load_plugin(HERE / "inputs" / "custom_operators.py")
    texts = (HERE / "decompose_custom.mlir").read_text(encoding="utf-8")
    (text,) = [each for each in functions(texts) if each.startswith(f"func.func {name}(")]
    module = module_of(text.replace(f"func.func {name}", "func.func @main", 1))
    after = decomposed(module)
    assert any(isinstance(op, Custom) for op in after.walk()) is (name == "left_alone")
    inputs = inputs_of(module)
    for old, new in zip(run_module(module, inputs).values(), run_module(after, inputs).values(), strict=True):
        assert old.dtype == new.dtype
        np.testing.assert_array_equal(old, new)


ONE = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = onnx.Custom "test.decompose" "Odd"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("odd")
  func.return %y : tensor<2x3xf32>
}
"""


def register(decomposition: Any) -> None:
    unregister_operator("test.decompose", "Odd")
    register_operator(
        "test.decompose", "Odd", "x: T -> y: T", types={"T": "f32"}, shapes=like_input, decomposition=decomposition
    )(lambda x: np.abs(x))


@pytest.mark.parametrize(
    ("decomposition", "problem"),
    [
        (lambda ops, x: 1 / 0, "its decomposition raised ZeroDivisionError: division by zero"),
        (lambda ops, x: ops.Abz(x), "raised AttributeError: ONNX has no operator 'Abz'"),
        (lambda ops, x: ops.Elu(x, alhpa=2.0), "raised TypeError: Elu has no attribute 'alhpa'"),
        (lambda ops, x: (x, x), "its decomposition gives 2 results for 1"),
        (lambda ops, x: [None], "its decomposition gives 1 results for 1"),
    ],
)
def test_a_decomposition_that_fails_is_one_error(decomposition: Any, problem: str) -> None:
    register(decomposition)
    module = module_of(ONE)
    with pytest.raises(GeError) as error:
        DecomposeCustomPass().apply(context(), module)
    assert error.value.code == "GE3017"
    assert problem in error.value.what and "test.decompose::Odd" in error.value.what
    assert "test_decompose_custom.py" in str(error.value.where)
    assert str(module) == str(module_of(ONE))


@pytest.mark.parametrize(
    "decomposition",
    [
        lambda ops, x: ops.Cast(x, to=10),  # float16
        lambda ops, x: ops.Transpose(x),
        lambda ops, x: x,  # an output of the model needs a value of its own
        lambda ops, x: None,
    ],
)
def test_what_does_not_fit_stays(decomposition: Any) -> None:
    register(decomposition)
    module = module_of(ONE)
    after = decomposed(module)
    assert sum(isinstance(op, Custom) for op in after.walk()) == 1
    assert str(after) == str(module)
