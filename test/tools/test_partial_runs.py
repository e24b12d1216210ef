"""What a pass left as it was is not computed again, and what comes of the rest is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx.meaning import run_module
from ge.ir.parser import parse_module
from ge.tools import partial_runs
from ge.tools.formulas import Formulas
from ge.tools.input_draws import Draw
from ge.tools.partial_runs import PartialRuns

T = "tensor<4xf32>"
UNARY, BINARY = f"({T}) -> {T}", f"({T}, {T}) -> {T}"

X = np.linspace(-2, 2, 4, dtype=np.float32)


def module(tail: str) -> ModuleOp:
    """Three operations, of which one is an output, and a tail that gives %y and may use %a, %b and %x."""
    return parse_module(
        f"""
func.func @main(%x: {T}) -> ({T}, {T}) {{
  %a = onnx.Exp(%x) : {UNARY}
  %b = onnx.Sigmoid(%a) : {UNARY}
  %c = onnx.Neg(%b) : {UNARY}
{tail}
  func.return %c, %y : {T}, {T}
}}"""
    )


TAILS = [
    f"  %y = onnx.Add(%b, %x) : {BINARY}",
    f"  %y = onnx.Sub(%b, %x) : {BINARY}",
    f"  %0 = onnx.Mul(%b, %a) : {BINARY}\n  %y = onnx.Relu(%0) : {UNARY}",
    f"""
  %k = onnx.Constant dense<true> : tensor<i1>
  %y = onnx.If(%k) then_branch {{
    %t = onnx.Add(%b, %x) : {BINARY}
    onnx.Yield %t : {T}
  }} else_branch {{
    onnx.Yield %a : {T}
  }} : (tensor<i1>) -> {T}""",
]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The operations that were run, run by run."""
    seen: list[list[str]] = []

    class Recorded(partial_runs.OnnxRuntimeExecutable):
        def __init__(self, module: ModuleOp) -> None:
            ops = (op.name.removeprefix("onnx.") for op in module.walk() if op.name.startswith("onnx."))
            seen.append([name for name in ops if name not in ("Constant", "Yield")])
            super().__init__(module)

    monkeypatch.setattr(partial_runs, "OnnxRuntimeExecutable", Recorded)
    return seen


def test_only_what_is_behind_the_change_runs_again(parts: list[list[str]]) -> None:
    formulas, runs, draws = Formulas(), PartialRuns(), [Draw("a", [X], {}), Draw("b", [2 * X], {})]
    before = formulas.of(module(TAILS[0]))
    for tail in TAILS[1:]:
        after = module(tail)
        numbers = formulas.of(after)
        assert before is not None
        assert numbers is not None
        results = runs.run(after, numbers, frozenset(before.values()), draws)
        for draw, result in zip(draws, results, strict=True):
            want: dict[str, Any] = run_module(after, {"x": draw.inputs[0]})
            for found, wanted in zip(result.values(), want.values(), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-6)
        before = numbers
    assert parts[0] == ["Exp", "Sigmoid", "Neg", "Sub"]
    assert parts[1] == ["Exp", "Mul", "Relu"], "of %a nothing was known, since nothing new came of it"
    assert parts[2] == ["If", "Add"]
